r"""Parallel text: a file for each language with a sentence on each line, or tables of pairs; plain, gz or in a tar.

Lines end where files say so (``\n``), not at the other characters that Unicode counts among the ends of lines: these
stand inside of sentences, and one of them would shift all that follow against the other language.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from labelspace import _checks
from labelspace.data import pairs
from labelspace.data.files import OWNER
from labelspace.data.found import Found
from labelspace.data.pairs import Both, Side, Texts
from labelspace.data.source import ReaderOptions, Source
from labelspace.data.text_files import ARCHIVES, Tree, tree_of

MEASURES = ("BLEU", "chrF", "ROUGE-1", "ROUGE-2", "ROUGE-L")
TABLE = ".tsv"
# what parts are called, the likeliest first: of Multi30k several tests are published, of IWSLT'15 tests of two years
STEMS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev", "tst2012"),
    "test": ("test", "testing", "test_2016_flickr", "tst2013"),
}
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4})?")
Languages = tuple[str, str]


def recognises(folder: Path) -> bool:
    """Return whether a folder holds sentences in at least two languages, such as train.en and train.de."""
    names = {path.name.removesuffix(".gz") for path in folder.iterdir() if path.is_file()}
    endings = {name.partition(".")[2] for name in names if name.partition(".")[0] in STEMS["train"]}
    return (
        sum(bool(LANGUAGE.fullmatch(ending)) and ending not in ("csv", "tsv", "npy", "bin") for ending in endings) > 1
    )


def read(
    path: Path,
    *,
    source: str | None = None,
    target: str | None = None,
    columns: Sequence[str] = ("source", "target"),
    test_set: str | None = None,
    unescape: bool | None = None,
    tokens: str = "word",
    vocabulary: Both = None,
    lowercase: bool = False,
    longest: Both = None,
    cut: bool | str = False,
    measure: str = "BLEU",
) -> Found:
    """Return the pairs of sentences in two files, in tables, or in a folder or tar file of either.

    A pair without text on one side is dropped from training, and counted; in a part that is measured on it is an
    error, as scores of other sentences than the published ones compare with nothing.

    Args:
        path: a folder with ``train.en``, ``train.de``, ``val.en``, … (also ``.gz``, or in tar files), or with
            ``train.tsv``, ``valid.tsv`` and ``test.tsv``; or one such table, which is split; or one tar file.
        source: the language to read: how the names of its files end, or a column of tables.
        target: the language to write.
        columns: what the columns of tables are called, which have no titles; the first is read and the second written
            where neither source nor target is given.
        test_set: which part to test on, where there are several (``"test_2017_flickr"``); or another place, a path or
            a folder beside this one (``"iwslt15"``, ``"iwslt15/tst2012"``), whose texts the vocabulary has not seen.
        unescape: whether ``&quot;`` and the like are turned into what they stand for; if not given, those of files of
            sentences are, those of tables are not.
        tokens: ``"word"``, ``"subword"`` or ``"character"``.
        vocabulary: the largest number of tokens, ``<end>`` and ``<unknown>`` among them, or one for source and one
            for target; if not given, 10,000 words, 8,000 subwords or 4,000 characters.
        lowercase: make all texts lower-case.
        longest: the largest number of tokens of a text, its end included, or one for source and one for target; if
            not given, 256, or 1,024 characters. A longer text is an error.
        cut: cut longer texts instead; ``"source"`` or ``"target"`` for one side alone.
        measure: what tells how good texts are when methods are compared: BLEU, chrF, ROUGE-1, ROUGE-2 or ROUGE-L.
    """
    sides = Side.both(tokens, vocabulary, lowercase, longest, cut)
    names = _columns(columns)
    tree = tree_of(path)
    table = "" if path.is_dir() or path.name.endswith(ARCHIVES) else next(iter(tree))
    found = {"train": table} if table else _parts(tree, test_set)
    languages = _languages(tree, found["train"], source, target, names)
    reading = _Reading(languages, names, unescape)
    parts = {part: reading.texts(tree, stem, part) for part, stem in found.items()}
    if test_set is not None and "test" not in found:
        elsewhere, stem = _elsewhere(path, test_set)
        parts["test"] = reading.texts(elsewhere, stem, "test")
    if list(parts) == ["train"]:
        parts = {"all": parts["train"]}
    options: ReaderOptions = {
        "source": languages[0],
        "target": languages[1],
        "test_set": test_set,
        "tokens": tokens,
        "vocabulary": vocabulary,
        "lowercase": lowercase,
        "longest": longest,
        "cut": cut,
        "columns": list(names),
        "unescape": unescape,
    }
    _checks.choice(OWNER, "measure", measure, MEASURES)
    facts: Source = {"reader": "parallel", "path": path.name, "options": options, "languages": list(languages)}
    if measure != "BLEU":
        facts["measure"] = measure
    return pairs.found(parts, sides, facts)


class _Reading:
    """How pairs are read from files of sentences and from tables."""

    def __init__(self, languages: Languages, columns: Sequence[str], unescape: bool | None) -> None:
        self.languages, self.columns, self.unescape = languages, columns, unescape

    def texts(self, tree: Tree, stem: str, part: str) -> Texts:
        """Return the pairs of one part, without those that are empty on one side where it is for training."""
        rows, files = self._tables(tree, stem) if stem in tree else self._lines(tree, stem)
        kept, empty = [], 0
        for number, pair in enumerate(rows, 1):
            if all(text.strip() for text in pair):
                kept.append((number, *pair))
            elif part == "train":
                empty += 1
            else:
                lacking = files[0] if not pair[0].strip() else files[1]
                remedy = f"Scores of a {part} part without this pair would compare with nothing: repair the line."
                raise _checks.fail(
                    OWNER, "name_or_path", "texts on both sides", f"{lacking}, line {number}: none", remedy
                )
        if not kept:
            raise _checks.fail(OWNER, "name_or_path", f"texts in {files[0]} and {files[1]}", "none")
        return Texts(([row[1] for row in kept], [row[2] for row in kept]), [row[0] for row in kept], files, empty)

    def _lines(self, tree: Tree, stem: str) -> tuple[list[tuple[str, str]], Languages]:
        names = [f"{stem}.{language}" for language in self.languages]
        absent = [name for name in names if name not in tree]
        if absent:
            raise _checks.fail(OWNER, "name_or_path", f"{names[0]} and {names[1]}", f"no {absent[0]}")
        source, target = (tree[name].lines() for name in names)
        if len(source) != len(target):
            got = f"{len(source):,} in {names[0]} and {len(target):,} in {names[1]}"
            remedy = "Line k of one must be the translation of line k of the other: take both from one download."
            raise _checks.fail(OWNER, "name_or_path", "files with as many lines as each other", got, remedy)
        if self.unescape is not False:
            source, target = ([html.unescape(line) for line in side] for side in (source, target))
        return list(zip(source, target, strict=True)), (names[0], names[1])

    def _tables(self, tree: Tree, name: str) -> tuple[list[tuple[str, str]], Languages]:
        places = [self.columns.index(language) for language in self.languages]
        rows = []
        for number, line in enumerate(tree[name].lines(), 1):
            cells = line.split("\t")
            if len(cells) != len(self.columns) and line.strip():
                expected = f"lines of {len(self.columns)} texts with tabs between them"
                got = f"{len(cells)} in {name}, line {number}"
                raise _checks.fail(
                    OWNER, "name_or_path", expected, got, ("Name all of them: ", _checks.Setting("columns"))
                )
            first, second = (cells[place] if line.strip() else "" for place in places)
            rows.append((html.unescape(first), html.unescape(second)) if self.unescape else (first, second))
        return rows, (name, name)


def _parts(tree: Tree, test_set: str | None) -> dict[str, str]:
    """Return the file of each part (of two files, what their names begin with)."""
    wanted = {**STEMS, **({} if test_set is None else {"test": (test_set,)})}
    found = {part: stem for part, stems in wanted.items() if (stem := _present(tree, stems))}
    if "train" not in found:
        expected = "parallel text with a training part (train.en and train.de, or train.tsv; also .gz, or in a tar)"
        got = ", ".join(sorted(tree)[:8]) or "no such files"
        remedy = ("What is only there to test on can be the test of other data: ", _checks.Setting("test_set"), ".")
        raise _checks.fail(OWNER, "name_or_path", expected, got, remedy)
    return found


def _present(tree: Tree, stems: Sequence[str]) -> str:
    """Return the first of these parts that is there: what the names of its files begin with, or its table."""
    present = {name if name.endswith(TABLE) else name.rpartition(".")[0] for name in tree}
    return next((name for stem in stems for name in (stem, f"{stem}{TABLE}") if name in present), "")


def _elsewhere(path: Path, test_set: str) -> tuple[Tree, str]:
    """Return the files of another place, and which of them to test on."""
    named = Path(test_set).expanduser()
    for place in (named, path.parent / named):
        stems = STEMS["test"] if place.exists() else (place.name,)
        folder = place if place.exists() else place.parent
        tree = tree_of(folder) if folder.exists() else {}
        one = folder.is_file() and not folder.name.endswith(ARCHIVES)
        stem = next(iter(tree)) if one else _present(tree, stems)
        if stem:
            return tree, stem
    remedy = f"A place is a path, or the name of a folder beside {path.name}."
    raise _checks.fail(OWNER, "test_set", "a part of the data, or a place with a test part", repr(test_set), remedy)


def _columns(columns: Sequence[str]) -> tuple[str, ...]:
    names = tuple(columns.split(",") if isinstance(columns, str) else columns)
    if len(names) < 2 or len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        raise _checks.fail(OWNER, "columns", "at least two different names", columns)
    return names


def _languages(tree: Tree, stem: str, source: str | None, target: str | None, columns: Sequence[str]) -> Languages:
    """Return what to read and what to write; with two languages one that is named says what the other is."""
    endings = sorted(name.rpartition(".")[2] for name in tree if name.rpartition(".")[0] == stem)
    known = list(columns) if stem in tree else endings
    for argument, wanted in (("source", source), ("target", target)):
        if wanted is not None:
            _checks.choice(OWNER, argument, wanted, known)
    if source is None and target is None and set(columns[:2]) <= set(known):
        return columns[0], columns[1]
    if len(known) == 2 and (source is None) != (target is None):
        other = known[1 - known.index(source or target or "")]
        source, target = source or other, target or other
    if source is None:
        raise _checks.fail(OWNER, "source", f"the language to read, one of {', '.join(known)}", "none")
    if target is None or source == target:
        raise _checks.fail(OWNER, "target", f"the language to write, one of {', '.join(known)}", repr(target))
    return source, target
