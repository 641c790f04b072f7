"""The order of classes: that of a dataset, into which labels are brought by name before any method reads them."""

from abc import ABCMeta
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from torch import Tensor

from labelspace import _checks
from labelspace.space import LabelSpace


class OrdersLabels(ABCMeta):
    """Puts ``labels`` into the order of ``classes=`` before a constructor sees them.

    Constructors read the matrix of a space long before they come to the base class, those of other people's methods
    too: here is the one place that none of them can forget.
    """

    def __call__(cls, *positional: Any, **options: Any) -> Any:
        """Build an instance."""
        classes = options.get("classes")
        if classes is not None:
            options["classes"] = classes = class_list(cls.__name__, classes)
            if positional:
                positional = (in_order(cls.__name__, positional[0], classes), *positional[1:])
            elif "labels" in options:
                options["labels"] = in_order(cls.__name__, options["labels"], classes)
        made = super().__call__(*positional, **options)
        if classes is not None:  # a constructor may have labels of its own
            remedy = "Its constructor must take `labels` first and hand them on."
            check_order(cls.__name__, "labels", made.names, classes, remedy)
        made.given = {name: value for name, value in options.items() if isinstance(value, bool | int | float | str)}
        made.watch()
        return made


def in_order(owner: str, labels: Any, classes: Sequence[str]) -> Any:
    """Return labels for classes in this order: a space aligned by name, a number of classes named, names checked.

    Args:
        owner: the method.
        labels: a number of classes, their names, or a LabelSpace.
        classes: the names of a dataset's classes.
    """
    names = class_list(owner, classes)
    if isinstance(labels, LabelSpace):
        numbered = labels.names == tuple(map(str, range(len(labels))))
        build = "Build the space with the names of classes." if numbered else "labels=space.subset(classes) leaves out."
        _checks.same_names(owner, "classes", names, labels.names, build)
        return labels.align(names)
    if isinstance(labels, Integral) and not isinstance(labels, bool):
        if labels != len(names):
            raise _checks.fail(owner, "classes", f"{labels} names, as many as `labels` says", len(names))
        return names
    check_order(owner, "labels", _checks.class_names(owner, labels), names, "Give labels=classes.")
    return names


def class_list(owner: str, classes: object) -> tuple[str, ...]:
    """Return the names of a dataset's classes; a number of them names nothing, and a set has no order.

    Args:
        owner: whose argument it is.
        classes: names in the order of their indices, or the index of each name (``dataset.class_to_idx``).
    """
    if isinstance(classes, Mapping) and all(isinstance(place, Integral) for place in classes.values()):
        ordered = sorted(classes, key=lambda name: classes[name])
        if [classes[name] for name in ordered] == list(range(len(classes))):
            return tuple(map(str, ordered))
    if isinstance(classes, Integral | set | frozenset | Mapping):
        raise _checks.fail_type(owner, "classes", "the names of classes, in the order of their indices", repr(classes))
    return tuple(map(str, _checks.class_names(owner, classes)))


def check_order(owner: str, argument: str, found: Sequence[str], classes: Sequence[str], remedy: str) -> None:
    """Refuse names that are others than a dataset's, or in another order.

    Args:
        owner: the function that was called.
        argument: whose names they are.
        found: the names.
        classes: of the dataset.
        remedy: what to do about it.
    """
    if tuple(found) == tuple(classes):
        return
    expected = f"for the classes in their order, {_checks.listed(classes)}"
    raise _checks.fail(owner, argument, expected, _checks.listed(found), remedy)


def class_weight(owner: str, weight: object, names: Sequence[str]) -> Tensor | None:
    """Return one factor per class in the order of the names, in which they are or come as ``{name: factor}``."""
    if isinstance(weight, Mapping):
        _checks.same_names(owner, "weight", list(weight), names, "Give a factor for each.")
        weight = [weight[name] for name in names]
    return None if weight is None else _checks.class_vector(owner, "weight", weight, len(names))
