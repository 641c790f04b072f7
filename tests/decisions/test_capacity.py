"""Capacity: the least total cost among all ways to keep to it, beside a linear programme, and on samples to come."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from scipy.stats import binom

from labelspace import Decision
from labelspace.decisions import Isotonic
from labelspace.decisions.capacity import added_prices

NAMES, DONE = ["mild", "severe"], ["mild", "severe", "order a test", "send to a person"]
TABLE = [[0.0, 2.0, 1.0, 0.9], [20.0, 0.0, 1.5, 0.9]]


def scores(samples: int, seed: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    y = torch.randint(2, (samples,), generator=draw)
    return 2 * torch.nn.functional.one_hot(y, 2).double() + torch.randn(samples, 2, generator=draw).double()


def least(costs: np.ndarray[Any, Any], limits: dict[int, int]) -> float:
    """Return the least total cost with at most so many samples for some actions, by a linear programme."""
    samples, actions = costs.shape
    one = np.kron(np.eye(samples), np.ones(actions))
    most = np.stack([np.tile(np.eye(actions)[place], samples) for place in limits])
    found = linprog(costs.ravel(), most, list(limits.values()), one, np.ones(samples), bounds=(0, 1))
    return float(found.fun)


@pytest.mark.parametrize("limits", [{3: 0.1}, {3: 0.1, 2: 0.15}, {1: 0.2, 2: 0.05, 3: 0.0}])
def test_it_is_the_cheapest_way_to_keep_to_it(limits: dict[int, float]) -> None:
    decision = Decision("min_cost", 1.0, TABLE, NAMES, actions=DONE)
    given = scores(80, 0)
    within = decision.with_capacity(given, {DONE[place]: share for place, share in limits.items()})
    costs, taken = decision.expected_costs(given).numpy(), within.decide(given).actions.numpy()
    counts = np.bincount(taken, minlength=4)
    assert all(counts[place] <= share * 80 for place, share in limits.items())
    wanted = least(costs, {place: int(share * 80 + 1e-9) for place, share in limits.items()})
    assert costs[np.arange(80), taken].sum() == pytest.approx(wanted, abs=1e-9)
    assert (decision.decide(given).actions.numpy() != taken).any()
    # prices that are added are not paid
    torch.testing.assert_close(within.prices, decision.prices)
    assert Decision(**within.plain()).plain() == within.plain()


def test_it_is_kept_on_samples_to_come() -> None:
    decision = Decision("min_cost", 1.0, TABLE, NAMES, actions=DONE)
    within = decision.with_capacity(scores(20_000, 1), {"send to a person": 0.05})
    taken = within.decide(scores(20_000, 2)).actions
    # the share on validation data has as much chance in it: twice the variance
    low, high = binom.interval(0.99, 10_000, 0.05)
    assert low / 10_000 <= float((taken == 3).double().mean()) <= high / 10_000
    assert float((decision.decide(scores(20_000, 2)).actions == 3).double().mean()) > 0.1


def test_room_for_all_adds_nothing_and_no_room_leaves_nobody() -> None:
    decision = Decision("min_cost", 1.0, TABLE, NAMES, actions=DONE)
    assert decision.with_capacity(scores(50, 0), {"send to a person": 1.0}).added == {"send to a person": 0.0}
    never = decision.with_capacity(scores(50, 0), {"send to a person": 0.0})
    assert not (never.decide(scores(5000, 3)).actions == 3).any()


def test_abstaining_has_its_capacity_too() -> None:
    decision = Decision("min_cost", 1.0, [[0, 2], [20, 0]], NAMES, abstain_cost=0.5)
    within = decision.with_capacity(scores(200, 0), {"abstain": 0.1})
    assert 0 < int(within.decide(scores(200, 0)).abstained.sum()) <= 20
    assert int(decision.decide(scores(200, 0)).abstained.sum()) > 20


def test_samples_alike_stay_together() -> None:
    costs = torch.tensor([[1.0, 0.5]] * 4 + [[0.0, 0.5]], dtype=torch.float64)
    added = added_prices(costs, ["decide", "ask"], {"ask": 0.4})
    assert bool((costs[:, 1] + added["ask"] > costs[:, 0]).all())


@pytest.mark.parametrize(
    ("capacity", "message"),
    [
        ({"mild": 0.2, "severe": 0.2, "order a test": 0.2, "send to a person": 0.2}, "room for every sample. Got 0.8"),
        ({"send to a preson": 0.1}, "`capacity` of Decision must be names of actions.*Did you mean 'send to a person'"),
        ({"order a test": 1.5}, "`capacity` of Decision must be a number"),
        ({"order a test": float("nan")}, "`capacity` of Decision must be a"),
        ({}, "shares of samples by the names of actions"),
        (0.05, "shares of samples by the names of actions"),
    ],
)
def test_what_cannot_be_kept_is_refused(capacity: Any, message: str) -> None:
    decision = Decision("min_cost", 1.0, TABLE, NAMES, actions=DONE)
    with pytest.raises(ValueError, match=message) as error:
        decision.with_capacity(scores(20, 0), capacity)
    assert "\n" not in str(error.value)


def test_only_a_rule_that_reads_prices_has_one() -> None:
    with pytest.raises(ValueError, match="`capacity` of Decision must be given for a rule that reads prices"):
        Decision("argmax", 1.0, None, NAMES).with_capacity(scores(20, 0), {"mild": 0.5})


def test_samples_that_single_precision_cannot_tell_apart_stay_together() -> None:
    """Half of the samples alike, a tenth allowed: none of them may get it, not all."""
    scores = torch.tensor([[0.0, 5.0]] * 50 + [[0.0, -5.0]] * 50)
    calibration = Isotonic([-1.0, 1.0], [0.5015335559844971, 0.6076085567474365])
    prices, actions = [[0, 2, 0.3], [3, 0, 0.3]], ["a", "b", "ask"]
    decision = Decision("min_cost", 1.3, prices, ["a", "b"], actions=actions, calibration=calibration)
    assert decision.doing(scores).count("ask") == 100
    assert decision.with_capacity(scores, {"ask": 0.1}).doing(scores).count("ask") <= 10
