"""Vocabulary: texts ↔ token ids, with words, parts of words or characters that one side of the training part decides.

A token carries the space before it as ``▁``, so that joining tokens gives the text back.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from os import environ
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks, _packages
from labelspace.data.source import VocabularyFacts

Form = Literal["word", "subword", "character"]
Ids = NDArray[np.int64]
OWNER = "Vocabulary"
END, UNKNOWN = 0, 1
SPECIAL = ("<end>", "<unknown>")
UNWRITTEN = "⁇"
SPACE = "▁"
# a word keeps its apostrophes and the accents that are written as characters of their own; any other character is one
# token, and a space before either belongs to it
LETTERS = r"[\w\u0300-\u036f]+"
PIECE = re.compile(rf"{SPACE}?(?:{LETTERS}(?:['’]{LETTERS})*|[^{SPACE}])")
# how many tokens, the special ones among them, where nobody says: about the words that occur twice in a few ten
# thousand sentences, what is usual for merges at that size, and more characters than people read
SIZES: Mapping[Form, int] = {"word": 10_000, "subword": 8_000, "character": 4_000}
PARALLEL = "TOKENIZERS_PARALLELISM"


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The tokens of one side, and how a text becomes their ids.

    Args:
        form: ``"word"`` (words and single punctuation marks), ``"subword"`` (byte-pair merges inside of these) or
            ``"character"``.
        tokens: by id: ``<end>``, ``<unknown>``, then what was learned.
        lowercase: whether texts are made lower-case first.
        merges: of subwords, in the order in which they are applied.

    Example:
        >>> words = Vocabulary.learn(["a dog, a cat", "a dog"])
        >>> words.tokens
        ('<end>', '<unknown>', '▁a', '▁dog', ',', '▁cat')
        >>> words.encode(["a  cat, a cow"])[0].tolist(), words.decode([2, 5, 4, 2, 3, 0, 3])
        ([2, 5, 4, 2, 1, 0], 'a cat, a dog')
    """

    form: Form
    tokens: tuple[str, ...]
    lowercase: bool = False
    merges: tuple[tuple[str, str], ...] = ()

    @classmethod
    def learn(
        cls, texts: Iterable[str], form: Form = "word", size: int | None = None, lowercase: bool = False
    ) -> "Vocabulary":
        """Return the vocabulary of some texts: the most frequent tokens first, ties in alphabetical order.

        Args:
            texts: of one side of the training part.
            form: words, subwords or characters.
            size: the largest number of ids, the two special ones among them; if not given, 10,000 words, 8,000
                subwords or 4,000 characters.
            lowercase: whether texts are made lower-case first.
        """
        _checks.choice(OWNER, "form", form, get_args(Form))
        size = _checks.whole(OWNER, "size", SIZES[form] if size is None else size, low=len(SPECIAL) + 1)
        cut = _cutting(form, lowercase)
        counts = Counter(chain.from_iterable(map(cut, texts)))
        if not counts:
            raise _checks.fail(OWNER, "texts", "texts with words in them", "none")
        merges: tuple[tuple[str, str], ...] = ()
        if form == "subword":
            counts, merges = _subwords(counts, size)
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        return cls(form, (*SPECIAL, *ranked[: size - len(SPECIAL)]), lowercase, merges)

    def encode(self, texts: Iterable[str]) -> list[Ids]:
        """Return the token ids of each text, ``<end>`` at the end of each and no padding."""
        lengths: list[int] = []
        ids = np.fromiter(chain.from_iterable(self._rows(texts, lengths)), dtype=np.int64)
        return np.split(ids, np.cumsum(lengths)[:-1]) if lengths else []

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of token ids up to the first ``<end>``; an unknown token stands there as ``⁇``."""
        found = []
        for place in ids:
            if place == END:
                break
            if not 0 < place < len(self.tokens):
                expected = f"token ids from 0 to {len(self.tokens) - 1}"
                raise _checks.fail("Vocabulary.decode", "ids", expected, place)
            found.append(self._unwritten if place == UNKNOWN else self.tokens[place])
        return " ".join("".join(found).replace(SPACE, " ").split())

    @property
    def _unwritten(self) -> str:
        """What is written for an unknown token: one letter, so that measures count one; among words, one of its own."""
        return f"{SPACE}{UNWRITTEN}" if self.form == "word" else UNWRITTEN

    def plain(self) -> VocabularyFacts:
        """Return it as plain JSON data, from which ``stored`` makes it again."""
        merges = [list(pair) for pair in self.merges]
        return {"form": self.form, "tokens": list(self.tokens), "lowercase": self.lowercase, "merges": merges}

    @classmethod
    def stored(cls, plain: object) -> "Vocabulary":
        """Return the vocabulary that ``plain`` wrote down.

        Args:
            plain: with ``form``, ``tokens``, ``lowercase`` and ``merges``.
        """
        why = _damage(plain)
        if why or not isinstance(plain, Mapping):
            raise _checks.fail("Vocabulary.stored", "plain", "a vocabulary as it was written down", why)
        merges = tuple((first, second) for first, second in plain["merges"])
        return cls(plain["form"], tuple(plain["tokens"]), plain["lowercase"], merges)

    def _rows(self, texts: Iterable[str], lengths: list[int]) -> Iterator[list[int]]:
        """Yield the ids of one text after the other, and note how many: the tokens of all would fill the memory."""
        cut = _cutting(self.form, self.lowercase)
        known = self._subwords if self.form == "subword" else self._places
        for text in texts:
            if isinstance(known, _Subwords):
                row = list(chain.from_iterable(map(known.__getitem__, cut(text))))
            else:
                row = list(map(known.get, cut(text), repeat(UNKNOWN)))
            row.append(END)
            lengths.append(len(row))
            yield row

    @cached_property
    def _places(self) -> dict[str, int]:
        # what is spelled like a special token is none
        return {token: place for place, token in enumerate(self.tokens) if place >= len(SPECIAL)}

    @cached_property
    def _subwords(self) -> "_Subwords":
        return _Subwords(self.tokens, self.merges)


class _Subwords(dict[str, list[int]]):
    """The ids of pieces of text, each computed once: the same few pieces make up most of it."""

    def __init__(self, tokens: Sequence[str], merges: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        library = _packages.optional("A subword vocabulary", "tokenizers", "sequences")
        places = {token: place for place, token in enumerate(tokens)}
        self.model = library.models.BPE(vocab=places, merges=list(merges), unk_token=SPECIAL[UNKNOWN], fuse_unk=True)

    def __missing__(self, piece: str) -> list[int]:
        ids = self[piece] = [token.id for token in self.model.tokenize(piece)]
        return ids


def _cutting(form: Form, lowercase: bool) -> Callable[[str], list[str]]:
    """Return what cuts a text into tokens, or for subwords into the pieces that merges stay inside of."""

    def cut(text: str) -> list[str]:
        spaced = SPACE.join((text.lower() if lowercase else text).replace(SPACE, " ").split())
        return list(spaced) if form == "character" else PIECE.findall(f"{SPACE}{spaced}" if spaced else "")

    return cut


def _subwords(pieces: Counter[str], size: int) -> tuple[Counter[str], tuple[tuple[str, str], ...]]:
    """Return how often each subword occurs, and the merges that make them, those that occur only on the way too."""
    library = _packages.optional("A subword vocabulary", "tokenizers", "sequences")
    tokenizer = library.Tokenizer(library.models.BPE(unk_token=SPECIAL[UNKNOWN], fuse_unk=True))
    trainer = library.trainers.BpeTrainer(
        vocab_size=size, limit_alphabet=size - len(SPECIAL), special_tokens=list(SPECIAL), show_progress=False
    )
    with _one_thread():
        tokenizer.train_from_iterator((list(repeat(piece, count)) for piece, count in pieces.items()), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    counts = Counter({token: 0 for token in model["vocab"] if token not in SPECIAL})
    for piece, count in pieces.items():
        for token in tokenizer.model.tokenize(piece):
            counts[token.value] += count
    del counts[SPECIAL[UNKNOWN]]
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"])
    return counts, tuple((first, second) for first, second in pairs)


@contextmanager
def _one_thread() -> Iterator[None]:
    # its threads would make it warn on every process that is forked later
    before = environ.get(PARALLEL)
    environ[PARALLEL] = "false"
    try:
        yield
    finally:
        if before is None:
            del environ[PARALLEL]
        else:
            environ[PARALLEL] = before


def _damage(plain: object) -> str:
    """Return what is wrong with a vocabulary that was written down; nothing if all is well."""
    if not isinstance(plain, Mapping) or not set(VocabularyFacts.__annotations__) <= set(plain):
        return "something without form, tokens, lowercase and merges"
    tokens, merges = plain["tokens"], plain["merges"]
    if plain["form"] not in get_args(Form) or not isinstance(plain["lowercase"], bool):
        return f"form {plain['form']!r} and lowercase {plain['lowercase']!r}"
    if not _texts(tokens) or tuple(tokens[:2]) != SPECIAL or len(set(tokens)) < len(tokens):
        return "tokens that are no list of different texts beginning with <end> and <unknown>"
    if not isinstance(merges, Sequence) or not all(_texts(pair) and len(pair) == 2 for pair in merges):
        return "merges that are no pairs of tokens"
    known = set(tokens)
    if not all({first, second, first + second} <= known for first, second in merges):
        return "merges of what is no token"
    return ""


def _texts(values: object) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)
