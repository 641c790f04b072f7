"""Classes in groups: mass is shared inside a group only; and groupings that papers used, by name."""

import warnings
from collections.abc import Mapping, Sequence

import torch

from labelspace import _checks
from labelspace.compressed import GroupRows, fits
from labelspace.space import LabelSpace, kept_mass

Grouping = Mapping[str, Sequence[str]]

# Table 1 of "Embedding semantic relationships in hidden representations via label smoothing". The first three were
# drawn at random; the last is the semantic one, which the text calls grouping_3 and the table grouping_4.
CIFAR10: tuple[Grouping, ...] = (
    {
        "cluster 1": ("frog", "truck", "airplane"),
        "cluster 2": ("cat", "dog", "deer"),
        "cluster 3": ("ship", "bird"),
        "cluster 4": ("horse", "automobile"),
    },
    {
        "cluster 1": ("bird", "automobile", "deer"),
        "cluster 2": ("airplane", "frog", "ship"),
        "cluster 3": ("truck", "horse"),
        "cluster 4": ("dog", "cat"),
    },
    {
        "cluster 1": ("airplane", "automobile", "ship"),
        "cluster 2": ("deer", "cat", "truck"),
        "cluster 3": ("frog", "horse"),
        "cluster 4": ("bird", "dog"),
    },
    {
        "mass transport": ("airplane", "ship", "truck"),
        "personal transport": ("automobile", "horse"),
        "domestic animals": ("cat", "dog"),
        "other animals": ("bird", "deer", "frog"),
    },
)
GROUPINGS: Mapping[str, Grouping] = {
    **{f"cifar10-{number}": grouping for number, grouping in enumerate(CIFAR10)},
    "cifar10-4": CIFAR10[3],
    "cifar10-semantic": CIFAR10[3],
}


Members = Sequence[str] | Sequence[int]


def groups(
    groups: Mapping[str, Members] | Sequence[Members] | str, classes: int | Sequence[str] | None = None
) -> LabelSpace:
    """Return relations for grouped classes: ``A_ij = 1/(n−1)`` inside a group of ``n``, else 0.

    No mass leaves a group; a taxonomy (``tree``) lets some of it go everywhere. More than 8,192 classes are compressed.

    Args:
        groups: ``{"pets": ["cat", "dog"], …}`` or a list of lists, members being names or class indices; or the name
            of a published grouping of CIFAR-10: ``"cifar10-0"``, ``"cifar10-1"``, ``"cifar10-2"`` and
            ``"cifar10-3"``, which is the semantic one (``"cifar10-semantic"``, in Table 1 ``"cifar10-4"``).
        classes: all classes in order, to fix their order and to check that none was left out. By default the
            members in the order of the groups (indices: in the order of numbers; names of a published grouping: of
            the alphabet, as in CIFAR-10).

    Example:
        >>> groups({"pets": ["cat", "dog"], "vehicles": ["car", "bus", "tram"]}).nearest("cat", k=2)
        [('dog', 1.0), ('car', 0.0)]
        >>> groups("cifar10-semantic").nearest("ship", k=3)
        [('airplane', 0.5), ('truck', 0.5), ('automobile', 0.0)]

    Reference:
        "Embedding semantic relationships in hidden representations via label smoothing",
        eq. (4) and Table 1.
    """
    if isinstance(groups, str):
        published = GROUPINGS[_checks.choice("groups", "groups", groups, GROUPINGS)]
        everyone = sorted(name for members in published.values() for name in members)
        groups, classes = published, everyone if classes is None else classes
    named = _named(groups)
    indexed = any(isinstance(member, int) for members in named.values() for member in members)
    names = _names(named, indexed, classes)
    written = [member for members in named.values() for member in members if isinstance(member, str)]
    _checks.known_names("groups", "groups", written, names)  # all at once: one by one would take K² steps
    group_of = _assign(named, names)
    missing = [name for name in names if name not in group_of]
    if missing:
        remedy = "Add it to a group; a group of one is allowed."
        raise _checks.fail("groups", "groups", "a group for every class", f"none for {missing[0]!r}", remedy)
    codes = torch.tensor([group_of[name] for name in names])
    for label, members in named.items():
        if len(members) == 1:
            warnings.warn(f"Group {label!r} has one class, {members[0]!r}: it stays one-hot.", stacklevel=2)
    source = {"builder": "groups", "groups": {k: [_name(m, names) for m in v] for k, v in named.items()}}
    if not fits(len(names)):
        return LabelSpace(names, GroupRows(codes), "relations", source)
    weights = (codes[:, None] == codes[None, :]).double().fill_diagonal_(0)
    return LabelSpace(names, kept_mass(weights), "relations", source)


def _named(groups: object) -> dict[str, list[str | int]]:
    if isinstance(groups, Mapping):
        pairs = [(str(label), members) for label, members in groups.items()]
    elif isinstance(groups, Sequence) and not isinstance(groups, str):
        pairs = [(f"group {number}", members) for number, members in enumerate(groups)]
    else:
        raise _checks.fail_type("groups", "groups", "a dict or a list of groups", repr(groups))
    for label, members in pairs:
        if isinstance(members, str) or not isinstance(members, Sequence) or not members:
            expected = "non-empty lists of class names or indices"
            raise _checks.fail_type("groups", "groups", expected, f"{members!r} for {label!r}")
    if not pairs:
        raise _checks.fail("groups", "groups", "at least one group", "none")
    return {label: list(members) for label, members in pairs}


def _names(
    named: Mapping[str, Sequence[str | int]], indexed: bool, classes: int | Sequence[str] | None
) -> tuple[str, ...]:
    if classes is not None:
        return _checks.class_names("groups", classes)
    members = [member for group in named.values() for member in group]
    if not indexed:
        return tuple(dict.fromkeys(str(member) for member in members))
    if not all(isinstance(member, int) and member >= 0 for member in members):
        raise _checks.fail_type("groups", "groups", "all names or all indices", "both, or a negative index")
    return _checks.class_names("groups", max(int(member) for member in members) + 1)


def _name(member: str | int, names: Sequence[str]) -> str:
    if isinstance(member, str):
        return member
    if not 0 <= member < len(names):
        raise _checks.fail("groups", "groups", f"indices below {len(names)}", member)
    return names[member]


def _assign(named: Mapping[str, Sequence[str | int]], names: Sequence[str]) -> dict[str, int]:
    group_of: dict[str, int] = {}
    labels = list(named)
    for code, (label, members) in enumerate(named.items()):
        for member in members:
            name = _name(member, names)
            if name in group_of:
                got = f"{name!r} in {labels[group_of[name]]!r} and {label!r}"
                raise _checks.fail("groups", "groups", "disjoint", got, "Leave it in one of them.")
            group_of[name] = code
    return group_of
