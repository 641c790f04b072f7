"""How classifiers are judged: by what their mistakes cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from labelspace.comparison.chosen import Offer, cheapest
from labelspace.comparison.decided import collapses, decided, done
from labelspace.comparison.entries import Entry
from labelspace.comparison.folder import BEST, write_geometry
from labelspace.comparison.headline import NOTHING_YET, advice
from labelspace.comparison.judging import Found, Trained, best_seed, candidates
from labelspace.comparison.knowledge import Doing, Knowledge, Spoken, factor_of, gather
from labelspace.comparison.learned import constant_row, doubts
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.plan import Plan
from labelspace.comparison.rows import against_reference, make_row
from labelspace.comparison.summary import caveats, costliest, extra_columns, prices_facts, space_facts
from labelspace.comparison.verdict import doubted, judge_rows
from labelspace.criteria import criterion_class
from labelspace.data.dataset import Dataset
from labelspace.decisions.capacity import check_rows
from labelspace.results import DRAWN_FROM, Known, Options, Prices, Result, Rule
from labelspace.serving.take_home import CARD, take_home
from labelspace.space import LabelSpace
from labelspace.spec.named import SpaceSpec
from labelspace.spec.prices import CostSpec
from labelspace.training.build import Job, training_labels
from labelspace.training.decided import FILE
from labelspace.training.run import Run

COST, SPACE, _ = DRAWN_FROM


@dataclass(frozen=True, eq=False)
class Classified:
    """The judge of classifiers.

    Args:
        plan: margin and level, and whether a known smoothing is undone.
        dataset: whose test part they are judged on.
        knowledge: what is known about the classes, and the prices.
        judge: how mistakes are judged.
        labels: of the training samples, as they are trained on.
    """

    plan: Plan
    dataset: Dataset
    knowledge: Knowledge
    judge: Judge
    labels: Tensor

    @classmethod
    def of(cls, plan: Plan, job: Job, space: SpaceSpec | None, cost: CostSpec) -> "Classified":
        """Gather what is known."""
        # what the data say of classes comes from the labels that are trained on: clean ones would leak through it
        labels = training_labels(job)
        doing = Doing(plan.actions, plan.capacity, factor_of(job.dataset))
        knowledge = gather(space, cost, job.dataset, labels, doing)
        judge = knowledge.judge(job.dataset.names, job.dataset.test.y, plan.probabilities, plan.calibration)
        if judge.capacity is not None:
            check_rows(judge.actions or judge.names or (), judge.capacity, len(job.dataset.validation))
        return cls(plan, job.dataset, knowledge, judge, labels)

    @property
    def space(self) -> LabelSpace | None:
        """What is known about the classes."""
        return self.knowledge.space

    @property
    def cost(self) -> LabelSpace:
        """What mistakes cost."""
        return self.knowledge.cost

    @property
    def rule(self) -> Rule:
        """The decision of the headline numbers."""
        return self.judge.rule

    @property
    def spoken(self) -> Spoken:
        """Space and prices in words."""
        return self.knowledge.spoken

    @property
    def headline(self) -> str:
        """What mistakes cost."""
        return f"cost: {self.spoken.cost}"

    @property
    def prices(self) -> Prices:
        """What mistakes cost, as a result says it."""
        return prices_facts(self.knowledge, self.judge)

    @property
    def known(self) -> Known | None:
        """What is known about the classes, as a result says it."""
        return space_facts(self.knowledge)

    @property
    def taken_home(self) -> tuple[str, ...]:
        """How the best model decides, and its card."""
        return (FILE, CARD)

    def assessed(self, entry: Entry, options: Options, runs: Sequence[Run]) -> Outcome:
        """Return the decisions and costs of a row's runs."""
        targets = None
        invertible = criterion_class(entry.method).invertible
        strength = entry.strength(options)
        asked = self.judge.inverted and entry.option == "smoothing" and invertible
        if asked and strength is not None and not _learned(runs[0]):
            targets = runs[0].space.relations().targets(strength)
        groups = self.dataset.validation.groups
        return Outcome([scores_of(run)._replace(validation_groups=groups) for run in runs], self.judge, targets)

    def found(self, trained: Sequence[Trained], problems: Sequence[str]) -> Found:
        """Judge all rows."""
        groups, level = self.dataset.test.groups, self.plan.level
        outcomes = [each.outcome for each in trained if isinstance(each.outcome, Outcome)]
        pairs = zip(outcomes, trained, strict=True)
        rows = against_reference([make_row(outcome, **each.about()) for outcome, each in pairs], level, groups)
        constant = constant_row(self.labels, outcomes[0], self.dataset.train.factors)
        able = candidates(rows)
        offers = [Offer(outcomes[each].validation_table, outcomes[each].validation_nll) for each in able]
        best = able[cheapest(offers, self.judge.priced)]
        seed = best_seed(outcomes[best])
        winner = next(number for number, row in enumerate(rows) if row.winner)
        steps = -(-len(self.dataset.train) // self.plan.config.batch_size)
        judged = [trained[0].runs, trained[winner].runs]
        doubt = doubts(rows[0], constant, judged, steps, groups, level)
        verdict = judge_rows(rows, self.plan.margin, self.knowledge.word, groups, level, rows[best])
        verdict = verdict if doubt is None else doubted(verdict, doubt)
        learned = doubt is None or rows[best].role == "rival"
        collapsed = collapses(rows, outcomes, best, self.dataset.names)
        offered = filter(None, [self.knowledge.offer])
        return Found(
            rows=tuple(row.row() for row in rows),
            verdict=verdict.adding(done(outcomes[best])).advising(
                advice(rows, best, groups, level) if learned else NOTHING_YET
            ),
            warnings=(*collapsed, *caveats(rows, self.dataset, problems, groups, level), *offered),
            best=best,
            seed=seed,
            extra=extra_columns(rows[0], self.judge.tree),
            costliest=costliest(outcomes[best], self.dataset.names),
            constant=constant.row(),
            decided=decided(outcomes[best], self.dataset.names),
        )

    def leave(self, folder: Path, trained: Sequence[Trained], found: Found, result: Result) -> None:
        """Write prices and space, how classes lie, and the best model with how it decides."""
        if self.judge.priced:
            self.cost.save(folder / COST)
        if self.space is not None:
            self.space.save(folder / SPACE)
        write_geometry(folder, trained, found.rows, self.dataset)
        best = trained[found.best]
        assert isinstance(best.outcome, Outcome)
        take_home(best.runs[found.seed], best.outcome.deciders[found.seed], folder / BEST, result)


def scores_of(run: Run) -> Scores:
    """Return what a run said of validation and test data."""
    found = run.scores
    return Scores(
        found["validation_scores"],
        found["validation_y"],
        found["test_scores"],
        found["test_y"],
        found.get("validation_factors"),
        found.get("test_factors"),
    )


def _learned(run: Run) -> bool:
    """Return whether a run learned its targets: they are then not those that its strength says."""
    names = criterion_class(run.config.method).label_parameters
    weights = run.weights if names else {}
    return any(f"criterion.{name}" in weights for name in names)
