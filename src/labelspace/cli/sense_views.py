"""What WordNet took each class for, on a terminal: its sense, the nearest other class, and what is doubtful first."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import torch

from labelspace.cli.label_views import shortened
from labelspace.space import LabelSpace

LONGEST_MEANING = 60
HEADING = "senses, doubtful ones (?) first; --senses NAME=SENSE chooses another"
UNSAID = ("exact", "plural", "variant", "part", "head word")  # the rule that found it is told where it is doubtful


@dataclass(frozen=True)
class Sense:
    """The sense of one class.

    Args:
        name: of the class.
        synset: such as ``saw.n.02``; None where there is no noun.
        means: its words and what is above it.
        how: which rule found it.
        nearest: the class with the fewest steps to it, if any can be reached.
        steps: to that class.
        doubt: why the sense is doubtful; empty where it is not.
        rather: the sense that may be meant instead, if one is known.
    """

    name: str
    synset: str | None
    means: str
    how: str
    nearest: str | None
    steps: int | None
    doubt: str
    rather: str | None

    def to_json(self) -> dict[str, object]:
        """Return it as plain JSON data."""
        return asdict(self)


def senses_of(space: LabelSpace, chosen: Sequence[str]) -> list[Sense]:
    """Return the senses of some classes of a WordNet space, doubtful ones first; none for other spaces."""
    if space.source.get("builder") != "wordnet":
        return []
    senses, doubtful = (_facts(space.source.get(key)) for key in ("senses", "doubtful"))
    found = [_sense(space, name, _facts(senses.get(name)), _facts(doubtful.get(name))) for name in chosen]
    return sorted(found, key=lambda sense: (not sense.doubt, sense.synset is not None))


def _sense(space: LabelSpace, name: str, sense: Mapping[str, object], doubt: Mapping[str, object]) -> Sense:
    def text(facts: Mapping[str, object], key: str) -> str:
        return str(facts.get(key) or "")

    nearest, steps = _nearest(space, name)
    return Sense(
        name=name,
        synset=text(sense, "synset") or None,
        means=text(sense, "means"),
        how=text(sense, "how"),
        nearest=nearest,
        steps=steps,
        doubt=text(doubt, "why"),
        rather=text(doubt, "rather") or None,
    )


def _nearest(space: LabelSpace, name: str) -> tuple[str | None, int | None]:
    if space.hops is None:
        return None, None
    own = space.index(name)
    steps = space.hops[own].clone()
    steps[own] = -1
    reached = (steps >= 0).nonzero().flatten()
    if not len(reached):
        return None, None
    place = int(reached[torch.argmin(steps[reached])])
    return space.names[place], int(steps[place])


def sense_lines(senses: Sequence[Sense]) -> list[str]:
    """Return a line for each class, and one below it where it is doubtful.

    Example:
        >>> from labelspace import wordnet
        >>> space = wordnet(["saw", "hammer", "drill"], senses={"hammer": "hammer.n.02"})
        >>> print(*sense_lines(senses_of(space, space.names)), sep=chr(10))
        <BLANKLINE>
        senses, doubtful ones (?) first; --senses NAME=SENSE chooses another
        ? saw     proverb.n.01  proverb, adage, byword: saying › speech  → drill (14 steps)
                  ? saw.n.02 (saw: hand tool › tool) is nearer to the other classes
          hammer  hammer.n.02   hammer: hand tool › tool (given)         → drill (3 steps)
          drill   drill.n.01    drill: tool › implement                  → hammer (3 steps)
    """
    if not senses:
        return []
    cells = [(shortened(sense.name), sense.synset or "–", _means(sense)) for sense in senses]
    first, second, third = (max(len(row[column]) for row in cells) for column in range(3))
    lines = ["", HEADING]
    for sense, (name, synset, means) in zip(senses, cells, strict=True):
        near = "" if sense.nearest is None else f"→ {shortened(sense.nearest)} ({_counted(sense.steps)})"
        mark = "?" if sense.doubt else " "
        lines.append(f"{mark} {name:<{first}}  {synset:<{second}}  {means:<{third}}  {near}".rstrip())
        lines += [f"  {'':<{first}}  ? {sense.doubt}"] if sense.doubt else []
    return lines


def _means(sense: Sense) -> str:
    how = "" if not sense.how or sense.how in UNSAID else f" ({sense.how})"
    return shortened(sense.means, LONGEST_MEANING) + how


def _counted(steps: int | None) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"


def _facts(value: object) -> Mapping[str, object]:
    """Return facts of a source, which may say anything."""
    return value if isinstance(value, Mapping) else {}
