"""Predicted against realised cost, action by action."""

import numpy as np
import pytest
import torch

from labelspace.decisions import Decision, realised_costs


def test_it_equals_means_by_hand_also_of_actions_and_abstentions():
    random = np.random.default_rng(0)
    scores, y = torch.tensor(random.normal(size=(80, 2)) * 2), torch.tensor(random.integers(0, 2, 80))
    prices = [[0, 1, 0.3], [5, 0, 0.3]]
    decision = Decision("min_cost", 1.0, prices, ["well", "ill"], actions=["well", "ill", "test"])
    p = np.exp(scores.numpy()) / np.exp(scores.numpy()).sum(axis=1, keepdims=True)
    expected = p @ np.array(prices)
    done = expected.argmin(axis=1)
    paid = np.array(prices)[y.numpy(), done]
    found = realised_costs(decision.judge(scores, y), decision.action_names)
    assert [each.name for each in found] == ["well", "ill", "test"]
    for place, each in enumerate(found):
        taken = done == place
        assert each.samples == taken.sum() > 1
        assert each.expected == pytest.approx(expected[taken, place].mean())
        assert each.realised == pytest.approx(paid[taken].mean())
        apart = paid[taken] - expected[taken, place]
        assert each.error == pytest.approx(apart.std(ddof=1) / taken.sum() ** 0.5)


def test_several_models_and_what_is_never_done():
    decision = Decision("min_cost", 1.0, [[0, 1], [1, 0]], ["a", "b"], abstain_cost=0.9)
    judged = decision.judge(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    found = realised_costs([judged, judged], decision.action_names)
    assert [(each.name, each.samples) for each in found] == [("a", 2), ("b", 0), ("abstain", 0)]
    assert (found[1].expected, found[1].realised, found[1].error) == (None, None, None)
    assert found[0].realised == 0
