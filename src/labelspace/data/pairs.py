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
from labelspace.data.source import LimitFacts, LongestFacts, Source, VocabularyFacts
from labelspace.data.vocabulary import END, SPECIAL, Form, Ids, Vocabulary

SIDES = ("source", "target")
# of what this file and the vocabulary make of a text: raised when the same texts would leave other entries
VERSION = 2
# so many texts and more are worth a place in the cache
MANY = 5_000
# tokens of one text, its end among them: recurrent networks learn little from longer ones, and every row of the array
# is as long as the longest, so that one line that is a whole chapter would fill the memory
LONGEST: Mapping[Form, int] = {"word": 256, "subword": 256, "character": 1024}
Both = int | Sequence[int] | None
Where = Callable[[int], tuple[str, int, str]]  # of a text: its file, its line and what it says


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
    where = [functools.partial(_place, parts, place) for place in range(2)]

    def take(order: Sequence[Rows]) -> Taken:
        source, target = (_side(*given, order) for given in zip(texts, own, sides, where, strict=True))
        vocabularies = {"source": source.vocabulary.plain(), "target": target.vocabulary.plain()}
        cuts = {side.title: made.cut for side, made in zip(sides, (source, target), strict=True) if made.cut}
        notice = source.notice or target.notice
        said: Source = {
            "vocabularies": vocabularies,
            "limits": {side.title: side.limit() for side in sides},
            "longest": {side.title: made.longest for side, made in zip(sides, (source, target), strict=True)},
        }
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


class _Facts(NamedTuple):
    """What is known of the texts of a side: how many are cut, and which is the longest, with its end."""

    cut: int
    row: int
    tokens: int


class _Made(NamedTuple):
    parts: list[Ids]
    vocabulary: Vocabulary
    cut: int
    longest: LongestFacts
    notice: str


def _side(texts: Sequence[str], own: Digests, side: Side, where: Where, order: Sequence[Rows]) -> _Made:
    """Return the ids of three parts in rows of one width, and the vocabulary of the first; cached where many."""
    rows = np.concatenate(order)

    @functools.cache  # one computation fills two entries
    def made() -> tuple[Ids, Vocabulary, _Facts]:
        vocabulary = Vocabulary.learn((texts[row] for row in order[0]), side.form, side.size, side.lowercase)
        ids, facts = _fitted(vocabulary.encode(texts[row] for row in rows), side, lambda row: where(int(rows[row])))
        return ids, vocabulary, facts

    def parted(ids: Array, vocabulary: Vocabulary, facts: _Facts, notice: str) -> _Made:
        # copies: a part that is pickled would take the array of all parts along
        pieces = [np.array(part, dtype=np.int64) for part in np.split(ids, ends)]
        file, line, _ = where(int(rows[facts.row]))
        return _Made(pieces, vocabulary, facts.cut, {"tokens": facts.tokens - 1, "file": file, "line": line}, notice)

    ends = np.cumsum([len(each) for each in order])[:-1]
    if len(texts) < MANY:
        return parted(*made(), "")
    choices = [side.form, side.size, side.lowercase, side.longest, side.cut]
    key = digests.of_values("pairs", VERSION, unicodedata.unidata_version, own, *order, choices)
    held = cache.fetch(key, lambda: _block(made()[0].astype(np.int32)), "texts")
    facts = cache.fetch(f"{key}-vocabulary", lambda: _block(_as_bytes(made()[1].plain(), made()[2])), "texts")
    read = _from_bytes(facts.rows, len(rows))
    if read is None or held.rows.shape[0] != len(rows) or int(held.rows.max()) >= len(read[0].tokens):
        # whole in itself, but not what was put there
        return parted(*made(), "passed over, it holds ids of other texts")
    return parted(held.rows, *read, held.notice or facts.notice)


def _fitted(rows: Sequence[Ids], side: Side, where: Where) -> tuple[Ids, _Facts]:
    """Return ragged rows as one array, and what was cut; refuse longer ones where that is not asked for."""
    lengths = np.asarray([len(row) for row in rows])
    over, worst = lengths > side.longest, int(lengths.argmax())
    if over.any() and not side.cut:
        file, line, text = where(worst)
        shown = text[:40] + ("…" if len(text) > 40 else "")
        got = (
            f"{int(over.sum())} of {len(rows)} longer, up to {lengths[worst]} tokens in {file}, line {line} ({shown!r})"
        )
        expected = f"at least the tokens of every {side.title} text, its end included ({side.longest})"
        remedy = ("Cut them with ", _checks.Setting("cut", True), ", or raise it: ", _checks.Setting("longest"), ".")
        raise _checks.fail(OWNER, "longest", expected, got, remedy)
    return padded(rows, side.longest), _Facts(int(over.sum()), worst, int(lengths[worst]))


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


def _place(parts: Mapping[str, Texts], place: int, row: int) -> tuple[str, int, str]:
    """Return the file and line of a text, and the text."""
    for part in parts.values():
        if row < len(part.lines):
            return part.files[place], part.lines[row], part.sides[place][row]
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


def _as_bytes(vocabulary: VocabularyFacts, facts: _Facts) -> Array:
    return np.frombuffer(json.dumps({"vocabulary": vocabulary, "facts": facts}).encode(), dtype=np.uint8)[None]


def _from_bytes(content: Array, count: int) -> tuple[Vocabulary, _Facts] | None:
    """Return what an array of bytes holds of so many texts; nothing where it is something else."""
    try:
        held = json.loads(content.tobytes())
        facts = _Facts(*map(int, held["facts"]))
        return (Vocabulary.stored(held["vocabulary"]), facts) if 0 <= facts.row < count else None
    except (ValueError, RecursionError, TypeError, KeyError):  # a damaged vocabulary is a ValueError too
        return None
