"""Senses of WordNet as people write them: ``saw=saw.n.02``, or a file of such lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from labelspace import _checks
from labelspace._cells import names_in
from labelspace._tables import is_there, read_text
from labelspace.spec.naming import OWNER

WORD = "wordnet"
PREFIX = f"{WORD}:"
EXPECTED = "NAME=SENSE, as in saw=saw.n.02, or a file of such lines"


def senses_in(items: Sequence[str]) -> dict[str, str]:
    """Return the sense of each name in some texts ``NAME=SENSE`` and files of such lines, # before comments.

    A class name may hold the sign itself: the last one counts. A name that comes twice must have one sense.

    Example:
        >>> senses_in(["saw=saw.n.02", "crane = crane.n.05"])
        {'saw': 'saw.n.02', 'crane': 'crane.n.05'}
    """
    found: dict[str, str] = {}
    for item in items:
        path = Path(item).expanduser()
        for text, place in _lines(path) if is_there(path) else [(item, "" if "=" in item else ", which is no file")]:
            name, sense = _pair(text, place)
            if found.setdefault(name, sense) != sense:
                got = f"{found[name]!r} and {sense!r} for {name!r}{place}"
                raise _checks.fail(OWNER, "senses", "one sense for each name", got, "Keep one of them.")
    return found


def with_senses(space: str | None, items: Sequence[str]) -> str | None:
    """Return the text of a WordNet space with senses in it, which ``named`` reads; without senses the space itself.

    Example:
        >>> with_senses("wordnet", ["saw=saw.n.02"])
        'wordnet:saw=saw.n.02'
    """
    if not items:
        return space
    if space is None or (space.strip() != WORD and not space.strip().startswith(PREFIX)):
        got = "no space" if space is None else f"the space {space!r}"
        raise _checks.fail(OWNER, "senses", "given with the space 'wordnet'", got, "Other spaces have no senses.")
    before = names_in(OWNER, "senses", space.strip().removeprefix(WORD).removeprefix(":"))
    return PREFIX + written(senses_in([*before, *items]))


def written(senses: Mapping[str, str]) -> str:
    """Return senses in one line; quotation marks keep the commas of a name.

    Example:
        >>> written({"saw": "saw.n.02", "tench, Tinca": "tench.n.01"})
        'saw=saw.n.02,"tench, Tinca=tench.n.01"'
    """
    pairs = [f"{name}={sense}" for name, sense in senses.items()]
    quoted = ['"' + pair.replace('"', '""') + '"' if "," in pair or '"' in pair else pair for pair in pairs]
    return ",".join(quoted)


def _lines(path: Path) -> list[tuple[str, str]]:
    lines = [(line.strip(), number) for number, line in enumerate(read_text("senses", path).split("\n"), 1)]
    found = [(line, f" ({path.name}, line {number})") for line, number in lines if line and not line.startswith("#")]
    if not found:
        raise _checks.fail(OWNER, "senses", EXPECTED, f"{path.name}, which has none")
    return found


def _pair(text: str, place: str) -> tuple[str, str]:
    name, equals, sense = (part.strip() for part in text.rpartition("="))
    if not (name and equals and sense):
        raise _checks.fail(OWNER, "senses", EXPECTED, f"{text[:80]!r}{place}")
    return name, sense
