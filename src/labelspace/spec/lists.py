"""Orders and groups as Python holds them: a list of names, lists of names, a dict of such lists."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Real

from labelspace import _checks
from labelspace.spec.naming import OWNER

Lists = Sequence[object] | Mapping[str, Sequence[object]]
EXPECTED = "an order (a list of names, lowest first) or groups (lists of names, or a dict of them)"


def in_lists(spec: object) -> list[str] | dict[str, list[str]]:
    """Return an order as a list of names, groups as a dict of such lists.

    Args:
        spec: a list, tuple or array of names (numbers do as well) or of such lists; a dict of such lists.

    Example:
        >>> in_lists(["low", "high"]), in_lists([["cat", "dog"], ["car"]])
        (['low', 'high'], {'group 1': ['cat', 'dog'], 'group 2': ['car']})
    """
    if isinstance(spec, Mapping):
        return {str(label): _members(label, members) for label, members in spec.items()}
    given = _listed(spec)
    if isinstance(spec, AbstractSet):
        raise _refused("a set", "A set has no order: give a list.")
    if given is None:
        raise _checks.fail_type(OWNER, "space", EXPECTED, type(spec).__name__)
    if not given:
        raise _refused("an empty list")
    inner = [_listed(part) for part in given]
    if all(part is None for part in inner):
        return [_name(part) for part in given]
    alone = next((part for part, members in zip(given, inner, strict=True) if members is None), None)
    if alone is not None:
        raise _refused(f"{alone!r} beside a list", "A group of one is a list, too.")
    return {f"group {number}": _members(f"group {number}", members) for number, members in enumerate(inner, 1)}


def _members(label: object, given: object) -> list[str]:
    members = _listed(given)
    if members is None:
        raise _refused(f"{given!r} for {label!r}", "labelspace.tree() makes a space of parents.")
    if not members:
        raise _refused(f"an empty list as {label}")
    if any(_listed(member) is not None or isinstance(member, Mapping) for member in members):
        raise _refused("a list inside a group", "labelspace.tree() makes a space of more levels.")
    return [_name(member) for member in members]


def _listed(value: object) -> list[object] | None:
    """Return the members of a list, a tuple or an array of one dimension and more; None for anything else."""
    if not isinstance(value, str) and hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, list | tuple) else None


def _name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | Real):
        raise _refused(repr(value))
    return str(value)


def _refused(got: str, remedy: str = "") -> ValueError:
    return _checks.fail(OWNER, "space", EXPECTED, got, remedy)
