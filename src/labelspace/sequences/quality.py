"""How good texts are beside their references: BLEU, chrF, ROUGE, and what a network says of the true tokens.

Each is a function of sums over sentences of a few counts. So a draw of sentences is scored by adding up numbers, and no
text is looked at twice.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace._packages import optional, version
from labelspace.metrics.intervals import Interval
from labelspace.metrics.resampled import interval_of_draws

Array = NDArray[np.float64]
ORDERS = 4  # n-grams of BLEU
# letters that are written without spaces between words, as Unicode calls them
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA")
BETA = 2.0  # of chrF: recall counts twice as much as precision


@dataclass(frozen=True, eq=False)
class Measure:
    """A score of a corpus that is a function of sums over its sentences.

    Attributes:
        name: as in tables.
        signature: what was computed in which version, to be printed beside the number.
        count: from texts and their references to statistics of each sentence, ``(N, C)``.
        of_sums: from sums of statistics ``(…, C)`` to scores ``(…)``.
    """

    name: str
    signature: str
    count: Callable[[Sequence[str], Sequence[str]], Array]
    of_sums: Callable[[Array], Array]

    def __call__(self, texts: Sequence[str], references: Sequence[str]) -> float:
        """Return the score of a corpus."""
        return float(self.of_sums(self.count(texts, references).sum(axis=0)))


def measures_for(tokens: Sequence[str], lowercase: bool) -> dict[str, Measure]:
    """Return the measures of texts that are written with these tokens.

    Their letters tell: where most are Chinese or Japanese, characters are compared, whatever the tokens are.

    Args:
        tokens: of the target vocabulary.
        lowercase: whether it has small letters alone, so that case does not count.
    """
    letters = [letter for token in tokens for letter in token if letter.isalpha()]
    unspaced = sum(unicodedata.name(letter, "").startswith(UNSPACED) for letter in letters)
    return measures(2 * unspaced > len(letters), lowercase, not all(map(str.isascii, letters)))


def measures(characters: bool = False, lowercase: bool = False, accents: bool = False) -> dict[str, Measure]:
    """Return BLEU, chrF and ROUGE-1, -2 and -L by name, all from 0 to 100.

    BLEU and chrF are sacrebleu's, of the whole corpus; ROUGE is rouge-score's F-measure without stemming, the mean over
    sentences. By itself that reads the letters a–z and digits alone.

    Args:
        characters: compare characters instead of words, as for Chinese: sacrebleu's tokenizer ``zh`` for BLEU, and
            every character but white space for ROUGE.
        lowercase: whether case does not count for BLEU and chrF; for ROUGE it never does.
        accents: words of ROUGE have all letters that there are.

    Example:
        >>> found = measures()
        >>> round(found["BLEU"](["a small dog runs"], ["a small dog runs"]), 6), found["BLEU"].signature[:16]
        (100.0, 'nrefs:1|case:mix')
    """
    sacrebleu = optional("measures", "sacrebleu.metrics", "sequences")
    bleu = sacrebleu.BLEU(tokenize="zh" if characters else "13a", lowercase=lowercase)
    found = [
        Measure("BLEU", _signature(bleu), partial(_counted, "BLEU", bleu), bleu_of_sums),
        *_others(sacrebleu.CHRF(lowercase=lowercase), characters, accents),
    ]
    return {measure.name: measure for measure in found}


def _others(chrf: "_Counting", characters: bool, accents: bool) -> list[Measure]:
    scorers = optional("measures", "rouge_score.rouge_scorer", "sequences")
    kinds = ["rouge1", "rouge2", "rougeL"]
    unit = "characters" if characters else "words of any letters" if accents else "words"
    tokenizer = _Characters() if characters else _Words() if accents else None
    found = [Measure("chrF", _signature(chrf), partial(_counted, "chrF", chrf), chrf_of_sums)]
    for kind in kinds:
        scorer = scorers.RougeScorer([kind], tokenizer=tokenizer)
        name = kind.replace("rouge", "ROUGE-")
        signature = f"{kind}|F|mean of sentences|{unit}|rouge-score {version('rouge-score')}"
        found.append(Measure(name, signature, partial(_rouge, name, scorer, kind), _mean_of_sums))
    return found


class _Counting(Protocol):
    """What is used of a metric of sacrebleu; its own tests of significance resample these statistics."""

    def _extract_corpus_statistics(self, texts: Sequence[str], references: list[Sequence[str]]) -> list[list[int]]: ...

    def get_signature(self) -> "_Signature": ...


class _Signature(Protocol):
    def format(self) -> str: ...


class _Scorer(Protocol):
    def score(self, reference: str, text: str) -> Mapping[str, "_Scored"]: ...


class _Scored(Protocol):
    fmeasure: float


class _Characters:
    """Every character but white space is a token."""

    def tokenize(self, text: str) -> list[str]:
        return [character for character in text.lower() if not character.isspace()]


class _Words:
    """Every run of letters and digits is a token, whatever letters they are."""

    def tokenize(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())


def _signature(metric: _Counting) -> str:
    metric._extract_corpus_statistics(["a"], [["a"]])  # the number of references is known after a first use only
    return metric.get_signature().format()


def _counted(name: str, metric: _Counting, texts: Sequence[str], references: Sequence[str]) -> Array:
    _pairs(name, texts, references)
    return np.array(metric._extract_corpus_statistics(texts, [references]), dtype=np.float64)


def _rouge(name: str, scorer: _Scorer, kind: str, texts: Sequence[str], references: Sequence[str]) -> Array:
    _pairs(name, texts, references)
    values = [scorer.score(reference, text)[kind].fmeasure for text, reference in zip(texts, references, strict=True)]
    return np.stack([100 * np.array(values), np.ones(len(values))], axis=1)


def _pairs(name: str, texts: Sequence[str], references: Sequence[str]) -> None:
    if isinstance(texts, str) or isinstance(references, str) or not len(texts):
        raise _checks.fail(name, "texts", "a list of at least one text", repr(texts)[:60])
    if len(texts) != len(references):
        raise _checks.fail(name, "references", f"one for each of the {len(texts)} texts", len(references))


def _mean_of_sums(sums: Array) -> Array:
    return np.asarray(sums[..., 0] / sums[..., 1])


def bleu_of_sums(sums: Array) -> Array:
    """Return BLEU from sums of lengths of texts and references, n-grams that are right, and all, of four orders.

    n-grams of which none is right count as ½, ¼, …, as sacrebleu's ``exp`` smoothing has it.

    Example:
        >>> bleu_of_sums(np.array([5.0, 5, 5, 4, 3, 2, 5, 4, 3, 2])).round(6)
        np.float64(100.0)
    """
    length, reference, right, total = sums[..., 0], sums[..., 1], sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    smooth = 0.5 ** np.cumsum(right == 0, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(right == 0, smooth, right) / total)  # no n-gram at all: infinite, and 0 below
        brevity = np.minimum(0.0, 1 - reference / length)
        scores = 100 * np.exp(brevity + logs.mean(axis=-1))
    return np.where(right.any(axis=-1) & (total > 0).all(axis=-1), scores, 0.0)


def chrf_of_sums(sums: Array) -> Array:
    """Return chrF from sums of n-grams in texts, in references and in both, of each order.

    Example:
        >>> chrf_of_sums(np.array([4.0, 4, 4, 3, 3, 3])).round(6)
        np.float64(100.0)
    """
    text, reference, both = (sums[..., place::3] for place in range(3))
    used = (text > 0) & (reference > 0)
    orders = np.maximum(used.sum(axis=-1), 1)
    precision = np.where(used, both / np.maximum(text, 1), 0).sum(axis=-1) / orders
    recall = np.where(used, both / np.maximum(reference, 1), 0).sum(axis=-1) / orders
    below = BETA**2 * precision + recall
    return np.where(below > 0, 100 * (1 + BETA**2) * precision * recall / np.where(below > 0, below, 1), 0.0)


def quality_interval(
    of_sums: Callable[[Array], Array],
    statistics: Array,
    reference: Array | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """Return the interval of a score's mean over seeds, or of its difference to a reference, paired.

    Sentences are drawn, the same for all seeds and both methods, as in ``metrics.metric_interval``.

    Args:
        of_sums: of a measure.
        statistics: of each seed and sentence.
        reference: those of the method to compare with, of the same seeds and sentences.
        level: share of intervals that cover the truth.
        resamples: number of draws.
        seed: the same seed gives the same interval.

    Shape:
        statistics and reference ``(seeds, N, C)``.
    """
    _checks.number("quality_interval", "level", level, low=0, high=1, open_low=True, open_high=True)
    _checks.whole("quality_interval", "resamples", resamples, low=2)
    methods = [_table("statistics", statistics)]
    if reference is not None:
        methods.append(_table("reference", reference, methods[0].shape))
    tables = np.stack(methods)
    sentences = tables.shape[2]

    def draw() -> Array:
        generator = np.random.default_rng(seed)
        shares = np.full(sentences, 1 / sentences)
        times = generator.multinomial(sentences, shares, size=resamples).astype(np.float64)
        return of_sums(np.moveaxis(times @ tables, 2, 0))  # (resamples, methods, seeds)

    values, sizes = of_sums(tables.sum(axis=2)), (sentences, sentences)
    return interval_of_draws(values, draw, sizes, level=level, relative=False)


def _table(argument: str, value: Array, like: tuple[int, ...] | None = None) -> Array:
    table = np.asarray(value, dtype=np.float64)
    expected = "finite numbers of shape (seeds, sentences, statistics)" + (f", {like}" if like else "")
    if table.ndim != 3 or not table.size or (like is not None and table.shape != like):
        remedy = "Pairs are the same seeds and sentences, in the same order." if like else ""
        raise _checks.fail("quality_interval", argument, expected, f"shape {table.shape}", remedy)
    if not bool(np.isfinite(table).all()):
        raise _checks.fail("quality_interval", argument, expected, "others")
    return table
