"""How models of sequences are judged: by a measure of the texts they write, such as BLEU."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.comparison.entries import Entry
from labelspace.comparison.folder import BEST
from labelspace.comparison.judging import Found, Shuffle, Trained, best_seed, candidates
from labelspace.comparison.knowledge import Spoken
from labelspace.comparison.learned import LONGER, unfinished
from labelspace.comparison.plan import Plan
from labelspace.comparison.rows import Compared, corrected, winner_of
from labelspace.comparison.text_verdict import judge_texts
from labelspace.comparison.texts import neighbourhood, side_by_side
from labelspace.comparison.verdict import doubted
from labelspace.data.dataset import Dataset
from labelspace.data.splits import leak_sentences
from labelspace.data.vocabulary import SPECIAL
from labelspace.metrics import Interval
from labelspace.results import (
    DRAWN_FROM,
    Extra,
    Known,
    Measure,
    Numbers,
    Options,
    Prices,
    Quality,
    Result,
    Rule,
    Trial,
)
from labelspace.sequences import quality
from labelspace.sequences.quality import Array
from labelspace.sequences.searched import unended, words
from labelspace.serving.take_home import CARD, take_home
from labelspace.space import LabelSpace
from labelspace.spec.named import SpaceSpec, named
from labelspace.spec.prices import CostSpec
from labelspace.spec.words import spoken_space
from labelspace.training.run import Run

SPACE = DRAWN_FROM[1]
USUAL = "BLEU"
MOST = 100.0  # points
LEAST = 1.0  # points that a model reaches which has learned anything
TOKENS = "every wrong token costs 1"
# the numbers of a row that have a column beside the measure
SHOWN = {"BLEU": ("chrF",), "ROUGE-1": ("ROUGE-2", "ROUGE-L")}


@dataclass(frozen=True, eq=False)
class Translated:
    """What the runs of one row wrote, one for each seed.

    Args:
        runs: one for each seed.
        dataset: whose answers are the right ones.
        by: what they are judged by.
    """

    runs: Sequence[Run]
    dataset: Dataset
    by: quality.Measure

    @property
    def merits(self) -> list[float]:
        """Return for each seed the measure on validation data."""
        return [run.result["validation"][self.by.name.lower()] for run in self.runs]

    def trial(self, value: float | None, runs: Sequence[Run]) -> Trial:
        """Return what the runs here say of a strength."""
        first, count = runs[0].folder, len(runs)
        return Trial(
            value=value,
            validation_accuracy=sum(run.result["validation"]["accuracy"] for run in runs) / count,
            validation_quality=sum(self.merits) / count,
            run=None if first is None else first.name,
            seeds=count,
        )

    @cached_property
    def statistics(self) -> Array:
        """Return what the measure counts of every seed and test text, ``(seeds, N, C)``."""
        answers = self.dataset.test.answers
        assert answers is not None
        return np.stack([self.by.count(run.translations["test"], answers) for run in self.runs])

    def quality(self, level: float) -> Quality:
        """Return the measure on test data with its interval; of a single run over texts alone: this one, no other."""
        # the one run twice: seeds that do not differ add nothing to the variance
        table = self.statistics.repeat(2, axis=0) if len(self.runs) == 1 else self.statistics
        found = quality.quality_interval(self.by.of_sums, table, level=level)
        if found.low is None or found.high is None:
            return Quality(value=found.estimate)
        # few seeds stretch an interval beyond what there is
        return Quality(value=found.estimate, low=max(found.low, 0.0), high=min(found.high, MOST))

    def change(self, reference: "Translated", level: float) -> Interval:
        """Return the difference to another row in points, paired: the same seeds and texts."""
        if np.array_equal(self.statistics, reference.statistics):
            # nothing varies, which says nothing about how much it might
            seeds, texts, _ = self.statistics.shape
            return Interval(0.0, None, None, level, seeds, texts, "no text counts otherwise")
        return quality.quality_interval(self.by.of_sums, self.statistics, reference.statistics, level=level)

    def numbers(self) -> dict[str, float]:
        """Return means over seeds: of tokens, each wrong one costing 1, and of texts by all measures."""
        tests = [run.result["test"] for run in self.runs]
        accuracy = _mean([test["accuracy"] for test in tests])
        others = {name: _mean([test[name] for test in tests]) for name in tests[0] if name not in ("accuracy", "nll")}
        perplexity = _mean([math.exp(test["nll"]) for test in tests])
        return {"cost": 1 - accuracy, "accuracy": accuracy, **others, "perplexity": perplexity}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@dataclass(frozen=True, eq=False)
class Sequences:
    """The judge of sequences.

    Args:
        plan: margin and level.
        dataset: whose test part they are judged on.
        space: what is known about the tokens.
        by: what texts are judged by.
        others: what else is measured.
    """

    plan: Plan
    dataset: Dataset
    space: LabelSpace | None
    by: quality.Measure
    others: Sequence[quality.Measure]

    @classmethod
    def of(cls, plan: Plan, dataset: Dataset, space: SpaceSpec | None, cost: CostSpec) -> "Sequences":
        """Refuse what makes no sense for texts, and see what they are judged by."""
        target = dataset.source["vocabularies"]["target"]
        known = quality.measures_for(target["tokens"][len(SPECIAL) :], target["lowercase"])
        by = known[_checks.choice("compare", "measure of the data", dataset.source.get("measure", USUAL), known)]
        if cost is not None:
            remedy = f"They are judged by {by.name}: a wrong token has no price."
            raise _checks.fail("compare", "cost", "left out for sequences", "one", remedy)
        for name, value in (("actions", plan.actions), ("capacity", plan.capacity)):
            if value is not None:
                remedy = "There are no decisions about classes, of which something could be done."
                raise _checks.fail("compare", name, "left out for sequences", repr(value), remedy)
        for name, value, usual in (
            ("probabilities", plan.probabilities, "as is"),
            ("calibration", plan.calibration, "auto"),
        ):
            if value != usual:
                remedy = "There are no decisions about classes that it would change."
                raise _checks.fail("compare", name, "left out for sequences", repr(value), remedy)
        _checks.number("compare", "margin", plan.margin, low=0, high=MOST, open_low=True)
        given = space if space is None or isinstance(space, LabelSpace) else named(space, dataset.names)
        others = [known[name] for name in SHOWN.get(by.name, ())]
        return cls(plan, dataset, None if given is None else given.subset(list(dataset.names)), by, others)

    @property
    def measure(self) -> Measure:
        """What texts are judged by, as a result says it."""
        return Measure(key=self.by.name.lower(), title=self.by.name, signature=self.by.signature)

    @property
    def cost(self) -> None:
        """Nothing: texts have no prices."""
        return None

    @property
    def rule(self) -> Rule:
        """Single tokens are the likeliest ones."""
        return "argmax"

    @property
    def spoken(self) -> Spoken:
        """What is known, in words."""
        return Spoken(None if self.space is None else spoken_space(self.space), TOKENS, None)

    @property
    def headline(self) -> str:
        """What it is judged by."""
        return f"judged by {self.by.name}"

    @property
    def prices(self) -> Prices:
        """What mistakes cost, as a result says it."""
        return Prices(words=TOKENS)

    @property
    def known(self) -> Known | None:
        """What is known about the tokens, as a result says it."""
        return None if self.spoken.space is None else Known(words=self.spoken.space)

    @property
    def taken_home(self) -> tuple[str, ...]:
        """The card of the best model, which decides nothing."""
        return (CARD,)

    def assessed(self, entry: Entry, options: Options, runs: Sequence[Run]) -> Translated:
        """Return the texts of a row's runs."""
        return Translated(runs, self.dataset, self.by)

    def found(self, trained: Sequence[Trained], problems: Sequence[str], shuffle: Shuffle) -> Found:
        """Judge all rows; nothing is shuffled, as trainings are long."""
        level = self.plan.level
        outcomes = [each.outcome for each in trained if isinstance(each.outcome, Translated)]
        rows = [self._row(each, outcome) for each, outcome in zip(trained, outcomes, strict=True)]
        chosen = winner_of(rows)
        assert chosen is not None
        levels = [chosen.level(level) if number == chosen.number else level for number in range(1, len(rows))]
        pairs = zip(outcomes[1:], levels, strict=True)
        rows = corrected(rows, [outcome.change(outcomes[0], each) for outcome, each in pairs], chosen)
        best = max(candidates(rows), key=lambda number: rows[number].merit)
        seed = best_seed(trained[best].outcome)
        seeds = len(trained[best].runs)
        winner = next(number for number, row in enumerate(rows) if row.winner)
        steps = -(-len(self.dataset.train) // self.plan.config.batch_size)
        doubt = self._unlearned(rows) or unfinished([trained[0].runs, trained[winner].runs], steps)
        told = {row.shown: row.argmax.others for row in rows}
        verdict = judge_texts(rows, self.measure, self.plan.margin, seeds, level)
        return Found(
            rows=tuple(row.row() for row in rows),
            verdict=verdict if doubt is None else doubted(verdict, doubt),
            warnings=(*problems, *leak_sentences(self.dataset.source), *unended(told, len(self.dataset.test))),
            best=best,
            seed=seed,
            extra=tuple(Extra(key=each.name.lower(), title=f"{each.name} ↑") for each in self.others),
            measure=self.measure.model_copy(update={"search": words(outcomes[0].runs[0].result.get("search", {}))}),
            translations=side_by_side(trained, self.dataset),
            neighbours=neighbourhood(trained, rows),
        )

    def _unlearned(self, rows: Sequence[Compared]) -> str | None:
        """Return that nothing is good enough to tell labels apart, where it is so."""
        if max(row.quality.value for row in rows if row.quality is not None) >= LEAST:
            return None
        what = f"No method reaches {LEAST:g} {self.by.name}: these models have hardly learned to write"
        return f"{what}, and tell nothing about labels. No verdict: {LONGER}."

    def _row(self, trained: Trained, outcome: Translated) -> Compared:
        return Compared(
            **trained.about(),
            argmax=Numbers.model_validate(outcome.numbers()),
            min_cost=None,
            ece_after=None,
            quality=outcome.quality(self.plan.level),
            validation_quality=_mean(outcome.merits),
        )

    def leave(self, folder: Path, trained: Sequence[Trained], found: Found, result: Result) -> None:
        """Write what is known about the tokens, and the best model."""
        if self.space is not None:
            self.space.save(folder / SPACE)
        take_home(trained[found.best].runs[found.seed], None, folder / BEST, result)
