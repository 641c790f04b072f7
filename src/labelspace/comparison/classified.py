"""How classifiers are judged: by what their mistakes cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from labelspace.comparison.cause import Shuffles, taken_in_turn
from labelspace.comparison.chosen import Offer, alike, is_worth_several, told_by
from labelspace.comparison.decided import collapses, decided, done
from labelspace.comparison.ensembles import averaged, mixed, together
from labelspace.comparison.entries import Entry
from labelspace.comparison.folder import BEST, write_geometry
from labelspace.comparison.headline import NOTHING_YET, advice, models_of
from labelspace.comparison.judging import Found, Shuffle, Trained, best_seed, candidates
from labelspace.comparison.knowledge import Doing, Knowledge, Spoken, factor_of, gather
from labelspace.comparison.learned import constant_row, doubts
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.plan import EACH, Plan
from labelspace.comparison.refitted import check_fits
from labelspace.comparison.rows import Judged, against_reference, beside_reference, make_row, pooled
from labelspace.comparison.summary import caveats, costliest, extra_columns, prices_facts, space_facts
from labelspace.comparison.verdict import doubted, judge_rows, kind_of
from labelspace.criteria import criterion_class
from labelspace.data.dataset import Dataset
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
        check_fits(judge, job.dataset.validation.y, job.dataset.validation.groups)
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

    def found(self, trained: Sequence[Trained], problems: Sequence[str], shuffle: Shuffle) -> Found:
        """Judge all rows; of a structured one that is cheaper, ask for shuffled forms."""
        groups, level = self.dataset.test.groups, self.plan.level
        outcomes = [each.outcome for each in trained if isinstance(each.outcome, Outcome)]
        pairs = zip(outcomes, trained, strict=True)
        rows = against_reference([make_row(outcome, **each.about()) for outcome, each in pairs], level, groups)
        constant = constant_row(self.labels, outcomes[0], self.dataset.train.factors)
        able = candidates(rows)
        near = [able[each] for each in alike([_offer(outcomes[place]) for place in able])]
        several = averaged(rows, trained, near[0]) + (
            [mixed([trained[place] for place in near])] if len(near) > 1 else []
        )
        outcomes += [each.outcome for each in several if isinstance(each.outcome, Outcome)]
        added = [
            make_row(outcome, **each.about()) for outcome, each in zip(outcomes[len(rows) :], several, strict=True)
        ]
        unit = next((row.change.unit for row in rows if row.change is not None), None)
        rows += beside_reference(added, rows[0], level, groups, unit)
        offers = [_offer(each) for each in outcomes]
        names, of_validation = [row.label for row in rows], self.dataset.validation.groups
        best = _best(rows, offers, near[0], of_validation)
        chose = "" if rows[best].mixed else told_by(offers, names, best, of_validation)
        seed = best_seed(outcomes[best])
        winner = next(number for number, row in enumerate(rows) if row.winner)
        steps = -(-len(self.dataset.train) // self.plan.config.batch_size)
        judged = [trained[0].runs, trained[winner].runs]
        doubt = doubts(rows[0], constant, judged, steps, groups, level)
        asked = doubt is None and rows[winner].structured and kind_of(rows[winner].moved, self.plan.margin) == "cheaper"
        shuffled = shuffle(trained[winner]) if asked else ()
        shuffles = _shuffles(trained[winner], shuffled) if shuffled else None
        alone = rows[: len(trained)]  # what is said of labels is said of single models
        verdict = judge_rows(alone, self.plan.margin, self.knowledge.word, groups, level, rows[best], shuffles)
        verdict = verdict if doubt is None else doubted(verdict, doubt)
        learned = doubt is None or all(row.role == "rival" for row in models_of(rows, rows[best]))
        collapsed = collapses(rows, outcomes, best, self.dataset.names)
        offered = filter(None, [self.knowledge.offer])
        return Found(
            rows=tuple(row.row() for row in (*rows, *_pooled(shuffled))),
            verdict=verdict.adding(done(outcomes[best])).advising(
                f"{advice(rows, best, groups, level)} {chose}".rstrip() if learned else NOTHING_YET
            ),
            warnings=(*collapsed, *caveats(alone, self.dataset, problems, groups, level), *offered),
            best=best,
            seed=seed,
            extra=extra_columns(rows[0], self.judge.tree),
            costliest=costliest(outcomes[best], self.dataset.names),
            constant=constant.row(),
            decided=decided(outcomes[best], self.dataset.names),
            ensembles=tuple(several),
        )

    def leave(self, folder: Path, trained: Sequence[Trained], found: Found, result: Result) -> None:
        """Write prices and space, how classes lie, and the best model with how it decides."""
        if self.judge.priced:
            self.cost.save(folder / COST)
        if self.space is not None:
            self.space.save(folder / SPACE)
        write_geometry(folder, trained, found.rows[: len(trained)], self.dataset)
        best = [*trained, *found.ensembles][found.best]
        assert isinstance(best.outcome, Outcome)
        run = together(best, trained) if best.entry.role == "ensemble" else best.runs[found.seed]
        take_home(run, best.outcome.deciders[found.seed], folder / BEST, result)


def _offer(outcome: Outcome) -> Offer:
    return Offer(outcome.validation_table, outcome.validation_nll)


def _best(rows: Sequence[Judged], offers: Sequence[Offer], cheapest: int, groups: Tensor | None) -> int:
    """Return the row to take home: all models of those alike, or of the cheapest; others as one if clearly cheaper."""
    several = [place for place, row in enumerate(rows) if row.role == "ensemble" and not row.mixed]
    own = next((place for place in several if rows[place].of == rows[cheapest].label), cheapest)
    best = next((place for place, row in enumerate(rows) if row.mixed), own)
    many = min(several, key=lambda place: float(offers[place].costs.mean()), default=None)
    return best if many is None or not is_worth_several(offers[best], offers[many], groups) else many


def _shuffles(winner: Trained, shuffled: Sequence[Trained]) -> Shuffles | None:
    """Return what shuffled forms cost; None where some are missing, so that a rank would say too much."""
    count = winner.entry.shuffles
    costs = [each.outcome.costs(each.outcome.judge.rule) for each in shuffled if isinstance(each.outcome, Outcome)]
    if len(costs) < count:
        return None
    return Shuffles(torch.stack(costs), taken_in_turn(count + 1, EACH, len(winner.runs)))


def _pooled(shuffled: Sequence[Trained]) -> list[Judged]:
    """Return the one row that stands for all shuffled forms."""
    rows = [make_row(each.outcome, **each.about()) for each in shuffled if isinstance(each.outcome, Outcome)]
    return [pooled(rows, f"{rows[0].of} shuffled ({len(rows)})")] if rows else []


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
