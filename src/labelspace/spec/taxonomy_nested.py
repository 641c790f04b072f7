"""Taxonomies nested in JSON or YAML: groups hold groups or lists of classes."""

import json
from collections.abc import Sequence
from typing import Any

from labelspace import _checks
from labelspace._packages import optional
from labelspace.spec.naming import OWNER
from labelspace.spec.places import Place
from labelspace.spec.taxonomy_tables import pair_places

DEEPEST = 100
# an alias in YAML can repeat a part that repeats another: a short file may unfold without end
MOST_NODES = 200_000
EXPECTED = 'nested groups of names, as in {"pets": ["cat", "dog"]}'


class Members(list[tuple[Any, Any]]):
    """An object's names and values, as written: a name that comes twice is kept twice."""


def json_places(text: str) -> list[Place]:
    """Return the places in JSON: objects and lists, ``{"cat": "pet", …}``, or ``{"name": …, "children": […]}``."""
    try:
        content = json.loads(text, object_pairs_hook=Members, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise _checks.fail(OWNER, "space", "a taxonomy in sound JSON", str(error) or "too many levels") from error
    return _places(content)


def yaml_places(text: str) -> list[Place]:
    """Return the places in YAML; every name is text, also ``no`` and ``1``."""
    yaml = optional("A taxonomy in YAML (JSON and 'GROUP > class' do without)", "yaml", "compare")
    try:
        # composed, not loaded: nothing is constructed, and names stay as they are written
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return _places(_plain(yaml, node, [0], 0))
    except (yaml.YAMLError, RecursionError) as error:
        got = " ".join(str(error).split()) or "too many levels"
        raise _checks.fail(OWNER, "space", "a taxonomy in sound YAML", got) from error


def _plain(yaml: Any, node: Any, count: list[int], depth: int) -> Any:
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


def _places(content: Any) -> list[Place]:
    if isinstance(content, Members) and _is_parent_map(content):
        return pair_places([(_name(child, ()), (parent or "").strip(), "") for child, parent in content])
    return [Place(path, "") for path in _paths(content, (), 0)]


def _is_parent_map(content: Members) -> bool:
    """Return whether an object gives the parent of each name: all its values are names."""
    if _named_node(content) is not None:
        return False
    values = [value for _, value in content]
    return any(values) and all(value is None or isinstance(value, str) for value in values)


def _paths(node: Any, above: tuple[str, ...], depth: int) -> list[tuple[str, ...]]:
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


def _below(name: Any, children: Any, above: tuple[str, ...], depth: int) -> list[tuple[str, ...]]:
    path = (*above, _name(name, above))
    # {"cat": null}, {"cat": {}} and {"cat": []} are a class
    return [path] if children is None or children == [] else _paths(children, path, depth + 1)


def _named_node(node: Members) -> tuple[Any, Any] | None:
    """Return name and children of ``{"name": "pets", "children": […]}``, the form of many drawing libraries."""
    members = {key: value for key, value in node if isinstance(key, str)}
    children = members.get("children")
    if isinstance(members.get("name"), str) and ("children" not in members or isinstance(children, list)):
        return (members["name"], children) if "children" in members or len(members) == 1 else None
    return None


def _name(value: Any, above: Sequence[str]) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    got = f"{value!r} under {above[-1]!r}" if above else repr(value)
    raise _checks.fail(OWNER, "space", EXPECTED, got, "Put names in quotation marks.")


def _too_large() -> ValueError:
    expected = f"a taxonomy of at most {DEEPEST} levels and {MOST_NODES:,} nodes"
    return _checks.fail(OWNER, "space", expected, "more")
