"""How a trained model decides: temperature, prices and rule together, kept in a small file beside the model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from labelspace import _checks, _files, _inputs
from labelspace._inputs import Numbers
from labelspace.decisions.calibration import Temperature, inverted_logits, like
from labelspace.decisions.calibrators import Calibrator, calibrator
from labelspace.decisions.capacity import added_prices
from labelspace.decisions.chances import chances, known
from labelspace.decisions.decided import Decided, Judged
from labelspace.decisions.prior import Shares, checked_frequencies
from labelspace.decisions.rules import RULES, cheapest, costs_less
from labelspace.decisions.tables import ABSTAIN, OWNER, Tables, checked_added, sample_tables, table_of, weigh
from labelspace.space import LabelSpace
from labelspace.spec.actions import Actions, class_of, is_plain, of_class
from labelspace.spec.frames import Frame

FIELDS = ("rule", "temperature", "cost", "names", "abstain_cost")
OPTIONAL = ("targets", "actions", "added", "calibration", "frequencies", "prior", "run", _files.DIGEST)


@dataclass(frozen=True, eq=False)
class Decision:
    """From scores to decisions: ``p = softmax(scores / τ)``, then a class, or an action, by the rule.

    Args:
        rule: a name in ``decisions.rules.RULES``: ``"argmax"`` or ``"min_cost"`` (the least expected cost
            ``Σ_j p_j C_jk``; needs prices).
        temperature: τ, fitted on held-out scores.
        cost: prices ``C``, a cost space, or a DataFrame (index: true classes, columns: what is done); None where every
            mistake costs 1.
        names: of the classes, in the order of the scores' columns.
        abstain_cost: what leaving a sample to somebody else costs, in the unit of the prices (for ``"argmax"`` a
            mistake costs 1); None never abstains. It is the action ``"abstain"``, the last one.
        targets: the smoothed targets T that the model was trained on, ``(K, K)``, where its probabilities are to be
            inverted, ``p ∝ T⁻¹ q``, before the temperature (which was then fitted so).
        actions: names of the columns of ``cost``, ``(K, A)``, where they are not the classes, or where prices are gains
            (negative) or being right is not free. By ``"argmax"`` the action of the likeliest class is done: the one
            with its name, or else the cheapest if it is of that class.
        added: what is added to the prices of some actions where they are chosen between, and never paid: see
            ``with_capacity``.
        calibration: what makes probabilities of ``scores / τ`` in place of the softmax: ``VectorScaling``,
            ``MatrixScaling`` or ``Isotonic``, fitted, or their ``plain()``.
        frequencies: of the classes in the data that all this was fitted on.
        prior: of the classes where it decides, if that is different: see ``with_prior``.

    Example:
        >>> decision = Decision("min_cost", 1.0, [[0, 1], [5, 0]], ["well", "ill"], abstain_cost=0.6)
        >>> decided = decision.decide([[1.4, 0.0], [3.0, 0.0]])
        >>> [decision.names[index] for index in decided.classes.tolist()], decided.abstained.tolist()
        (['ill', 'well'], [True, False])
        >>> done = ["well", "ill", "test"]
        >>> decision = Decision("min_cost", 1.0, [[0, 1, 0.4], [5, 0, 0.4]], ["well", "ill"], actions=done)
        >>> decision.doing([[1.4, 0.0], [3.0, 0.0]])  # "ill" is expected to cost 0.8, "well" 0.24
        ['test', 'well']
    """

    rule: str
    temperature: float
    cost: LabelSpace | Numbers | Frame | None
    names: Sequence[str]
    abstain_cost: float | None = None
    targets: Numbers | None = None
    actions: Sequence[str] | None = None
    added: Mapping[str, float] | None = None
    calibration: Calibrator | Mapping[str, object] | None = None
    frequencies: Shares | None = None
    prior: Shares | None = None

    def __post_init__(self) -> None:
        """Check everything, and keep names as a tuple and prices as float64 numbers."""
        _checks.choice(OWNER, "rule", self.rule, tuple(RULES))
        names = _checks.class_names(OWNER, self.names)
        table = table_of(self.cost, names, self.actions)
        if table is None and RULES[self.rule].needs_prices:
            remedy = "Without prices every mistake costs the same, and the cheapest class is the likeliest: 'argmax'."
            raise _checks.fail(OWNER, "cost", f"given for {self.rule!r}", None, remedy)
        temperature = _checks.number(OWNER, "temperature", self.temperature, low=0, open_low=True)
        price = None if self.abstain_cost is None else _checks.number(OWNER, "abstain_cost", self.abstain_cost, low=0)
        targets = None if self.targets is None else _inputs.matrix(OWNER, "targets", self.targets, rows=len(names))
        plain = table is None or is_plain(names, table)
        checked = {
            "names": names,
            "cost": None if table is None else table.prices,
            "temperature": temperature,
            "abstain_cost": price,
            "targets": targets,
            "actions": None if table is None or plain else table.names,
            "calibration": calibrator(OWNER, self.calibration, len(names)),
            **checked_frequencies(OWNER, self.frequencies, self.prior, names),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "added", checked_added(self.added, self.action_names))

    @property
    def reorders(self) -> bool:
        """Whether the likeliest class need not be the one of the largest score."""
        return self.calibration is not None or self.prior is not None

    @property
    def action_names(self) -> tuple[str, ...]:
        """What can be done: the classes or the actions, and at last ``"abstain"`` where that has a price."""
        names = tuple(self.names if self.actions is None else self.actions)
        if self.abstain_cost is None:
            return names
        if ABSTAIN in names:
            remedy = "Give its price in the table alone."
            raise _checks.fail(OWNER, "abstain_cost", f"left out beside {ABSTAIN!r} in the table", "both", remedy)
        return (*names, ABSTAIN)

    @property
    def prices(self) -> Tensor:
        """What is paid under the rule, ``(K, A)``: for ``"argmax"`` of classes every mistake costs 1."""
        if not RULES[self.rule].needs_prices and self.actions is None:
            return 1 - torch.eye(len(self.names), dtype=torch.float64)
        assert isinstance(self.cost, Tensor)
        return self.cost

    @property
    def extra(self) -> Tensor:
        """What is added to the price of each action but abstaining, ``(A,)``, where they are chosen between."""
        names = self.names if self.actions is None else self.actions
        return torch.tensor([(self.added or {}).get(name, 0.0) for name in names], dtype=torch.float64)

    @property
    def weighed(self) -> Tensor:
        """The prices that are chosen by: those that are paid, and what is added to them."""
        return self.prices + self.extra if self.added else self.prices

    @property
    def weighed_abstain_cost(self) -> float | None:
        """The price of not deciding that is chosen by."""
        return None if self.abstain_cost is None else self.abstain_cost + (self.added or {}).get(ABSTAIN, 0.0)

    @property
    def done(self) -> Tensor | None:
        """What is done about a sample of each class, ``(K,)`` places of actions; None where actions are the classes."""
        if self.actions is None:
            return None
        return of_class(self.names, Actions(tuple(self.actions), self.prices))

    def probabilities(self, scores: Numbers) -> Tensor:
        """Return ``softmax(scores / τ)``, or what the calibrator makes of it, for the classes' prior; ``(N, K)``."""
        logits = scores if self.targets is None else inverted_logits(scores, self.targets)
        found = Temperature(self.temperature).apply(logits)
        if found.shape[1] != len(self.names):
            expected = f"of {len(self.names)} columns, one per class"
            raise _checks.fail("Decision", "scores", expected, f"shape {tuple(found.shape)}")
        if not self.reorders:
            return found
        given = _inputs.tensor(OWNER, "scores", logits)
        return like(self.chances(given.cpu()), given)

    def chances(self, logits: Tensor) -> Tensor:
        """Return probabilities in float64, by tensor operations alone, which can become part of ONNX graphs.

        Args:
            logits: the scores, or those behind them where there are targets.
        """
        return chances(logits, self.temperature, self.calibration, self.frequencies, self.prior)

    def likeliest(self, scores: Tensor) -> Tensor:
        """Return the likeliest class of each sample, ``(N,)``."""
        return (self.probabilities(scores) if self.reorders else scores).argmax(dim=1)

    def decide(self, scores: Numbers, *, prices: Numbers | None = None, weights: Numbers | None = None) -> Decided:
        """Return what is done about each sample, its class and probability, and where it is better not to decide.

        Args:
            scores: of a model, larger is likelier.
            prices: of each sample, in place of the decision's own.
            weights: what each sample's prices are multiplied by, such as the amount at stake. That changes nothing but
                where an abstention, or an added price, is weighed against them, which are not multiplied.

        Shape:
            ``scores (N, K)``, ``prices (N, K, A)``, ``weights (N,)``; everything returned is ``(N,)``.
        """
        p = self.probabilities(scores)
        return self._decided(scores, p, self._tables(len(p), prices, weights))

    def doing(self, scores: Numbers, *, prices: Numbers | None = None, weights: Numbers | None = None) -> list[str]:
        """Return the name of what is done about each sample; arguments are those of ``decide``."""
        names = self.action_names
        return [names[place] for place in self.decide(scores, prices=prices, weights=weights).actions.tolist()]

    def named(self, decided: Decided) -> list[str | None]:
        """Return the name of what is done about each sample, None where it is left to somebody.

        Args:
            decided: from ``decide``.
        """
        names = self.action_names
        pairs = zip(decided.actions.tolist(), decided.abstained.tolist(), strict=True)
        return [None if abstained else names[place] for place, abstained in pairs]

    def judge(self, scores: Numbers, y: Tensor, prices: Tensor | None = None, weights: Numbers | None = None) -> Judged:
        """Decide about samples whose classes are known: comparisons, reports and model cards all look at this.

        Args:
            scores: of a model, larger is likelier.
            y: the classes.
            prices: what is paid, ``(K, A)``, where that is not what the rule says: for ``"argmax"`` every mistake
                costs 1. Those of each sample, ``(N, K, A)``, are decided by as well.
            weights: as for ``decide``; costs are multiplied by them, but for those of abstaining.

        Shape:
            ``scores (N, K)``, ``y (N,)``, ``weights (N,)``.

        Example:
            >>> decision = Decision("min_cost", 1.0, [[0, 1], [5, 0]], ["well", "ill"])
            >>> decision.judge([[1.4, 0.0], [3.0, 0.0]], torch.tensor([0, 1])).costs
            tensor([1., 5.], dtype=torch.float64)
        """
        p = self.probabilities(scores)
        own = prices if prices is not None and prices.ndim == 3 else None
        tables = self._tables(len(p), own, weights)
        classes, sure, abstained, actions = self._decided(scores, p, tables)
        given = self.prices if RULES[self.rule].needs_prices or self.actions is not None else None
        paid = tables.prices if own is not None else given if prices is None else prices
        if paid is None:  # of many classes, a matrix of ones would not fit
            costs, expected = (classes != y).double(), 1 - sure
        else:
            column = self._column(actions, classes, abstained)
            rows = torch.arange(len(y)) if paid.ndim == 3 else None
            costs = paid[y, column] if rows is None else paid[rows, y, column]
            expected = like(weigh(p, paid), p).gather(1, column[:, None]).squeeze(1)
        costs, expected = tables.scaled(costs), tables.scaled(expected)
        if self.abstain_cost is not None:
            costs = costs.masked_fill(abstained, self.abstain_cost)
            expected = expected.masked_fill(abstained, self.abstain_cost)
        return Judged(classes, p, abstained, costs, expected, actions)

    def expected_costs(
        self, scores: Numbers, *, prices: Numbers | None = None, weights: Numbers | None = None
    ) -> Tensor:
        """Return what every action is expected to cost, ``(N, A)``, in the order of ``action_names``."""
        p = self.probabilities(scores)
        tables = self._tables(len(p), prices, weights)
        found = tables.scaled(like(weigh(p, self.prices if tables.prices is None else tables.prices), p))
        if self.abstain_cost is None:
            return found
        return torch.cat([found, torch.full_like(found[:, :1], self.abstain_cost)], dim=1)

    def with_capacity(
        self, scores: Numbers, capacity: Mapping[str, float], *, weights: Numbers | None = None
    ) -> "Decision":
        """Return the same decision with prices added to some actions, so that each gets at most its share of samples.

        Args:
            scores: of held-out samples like those to come, which the shares are kept on.
            capacity: the largest share of samples for some actions, such as ``{"send to a person": 0.05}``.
            weights: of these samples, as for ``decide``.
        """
        if not RULES[self.rule].needs_prices:
            expected = f"given for a rule that reads prices, not {self.rule!r}"
            raise _checks.fail(OWNER, "capacity", expected, repr(dict(capacity)))
        wide = _inputs.tensor(OWNER, "scores", scores).double()
        expected_costs = self.expected_costs(wide, weights=weights)
        return replace(self, added=added_prices(expected_costs, self.action_names, capacity))

    def _tables(self, samples: int, prices: Numbers | None, weights: Numbers | None) -> Tables:
        """Return prices and weights of samples, checked."""
        if (prices is not None or weights is not None) and self.rule not in ("min_cost", "argmax"):
            argument = "weights" if prices is None else "prices"
            raise _checks.fail(OWNER, argument, "left out but for 'min_cost' and 'argmax'", f"it for {self.rule!r}")
        shape = (samples, len(self.names), len(self.names if self.actions is None else self.actions))
        return sample_tables(shape, prices, weights)

    def _decided(self, scores: Numbers, p: Tensor, tables: Tables) -> Decided:
        chosen = self._chosen(_inputs.tensor(OWNER, "scores", scores).cpu(), p.cpu().double(), tables).to(p.device)
        abstained = torch.zeros_like(chosen, dtype=torch.bool)
        price = self.weighed_abstain_cost
        if price is not None:
            abstained = costs_less(price, self._least(p, tables), p.dtype).to(p.device)
        actions = torch.where(abstained, len(self.action_names) - 1, chosen)
        if self.actions is None:
            return Decided(chosen, p.gather(1, chosen[:, None]).squeeze(1), abstained, actions)
        classes = class_of(self.names, self.actions).to(p.device)[chosen]
        sure = p.gather(1, classes.clamp_min(0)[:, None]).squeeze(1).masked_fill(classes < 0, torch.nan)
        return Decided(classes, sure, abstained, actions)

    def _chosen(self, scores: Tensor, p: Tensor, tables: Tables) -> Tensor:
        """Return the action that the rule chooses, abstention apart."""
        rule = RULES[self.rule]
        if not rule.needs_prices:
            # not self.prices: of many classes, a matrix of ones would not fit
            classes = rule.choose(p if self.reorders else scores, p, None)
            return classes if self.done is None else self.done[classes]
        # a factor alone changes no choice
        if tables.prices is None and (tables.weights is None or not self.added):
            return rule.choose(scores, p, self.weighed)
        return cheapest(p, self._weighed_costs(p, tables), self.prices)

    def _weighed_costs(self, p: Tensor, tables: Tables) -> Tensor:
        """Return what is chosen by, ``(N, A)``: expected costs, times the weights, and what is added."""
        found = tables.scaled(weigh(p, self.prices if tables.prices is None else tables.prices))
        return found + self.extra if self.added else found

    def _least(self, p: Tensor, tables: Tables) -> Tensor:
        """Return what the cheapest choice is weighed at against not deciding."""
        found = self._weighed_costs(p, tables)
        return found.gather(1, cheapest(p.cpu().double(), found, self.prices)[:, None]).squeeze(1)

    def _column(self, actions: Tensor, classes: Tensor, abstained: Tensor) -> Tensor:
        """Return the column of the table that is paid; some column where nothing of it is."""
        return classes if self.actions is None else actions.masked_fill(abstained, 0)

    def with_abstain_cost(self, price: float | None) -> "Decision":
        """Return the same decision with another price of not deciding."""
        return replace(self, abstain_cost=price)

    def with_prior(self, prior: Shares | None, frequencies: Shares | None = None) -> "Decision":
        """Return the same decision where classes are otherwise frequent: ``p ∝ p · prior / frequencies``.

        It holds where classes come more or less often and samples of each look as before.

        Args:
            prior: how frequent classes are where it decides, in their order or by their names; None as it was.
            frequencies: of the data that it was fitted on, where it does not know them.
        """
        if prior is not None and self.added:
            got = f"it with a limit of {_checks.listed(list(self.added))}, whose price was found at the old frequencies"
            remedy = (
                "Limit it after the prior: replace(decision, added=None).with_prior(…).with_capacity(new_scores, …)."
            )
            raise _checks.fail(OWNER, "prior", "given for a decision without limits", got, remedy)
        return replace(self, prior=prior, frequencies=self.frequencies if frequencies is None else frequencies)

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
        more: dict[str, object] = {"targets": self.targets.tolist()} if isinstance(self.targets, Tensor) else {}
        more |= {} if self.actions is None else {"actions": list(self.actions)}
        more |= known(self.calibration, self.frequencies, self.prior)
        return {**found, **more, **({"added": dict(self.added)} if self.added else {})}

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
