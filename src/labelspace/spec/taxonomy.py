"""A taxonomy from a file, recognised by looking at it."""

import re
from collections.abc import Sequence
from pathlib import Path

from labelspace import _checks
from labelspace._tables import read_text, table
from labelspace.space import LabelSpace
from labelspace.spec.naming import OWNER
from labelspace.spec.places import Place, tree_of
from labelspace.spec.taxonomy_nested import json_places, yaml_places
from labelspace.spec.taxonomy_tables import table_places

SPACED_ARROW = re.compile(r"\s+(?:>|->|→)\s+")
ARROW = re.compile(r"->|>|→")
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
        return json_places(text)
    if ending in (".yaml", ".yml"):
        return yaml_places(text)
    # a few lines may be a class without a group, or a name with an arrow in a table
    if 2 * sum(_is_path(line) for _, line in written) >= len(written) > 0:
        return [_line_place(number, line) for number, line in written]
    if ending not in (".csv", ".tsv") and any(YAML_LINE.fullmatch(line) for _, line in written):
        return yaml_places(text)
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
