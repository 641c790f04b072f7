"""From the scores of one row's runs to decisions, costs and numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import torch
from torch import Tensor

from labelspace import metrics
from labelspace.decisions import ActionCost, Decision, Judged, inverted_logits, realised_costs
from labelspace.decisions.choosing import Calibration, Chosen, chosen, fitted
from labelspace.decisions.prior import class_frequencies
from labelspace.results import Options, Rule, Trial
from labelspace.space import LabelSpace
from labelspace.training.run import Run


class Scores(NamedTuple):
    """What a model said about validation and test samples, and what they are."""

    validation: Tensor
    validation_y: Tensor
    test: Tensor
    test_y: Tensor
    validation_factors: Tensor | None = None  # what prices are multiplied by, where samples differ in that
    test_factors: Tensor | None = None
    validation_groups: Tensor | None = None  # what belongs together


class Judge(NamedTuple):
    """How mistakes are judged: their prices, whether they differ, and what numbers to give beside the cost."""

    cost: Tensor  # (K, K), or (K, A) where there are actions
    priced: bool
    ranks: Tensor | None = None  # the place of each class in their order, where they have one
    imbalanced: bool = False
    tree: LabelSpace | None = None
    inverted: bool = False
    names: tuple[str, ...] | None = None  # of the classes, where they have any
    actions: tuple[str, ...] | None = None  # what can be done, where that is more than calling classes
    capacity: Mapping[str, float] | None = None  # the largest share of samples for some of them
    calibration: Calibration = "auto"  # how scores become probabilities

    @property
    def rule(self) -> Rule:
        """The decision of the headline numbers: with equal prices, minimum cost is argmax."""
        return "min_cost" if self.priced else "argmax"


@dataclass(frozen=True)
class Outcome:
    """One row's runs, judged; every number is the mean over seeds.

    Args:
        scores: one per seed.
        judge: the prices.
        targets: the smoothed targets of the method, where its probabilities are to be inverted.
        calibrated: whether anything is fitted to make probabilities honest.
    """

    scores: Sequence[Scores]
    judge: Judge
    targets: Tensor | None = None
    calibrated: bool = True

    @cached_property
    def calibrators(self) -> list[Chosen]:
        """Return how each seed's scores become probabilities, chosen and fitted on validation data."""
        return [self._calibrator(each) for each in self.scores]

    def _calibrator(self, scores: Scores) -> Chosen:
        kind = self.judge.calibration if self.calibrated else "none"
        logits, y = self.logits(scores.validation), scores.validation_y
        if kind == "auto" and self.judge.priced:
            return chosen(logits, y, self.judge.cost, scores.validation_factors)
        # where mistakes cost the same the model's own likeliest class is called, and a temperature never changes that
        return fitted("temperature" if kind == "auto" else kind, logits, y)

    @property
    def temperatures(self) -> list[float]:
        """Return one temperature per seed, fitted on validation data."""
        return [each.temperature for each in self.calibrators]

    def logits(self, scores: Tensor) -> Tensor:
        """Return scores, or where a known smoothing is undone those behind them."""
        if self.targets is None:
            return scores
        return inverted_logits(scores, self.targets)

    @property
    def calibrations(self) -> list[Options | None] | None:
        """Return what each seed has beside its temperature, as plain data; None where no seed has anything."""
        found = [_plain(each) for each in self.calibrators]
        return found if any(found) else None

    @cached_property
    def deciders(self) -> list[Decision]:
        """Return how each seed's model decides."""
        judge = self.judge
        names = [str(number) for number in range(len(judge.cost))] if judge.names is None else judge.names
        cost, more = judge.cost if judge.priced else None, judge.actions
        found = [
            Decision(
                judge.rule,
                how.temperature,
                cost,
                names,
                targets=self.targets,
                actions=more,
                calibration=how.calibrator,
                frequencies=class_frequencies(each.validation_y, len(names)),
            )
            for how, each in zip(self.calibrators, self.scores, strict=True)
        ]
        if judge.capacity is None:
            return found
        return [
            each.with_capacity(scores.validation, judge.capacity, weights=scores.validation_factors)
            for each, scores in zip(found, self.scores, strict=True)
        ]

    @cached_property
    def _judged(self) -> dict[str, list[Judged]]:
        """Return what is decided about test samples, here and nowhere else, by every rule."""
        rules = dict.fromkeys(("argmax", self.judge.rule))
        pairs = list(zip(self.deciders, self.scores, strict=True))
        plain = [(replace(by, rule="argmax", calibration=None), each) for by, each in pairs]
        # beside decisions of least cost, argmax is what the model itself calls the likeliest
        parts = {rule: pairs if rule == self.judge.rule else plain for rule in rules}
        return {
            rule: [by.judge(each.test, each.test_y, self.judge.cost, each.test_factors) for by, each in part]
            for rule, part in parts.items()
        }

    @property
    def probabilities(self) -> list[Tensor]:
        """Return test probabilities after calibration, one tensor per seed."""
        return [each.probabilities for each in self._judged[self.judge.rule]]

    def decisions(self, rule: str) -> list[Tensor]:
        """Return the classes called on test data, one tensor per seed; −1 where what is done is no class."""
        return [each.classes for each in self._judged[rule]]

    def actions(self, rule: str) -> list[Tensor]:
        """Return what is done about test samples, one tensor per seed: places of actions, or of classes."""
        return [each.actions for each in self._judged[rule]]

    @property
    def action_names(self) -> tuple[str, ...]:
        """What can be done."""
        return self.deciders[0].action_names

    def costs(self, rule: str) -> Tensor:
        """Return the cost of every test sample, ``(seeds, samples)``."""
        return torch.stack([each.costs for each in self._judged[rule]])

    def right(self, rule: str) -> Tensor:
        """Return 1 where the decision was right, ``(seeds, samples)``.

        Where what is done is no class, it is as right as the likeliest class: nothing was called instead. Where nothing
        that can be done is a class, what is cheapest for the true class is right.
        """
        pairs = zip(self.scores, self.decisions(rule), strict=True)
        found = torch.stack([(called == each.test_y).double() for each, called in pairs])
        if self.judge.actions is None:
            return found
        if not set(self.judge.actions) & set(self.judge.names or ()):
            best, pairs = self.judge.cost.amin(dim=1), zip(self.scores, self.actions(rule), strict=True)
            return torch.stack([(self.judge.cost[s.test_y, done] == best[s.test_y]).double() for s, done in pairs])
        likeliest = torch.stack([(each.test.argmax(dim=1) == each.test_y).double() for each in self.scores])
        return torch.where(torch.stack(self.decisions(rule)) < 0, likeliest, found)

    def realised(self) -> list[ActionCost]:
        """Return what each action was expected to cost on test data and did, all seeds together."""
        return realised_costs(self._judged[self.judge.rule], self.action_names)

    @cached_property
    def validation_costs(self) -> list[float]:
        """Return for each seed the mean cost on validation data under the headline rule."""
        return [float(each.costs.mean()) for each in self._validation]

    @cached_property
    def _validation(self) -> list[Judged]:
        pairs = zip(self.deciders, self.scores, strict=True)
        return [
            by.judge(each.validation, each.validation_y, self.judge.cost, each.validation_factors) for by, each in pairs
        ]

    @property
    def validation_probabilities(self) -> list[Tensor]:
        """Return validation probabilities after calibration, one tensor per seed."""
        return [each.probabilities for each in self._validation]

    @property
    def validation_table(self) -> Tensor:
        """Return the cost of every validation sample, ``(seeds, samples)``."""
        return torch.stack([each.costs for each in self._validation])

    @property
    def validation_nll(self) -> float:
        """Return the mean negative log-likelihood of calibrated probabilities on validation data."""
        pairs = zip(self._validation, self.scores, strict=True)
        return _mean([metrics.nll(judged.probabilities, each.validation_y) for judged, each in pairs])

    @property
    def validation_cost(self) -> float:
        """Return their mean: what choices are made by."""
        return float(torch.tensor(self.validation_costs, dtype=torch.float64).mean())

    @property
    def merits(self) -> list[float]:
        """Return for each seed what it is chosen by: the largest is the best."""
        return [-cost for cost in self.validation_costs]

    def trial(self, value: float | None, runs: Sequence[Run]) -> Trial:
        """Return what the runs here say of a strength."""
        first = runs[0].folder
        return Trial(
            value=value,
            validation_cost=self.validation_cost,
            validation_accuracy=_mean([run.result["validation"]["accuracy"] for run in runs]),
            temperature=self.temperatures[0],
            calibration=_plain(self.calibrators[0]),
            run=None if first is None else first.name,
            seeds=len(runs),
        )

    def numbers(self, rule: str) -> dict[str, float]:
        """Return cost, accuracy, and the numbers that belong to this kind of classes."""
        called, classes = self.decisions(rule), len(self.judge.cost)
        right, is_class = self.right(rule), torch.stack(called) >= 0
        # of samples that are called a class, where some are
        found = {"cost": float(self.costs(rule).mean())}
        found["accuracy"] = float((right[is_class] if bool(is_class.any()) else right).mean())
        if not bool(is_class.any(dim=1).all()):
            return found
        pairs = [(p[p >= 0], each.test_y[p >= 0]) for p, each in zip(called, self.scores, strict=True)]
        if self.judge.ranks is not None:
            ranks = self.judge.ranks
            found["kappa"] = _mean([metrics.quadratic_kappa(ranks[p], ranks[y], classes) for p, y in pairs])
        if self.judge.imbalanced:
            found["balanced_accuracy"] = _mean([metrics.balanced_accuracy(*pair, classes) for pair in pairs])
        if self.judge.tree is not None:
            levels = torch.stack([metrics.level_accuracy(*pair, self.judge.tree) for pair in pairs]).mean(dim=0)
            grouped = self.judge.tree.source.get("builder") == "groups"
            titles = ["group_accuracy"] if grouped else [f"level_{number}" for number in range(1, len(levels) + 1)]
            # the last level is the classes themselves: beside groups it would repeat the accuracy
            found.update(zip(titles, (levels[:-1] if grouped else levels).tolist(), strict=False))
        return found

    def calibration(self) -> dict[str, float]:
        """Return calibration error before and after it, likelihood, and the area under risk–coverage."""
        before = [self.logits(each.test).double().softmax(dim=1) for each in self.scores]
        ys = [each.test_y for each in self.scores]
        return {
            "ece": _mean([metrics.calibration_error(p, y) for p, y in zip(before, ys, strict=True)]),
            "ece_after": _mean([metrics.calibration_error(p, y) for p, y in zip(self.probabilities, ys, strict=True)]),
            "nll_after": _mean([metrics.nll(p, y) for p, y in zip(self.probabilities, ys, strict=True)]),
            "risk_coverage": _mean(self.selective),
        }

    @cached_property
    def selective(self) -> list[float]:
        """Return for each seed the mean cost of what is kept when the dearest-looking samples are left out."""
        judged = self._judged[self.judge.rule]
        return [metrics.risk_coverage_area(-each.expected, each.costs) for each in judged]


def _plain(how: Chosen) -> Options | None:
    return None if how.calibrator is None else cast(Options, how.calibrator.plain())  # numbers and lists of them


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
