"""What was found out about the columns of a table, in sentences that name them and say what to do."""

from collections.abc import Sequence

from labelspace import _checks
from labelspace.data.source import Source
from labelspace.data.splits import Say, alike_by_chance, in_both_forms

SHOWN = 8
# guesses of a label that surprise nobody
BY_NAME, BY_CLASSES = "by its name", "as it says which classes it holds"
CLEAR = (None, BY_NAME, BY_CLASSES)


def on_load(source: Source, say: Say = in_both_forms) -> list[str]:
    """Return what is to be said of a table whenever it is read.

    Args:
        source: of the dataset.
        say: how settings that would help are written.

    Example:
        >>> on_load({"index": {"": "0 … 59"}})
        ['The first column has no name and numbers the rows (0 … 59): it is left out.']
    """
    said = [
        f"{_called(name)} numbers the rows ({held}): it is left out." for name, held in source.get("index", {}).items()
    ]
    if source.get("guessed") not in CLEAR:
        said.append(_guess(source, say))
    bare = source.get("rows without a label", 0)
    if bare:
        label = source["options"]["label"]
        said.append(f"{bare} rows have no label in {label!r} (an empty cell, NA or null): they are left out.")
    unused = source.get("unused", [])
    if unused:
        text, ignore = source["options"]["text"], say(_checks.Setting("ignore", unused))
        said.append(f"Only the text {text!r} is learned from, not {_listed(unused)}; {ignore} says that it is meant.")
    for name in source.get("identifiers", []):
        ignore = say(_checks.Setting("ignore", [name]))
        said.append(
            f"{name!r} is different in every row, as names and numbers of rows are: leave it out with {ignore}."
        )
    return said


def notes(source: Source, say: Say = in_both_forms) -> list[str]:
    """Return what is to be said of a table by those who look at it, also where nobody needs to act."""
    said = [_guess(source, say)] if source.get("guessed") in CLEAR[1:] else []
    said += on_load(source, say)
    for part, counts in source.get("leakage", {}).items():
        if counts.get("rows") and alike_by_chance(source, part):
            said.append(
                f"{counts['rows']} of the {counts['of']} {part} samples equal an earlier one, because the columns are "
                "so coarse that few different rows are possible: that is no leakage."
            )
    return said


def _guess(source: Source, say: Say) -> str:
    label = source["options"]["label"]
    given = say(_checks.Setting("label", label))
    return f"{label!r} is taken for the label, {source['guessed']}; {given} says so."


def _called(name: str) -> str:
    return f"The column {name!r}" if name.strip() else "The first column has no name and"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
