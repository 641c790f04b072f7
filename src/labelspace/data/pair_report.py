"""Looking at pairs of texts before anyone trains: lengths, unknown tokens, and the same text twice."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria.targets import IGNORED
from labelspace.data.dataset import PARTS, Dataset, Split, repeated_rows
from labelspace.data.report import DataReport
from labelspace.data.source import Source
from labelspace.data.splits import Say, leak_sentences
from labelspace.data.vocabulary import END, UNKNOWN, Vocabulary

SHOWN = 60  # characters of an example
TOKENS = {"word": "words and punctuation marks", "subword": "subwords", "character": "characters"}
UNKNOWN_SHARE = 0.1  # of tokens: more are worth a word
MOST = 3  # examples of options


@dataclass(frozen=True)
class Lengths:
    """Tokens of the whole texts of one side of one part, without ends, and the share that the vocabulary lacks."""

    median: float
    most: float
    longest: int
    unknown: float


@dataclass(frozen=True)
class PairReport(DataReport):
    """What was found in pairs of texts; the classes are the tokens of the target.

    Args:
        languages: of source and target.
        pairs: how many there are in each part.
        lengths: by part, of source and target.
        repeated_pairs: pairs that repeat an earlier one of the same part, source and target.
        shared_pairs: pairs of a part that are in an earlier part too, source and target.
        dropped: pairs that were left out because a side is empty.
        sizes: of both vocabularies.
        form: words, subwords or characters.
        example: a pair.
    """

    languages: tuple[str, str] = ("source", "target")
    pairs: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, tuple[Lengths, Lengths]] = field(default_factory=dict)
    repeated_pairs: Mapping[str, int] = field(default_factory=dict)
    shared_pairs: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    sizes: tuple[int, int] = (0, 0)
    form: str = "word"
    example: tuple[str, str] = ("", "")

    @property
    def heading(self) -> str:
        """Nothing: every line says what it is."""
        return ""

    def rows(self) -> list[tuple[str, ...]]:
        """Return a line per fact (what, train, validation, test)."""
        shared = {part: counts.get("rows", 0) for part, counts in self.leakage.items()}
        return [
            _line("pairs", self.pairs),
            *([_line("left out, a side empty", self.dropped)] if self.dropped else []),
            *self._of_side(0),
            *self._of_side(1),
            _line("repeated sources", self.repeated),
            _line("repeated pairs", self.repeated_pairs),
            _line("sources of earlier parts", shared, PARTS[1:]),
            _line("pairs of earlier parts", self.shared_pairs, PARTS[1:]),
        ]

    def facts(self) -> list[tuple[str, str]]:
        """Return the other facts as (what, value)."""
        sizes = zip(self.languages, self.sizes, strict=True)
        listed = ", ".join(f"{language} {size:,}" for language, size in sizes)
        return [
            ("tokens", f"{TOKENS[self.form]}; lengths and shares are of these"),
            ("vocabularies, of the training part", listed),
            *self._longest(),
            ("first pair", " → ".join(map(_short, self.example))),
        ]

    def to_json(self) -> dict[str, object]:
        """Return the report as plain JSON data, without the tokens of the vocabularies."""
        lengths = {
            part: {language: vars(one) for language, one in zip(self.languages, both, strict=True)}
            for part, both in self.lengths.items()
        }
        common = super().to_json()
        left = {name: common[name] for name in ("title", "repeated", "leakage", "problems", "notes", "options")}
        return {
            **left,
            "languages": list(self.languages),
            "pairs": dict(self.pairs),
            "dropped": dict(self.dropped),
            "lengths": lengths,
            "vocabulary": {"form": self.form, "sizes": dict(zip(self.languages, self.sizes, strict=True))},
            "repeated_pairs": dict(self.repeated_pairs),
            "shared_pairs": dict(self.shared_pairs),
            "source": {name: value for name, value in self.source.items() if name not in ("vocabularies", "names")},
        }

    def option_lines(self) -> list[str]:
        """Return the options that would help with what was found, and where the others are."""
        some = replace(self, options=[each for name in self.helpful for each in self.options if _sets(each, name)])
        return [*DataReport.option_lines(some)[: MOST + 1], "more options: docs/pairs-of-texts.md, or all with --json"]

    @property
    def helpful(self) -> tuple[str, ...]:
        """Names of options that would change what there is to say."""
        long = ("cut", "longest") if self.source.get("cut") else ()
        unknown = any(one.unknown > UNKNOWN_SHARE for both in self.lengths.values() for one in both)
        return (*long, *(("tokens", "vocabulary") if unknown else ()))

    def _longest(self) -> Iterator[tuple[str, str]]:
        found, limits = self.source.get("longest", {}), self.source.get("limits", {})
        for language, (side, one) in zip(self.languages, found.items(), strict=False):
            allowed = f"at most {limits[side]['longest'] - 1:,} are read"
            yield f"longest {language} text", f"{one['tokens']:,} tokens, {one['file']}:{one['line']} ({allowed})"

    def _of_side(self, side: int) -> Iterator[tuple[str, ...]]:
        language = self.languages[side]
        own = [self.lengths[part][side] if part in self.lengths else None for part in PARTS]
        yield (f"{language} length, median", *("" if one is None else f"{one.median:.0f}" for one in own))
        yield (f"{language} length, 95 %", *("" if one is None else f"{one.most:.0f}" for one in own))
        yield (f"{language} length, longest", *("" if one is None else f"{one.longest}" for one in own))
        yield (f"{language} unknown", *("" if one is None else f"{100 * one.unknown:.2f} %" for one in own))


def of(dataset: Dataset, asked: Collection[str], say: Say) -> PairReport:
    """Return what is found in pairs of texts.

    Args:
        dataset: of sequences.
        asked: options that were given to the reader in place of its own, which stop it.
        say: how settings that would help are written in the problems.
    """
    parts = dataset.parts
    pairs = {name: list(zip(part.text or (), part.answers or (), strict=True)) for name, part in parts.items()}
    source, target = dataset.source.get("languages", ("source", "target"))
    cut = {side: Vocabulary.stored(dataset.source["vocabularies"][side]) for side in dataset.source.get("cut", {})}
    lengths = {
        name: (_lengths(part.x, part.text, cut.get("source")), _lengths(part.y, part.answers, cut.get("target")))
        for name, part in parts.items()
        if len(part)
    }
    refused = "cut" in asked
    long = _about_long(dataset.source, refused, say)
    found = PairReport(
        title=f"{dataset.source['path']}: {dataset!r}",
        names=dataset.names,
        counts={name: _counts(part, len(dataset.names)) for name, part in parts.items()},
        shape=dataset.input_shape,
        dtype=str(dataset.train.x.dtype).removeprefix("torch."),
        repeated={name: repeated_rows(part) for name, part in parts.items()},
        leakage=dataset.source.get("leakage", {}),
        problems=(long if refused else []) + leak_sentences(dataset.source, say),
        source=dataset.source,
        languages=(source, target),
        pairs={name: len(part) for name, part in parts.items()},
        lengths=lengths,
        repeated_pairs={name: len(own) - len(set(own)) for name, own in pairs.items()},
        shared_pairs=_shared(pairs),
        dropped=dataset.source.get("dropped", {}),
        sizes=(len(dataset.vocabulary or ()), len(dataset.names)),
        form=dataset.source["options"]["tokens"],
        example=pairs["train"][0],
    )
    found.notes.extend([*_notes(found), *([] if refused else long)])
    return found


def _lengths(ids: Tensor, texts: Sequence[str] | None, vocabulary: Vocabulary | None) -> Lengths:
    """Return how long texts are; with the vocabulary of a side that was cut, how long they were before."""
    real = (ids != IGNORED) & (ids != END)
    counts = real.sum(1).numpy()
    unknown = int((ids == UNKNOWN).sum()) / max(1, int(counts.sum()))
    if vocabulary is not None and texts is not None:
        full = np.flatnonzero(counts == ids.shape[1] - 1)
        counts[full] = [len(row) - 1 for row in vocabulary.encode(texts[place] for place in full.tolist())]
    median, most = np.percentile(counts, [50, 95], method="nearest")
    return Lengths(float(median), float(most), int(counts.max()), unknown)


def _counts(part: Split, classes: int) -> list[int]:
    return torch.bincount(part.y[part.y != IGNORED], minlength=classes).tolist()


def _shared(pairs: Mapping[str, list[tuple[str, str]]]) -> dict[str, int]:
    seen: set[tuple[str, str]] = set()
    shared = {}
    for name, own in pairs.items():
        shared[name] = sum(pair in seen for pair in own)
        seen.update(own)
    return shared


def _about_long(source: Source, refused: bool, say: Say) -> list[str]:
    """Return how many texts of which side are too long, where the longest is, and what becomes of them."""
    cut, said = source.get("cut", {}), []
    for side, count in cut.items():
        longest, most = source["longest"][side], source["limits"][side]["longest"] - 1
        texts = f"1 {side} text is" if count == 1 else f"{count:,} {side} texts are"
        place = f"{longest['tokens']:,} in {longest['file']}:{longest['line']}"
        said.append(f"{texts} longer than {most:,} tokens (the longest: {place})")
    if not said:
        return []
    it, they = ("it", "it is") if sum(cut.values()) == 1 else ("them", "they are")
    if not refused:
        return [f"{' and '.join(said)}: {they} cut."]
    enough = 1 + max(source["longest"][side]["tokens"] for side in cut)
    rules = " or ".join(say(_checks.Setting(name, value)) for name, value in (("cut", True), ("longest", enough)))
    return [f"{' and '.join(said)}: training refuses {it} unless {rules} is given."]


def _notes(report: PairReport) -> list[str]:
    said = []
    if sum(report.dropped.values()):
        said.append(f"Pairs that were left out because a side is empty: {sum(report.dropped.values())}.")
    for part, both in report.lengths.items():
        for language, one in zip(report.languages, both, strict=True):
            if one.unknown > UNKNOWN_SHARE:
                share = f"{one.unknown:.0%} of the {language} tokens of the {part} part"
                said.append(f"{share} are not in the vocabulary: a larger one, or subwords, would know them.")
    if not report.pairs["validation"]:
        said.append("There are no validation samples: nothing can be tuned or stopped early.")
    if report.source.get("cache"):
        said.append(f"The array cache was {report.source['cache']}.")
    return said


def _sets(example: tuple[str, str], name: str) -> bool:
    return f"{name}=" in example[0]


def _line(what: str, counts: Mapping[str, int], parts: Sequence[str] = PARTS) -> tuple[str, ...]:
    return (what, *(f"{counts.get(part, 0):,}" if part in parts else "" for part in PARTS))


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
