"""Pairs of texts → token ids of both sides, with vocabularies that only the training part decides."""

import functools
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast, get_args

import numpy as np

from labelspace import _checks
from labelspace.criteria.targets import IGNORED
from labelspace.data import cache, digests
from labelspace.data.digests import Array, Digests
from labelspace.data.files import OWNER
from labelspace.data.found import Found, Rows, Taken, ranges
from labelspace.data.source import LimitFacts, Source, VocabularyFacts
from labelspace.data.vocabulary import END, SPECIAL, Form, Ids, Vocabulary

SIDES = ("source", "target")
# of what this file and the vocabulary make of a text: raised when the same texts would become other ids
VERSION = 1
# so many texts and more are worth a place in the cache
MANY = 5_000
# tokens of one text, its end among them: recurrent networks learn little from longer ones, and every row of the array
# is as long as the longest, so that one line that is a whole chapter would fill the memory
LONGEST: Mapping[Form, int] = {"word": 256, "subword": 256, "character": 1024}
Both = int | Sequence[int] | None


class Texts(NamedTuple):
    """The pairs of one part, the line each stands in, what the files are called, and how many pairs were dropped."""

    sides: tuple[list[str], list[str]]
    lines: list[int]
    files: tuple[str, str]
    empty: int = 0


@dataclass(frozen=True)
class Side:
    """How the texts of one side become token ids."""

    title: str
    form: Form
    size: int | None
    lowercase: bool
    longest: int
    cut: bool

    @classmethod
    def both(cls, tokens: str, vocabulary: Both, lowercase: bool, longest: Both, cut: bool | str) -> tuple["Side", ...]:
        """Return both sides, from options as people give them: one value for both, or one for each.

        Args:
            tokens: ``"word"``, ``"subword"`` or ``"character"``.
            vocabulary: the largest numbers of ids; None for what is usual for such tokens.
            lowercase: whether texts are made lower-case.
            longest: the largest numbers of tokens of a text; None for what is usual for such tokens.
            cut: whether longer texts are cut; ``"source"`` or ``"target"`` for one side alone.
        """
        form = cast(Form, _checks.choice(OWNER, "tokens", tokens, get_args(Form)))
        _checks.choice(OWNER, "cut", cut, (False, True, *SIDES))
        _checks.choice(OWNER, "lowercase", lowercase, (False, True))
        sizes = _each("vocabulary", vocabulary, len(SPECIAL) + 1)
        limits = _each("longest", longest, 2)
        return tuple(
            cls(title, form, size, lowercase, limit or LONGEST[form], cut in (True, title))
            for title, size, limit in zip(SIDES, sizes, limits, strict=True)
        )

    def limit(self) -> LimitFacts:
        """Return how long its texts may be."""
        return {"longest": self.longest, "cut": self.cut}


def found(parts: Mapping[str, Texts], sides: Sequence[Side], source: Source) -> Found:
    """Return what was found in pairs of texts; their labels and names come after the split.

    Args:
        parts: all three, ``train`` and one other, or only ``all``.
        sides: how source and target become token ids.
        source: reader, path, options and languages.
    """
    texts = [[text for part in parts.values() for text in part.sides[place]] for place in range(2)]
    own = [digests.of_texts(side) for side in texts]
    dropped = {name: part.empty for name, part in parts.items() if part.empty}
    where = [functools.partial(_where, parts, place) for place in range(2)]

    def take(order: Sequence[Rows]) -> Taken:
        source, target = (_side(*given, order) for given in zip(texts, own, sides, where, strict=True))
        vocabularies = {"source": source.vocabulary.plain(), "target": target.vocabulary.plain()}
        cuts = {side.title: made.cut for side, made in zip(sides, (source, target), strict=True) if made.cut}
        notice = source.notice or target.notice
        said: Source = {"vocabularies": vocabularies, "limits": {side.title: side.limit() for side in sides}}
        if cuts:
            said["cut"] = cuts
        if notice:
            said["cache"] = notice
        same = [own[0][rows] for rows in order]
        return Taken(
            source.parts, same, None, said, source.vocabulary.tokens, y=target.parts, names=target.vocabulary.tokens
        )

    said: Source = {**source}
    if dropped:
        said["dropped"] = dropped
    return Found(
        "sequences",
        # one class: nothing to keep in proportion when parts are split
        np.zeros(len(texts[0]), dtype=np.int64),
        ("",),
        ranges({name: len(part.lines) for name, part in parts.items()}),
        own[0],
        digests.of_values(*own),
        said,
        take,
        texts=texts[0],
        answers=texts[1],
    )


class _Made(NamedTuple):
    parts: list[Ids]
    vocabulary: Vocabulary
    cut: int
    notice: str


def _side(texts: Sequence[str], own: Digests, side: Side, where: Callable[[int], str], order: Sequence[Rows]) -> _Made:
    """Return the ids of three parts in rows of one width, and the vocabulary of the first; cached where many."""

    @functools.cache  # one computation fills two entries
    def made() -> tuple[Ids, Vocabulary, int]:
        vocabulary = Vocabulary.learn((texts[row] for row in order[0]), side.form, side.size, side.lowercase)
        rows = np.concatenate(order)
        ids, cut = _fitted(vocabulary.encode(texts[row] for row in rows), side, lambda row: where(int(rows[row])))
        return ids, vocabulary, cut

    ends = np.cumsum([len(rows) for rows in order])[:-1]
    if len(texts) < MANY:
        ids, vocabulary, cut = made()
        return _Made(_parted(ids, ends), vocabulary, cut, "")
    choices = [side.form, side.size, side.lowercase, side.longest, side.cut]
    key = digests.of_values("pairs", VERSION, unicodedata.unidata_version, own, *order, choices)
    held = cache.fetch(key, lambda: _block(made()[0].astype(np.int32)), "texts")
    facts = cache.fetch(f"{key}-vocabulary", lambda: _block(_as_bytes(made()[1].plain(), made()[2])), "texts")
    read = _from_bytes(facts.rows)
    if read is None or held.rows.shape[0] != sum(map(len, order)) or int(held.rows.max()) >= len(read[0].tokens):
        # whole in itself, but not what was put there
        ids, vocabulary, cut = made()
        return _Made(_parted(ids, ends), vocabulary, cut, "passed over, it holds ids of other texts")
    return _Made(_parted(held.rows, ends), *read, held.notice or facts.notice)


def _parted(ids: Array, ends: Rows) -> list[Ids]:
    # copies: a part that is pickled would take the array of all parts along
    return [np.array(part, dtype=np.int64) for part in np.split(ids, ends)]


def _fitted(rows: Sequence[Ids], side: Side, where: Callable[[int], str]) -> tuple[Ids, int]:
    """Return ragged rows as one array, and how many were cut; refuse longer ones where that is not asked for."""
    lengths = np.asarray([len(row) for row in rows])
    over = lengths > side.longest
    if over.any() and not side.cut:
        worst = int(lengths.argmax())
        got = f"{int(over.sum())} of {len(rows)} longer, up to {lengths[worst]} tokens in {where(worst)}"
        expected = f"at least the tokens of every {side.title} text, its end included ({side.longest})"
        remedy = ("Cut them with ", _checks.Setting("cut", True), ", or raise it: ", _checks.Setting("longest"), ".")
        raise _checks.fail(OWNER, "longest", expected, got, remedy)
    return padded(rows, side.longest), int(over.sum())


def padded(rows: Sequence[Ids], longest: int) -> Ids:
    """Return ragged rows as one array, −100 after each; those that are longer are cut, and end with ``END`` too.

    Args:
        rows: token ids of texts, at least one.
        longest: tokens of a text, its end among them.

    Example:
        >>> padded([np.array([5, 6, 7, 0]), np.array([4, 0])], 3).tolist()
        [[5, 6, 0], [4, 0, -100]]
    """
    lengths = np.asarray([len(row) for row in rows])
    over, kept = lengths > longest, np.minimum(lengths, longest)
    ids = np.full((len(rows), int(kept.max())), IGNORED, dtype=np.int64)
    ids[np.arange(ids.shape[1]) < kept[:, None]] = np.concatenate(
        [row[:longest] for row in rows] if over.any() else rows
    )
    ids[over, longest - 1 : longest] = END
    return ids


def _where(parts: Mapping[str, Texts], place: int, row: int) -> str:
    """Return the file and line of a text, and how it begins."""
    for part in parts.values():
        if row < len(part.lines):
            text = part.sides[place][row]
            return f"{part.files[place]}, line {part.lines[row]} ({text[:40] + ('…' if len(text) > 40 else '')!r})"
        row -= len(part.lines)
    raise AssertionError("a row of no part")


def _each(argument: str, value: Both, low: int) -> tuple[int | None, int | None]:
    if value is None:
        return None, None
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 2:
            raise _checks.fail(OWNER, argument, "one number, or one for source and one for target", value)
        first, second = (_checks.whole(OWNER, argument, number, low=low) for number in value)
        return first, second
    number = _checks.whole(OWNER, argument, value, low=low)
    return number, number


def _block(rows: Array) -> cache.Blocks:
    yield rows, np.ones(len(rows), dtype=bool)


def _as_bytes(vocabulary: VocabularyFacts, cut: int) -> Array:
    return np.frombuffer(json.dumps({"vocabulary": vocabulary, "cut": cut}).encode(), dtype=np.uint8)[None]


def _from_bytes(content: Array) -> tuple[Vocabulary, int] | None:
    """Return what an array of bytes holds; nothing where it is something else."""
    try:
        held = json.loads(content.tobytes())
        return Vocabulary.stored(held["vocabulary"]), int(held["cut"])
    except (ValueError, RecursionError, TypeError, KeyError):  # a damaged vocabulary is a ValueError too
        return None
