"""Finds every method by its file: a class with a ``name`` in a module of this folder is registered."""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any

import labelspace.criteria as folder
from labelspace import _checks
from labelspace.criteria.base import Criterion, Labels


def methods() -> tuple[str, ...]:
    """Return the registry names of all methods, in alphabetical order.

    Example:
        >>> "lls" in methods()
        True
    """
    return tuple(sorted(_classes()))


def criterion_class(name: str) -> type[Criterion]:
    """Return the class of a method."""
    classes = _classes()
    return classes[_checks.choice("make_criterion", "name", name, sorted(classes))]


def make_criterion(name: str, labels: Labels, **options: Any) -> Criterion:
    """Build a criterion by its registry name.

    Args:
        name: one of ``methods()``.
        labels: a number of classes, their names, or a LabelSpace (which semantic, mixed, infogain and static need).
        options: the method's own keyword arguments.

    Example:
        >>> make_criterion("uniform", 10, smoothing=0.2).output_dim
        10
    """
    kind = criterion_class(name)
    known = inspect.signature(kind).parameters
    for option in options:
        _checks.choice(f"make_criterion({name!r})", "option name", option, [key for key in known if key != "labels"])
    return kind(labels, **options)


@cache  # looking through the folder takes longer than building most criteria
def _classes() -> dict[str, type[Criterion]]:
    found: dict[str, type[Criterion]] = {}
    for module in pkgutil.iter_modules(folder.__path__):
        members = vars(importlib.import_module(f"{folder.__name__}.{module.name}")).values()
        for member in members:
            if inspect.isclass(member) and issubclass(member, Criterion) and "name" in vars(member):
                found[member.name] = member
    return found
