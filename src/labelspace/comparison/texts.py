"""Texts and tokens to look at: translations side by side, and which learned labels lie near each other."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

from labelspace.comparison.judging import Trained
from labelspace.criteria import criterion_class
from labelspace.data.dataset import Dataset
from labelspace.data.vocabulary import SPACE, SPECIAL
from labelspace.results import Neighbourhood, Neighbours, Row, Translation

SHOWN = 10  # texts
LONGEST = 500  # characters of one
TOKENS, NEAREST = 20, 5


def side_by_side(trained: Sequence[Trained], dataset: Dataset) -> tuple[Translation, ...]:
    """Return the test texts of which the rows' first seeds made the most different things, in the order of the data.

    Nobody looks at the answers: a choice by them would show where one row shines.
    """
    made = [each.runs[0].translations["test"] for each in trained]
    sources, answers = dataset.test.text, dataset.test.answers
    assert sources is not None
    assert answers is not None
    apart = [_apart(texts) for texts in zip(*made, strict=True)]
    order = sorted(range(len(apart)), key=lambda place: -apart[place])
    return tuple(
        Translation(
            source=_cut(sources[place]), answer=_cut(answers[place]), rows=tuple(_cut(texts[place]) for texts in made)
        )
        for place in sorted(order[:SHOWN])
    )


def _apart(texts: Sequence[str]) -> float:
    """Return how much texts differ, on average over all pairs: the share of pairs of letters that only one has."""
    counts = [Counter(first + second for first, second in pairwise(text)) for text in texts]
    shares = [1 - (a & b).total() / max((a | b).total(), 1) for a, b in combinations(counts, 2)]
    return sum(shares) / max(len(shares), 1)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def neighbourhood(trained: Sequence[Trained], rows: Sequence[Row]) -> Neighbourhood | None:
    """Return frequent tokens with the ones nearest to them in the winner's labels, or in the first that were learned.

    Tokens without a letter say little and are left out.
    """
    pairs = sorted(zip(trained, rows, strict=True), key=lambda pair: not pair[1].winner)
    learned = [each for each, _ in pairs if criterion_class(each.entry.method).label_parameters]
    if not learned:
        return None
    space = learned[0].runs[0].space
    # by their ids: the most frequent first, but for the special ones
    own = space.names[len(SPECIAL) :]
    begins = any(name.startswith(SPACE) for name in own)  # where some do, the others are parts of words
    words = [name for name in own if any(map(str.isalpha, name)) and (name.startswith(SPACE) or not begins)]
    found = [(word, space.nearest(word, NEAREST + len(SPECIAL))) for word in words[:TOKENS]]
    listed = [
        Neighbours(name=_spoken(word, begins), nearest=_nearest([name for name, _ in near], begins))
        for word, near in found
    ]
    return Neighbourhood(label=learned[0].entry.label, rows=tuple(listed)) if listed else None


def _nearest(names: Sequence[str], begins: bool) -> tuple[str, ...]:
    return tuple(_spoken(name, begins) for name in names if name not in SPECIAL)[:NEAREST]


def _spoken(token: str, begins: bool) -> str:
    """Return a token as a page shows it: a part of a word that does not begin one has a dot before it."""
    shown = token.replace(SPACE, "") or token
    return shown if token.startswith(SPACE) or not begins else f"·{shown}"
