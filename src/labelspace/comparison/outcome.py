"""From the scores of one row's runs to decisions, costs and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import metrics
from labelspace.decisions import Temperature, expected_cost_of, inverted_logits, min_cost
from labelspace.results import Rule
from labelspace.space import LabelSpace


class Scores(NamedTuple):
    """What a model said about validation and test samples, and what they are."""

    validation: Tensor
    validation_y: Tensor
    test: Tensor
    test_y: Tensor


class Judge(NamedTuple):
    """How mistakes are judged: their prices, whether they differ, and what numbers to give beside the cost."""

    cost: Tensor  # (K, K)
    priced: bool
    ranks: Tensor | None = None  # the place of each class in their order, where they have one
    imbalanced: bool = False
    tree: LabelSpace | None = None
    inverted: bool = False

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
    """

    scores: Sequence[Scores]
    judge: Judge
    targets: Tensor | None = None

    @cached_property
    def temperatures(self) -> list[float]:
        """Return one temperature per seed, fitted on validation data."""
        return [fitted.value for fitted in self._fitted]

    @cached_property
    def _fitted(self) -> list[Temperature]:
        return [Temperature().fit(self._logits(each.validation), each.validation_y) for each in self.scores]

    def _logits(self, scores: Tensor) -> Tensor:
        if self.targets is None:
            return scores
        return inverted_logits(scores, self.targets)

    @cached_property
    def probabilities(self) -> list[Tensor]:
        """Return test probabilities after temperature, one tensor per seed."""
        return [fit(self._logits(each.test)) for fit, each in zip(self._fitted, self.scores, strict=True)]

    def decisions(self, rule: str) -> list[Tensor]:
        """Return the classes called on test data, one tensor per seed."""
        if rule == "argmax":
            return [each.test.argmax(dim=1) for each in self.scores]
        return self._cheapest

    @cached_property
    def _cheapest(self) -> list[Tensor]:
        return [min_cost(probabilities, self.judge.cost) for probabilities in self.probabilities]

    def costs(self, rule: str) -> Tensor:
        """Return the cost of every test sample, ``(seeds, samples)``."""
        pairs = zip(self.scores, self.decisions(rule), strict=True)
        return torch.stack([self.judge.cost[each.test_y, called] for each, called in pairs])

    def right(self, rule: str) -> Tensor:
        """Return 1 where the decision was right, ``(seeds, samples)``."""
        return torch.stack(
            [(called == each.test_y).double() for each, called in zip(self.scores, self.decisions(rule), strict=True)]
        )

    @cached_property
    def validation_cost(self) -> float:
        """Return the mean cost on validation data under the headline rule: what choices are made by."""
        found = []
        for fit, each in zip(self._fitted, self.scores, strict=True):
            called = each.validation.argmax(dim=1)
            if self.judge.priced:
                called = min_cost(fit(self._logits(each.validation)), self.judge.cost)
            found.append(self.judge.cost[each.validation_y, called].mean())
        return float(torch.stack(found).mean())

    def numbers(self, rule: str) -> dict[str, float]:
        """Return cost, accuracy, and the numbers that belong to this kind of classes."""
        found = {"cost": float(self.costs(rule).mean()), "accuracy": float(self.right(rule).mean())}
        called, classes = self.decisions(rule), len(self.judge.cost)
        pairs = [(predicted, each.test_y) for predicted, each in zip(called, self.scores, strict=True)]
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
        """Return calibration error before and after temperature, likelihood, and the area under risk–coverage."""
        before = [self._logits(each.test).double().softmax(dim=1) for each in self.scores]
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
        found = []
        for probabilities, called, costs in zip(
            self.probabilities, self.decisions(self.judge.rule), self.costs(self.judge.rule), strict=True
        ):
            expected = expected_cost_of(probabilities, self.judge.cost).gather(1, called[:, None])[:, 0]
            found.append(metrics.risk_coverage_area(-expected, costs))
        return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
