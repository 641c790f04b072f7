"""A taxonomy from a file, recognised by looking at it: lines, tables, or JSON and YAML in which groups hold groups."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from labelspace import _checks
from labelspace._packages import optional
from labelspace._tables import read_text, table
from labelspace.sources.tree import DEEPEST
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER
from labelspace.spec.places import Place, pair_places, table_places, tree_of

SPACED_ARROW = re.compile(r"\s+(?:>|->|→)\s+")
ARROW = re.compile(r"->|>|→")
# an alias in YAML can repeat a part that repeats another: a short file may unfold without end
MOST_NODES = 200_000
NESTED = 'nested groups of names, as in {"pets": ["cat", "dog"]}'
YAML_LINE = re.compile(r"- .*|[^#\s].*:(?:\s*[\[{].*)?")


def taxonomy(path: str | Path, names: Sequence[str] | None = None) -> LabelSpace:
    r"""Return the tree in a file, its classes in the order of ``names``; the form of the file is found by looking.

    Forms: lines such as ``Apparel > Shoes > Boots`` (those that start with # are comments); a table of child,parent
    or with one column per level, with or without a header; JSON or YAML in which groups hold groups or lists of
    classes. Branches may end at different depths. Every class must have one place, and every leaf must be a class.

    Args:
        path: the file.
        names: the classes of the data; by default all leaves, in the order of the file.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "clothes.txt"
        >>> _ = file.write_text("Shoes > Boots\nShoes > Sandals\nBags > Totes > Beach bag")
        >>> taxonomy(file, ["Beach bag", "Boots", "Sandals"]).hops.tolist()
        [[0, 5, 5], [5, 0, 2], [5, 2, 0]]
    """
    file = Path(path)
    text = read_text("space", file)
    try:
        space = tree_of(_places(file, text, names), names)
    except _checks.InputError as error:
        raise error.about(file=file.name) from error
    return LabelSpace(space.names, space.matrix, space.kind, {**space.source, "file": file.name}, space.hops)


def _places(file: Path, text: str, names: Sequence[str] | None) -> list[Place]:
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    written = [(number, line) for number, line in lines if line and not line.startswith("#")]
    ending = file.suffix.lower()
    if ending == ".json" or (text.lstrip()[0] in "{[" and ending not in (".yaml", ".yml", ".csv", ".tsv")):
        return _json_places(text)
    if ending in (".yaml", ".yml"):
        return _yaml_places(text)
    # a few lines may be a class without a group, or a name with an arrow in a table
    if 2 * sum(_is_path(line) for _, line in written) >= len(written) > 0:
        return [_line_place(number, line) for number, line in written]
    if ending not in (".csv", ".tsv") and any(YAML_LINE.fullmatch(line) for _, line in written):
        return _yaml_places(text)
    return table_places(table("space", file, text)[0], names)


def _is_path(line: str) -> bool:
    """Return whether a line is a path: ``>50K,income`` and ``income,>50K`` are rows of a table."""
    parts = _split(line)
    in_table = SPACED_ARROW.search(line) is None and re.search(r"[,;\t]\s*>", line) is not None
    return len(parts) > 1 and all(parts) and not in_table


def _line_place(number: int, line: str) -> Place:
    parts = _split(line)
    if not all(parts):
        remedy = "Write lines such as 'Apparel > Shoes > Boots'."
        raise _checks.fail(OWNER, "space", "a taxonomy without empty names", f"{line!r} in line {number}", remedy)
    return Place(tuple(parts), f"line {number}")


def _split(line: str) -> list[str]:
    # blanks around the arrows leave names such as ">50K" whole
    return [part.strip() for part in (SPACED_ARROW if SPACED_ARROW.search(line) else ARROW).split(line)]


class Members(list[tuple[Any, Any]]):
    """An object's names and values, as written: a name that comes twice is kept twice."""


def _json_places(text: str) -> list[Place]:
    """Return the places in JSON: objects and lists, ``{"cat": "pet", …}``, or ``{"name": …, "children": […]}``."""
    try:
        content = json.loads(text, object_pairs_hook=Members, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise _checks.fail(OWNER, "space", "a taxonomy in sound JSON", str(error) or "too many levels") from error
    return _nested_places(content)


def _yaml_places(text: str) -> list[Place]:
    """Return the places in YAML; every name is text, also ``no`` and ``1``."""
    yaml = optional("A taxonomy in YAML (JSON and 'GROUP > class' do without)", "yaml", "compare")
    try:
        # composed, not loaded: nothing is constructed, and names stay as they are written
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return _nested_places(_plain(yaml, node, [0], 0))
    except (yaml.YAMLError, RecursionError) as error:
        got = " ".join(str(error).split()) or "too many levels"
        raise _checks.fail(OWNER, "space", "a taxonomy in sound YAML", got) from error


def _plain(yaml: ModuleType, node: Any, count: list[int], depth: int) -> object:
    count[0] += 1
    if count[0] > MOST_NODES or depth > DEEPEST:
        raise _too_large()
    if isinstance(node, yaml.MappingNode):
        pairs = [[_plain(yaml, part, count, depth + 1) for part in pair] for pair in node.value]
        return Members((key, value) for key, value in pairs)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(yaml, part, count, depth + 1) for part in node.value]
    # an empty value (a class without anything below it) is null, while "null" in quotation marks is a name
    return None if node is None or node.tag == "tag:yaml.org,2002:null" else node.value


def _nested_places(content: object) -> list[Place]:
    if isinstance(content, Members) and _is_parent_map(content):
        return pair_places([(_name(child, ()), (parent or "").strip(), "") for child, parent in content])
    return [Place(path, "") for path in _paths(content, (), 0)]


def _is_parent_map(content: Members) -> bool:
    """Return whether an object gives the parent of each name: all its values are names."""
    if _named_node(content) is not None:
        return False
    values = [value for _, value in content]
    return any(values) and all(value is None or isinstance(value, str) for value in values)


def _paths(node: object, above: tuple[str, ...], depth: int) -> list[tuple[str, ...]]:
    if depth > DEEPEST:
        raise _too_large()
    if isinstance(node, Members):
        named = _named_node(node)
        if named is not None:
            return _below(*named, above, depth)
        return [path for name, children in node for path in _below(name, children, above, depth)]
    if isinstance(node, list):
        return [path for child in node for path in _paths(child, above, depth + 1)]
    return [(*above, _name(node, above))]


def _below(name: object, children: object, above: tuple[str, ...], depth: int) -> list[tuple[str, ...]]:
    path = (*above, _name(name, above))
    # {"cat": null}, {"cat": {}} and {"cat": []} are a class
    return [path] if children is None or children == [] else _paths(children, path, depth + 1)


def _named_node(node: Members) -> tuple[object, object] | None:
    """Return name and children of ``{"name": "pets", "children": […]}``, the form of many drawing libraries."""
    members = {key: value for key, value in node if isinstance(key, str)}
    children = members.get("children")
    if isinstance(members.get("name"), str) and ("children" not in members or isinstance(children, list)):
        return (members["name"], children) if "children" in members or len(members) == 1 else None
    return None


def _name(value: object, above: Sequence[str]) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    got = f"{value!r} under {above[-1]!r}" if above else repr(value)
    raise _checks.fail(OWNER, "space", NESTED, got, "Put names in quotation marks.")


def _too_large() -> ValueError:
    expected = f"a taxonomy of at most {DEEPEST} levels and {MOST_NODES:,} nodes"
    return _checks.fail(OWNER, "space", expected, "more")
