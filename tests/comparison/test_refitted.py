"""What is fitted on validation data is fitted again without some of them: by hand, and whether intervals then hold."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from labelspace import InputError
from labelspace.comparison.change import unguarded_change_of
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.refitted import check_fits, parts_of, refitted_costs

PRICES = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [80.0, 20.0, 0.0]], dtype=torch.float64)
JUDGE = Judge(cost=PRICES, priced=True, names=("a", "b", "c"))


def drawn(samples: int, generator: torch.Generator) -> tuple[list[Tensor], Tensor]:
    """Return scores of two models, one too bold and one too timid, and classes drawn as the truth behind them says."""
    truth = 1.5 * torch.randn(samples, 3, generator=generator).double()
    y = torch.multinomial(truth.softmax(1), 1, generator=generator).squeeze(1)
    noise = [torch.randn(samples, 3, generator=generator).double() for _ in range(2)]
    return [3.0 * (truth + noise[0]), 0.5 * (truth + 0.6 * noise[1])], y


def outcomes(validation: tuple[list[Tensor], Tensor], test: tuple[list[Tensor], Tensor]) -> list[Outcome]:
    pairs = zip(validation[0], test[0], strict=True)
    return [Outcome([Scores(scores, validation[1], other, test[1])], JUDGE) for scores, other in pairs]


def test_every_part_is_left_out_of_the_fit_once() -> None:
    generator = torch.Generator().manual_seed(0)
    (scores, _), y = drawn(37, generator)
    (other, _), z = drawn(50, generator)
    found = refitted_costs(Outcome([Scores(scores, y, other, z)], JUDGE))
    part = parts_of(y, None)
    assert part is not None
    wanted = []
    for number in range(10):
        rows, labels = scores[part != number].numpy(), y[part != number].numpy()

        def nll(log_tau: float, rows: np.ndarray = rows, labels: np.ndarray = labels) -> float:
            scaled = rows / np.exp(log_tau)
            return float((np.log(np.exp(scaled).sum(1)) - scaled[np.arange(len(labels)), labels]).mean())

        tau = np.exp(minimize_scalar(nll, bounds=(-3, 4), method="bounded", options={"xatol": 1e-9}).x)
        p = np.exp(other.numpy() / tau)
        called = (p / p.sum(1, keepdims=True) @ PRICES.numpy()).argmin(1)
        wanted.append(PRICES.numpy()[z.numpy(), called].mean())
    torch.testing.assert_close(found, torch.tensor(wanted, dtype=torch.float64), rtol=1e-9, atol=0)


def test_groups_are_left_out_whole() -> None:
    y = torch.arange(30) % 3
    groups = torch.arange(30) // 2
    part = parts_of(y, groups)
    assert part is not None
    assert len(torch.unique(part)) == 10
    assert all(len(torch.unique(part[groups == group])) == 1 for group in range(15))
    assert parts_of(y, torch.zeros(30)) is None  # a single group cannot be left out


@pytest.mark.parametrize(
    "judge",
    [
        Judge(
            cost=1 - torch.eye(3, dtype=torch.float64), priced=False
        ),  # the likeliest class, whatever the temperature
        JUDGE._replace(calibration="none"),
    ],
)
def test_what_no_fit_changes_is_not_fitted_again(judge: Judge) -> None:
    (scores, _), y = drawn(30, torch.Generator().manual_seed(0))
    assert refitted_costs(Outcome([Scores(scores, y, scores, y)], judge)) is None


def test_a_limit_is_solved_again_too() -> None:
    (scores, _), y = drawn(40, torch.Generator().manual_seed(0))
    judge = JUDGE._replace(calibration="none", capacity={"c": 0.2})
    found = refitted_costs(Outcome([Scores(scores, y, scores, y)], judge))
    assert found is not None
    assert float(found.std()) > 0


def test_intervals_hold_where_few_rows_are_fitted_on() -> None:
    """With 60 validation rows the interval must cover what the same procedure gives on average over such rows."""
    generator = torch.Generator().manual_seed(1)
    large = drawn(20_000, generator)
    means = np.zeros(2)
    for _ in range(30):
        means += [float(each.costs("min_cost").mean()) for each in outcomes(drawn(60, generator), large)]
    truth, draws = means[1] / means[0] - 1, 80
    covered = {"without": 0, "with": 0}
    for _ in range(draws):
        first, second = outcomes(drawn(60, generator), drawn(600, generator))
        tables = second.costs("min_cost"), first.costs("min_cost")
        again = refitted_costs(second), refitted_costs(first)
        assert again[0] is not None
        assert again[1] is not None
        for name, refits in (("without", None), ("with", (again[0], again[1]))):
            found = unguarded_change_of(*tables, 0.95, fixed=True, refits=refits)
            assert found is not None
            assert found.low is not None
            assert found.high is not None
            covered[name] += found.low <= truth <= found.high
    assert covered["without"] / draws < 0.92  # 0.88 of 200 draws elsewhere
    assert covered["with"] / draws >= 0.95


def test_what_cannot_be_fitted_is_refused_before_training() -> None:
    pair = Judge(cost=PRICES[:2, :2], priced=True, names=("a", "b"))
    check_fits(pair._replace(calibration="isotonic"), torch.tensor([0, 1, 1]), None)
    with pytest.raises(InputError, match="`calibration` of compare .* of one class. Got 'isotonic'. A curve needs"):
        check_fits(pair._replace(calibration="isotonic"), torch.ones(3, dtype=torch.int64), None)
    y = torch.arange(45) % 2
    check_fits(pair._replace(capacity={"a": 0.6}), y, None)
    with pytest.raises(InputError, match="Got room for 44 of 45 validation samples. Raise it"):
        check_fits(pair._replace(capacity={"a": 0.5, "b": 0.5}), y, None)
    with pytest.raises(InputError, match="Got room for 38 of 39 validation samples that are left"):
        check_fits(pair._replace(capacity={"a": 0.6, "b": 0.4}), y, torch.arange(45) // 3)
