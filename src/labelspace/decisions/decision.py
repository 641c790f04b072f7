"""How a trained model decides: temperature, prices and rule together, kept in a small file beside the model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _files, _inputs
from labelspace._inputs import Numbers
from labelspace.decisions.calibration import Temperature, inverted_logits
from labelspace.decisions.rules import RULES, abstain, expected_cost_of
from labelspace.space import LabelSpace

FIELDS = ("rule", "temperature", "cost", "names", "abstain_cost")
OPTIONAL = ("targets", "run", _files.DIGEST)


class Decided(NamedTuple):
    """What was decided about N samples.

    Args:
        classes: the class of each sample, also where it should rather be left to somebody.
        probability: of that class.
        abstained: where not deciding costs less than any class is expected to.
    """

    classes: Tensor
    probability: Tensor
    abstained: Tensor


class Judged(NamedTuple):
    """What was decided about N samples whose classes are known, and what that costs.

    Args:
        classes: the class of each sample, also where it should rather be left to somebody.
        probabilities: after temperature, ``(N, K)``.
        abstained: where not deciding costs less than any class is expected to.
        costs: what each decision costs, in float64.
        expected: what it was expected to cost.
    """

    classes: Tensor
    probabilities: Tensor
    abstained: Tensor
    costs: Tensor
    expected: Tensor


@dataclass(frozen=True, eq=False)
class Decision:
    """From scores to decisions: ``p = softmax(scores / τ)``, then a class by the rule.

    Args:
        rule: a name in ``decisions.rules.RULES``: ``"argmax"`` or ``"min_cost"`` (the least expected cost
            ``Σ_j p_j C_jk``; needs prices).
        temperature: τ, fitted on held-out scores.
        cost: prices ``C``, or a cost space; None where every mistake costs 1.
        names: of the classes, in the order of the scores' columns.
        abstain_cost: what leaving a sample to somebody else costs, in the unit of the prices (for ``"argmax"`` a
            mistake costs 1); None never abstains.
        targets: the smoothed targets T that the model was trained on, ``(K, K)``, where its probabilities are to be
            inverted, ``p ∝ T⁻¹ q``, before the temperature (which was then fitted so).

    Example:
        >>> decision = Decision("min_cost", 1.0, [[0, 1], [5, 0]], ["well", "ill"], abstain_cost=0.6)
        >>> classes, probability, abstained = decision.decide([[1.4, 0.0], [3.0, 0.0]])
        >>> [decision.names[index] for index in classes.tolist()], abstained.tolist()  # "ill" is expected to cost 0.8
        (['ill', 'well'], [True, False])
    """

    rule: str
    temperature: float
    cost: LabelSpace | Numbers | None
    names: Sequence[str]
    abstain_cost: float | None = None
    targets: Numbers | None = None

    def __post_init__(self) -> None:
        """Check everything, and keep names as a tuple and prices as float64 numbers."""
        owner = "Decision"
        _checks.choice(owner, "rule", self.rule, tuple(RULES))
        names = _checks.class_names(owner, self.names)
        cost = None if self.cost is None else _inputs.prices(owner, self.cost, classes=len(names))
        if cost is None and RULES[self.rule].needs_prices:
            remedy = "Without prices every mistake costs the same, and the cheapest class is the likeliest: 'argmax'."
            raise _checks.fail(owner, "cost", f"given for {self.rule!r}", None, remedy)
        temperature = _checks.number(owner, "temperature", self.temperature, low=0, open_low=True)
        price = None if self.abstain_cost is None else _checks.number(owner, "abstain_cost", self.abstain_cost, low=0)
        targets = None if self.targets is None else _inputs.matrix(owner, "targets", self.targets, rows=len(names))
        checked = {
            "names": names,
            "cost": cost,
            "temperature": temperature,
            "abstain_cost": price,
            "targets": targets,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def prices(self) -> Tensor:
        """What a mistake costs under the rule, ``(K, K)``: for ``"argmax"`` every one costs 1."""
        if not RULES[self.rule].needs_prices:
            return 1 - torch.eye(len(self.names), dtype=torch.float64)
        assert isinstance(self.cost, Tensor)
        return self.cost

    def probabilities(self, scores: Numbers) -> Tensor:
        """Return ``softmax(scores / τ)``, ``(N, K)``; of inverted scores where there are targets."""
        logits = scores if self.targets is None else inverted_logits(scores, self.targets)
        found = Temperature(self.temperature).apply(logits)
        if found.shape[1] != len(self.names):
            expected = f"of {len(self.names)} columns, one per class"
            raise _checks.fail("Decision", "scores", expected, f"shape {tuple(found.shape)}")
        return found

    def decide(self, scores: Numbers) -> Decided:
        """Return the class of each sample, its probability, and where it is better not to decide.

        Args:
            scores: of a model, larger is likelier.

        Shape:
            ``scores (N, K)``; class indices, probabilities and the mask are ``(N,)``.
        """
        return self._decided(scores, self.probabilities(scores))

    def judge(self, scores: Numbers, y: Tensor, prices: Tensor | None = None) -> Judged:
        """Decide about samples whose classes are known: comparisons, reports and model cards all look at this.

        Args:
            scores: of a model, larger is likelier.
            y: the classes.
            prices: what mistakes cost, ``(K, K)``, where that is not what the rule says: for ``"argmax"`` every
                mistake costs 1.

        Shape:
            ``scores (N, K)``, ``y (N,)``.

        Example:
            >>> decision = Decision("min_cost", 1.0, [[0, 1], [5, 0]], ["well", "ill"])
            >>> decision.judge([[1.4, 0.0], [3.0, 0.0]], torch.tensor([0, 1])).costs
            tensor([1., 5.], dtype=torch.float64)
        """
        p = self.probabilities(scores)
        classes, sure, abstained = self._decided(scores, p)
        paid = self.prices if prices is None and RULES[self.rule].needs_prices else prices
        if paid is None:  # of many classes, a matrix of ones would not fit
            return Judged(classes, p, abstained, (classes != y).double(), 1 - sure)
        expected = expected_cost_of(p, paid).gather(1, classes[:, None]).squeeze(1)
        return Judged(classes, p, abstained, paid[y, classes], expected)

    def _decided(self, scores: Numbers, p: Tensor) -> Decided:
        rule, given = RULES[self.rule], _inputs.tensor("Decision", "scores", scores)
        # not self.prices where the rule does not read them: of many classes, a matrix of ones would not fit
        prices = self.prices if rule.needs_prices else None
        classes = rule.choose(given.cpu(), p.cpu().double(), prices).to(p.device)
        abstained = torch.zeros_like(classes, dtype=torch.bool)
        if self.abstain_cost is not None:
            abstained = abstain(p, self.prices, self.abstain_cost) < 0
        return Decided(classes, p.gather(1, classes[:, None]).squeeze(1), abstained)

    def with_abstain_cost(self, price: float | None) -> "Decision":
        """Return the same decision with another price of not deciding."""
        return replace(self, abstain_cost=price)

    def plain(self) -> dict[str, object]:
        """Return it as plain JSON data."""
        cost = self.cost.tolist() if isinstance(self.cost, Tensor) else None
        found = {
            "rule": self.rule,
            "temperature": self.temperature,
            "cost": cost,
            "names": list(self.names),
            "abstain_cost": self.abstain_cost,
        }
        return {**found, "targets": self.targets.tolist()} if isinstance(self.targets, Tensor) else found

    def save(self, path: str | Path, run: str | None = None) -> Path:
        """Write it as a JSON file and return the file's path.

        Args:
            path: of the file; its folder must be there.
            run: the seal of the run that it was fitted for, so that it is not taken for another run's.
        """
        of = {} if run is None else {"run": run}
        return _files.write_json(Path(path), _files.sealed({**self.plain(), **of}))

    @classmethod
    def load(cls, path: str | Path, *, allow_damaged: bool = False) -> "Decision":
        """Read what ``save`` wrote; it is checked like one made by hand, and nothing in the file is executed.

        Args:
            path: of the file.
            allow_damaged: read also what no longer has the digest it was written with, and warn.
        """
        return stored(path, allow_damaged)[0]


def stored(path: str | Path, allow_damaged: bool = False) -> tuple[Decision, str | None]:
    """Return what ``Decision.save`` wrote: the decision, and the run that it is of, where that was said.

    Args:
        path: of the file.
        allow_damaged: as for ``Decision.load``.
    """
    owner = "Decision.load"
    try:
        facts = _files.read_json(Path(path))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _checks.fail(owner, "path", "a readable JSON file", f"{path} ({error})") from error
    if not isinstance(facts, Mapping) or set(facts) - set(OPTIONAL) != set(FIELDS):
        got = ", ".join(sorted(map(str, facts))) if isinstance(facts, Mapping) else type(facts).__name__
        raise _checks.fail(owner, "path", f"a decision with {', '.join(FIELDS)}", f"{path} with {got or 'nothing'}")
    if not _files.holds(facts):
        remedy = "Write it again with Decision.save; if you changed it on purpose, take its digest out."
        why = "its content is not what was written"
        _checks.damaged(owner, "path", "a sound decision", Path(path), why, remedy, allow_damaged)
    values = {name: value for name, value in facts.items() if name not in ("run", _files.DIGEST)}
    try:
        return Decision(**values), facts.get("run")
    except (ValueError, TypeError) as error:
        raise _checks.fail(owner, "path", "a sound decision", f"{path}: {error}") from error
