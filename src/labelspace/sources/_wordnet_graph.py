"""The nouns of WordNet as one graph in memory, and the copy of it that ships with the package.

The shipped file is an xz stream: one line of JSON (the version, and the name and size of each section), then
the sections. Text sections are lines of UTF-8. Number sections are 32-bit unsigned integers whose four bytes
are kept in four runs, lowest first, because the high bytes then compress to almost nothing.
``scripts/make_wordnet_nouns.py`` writes it.
"""

import functools
import importlib.resources
import json
import lzma
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
SHIPPED = "wordnet_nouns.xz"
MOST_WORDS, MOST_ABOVE = 3, 2  # of a synset, and of what is above it, in a few words


@dataclass(frozen=True, eq=False)
class NounGraph:
    """Lemmas, their senses in order, and the hypernyms (plain and instance) of every sense.

    Lemmas and synsets are numbered. The senses of lemma ``i`` are
    ``senses[sense_starts[i]:sense_starts[i + 1]]``, and the hypernyms of a synset are found in the same way.

    Args:
        version: WordNet's own version, such as ``"3.0"``; empty if the dictionary does not say.
        lemmas: lower case, words joined by ``_``.
        sense_starts: ``(lemmas + 1,)``.
        senses: synset numbers.
        offsets: WordNet's name of each synset, the digits of ``n02121620``; increasing.
        first_lemmas: the lemma each synset is named after.
        hypernym_starts: ``(synsets + 1,)``.
        hypernyms: synset numbers.
        exceptions: irregular plurals and their singulars.
    """

    version: str
    lemmas: Sequence[str]
    sense_starts: Numbers
    senses: Numbers
    offsets: Numbers
    first_lemmas: Numbers
    hypernym_starts: Numbers
    hypernyms: Numbers
    exceptions: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @functools.cached_property
    def lemma_numbers(self) -> dict[str, int]:
        """The number of each lemma."""
        return {lemma: number for number, lemma in enumerate(self.lemmas)}

    @functools.cached_property
    def spellings(self) -> dict[str, str]:
        """The lemma of every bare form; the first in the order of the dictionary where several share one."""
        spellings: dict[str, str] = {}
        for lemma in self.lemmas:
            spellings.setdefault(bare_form(lemma), lemma)
        spellings.pop("", None)
        return spellings

    def senses_of(self, lemma: str) -> list[int]:
        """Return the synsets of a lemma, most frequent first; none if it is no noun."""
        number = self.lemma_numbers.get(lemma)
        if number is None:
            return []
        found: list[int] = self.senses[self.sense_starts[number] : self.sense_starts[number + 1]].tolist()
        return found

    def hypernyms_of(self, synset: int) -> list[int]:
        """Return the synsets directly above one."""
        found: list[int] = self.hypernyms[self.hypernym_starts[synset] : self.hypernym_starts[synset + 1]].tolist()
        return found

    def synset_at(self, offset: int) -> int | None:
        """Return the synset whose id has these digits, if there is one."""
        place = int(np.searchsorted(self.offsets, offset))
        return place if place < len(self.offsets) and self.offsets[place] == offset else None

    def synset_id(self, synset: int) -> str:
        """Return the id, such as ``n02121620``."""
        return f"n{self.offsets[synset]:08d}"

    def synset_name(self, synset: int) -> str:
        """Return the readable name, such as ``cat.n.01``: a lemma and which of its senses is meant."""
        lemma = self.lemmas[self.first_lemmas[synset]]
        return f"{lemma}.n.{self.senses_of(lemma).index(synset) + 1:02d}"

    def lemmas_of(self, synset: int) -> list[str]:
        """Return the words of a synset, the one it is named after first."""
        places = np.flatnonzero(self.senses == synset)
        numbers = np.searchsorted(self.sense_starts, places, side="right") - 1
        first = self.lemmas[self.first_lemmas[synset]]
        return list(dict.fromkeys([first, *(self.lemmas[number] for number in numbers)]))

    def meaning(self, synset: int) -> str:
        """Return what a synset is in a few words: its own, and the two kinds of thing above it.

        Example:
            >>> graph = shipped_graph()
            >>> graph.meaning(graph.senses_of("saw")[1])
            'saw: hand tool › tool'
        """
        own = self.lemmas_of(synset)
        above = [synset]
        while len(above) <= MOST_ABOVE and (up := self.hypernyms_of(above[-1])):
            above.append(up[0])
        kinds = " › ".join(self.lemmas[self.first_lemmas[each]] for each in above[1:])
        words = ", ".join(own[:MOST_WORDS])
        return (f"{words}: {kinds}" if kinds else words).replace("_", " ")

    def steps(self, rows: Sequence[int | None], columns: Sequence[int | None]) -> Numbers:
        """Return the shortest paths over common ancestors: the least sum of two heights; −1 where there is none.

        Shape:
            ``(rows, columns)``.
        """
        above = {synset: self.heights_above(synset) for synset in {*rows, *columns} if synset is not None}
        below: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
        for side, synsets in enumerate((rows, columns)):
            for index, synset in enumerate(synsets):
                for ancestor, height in ({} if synset is None else above[synset]).items():
                    below.setdefault(ancestor, ([], []))[side].append((index, height))
        unreached = np.iinfo(np.int64).max
        found = np.full((len(rows), len(columns)), unreached)
        # one small block per ancestor: only the synsets below it can meet there
        for members in below.values():
            if all(members):
                (first, up), (second, down) = (np.array(side).T for side in members)
                block = np.ix_(first, second)
                found[block] = np.minimum(found[block], up[:, None] + down[None, :])
        found[found == unreached] = -1
        return found

    def heights_above(self, synset: int) -> dict[int, int]:
        """Return every ancestor of a synset with the fewest steps up to it; itself has 0."""
        heights = {synset: 0}
        level = {synset}
        while level:
            step = heights[next(iter(level))] + 1
            level = {parent for child in level for parent in self.hypernyms_of(child)} - heights.keys()
            heights.update(dict.fromkeys(level, step))
        return heights


def bare_form(phrase: str) -> str:
    """Return only the letters and digits, without accents: what all spellings of a phrase have in common."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", phrase.lower()))


@functools.cache
def shipped_graph() -> NounGraph:
    """Return the nouns of WordNet 3.0 that come with the package."""
    return unpack(importlib.resources.files("labelspace.sources").joinpath(SHIPPED).read_bytes())


def unpack(packed: bytes) -> NounGraph:
    """Return the graph in the bytes of a file such as the shipped one."""
    heading, content = lzma.decompress(packed).split(b"\n", 1)
    header = json.loads(heading)
    sections: dict[str, bytes] = {}
    start = 0
    for name, size in header["sections"]:
        sections[name] = content[start : start + size]
        start += size
    irregular = [line.split(" ") for line in sections["exceptions"].decode().split("\n")]
    return NounGraph(
        version=header["version"],
        lemmas=sections["lemmas"].decode().split("\n"),
        sense_starts=_starts(_numbers(sections["sense_counts"])),
        senses=_numbers(sections["senses"]),
        offsets=np.cumsum(_numbers(sections["offset_steps"])),
        first_lemmas=_numbers(sections["first_lemmas"]),
        hypernym_starts=_starts(_numbers(sections["hypernym_counts"])),
        hypernyms=_numbers(sections["hypernyms"]),
        exceptions={plural: tuple(singulars) for plural, *singulars in irregular},
    )


def _numbers(section: bytes) -> Numbers:
    runs = np.frombuffer(section, dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(runs.T).view("<u4").ravel().astype(np.int64)


def _starts(counts: Numbers) -> Numbers:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
