"""From training to a number one can trust: decisions, held-out cost with its interval, and the controls beside it."""

import pytest
import torch
from torch import Tensor

from labelspace import data, ordinal, permuted, random_like
from labelspace.data.dataset import Dataset
from labelspace.decisions import Temperature, min_cost
from labelspace.metrics import expected_cost, holm, paired_interval, sign_flip_test
from labelspace.space import LabelSpace
from labelspace.training.run import Run, train
from realdata import data_folder

PRICES = (torch.arange(10)[:, None] - torch.arange(10)).square().float()
SEEDS = range(3)


def runs_of(dataset: Dataset, space: LabelSpace | None) -> list[Run]:
    method = {"method": "onehot"} if space is None else {"method": "semantic", "space": space, "smoothing": 0.5}
    return [train(dataset, model="mlp-32-2", epochs=20, learning_rate=0.01, seed=seed, **method) for seed in SEEDS]


def costs(runs: list[Run], decide: bool) -> Tensor:
    """Return held-out costs (seeds, samples) of argmax, or of minimum cost after temperature scaling on validation."""
    rows = []
    for run in runs:
        scores, y = run.scores["test_scores"], run.scores["test_y"]
        chosen = scores.argmax(dim=1)
        if decide:
            temperature = Temperature().fit(run.scores["validation_scores"], run.scores["validation_y"])
            chosen = min_cost(temperature(scores), PRICES)
        rows.append(expected_cost(chosen, y, PRICES, per_sample=True))
    return torch.stack(rows)


def test_nulls_run_through_the_same_pipeline() -> None:
    """On digits with squared cost and a narrow network the order helps, and its controls do not as much."""
    digits = data.load("digits").limit(600)
    order = ordinal(digits.names)
    spaces = {"order": order, "shuffled": permuted(order, 1), "random": random_like(order, 1)}
    reference = costs(runs_of(digits, None), decide=True)
    found = {name: costs(runs_of(digits, space), decide=True) for name, space in spaces.items()}
    intervals = {name: paired_interval(values, reference, relative=True) for name, values in found.items()}
    assert found["order"].mean() < found["shuffled"].mean()
    assert found["order"].mean() < found["random"].mean()
    for interval in intervals.values():
        assert interval.low is not None
        assert interval.low <= interval.estimate <= interval.high
    p_values = [float(sign_flip_test((values - reference).mean(dim=1))) for values in found.values()]
    adjusted = holm(p_values)
    assert all(float(after) >= before for before, after in zip(p_values, adjusted, strict=True))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="the real datasets are not on this machine")
def test_held_out_cost_of_decisions_with_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing guarantees that minimum-cost decisions win on held-out data: the interval says what they did."""
    mnist = data.load("mnist", data_dir=str(data_folder())).limit(2000)
    runs = runs_of(mnist, None)
    interval = paired_interval(costs(runs, decide=True), costs(runs, decide=False), relative=True)
    assert interval.low is not None
    assert interval.low < interval.estimate < interval.high
    with capsys.disabled():
        print(
            f"\nmin-cost against argmax on MNIST: {interval.estimate:+.1%} [{interval.low:+.1%}, {interval.high:+.1%}]"
        )
