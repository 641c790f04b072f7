"""Temperature, and the inversion of a smoothing."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.metrics import log_loss
from torch.testing import assert_close

from labelspace import ordinal, uniform
from labelspace.decisions import Temperature, invert_smoothing
from labelspace.decisions.calibration import calibrated_nll


def random_case(seed, samples=200, classes=5, scale=1.0):
    """Return scores that know something about their labels, at any scale."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, samples)
    scores = random.normal(size=(samples, classes))
    scores[np.arange(samples), y] += random.uniform(0, 2)
    return torch.tensor(scores * scale), torch.tensor(y)


def random_probabilities(seed, samples=50, classes=5):
    return torch.tensor(np.random.default_rng(seed).dirichlet(np.ones(classes), samples))


def mean_nll(scores, y, tau):
    return torch.nn.functional.cross_entropy(scores.double() / tau, y).item()


def test_temperature_by_hand():
    # Three classes, scores (a, 0, 0) with a = 2, right in 3 of 4: p = e^(2/τ) / (e^(2/τ) + 2) must be 3/4,
    # so e^(2/τ) = 6 and τ = 2 / log 6 = 1.1162.
    scores = torch.tensor([[2.0, 0.0, 0.0]] * 4)
    temperature = Temperature().fit(scores, torch.tensor([0, 0, 0, 1]))
    assert temperature.value == pytest.approx(2 / math.log(6), rel=1e-6)
    assert_close(temperature.apply(scores)[0], torch.tensor([0.75, 0.125, 0.125]), atol=1e-6, rtol=0)


@pytest.mark.parametrize("scale", [1e-4, 0.3, 1.0, 20.0, 1e5])
def test_temperature_equals_a_scalar_search_at_every_scale(scale):
    scores, y = random_case(3, scale=scale)
    found = minimize_scalar(
        lambda x: mean_nll(scores, y, math.exp(x)),
        bounds=(math.log(scale) - 4, math.log(scale) + 4),
        method="bounded",
        options={"xatol": 1e-12},
    )
    value = Temperature().fit(scores, y).value
    assert value == pytest.approx(math.exp(found.x), rel=1e-5)
    assert mean_nll(scores, y, value) <= found.fun + 1e-12


@given(seed=st.integers(0, 100_000), classes=st.integers(2, 6), samples=st.integers(1, 30), power=st.integers(-4, 4))
def test_temperature_never_worsens_the_nll_it_was_fitted_on(seed, classes, samples, power):
    scores, y = random_case(seed, samples, classes, scale=10.0**power)
    temperature = Temperature().fit(scores, y)
    assert math.isfinite(temperature.value)
    assert temperature.value > 0
    assert mean_nll(scores, y, temperature.value) <= mean_nll(scores, y, 1.0) * (1 + 1e-12) + 1e-15


def test_temperature_of_perfectly_separated_scores_is_bounded():
    scores = torch.eye(3).repeat(4, 1) * 2
    temperature = Temperature().fit(scores, torch.arange(3).repeat(4))
    # the true class leads by 2
    assert 2 / 100 * (1 - 1e-9) <= temperature.value < 1
    assert torch.isfinite(temperature(scores)).all()
    # so large that at τ = 1 nothing is left to gain
    assert Temperature().fit(scores * 1e6, torch.arange(3).repeat(4)).value == 1.0


def test_temperature_of_scores_that_are_always_wrong_is_bounded():
    scores = torch.eye(3) * 2
    temperature = Temperature().fit(scores, torch.tensor([1, 2, 0]))
    assert temperature.value == pytest.approx(100 * 2)


@pytest.mark.parametrize("scores", [torch.zeros(3, 4), torch.full((3, 4), 7.0)])
def test_temperature_of_scores_that_say_nothing_is_one(scores):
    assert Temperature().fit(scores, torch.zeros(3, dtype=torch.long)).value == 1.0


def test_temperature_keeps_types_and_can_be_restored():
    scores, y = random_case(0)
    temperature = Temperature().fit(scores, y)
    assert eval(repr(temperature)).value == temperature.value
    assert temperature(scores).dtype == torch.float64
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        assert temperature(scores.to(dtype)).dtype == torch.float32
    assert_close(temperature(scores.numpy()), temperature(scores))
    assert_close(temperature(scores).sum(dim=1), torch.ones(200, dtype=torch.float64))
    # the independent NLL agrees that it is better
    assert log_loss(y, temperature(scores)) < log_loss(y, torch.softmax(scores, dim=1))


def test_temperature_refuses_bad_input():
    with pytest.raises(ValueError, match=r"`value` of Temperature must be a number in \(0, inf\)"):
        Temperature(0.0)
    with pytest.raises(ValueError, match=r"`y` of Temperature.fit must be of shape \(2,\), one per sample"):
        Temperature().fit(torch.randn(2, 3), torch.tensor([0]))
    with pytest.raises(ValueError, match="`y` of Temperature.fit must be class indices from 0 to 2. Got 3"):
        Temperature().fit(torch.randn(2, 3), torch.tensor([0, 3]))
    with pytest.raises(ValueError, match="`scores` of Temperature.fit must be finite. Got nan at row 1, column 0"):
        Temperature().fit([[0.0, 1.0], [math.nan, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="`scores` of Temperature.apply must be at least one sample"):
        Temperature().apply(torch.zeros(0, 3))


def test_inversion_by_hand():
    # T = 0.7·I + 0.3·ordinal: rows (0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7). A model that is sure of half
    # "low", half "high" says 0.5·row 0 + 0.5·row 2 = (0.4, 0.2, 0.4).
    targets = ordinal(3).targets(0.3)
    found = invert_smoothing([[0.4, 0.2, 0.4]], targets)
    assert_close(found, torch.tensor([[0.5, 0.0, 0.5]], dtype=torch.float64), atol=1e-6, rtol=0)


@given(seed=st.integers(0, 100_000), sigma=st.floats(0, 0.6))
def test_inversion_undoes_the_smoothing(seed, sigma):
    p = random_probabilities(seed, classes=6)
    targets = ordinal(6).targets(sigma).double()
    targets = targets / targets.sum(dim=1, keepdim=True)
    assert_close(invert_smoothing(p @ targets, targets), p, atol=1e-9, rtol=0)


@given(seed=st.integers(0, 100_000))
def test_inversion_returns_the_nearest_point_of_the_simplex(seed):
    q = random_probabilities(seed, samples=3, classes=4)
    targets = uniform(4).targets(0.6).double()
    found = invert_smoothing(q, targets)
    assert bool((found >= 0).all())
    assert_close(found.sum(dim=1), torch.ones(3, dtype=torch.float64))
    for row, result in zip(q.numpy(), found.numpy(), strict=True):
        point = np.linalg.solve(targets.numpy().T, row)
        near = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        assert_close(torch.tensor(result), torch.tensor(near.x), atol=1e-5, rtol=0)


def test_inversion_refuses_what_cannot_be_inverted():
    # at σ = (K−1)/K uniform targets are all alike; float32 hides it from a plain solve
    with pytest.raises(
        ValueError, match=r"`targets` of invert_smoothing must be invertible .*train with less smoothing"
    ):
        invert_smoothing([[0.25] * 4], uniform(4).targets(0.75))
    with pytest.raises(ValueError, match="invertible"):
        invert_smoothing([[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match=r"`targets` of invert_smoothing must be of shape \(2, 2\)"):
        invert_smoothing([[0.5, 0.5]], torch.eye(3))
    with pytest.raises(ValueError, match="`targets` of invert_smoothing must be probabilities whose rows sum to 1"):
        invert_smoothing([[0.5, 0.5]], [[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(TypeError, match=r"a \(K, K\) label matrix. .*Give space.targets\(σ\)"):
        invert_smoothing([[0.5, 0.5]], uniform(2))


@pytest.mark.parametrize("mask", [-1e4, -1e9, float(torch.finfo(torch.float32).min)])
def test_a_masked_class_or_a_wild_sample_does_not_set_the_scale(mask: float) -> None:
    generator = torch.Generator().manual_seed(0)
    z = 2 * torch.randn(2000, 4, generator=generator, dtype=torch.float64)
    y = torch.multinomial(torch.softmax(z, dim=1), 1, generator=generator).squeeze(1)
    expected = Temperature().fit(5 * z, y).value
    assert 4 < expected < 6
    masked = torch.cat([5 * z, torch.full((2000, 1), mask, dtype=torch.float64)], dim=1)
    assert Temperature().fit(masked, y).value == pytest.approx(expected, rel=1e-4)
    wild = 5 * z
    wild[0, (y[0] + 1) % 4] = -1e6
    assert Temperature().fit(wild, y).value == pytest.approx(expected, rel=1e-2)
    assert Temperature().fit(z * 1e200, y).value == pytest.approx(1e200, rel=0.2)


def test_nll_at_the_best_temperature_of_many_models() -> None:
    draws = np.random.default_rng(0)
    y = draws.integers(5, size=300)
    # timid, bold and wild, right and wrong, and one that says nothing
    signal = np.eye(5)[y] + draws.normal(size=(7, 300, 5)) * np.array([0.1, 0.5, 1, 2, 4, 1, 0])[:, None, None]
    scores = signal * np.array([0.01, 100, 1, 3, 0.3, -2, 0])[:, None, None]
    found = calibrated_nll(torch.from_numpy(scores), torch.from_numpy(y))
    for model, value in zip(scores, found.tolist(), strict=True):

        def nll(log_inverse: float, model: np.ndarray = model) -> float:
            z = np.exp(log_inverse) * model
            return float(np.mean(np.log(np.exp(z - z.max(1, keepdims=True)).sum(1)) + z.max(1) - z[np.arange(300), y]))

        unit = max(np.abs(model - model[np.arange(300), y][:, None]).mean(), 1e-300)
        bounds = (np.log(1 / 100 / unit), np.log(100 / unit))
        least = minimize_scalar(nll, bounds=bounds, method="bounded", options={"xatol": 1e-10}).fun
        assert value == pytest.approx(min(least, nll(0.0)), abs=5e-5)  # the ends of the range are only neared
    torch.testing.assert_close(calibrated_nll(torch.from_numpy(scores[1]), torch.from_numpy(y)), found[1])
