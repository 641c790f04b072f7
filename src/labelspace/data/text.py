"""Texts → token ids: lower-case words, with a vocabulary that only the training part decides."""

import functools
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from labelspace.data import cache
from labelspace.data.digests import Array, Digests, of_values
from labelspace.data.found import Rows, Taken
from labelspace.data.source import Source

PADDING = 0
UNKNOWN = 1
SPECIAL = ("<padding>", "<unknown>")
WORD = re.compile(r"\w+(?:['’]\w+)*")
# of what these functions make of a text: raised when the same texts would become other ids
VERSION = 1
# so many texts and more are worth a place in the cache: cutting fewer into words takes less than a second
MANY = 5_000


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case; punctuation is left out, an apostrophe inside a word stays.

    Example:
        >>> tokens("It's GOOD, really good.")
        ["it's", 'good', 'really', 'good']
    """
    return WORD.findall(text.lower())


def learn(texts: Sequence[str], size: int, length: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the token ids of the training part, and the vocabulary that it decides.

    The vocabulary holds the most frequent words, ties in alphabetical order.

    Args:
        texts: the training part.
        size: the largest number of ids, the two special ones among them.
        length: how many ids per text.

    Example:
        >>> ids, words = learn(["b a", "a c"], size=4, length=2)
        >>> ids.tolist(), words
        ([[3, 2], [2, 1]], ('<padding>', '<unknown>', 'a', 'b'))
    """
    # every word is numbered as it comes and texts are kept as numbers: they are cut into words only once
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    rows = [np.fromiter(map(number.__getitem__, tokens(text)), dtype=np.int64) for text in texts]
    counts = np.bincount(np.concatenate(rows), minlength=len(number))
    seen = list(number)
    ranked = sorted(range(len(seen)), key=lambda index: (-counts[index], seen[index]))[: size - len(SPECIAL)]
    renumbered = np.full(len(seen), UNKNOWN, dtype=np.int64)
    renumbered[ranked] = np.arange(len(SPECIAL), len(SPECIAL) + len(ranked))
    ids = np.full((len(texts), length), PADDING, dtype=np.int64)
    for row, found in enumerate(rows):
        ids[row, : len(found)] = renumbered[found[:length]]
    return ids, SPECIAL + tuple(seen[index] for index in ranked)


def encode(texts: Sequence[str], words: Sequence[str], length: int) -> NDArray[np.int64]:
    """Return token ids ``(N, length)``: longer texts are cut, shorter ones padded at the end.

    Args:
        texts: what to encode.
        words: the vocabulary; a word that is not in it becomes 1.
        length: how many ids per text; 0 pads.

    Example:
        >>> encode(["a good film"], ("<padding>", "<unknown>", "film"), 4)
        array([[1, 1, 2, 0]])
    """
    place = {word: index for index, word in enumerate(words)}
    ids = np.full((len(texts), length), PADDING, dtype=np.int64)
    for row, text in enumerate(texts):
        words_here = tokens(text)[:length]
        ids[row, : len(words_here)] = list(map(place.get, words_here, repeat(UNKNOWN)))
    return ids


def take(texts: Sequence[str], found: Digests, order: Sequence[Rows], size: int, length: int) -> Taken:
    """Return the token ids of three parts and the vocabulary of the first one, from the cache where there are many.

    Args:
        texts: all texts.
        found: their digests.
        order: the rows of the three parts.
        size: the largest number of ids, the two special ones among them.
        length: how many ids per text.
    """
    parts, words, notice = _cached(texts, found, order, size, length)
    source: Source = {"words": len(words)}
    if notice:
        source["cache"] = notice
    return Taken(parts, [found[rows] for rows in order], source=source, vocabulary=words)


def _cached(
    texts: Sequence[str], found: Digests, order: Sequence[Rows], size: int, length: int
) -> tuple[list[NDArray[np.int64]], tuple[str, ...], str]:
    @functools.cache  # one computation fills two entries
    def made() -> tuple[list[NDArray[np.int64]], tuple[str, ...]]:
        train, words = learn([texts[row] for row in order[0]], size, length)
        return [train, *(encode([texts[row] for row in rows], words, length) for rows in order[1:])], words

    if len(texts) < MANY:
        return *made(), ""
    # which letters are one word, and their lower case, is a matter of Unicode's version
    key = of_values(VERSION, unicodedata.unidata_version, found, *order, size, length)
    ids = cache.fetch(key, lambda: _block(np.concatenate(made()[0]).astype(np.int32)), "texts")
    words = cache.fetch(f"{key}-words", lambda: _block(_as_bytes(made()[1])), "texts")
    vocabulary = _from_bytes(words.rows)
    if ids.rows.shape != (sum(map(len, order)), length) or int(ids.rows.max()) >= len(vocabulary):
        # whole in itself, but not what was put there
        return *made(), "passed over, it holds ids of other texts"
    ends = np.cumsum([len(rows) for rows in order])[:-1]
    return [part.astype(np.int64) for part in np.split(ids.rows, ends)], vocabulary, ids.notice or words.notice


def _block(rows: Array) -> cache.Blocks:
    yield rows, np.ones(len(rows), dtype=bool)


def _as_bytes(words: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)[None]


def _from_bytes(content: Array) -> tuple[str, ...]:
    """Return the words in an array of bytes; none where it holds something else."""
    try:
        words = json.loads(content.tobytes())
    except (ValueError, RecursionError):
        return ()
    return tuple(words) if isinstance(words, list) and all(isinstance(word, str) for word in words) else ()
