"""What the commands about labels read: classes by name or from data, and the space or prices that a text stands for."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labelspace import _checks
from labelspace._cells import names_in
from labelspace.cli.screen import errors, in_one_line
from labelspace.data.dataset import Dataset
from labelspace.data.loading import loaded
from labelspace.space import LabelSpace
from labelspace.spec.named import BUILDERS, named
from labelspace.spec.prices import prices

OWNER = "labels"
LDA = "lda"  # which is built from samples


@dataclass(frozen=True)
class Known:
    """The classes that were named, if any, and the data they came from, if any."""

    names: tuple[str, ...] | None = None
    dataset: Dataset | None = None


def known_classes(classes: str | None, data: str | None, options: Mapping[str, object]) -> Known:
    """Return the classes from a list or from data."""
    if data is None:
        return Known() if classes is None else Known(class_list(classes))
    if classes is not None:
        raise _checks.fail(OWNER, "classes", "left out where the classes come from data", repr(classes))
    dataset = load(data, options)
    return Known(dataset.names, dataset)


def class_list(text: str) -> tuple[str, ...]:
    """Return classes from ``cat,dog`` (quotation marks keep a comma) or from their number.

    Example:
        >>> class_list('cat, "dog, small"'), class_list("3")
        (('cat', 'dog, small'), ('0', '1', '2'))
    """
    if text.strip().isdecimal():
        return _checks.class_names(OWNER, int(text))
    return _checks.class_names(OWNER, names_in(OWNER, "classes", text))


def load(data: str, options: Mapping[str, object]) -> Dataset:
    """Return a dataset; what it warns of becomes a note."""
    with noted():
        return loaded(data, options)


def space_of(spec: str, known: Known) -> LabelSpace:
    """Return the label space that a text stands for."""
    title = spec.partition(":")[0]
    if known.names is None and title in (*BUILDERS, LDA):
        listed = "" if title == LDA else "--classes cat,dog,car, or take them from a dataset with "
        raise _checks.fail(
            "", title, "given with the classes that it is to relate", "none", f"Say {listed}--data NAME."
        )
    x, y = None, None
    if spec == LDA and known.dataset is not None:
        x, y = known.dataset.normalize(known.dataset.train.x), known.dataset.train.y
    with noted():
        return named(spec, known.names, x, y)


def prices_of(spec: str, known: Known, space: str | None) -> LabelSpace:
    """Return the prices that a text stands for, beside a space that knows an order or a tree."""
    base = None if space is None else space_of(space, known)
    names = known.names if base is None else base.names
    if names is None:
        if Path(spec).suffix == ".safetensors":
            names = LabelSpace.load(spec).names
        else:
            remedy = "Give --classes, --data, or --space with an order or a taxonomy."
            raise _checks.fail(OWNER, "cost", "given with the classes", f"{spec!r} alone", remedy)
    return prices(spec, names, base)


def chosen_classes(given: Sequence[str], space: LabelSpace) -> list[str]:
    """Return the classes in some arguments; one that is no class is taken apart at its commas.

    Example:
        >>> from labelspace import uniform
        >>> chosen_classes(["dog,cat", "big, red"], uniform(["cat", "dog", "big, red"]))
        ['dog', 'cat', 'big, red']
    """
    # with a comma at its end a number is a name, not a number of classes
    known = set(space.names)
    return [name for text in given for name in ([text] if text in known else class_list(f"{text},"))]


@contextmanager
def noted() -> Iterator[None]:
    """Print warnings as notes, one a line, on stderr."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for note in found:
        errors.print(f"note: {in_one_line(note.message)}", style="yellow", soft_wrap=True)
