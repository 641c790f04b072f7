"""Reading WordNet's own dictionary files: index.noun, data.noun and, where it is, noun.exc."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.sources._wordnet_graph import NounGraph

HYPERNYM_MARKS = ("@", "@i")
REMEDY = "Take the files from WordNet's dictionary archive again, or leave `folder` out to use the shipped nouns."


def read_folder(folder: str | os.PathLike[str]) -> NounGraph:
    """Return the nouns of a folder with ``index.noun`` and ``data.noun``, or a ``dict`` subfolder of it."""
    place = dictionary_folder(folder)
    offsets, first_words, above = _read_data(place / "data.noun")
    lemmas, senses = _read_index(place / "index.noun")
    order = sorted(range(len(offsets)), key=offsets.__getitem__)
    synset_numbers = {offsets[old]: new for new, old in enumerate(order)}
    if len(synset_numbers) < len(offsets):
        raise _damaged(place / "data.noun", "a synset that stands in it twice")
    lemma_numbers = {lemma: number for number, lemma in enumerate(lemmas)}
    try:
        return NounGraph(
            version=_version(place / "data.noun"),
            lemmas=lemmas,
            sense_starts=np.cumsum([0, *map(len, senses)]),
            senses=np.array([synset_numbers[offset] for row in senses for offset in row], dtype=np.int64),
            offsets=np.array([offsets[old] for old in order], dtype=np.int64),
            first_lemmas=np.array([lemma_numbers[first_words[old]] for old in order], dtype=np.int64),
            hypernym_starts=np.cumsum([0, *(len(above[old]) for old in order)]),
            hypernyms=np.array([synset_numbers[up] for old in order for up in above[old]], dtype=np.int64),
            exceptions=_read_exceptions(place / "noun.exc"),
        )
    except OverflowError as error:
        raise _damaged(place, "a number that is too large") from error
    except KeyError as error:
        missing = f"a mention of {error.args[0]!r}, which the files do not define (one of them may be cut short)"
        raise _damaged(place, missing) from error


def dictionary_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder that holds the noun files: the one given or its ``dict`` subfolder."""
    if not isinstance(folder, str | os.PathLike):
        raise _checks.fail_type("wordnet", "folder", "the path of a folder", repr(folder))
    for place in (Path(folder), Path(folder) / "dict"):
        if (place / "index.noun").is_file() and (place / "data.noun").is_file():
            return place
    expected = "a folder with WordNet's index.noun and data.noun (or a dict subfolder with them)"
    raise _checks.fail("wordnet", "folder", expected, f"{str(folder)!r}, which lacks them", REMEDY)


def licence_lines(data_file: Path) -> Iterator[str]:
    """Yield the numbered lines at the top of a dictionary file, without their numbers."""
    with data_file.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.startswith("  "):
                return
            yield re.sub(r"^ +\d+ ?", "", line).rstrip()


def _version(data_file: Path) -> str:
    found = re.search(r"WordNet (\d[\w.]*) Copyright", "\n".join(licence_lines(data_file)))
    return found.group(1) if found else ""


def _damaged(path: Path, what: str) -> ValueError:
    return _checks.fail("wordnet", "folder", "a folder with sound WordNet files", f"{what}, in {path}", REMEDY)


def _entries(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line below the licence, without the gloss."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip() and not line.startswith("  "):
                    yield number, line.partition("|")[0].split()
    except UnicodeDecodeError as error:
        raise _damaged(path, f"bytes that are not UTF-8 text ({error.reason})") from error


def _read_data(path: Path) -> tuple[list[int], list[str], list[list[int]]]:
    """Return offset, first word and hypernym offsets of every synset."""
    offsets: list[int] = []
    first_words: list[str] = []
    above: list[list[int]] = []
    for number, fields in _entries(path):
        try:
            offset, word, hypernyms = _synset(fields)
        except (ValueError, IndexError) as error:
            raise _damaged(path, f"line {number}, which is damaged or cut short") from error
        offsets.append(offset)
        first_words.append(word)
        above.append(hypernyms)
    return offsets, first_words, above


def _synset(fields: list[str]) -> tuple[int, str, list[int]]:
    # offset file_number type word_count (word sense_id)… pointer_count (mark offset type source_target)…
    words = int(fields[3], 16)
    pointers_at = 4 + 2 * words
    pointers = int(fields[pointers_at])
    if fields[2] != "n" or words < 1 or len(fields) != pointers_at + 1 + 4 * pointers:
        raise ValueError("not what its counts announce")
    marks = range(pointers_at + 1, len(fields), 4)
    hypernyms = [int(fields[mark + 1]) for mark in marks if fields[mark] in HYPERNYM_MARKS]
    return int(fields[0]), fields[4].lower(), hypernyms


def _read_index(path: Path) -> tuple[list[str], list[list[int]]]:
    """Return the lemmas and the offsets of their senses, in the order of the file."""
    senses: dict[str, list[int]] = {}
    for number, fields in _entries(path):
        try:
            # lemma type synset_count pointer_count mark… sense_count tagged_count offset…
            count, pointers = int(fields[2]), int(fields[3])
            if fields[1] != "n" or count < 1 or len(fields) != 6 + pointers + count or fields[0] in senses:
                raise ValueError("not what its counts announce")
            senses[fields[0]] = [int(offset) for offset in fields[-count:]]
        except (ValueError, IndexError) as error:
            raise _damaged(path, f"line {number}, which is damaged or cut short") from error
    if not senses:
        raise _damaged(path, "no nouns at all")
    return list(senses), list(senses.values())


def _read_exceptions(path: Path) -> dict[str, tuple[str, ...]]:
    if not path.is_file():
        return {}
    return {fields[0]: tuple(fields[1:]) for _, fields in _entries(path) if len(fields) > 1}
