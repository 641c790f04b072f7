"""Groups of classes as people write them: lines ``pets: cat, dog`` in a file, one line, or a published name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from labelspace import _checks
from labelspace._cells import names_in
from labelspace._tables import is_there, read_text
from labelspace.sources.groups import GROUPINGS, groups
from labelspace.sources.tree import ROOT
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER, canonical, matched, suggestion
from labelspace.spec.taxonomy import SPACED_ARROW, taxonomy

PREFIX = "groups:"
EXPECTED = "groups with every class in one of them"
EXAMPLE = "Write lines such as 'pets: cat, dog', or 'groups:cat,dog|car,bus'."
# a blank after the colon tells groups from names that hold one; YAML writes its lists in brackets or below
LINE = re.compile(r"[^\s:,;\t#-][^:,;\t]*:\s+[^\s\[{].*")
LOOSE = re.compile(r"[^\s:,;\t#-][^:,;\t]*:\s*[^\s\[{].*")
# what only YAML and JSON have: lines that are indented, items, brackets
OTHER = re.compile(r"\s|- |[\[{]|[^:]+:\s*[\[{]")
OTHER_FORMS = (".json", ".yaml", ".yml", ".csv", ".tsv")


class Line(NamedTuple):
    """The name of a group, its members, and where they are written, such as ``"line 3"``."""

    label: str
    members: list[str]
    where: str


def grouping(text: str, names: Sequence[str] | None = None) -> LabelSpace:
    """Return the groups that a text stands for, their classes in the order of ``names``.

    Args:
        text: ``cat,dog|car,bus``, in which ``pets: cat, dog | …`` gives the groups names; a published grouping such as
            ``cifar10-3``; or the path of a file: lines ``pets: cat, dog``, or a taxonomy in any form, of which the
            lowest parents are the groups.
        names: the classes of the data; by default those of the groups.

    Example:
        >>> space = grouping("cat,dog | car,bus,tram", ["bus", "car", "cat", "dog", "tram"])
        >>> space.nearest("car", k=3)
        [('bus', 0.5), ('tram', 0.5), ('cat', 0.0)]
    """
    title = text.strip()
    if title in GROUPINGS:
        own = sorted(member for members in GROUPINGS[title].values() for member in members)
        return grouped(GROUPINGS[title], own if names is None else names)
    path = Path(title).expanduser()
    if title and is_there(path):
        return _of_file(path, names)
    if "," in title or "|" in title:
        return _checked(_inline(title, names), names)
    if path.suffix or "/" in title:
        raise FileNotFoundError(f"`space` names the file {path}, which does not exist.")
    expected = f"groups: one of {', '.join(GROUPINGS)}, a file, or lists such as 'cat,dog|car,bus'"
    raise _checks.fail(OWNER, "space", expected, repr(title), suggestion(title, GROUPINGS) or EXAMPLE)


def groups_in(path: Path, names: Sequence[str] | None = None, *, loose: bool = False) -> LabelSpace | None:
    """Return the groups in a file of lines ``pets: cat, dog``, or None where it is of another form.

    Args:
        path: the file.
        names: the classes of the data; by default those of the file.
        loose: take ``pets:cat,dog`` for a group too, which without a blank might be a class of a table.
    """
    text = read_text("space", path)
    raw = [(number, line) for number, line in enumerate(text.split("\n"), 1)]
    written = [(number, line) for number, line in raw if line.strip() and not line.lstrip().startswith("#")]
    if path.suffix.lower() in OTHER_FORMS or not _are_groups([line for _, line in written], loose):
        return None
    try:
        space = _checked([_line(number, line) for number, line in written], names)
    except _checks.InputError as error:
        raise error.about(file=path.name) from error
    return LabelSpace(space.names, space.matrix, space.kind, {**space.source, "file": path.name})


def as_groups(space: LabelSpace) -> LabelSpace:
    """Return a taxonomy's lowest parents as groups: mass stays with the classes of the same parent.

    Example:
        >>> from labelspace import tree
        >>> as_groups(tree({"life": {"pets": ["cat", "dog"], "fish": ["carp", "eel"]}})).source["groups"]
        {'pets': ['cat', 'dog'], 'fish': ['carp', 'eel']}
    """
    if space.source.get("builder") == "groups":
        return space
    parents = space.source.get("parents")
    if space.source.get("builder") != "tree" or not isinstance(parents, dict):
        raise _checks.fail(OWNER, "space", "groups or a taxonomy, after 'groups:'", repr(space), EXAMPLE)
    found: dict[str, list[str]] = {}
    for name in space.names:
        # a class at the top has no group above it, and is one
        found.setdefault(name if parents[name] == ROOT else parents[name], []).append(name)
    made = groups(found, space.names)
    said = {"file": space.source["file"]} if "file" in space.source else {}
    return LabelSpace(made.names, made.matrix, made.kind, {**made.source, **said})


def grouped(members: Mapping[str, Sequence[str]], names: Sequence[str] | None = None) -> LabelSpace:
    """Return groups that were given by their members, their classes in the order of ``names``.

    Args:
        members: of each group, by its name.
        names: the classes of the data; by default those of the groups.
    """
    return _checked([Line(label, list(own), "") for label, own in members.items()], names)


def _of_file(path: Path, names: Sequence[str] | None) -> LabelSpace:
    if path.suffix == ".safetensors":
        return as_groups(LabelSpace.load(path))
    return groups_in(path, names, loose=True) or as_groups(taxonomy(path, names))


def _are_groups(lines: Sequence[str], loose: bool) -> bool:
    """Return whether lines are groups: half of them at least, so that a slip in one is told and not misread."""
    if any(OTHER.match(line) or SPACED_ARROW.search(line) for line in lines):
        return False
    form = LOOSE if loose else LINE
    return 2 * sum(form.fullmatch(line) is not None for line in lines) >= len(lines) > 0


def _line(number: int, line: str) -> Line:
    label, colon, rest = (part.strip() for part in line.partition(":"))
    members = names_in(OWNER, "space", rest)
    if not label or not colon or not members:
        raise _checks.fail(OWNER, "space", "groups, one a line", f"{line.strip()!r} in line {number}", EXAMPLE)
    return Line(label, members, f"line {number}")


def _inline(text: str, names: Sequence[str] | None) -> list[Line]:
    classes = {canonical(name) for name in names or ()}
    lines = []
    for number, part in enumerate(text.split("|"), 1):
        label, colon, rest = (piece.strip() for piece in part.partition(":"))
        whole = names_in(OWNER, "space", part)
        # a class may itself hold a colon
        named = bool(colon and label) and not (whole and canonical(whole[0]) in classes)
        members = names_in(OWNER, "space", rest) if named else whole
        if not members:
            raise _checks.fail(OWNER, "space", "groups with members", f"{text!r}, group {number} of which is empty")
        lines.append(Line(label if named else f"group {number}", members, ""))
    return lines


def _checked(lines: Sequence[Line], names: Sequence[str] | None) -> LabelSpace:
    given = [member for line in lines for member in line.members]
    where = [f"in {line.label!r}{f', {line.where}' if line.where else ''}" for line in lines for _ in line.members]
    wanted = list(dict.fromkeys(given)) if names is None else list(names)
    remedy = "Add it to a group; a group of one is allowed."
    found = iter(matched("space", EXPECTED, given, wanted, where, remedy))
    members: dict[str, list[str]] = {}
    for line in lines:
        members.setdefault(line.label, []).extend(next(found) for _ in line.members)
    return groups(members, wanted)
