"""Every method by its name: a class with a ``name`` in a module of this folder, and what people register."""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache

import labelspace.criteria as folder
from labelspace import _checks
from labelspace._plugins import Plugins
from labelspace.criteria.base import Criterion, Labels

Factory = Callable[..., Criterion]


def methods() -> tuple[str, ...]:
    """Return the names of all methods, in alphabetical order: ours, registered ones, and those of installed packages.

    Example:
        >>> "lls" in methods()
        True
    """
    return tuple(sorted({*_classes(), *PLUGINS.names()}))


def register_method(kind: type[Criterion]) -> type[Criterion]:
    """Make a method of your own known by its ``name``, to commands of this process too; may be used as a decorator.

    Packages do without: an entry point of the group ``labelspace.methods`` names the class.

    Args:
        kind: a subclass of ``Criterion`` with everything that it declares.

    Example:
        >>> class Mine(criterion_class("uniform").__mro__[1]):  # Criterion
        ...     name = "mine"
        >>> register_method(Mine)
        Traceback (most recent call last):
        labelspace._checks.InputTypeError: `kind` of register_method must be a finished class. Got Mine without \
class_axes, scope, example, label_space, terms.
    """
    PLUGINS.add("register_method", _checked(kind).name, kind)
    return kind


def method_name(method: object) -> str:
    """Return the name of a method that may be given as a class or factory; those without a name get one.

    Args:
        method: a name; a subclass of ``Criterion``; or a factory that is called as ``factory(labels, **options)``, a
            ``functools.partial`` of such a class or a function that says in its return type which one it makes.
    """
    if isinstance(method, str):
        return method
    kind = _kind(method)
    if kind is method:
        ours = _classes().get(kind.name)
        return kind.name if ours is kind else PLUGINS.add("train", kind.name, kind)
    return PLUGINS.give("train", method, kind.name)


def criterion_class(name: str) -> type[Criterion]:
    """Return the class of a method."""
    ours = _classes()
    if name in ours:
        return ours[name]
    found = PLUGINS.find(name) if isinstance(name, str) else None
    if found is None:
        _checks.choice("make_criterion", "name", name, methods())
        raise AssertionError("a name of the list is found")
    return _kind(found.content)


def method_summary(name: str) -> str:
    """Return what a method says of itself in one line; nothing where it says nothing.

    Example:
        >>> method_summary("uniform")
        'Cross-entropy with mass spread evenly over all classes: ``T = (1−ε)·I + ε/K``.'
    """
    return next(iter((criterion_class(name).__doc__ or "").splitlines()), "")


def make_criterion(name: str, labels: Labels, **options: object) -> Criterion:
    """Build a criterion by its registry name.

    Args:
        name: one of ``methods()``.
        labels: a number of classes, their names, or a LabelSpace (which semantic, mixed, infogain and static need).
        options: the method's own keyword arguments.

    Example:
        >>> make_criterion("uniform", 10, smoothing=0.2).output_dim
        10
    """
    kind: Factory = criterion_class(name)
    found = PLUGINS.find(name)
    build = kind if found is None else found.content
    known = inspect.signature(kind).parameters
    for option in options:
        _checks.choice(f"make_criterion({name!r})", "option name", option, [key for key in known if key != "labels"])
    made = build(labels, **options)
    if not isinstance(made, Criterion):
        raise _checks.fail_type("make_criterion", "name", "a factory of criteria", f"{name!r}, which makes {made!r}")
    return made


@cache  # looking through the folder takes longer than building most criteria
def _classes() -> dict[str, type[Criterion]]:
    found: dict[str, type[Criterion]] = {}
    for module in pkgutil.iter_modules(folder.__path__):
        members = vars(importlib.import_module(f"{folder.__name__}.{module.name}")).values()
        for member in members:
            if inspect.isclass(member) and issubclass(member, Criterion) and "name" in vars(member):
                found[member.name] = member
    return found


PLUGINS = Plugins("labelspace.methods", "method", lambda name: name in _classes())


def _kind(method: object) -> type[Criterion]:
    """Return the class whose criteria a factory makes: it holds the facts about the method."""
    if inspect.isclass(method) and issubclass(method, Criterion):
        return _checked(method)
    if isinstance(method, functools.partial):
        return _kind(method.func)
    made = inspect.signature(method).return_annotation if inspect.isfunction(method) else None
    if inspect.isclass(made) and issubclass(made, Criterion) and made is not Criterion:
        return _checked(made)
    expected = "a name, a subclass of Criterion, or a factory of such criteria"
    remedy = "Say in a function's return type which class it makes: def mine(labels, **options) -> MyCriterion."
    raise _checks.fail_type("train", "method", expected, repr(method), remedy)


def _checked(kind: object) -> type[Criterion]:
    if not inspect.isclass(kind) or not issubclass(kind, Criterion):
        raise _checks.fail_type("register_method", "kind", "a subclass of labelspace.Criterion", repr(kind))
    declared = [fact for fact in ("name", "class_axes", "scope") if not hasattr(kind, fact)]
    absent = [*declared, *sorted(kind.__abstractmethods__)]
    if absent:
        got = f"{kind.__name__} without {', '.join(absent)}"
        raise _checks.fail_type("register_method", "kind", "a finished class", got)
    return kind
