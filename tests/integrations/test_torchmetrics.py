"""Metrics over batches are those of labelspace.metrics over everything, on one rank and on two."""

import pytest
import torch
from torch import Tensor

from labelspace import Decision, InputError, ordinal, tree
from labelspace.metrics import expected_cost, level_accuracy, severity

pytest.importorskip("torchmetrics")
from labelspace.integrations.torchmetrics import LevelAccuracy, MeanCost, MistakeSeverity

PRICES = [[0.0, 1, 4, 9], [2, 0, 1, 3], [7, 0.5, 0, 1], [1, 1, 1, 0]]
TREE = tree({"pet": ["a", "b"], "road": {"heavy": ["c"], "light": ["d"]}})


def samples(count: int = 60) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(count, 4, generator=generator), torch.randint(4, (count,), generator=generator)


@pytest.mark.parametrize(("metric", "function"), [(MeanCost, expected_cost), (MistakeSeverity, severity)])
@pytest.mark.parametrize("cost", [PRICES, ordinal(4)])
@pytest.mark.parametrize("predicted", [False, True])
def test_prices(metric, function, cost, predicted: bool) -> None:
    scores, y = samples()
    given = scores.argmax(dim=1) if predicted else scores
    found = metric(cost)
    for part in (slice(0, 7), slice(7, 41), slice(41, None)):
        found.update(given[part], y[part])
    torch.testing.assert_close(found.compute(), torch.tensor(function(given, y, cost)).float())
    found.reset()
    found.update(y, y)
    torch.testing.assert_close(found.compute(), torch.tensor(0.0))


@pytest.mark.parametrize("abstain", [None, 0.6])
def test_decisions(abstain: float | None) -> None:
    scores, y = samples()
    decision = Decision("min_cost", 1.3, PRICES, list("abcd"), abstain_cost=abstain)
    metric = MeanCost(decision)
    metric.update(scores[:25], y[:25])
    metric.update(scores[25:], y[25:])
    p = torch.softmax(scores.double() / 1.3, dim=1)
    expected = p @ torch.tensor(PRICES, dtype=torch.float64)
    least, chosen = expected.min(dim=1)
    paid = torch.tensor(PRICES, dtype=torch.float64)[y, chosen]
    if abstain is not None:
        assert 0 < int((least > abstain).sum()) < 60
        paid = torch.where(least > abstain, abstain, paid)
    torch.testing.assert_close(metric.compute(), paid.mean().float())


def test_actions_that_are_no_classes() -> None:
    table = [[0, 1, 0.4], [5, 0, 0.4]]
    decision = Decision("min_cost", 1.0, table, ["well", "ill"], actions=["well", "ill", "test"])
    metric = MeanCost(decision)
    metric.update(torch.tensor([[1.4, 0.0], [3.0, 0.0], [-5.0, 0.0]]), torch.tensor([0, 1, 1]))
    torch.testing.assert_close(metric.compute(), torch.tensor((0.4 + 5 + 0) / 3))
    metric.update(torch.tensor([2, 0]), torch.tensor([0, 0]))  # actions that were taken
    torch.testing.assert_close(metric.compute(), torch.tensor((0.4 + 5 + 0 + 0.4 + 0) / 5))


def test_levels() -> None:
    scores, y = samples()
    metric = LevelAccuracy(TREE)
    metric.update(scores[:13], y[:13])
    metric.update(scores[13:].argmax(dim=1), y[13:])
    torch.testing.assert_close(metric.compute(), level_accuracy(scores, y, TREE).float())


@pytest.mark.parametrize(
    "make", [lambda: MeanCost(PRICES), lambda: MistakeSeverity(PRICES), lambda: LevelAccuracy(TREE)]
)
def test_states_of_two_ranks_add_up(make) -> None:
    """As torchmetrics does it: the states of all ranks are stacked, and reduced by what each declares."""
    scores, y = samples()
    whole, ranks = make(), [make(), make()]
    whole.update(scores, y)
    ranks[0].update(scores[:20], y[:20])
    ranks[1].update(scores[20:], y[20:])
    for name, reduce in whole._reductions.items():
        setattr(ranks[0], name, reduce(torch.stack([getattr(rank, name) for rank in ranks])))
    torch.testing.assert_close(ranks[0].compute(), whole.compute())


def test_inside_a_collection_and_a_forward() -> None:
    from torchmetrics import MetricCollection

    scores, y = samples()
    together = MetricCollection({"cost": MeanCost(PRICES), "levels": LevelAccuracy(TREE)})
    batch = together(scores[:30], y[:30])
    torch.testing.assert_close(batch["cost"], torch.tensor(expected_cost(scores[:30], y[:30], PRICES)).float())
    together(scores[30:], y[30:])
    torch.testing.assert_close(together.compute()["cost"], torch.tensor(expected_cost(scores, y, PRICES)).float())


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="`cost` of MistakeSeverity must be non-negative"):
        MistakeSeverity([[0, -1], [1, 0]])
    metric = MeanCost(PRICES)
    with pytest.raises(InputError, match="`y` of MeanCost"):
        metric.update(torch.tensor([0]), torch.tensor([4]))
    with pytest.raises(InputError, match="`predictions` of MeanCost"):
        metric.update(torch.tensor([4]), torch.tensor([0]))
    with pytest.raises(InputError, match="`cost` of MeanCost must be of 3 classes"):
        metric.update(torch.zeros(2, 3), torch.tensor([0, 1]))
