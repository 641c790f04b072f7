"""Vector and matrix scaling, beside scikit-learn and optimisations written out with torch."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.testing import assert_close

from labelspace import InputError
from labelspace.decisions import MatrixScaling, Temperature, VectorScaling


def skewed(seed, samples=400, classes=4):
    """Return scores of a model that is too fond of the first classes and too bold about the last."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, samples)
    scores = random.normal(size=(samples, classes))
    scores[np.arange(samples), y] += 1.5
    scores = scores * np.linspace(0.6, 2.5, classes) + np.linspace(1, -1, classes)
    return torch.tensor(scores), torch.tensor(y)


def written_out(scores, y, square, penalty):
    """Return probabilities at the minimum, found by torch's own L-BFGS from the formula."""
    u, classes = torch.log_softmax(scores, dim=1), scores.shape[1]
    weight = torch.eye(classes, dtype=torch.float64) if square else torch.ones(classes, dtype=torch.float64)
    weight.requires_grad_()
    bias = torch.zeros(classes, dtype=torch.float64, requires_grad=True)

    def logits():
        return (u @ weight if square else u * weight) + bias

    def objective():
        off = torch.ones(classes, classes) - torch.eye(classes)
        changed = (weight - (torch.eye(classes) if square else 1)) ** 2
        held = (changed * (1 + (classes - 2) * off)).sum() if square else changed.sum()
        total = torch.nn.functional.cross_entropy(logits(), y, reduction="sum")
        return total + penalty / 2 * (held + (bias**2).sum())

    search = torch.optim.LBFGS(
        [weight, bias],
        max_iter=1000,
        tolerance_grad=1e-9,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def closure():
        search.zero_grad()
        value = objective()
        value.backward()
        return value

    search.step(closure)
    return logits().detach().softmax(dim=1)


@pytest.mark.parametrize("penalty", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("made", [VectorScaling, MatrixScaling])
def test_both_equal_an_optimisation_that_is_written_out(made, penalty):
    scores, y = skewed(1)
    found = made(penalty=penalty).fit(scores, y)
    assert_close(found(scores), written_out(scores, y, made.square, penalty), atol=1e-5, rtol=0)


def test_a_matrix_without_a_penalty_is_a_logistic_regression_on_log_probabilities():
    scores, y = skewed(2)
    u = torch.log_softmax(scores, dim=1).numpy()
    rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(u, y.numpy())
    found = MatrixScaling(penalty=0).fit(scores, y)
    np.testing.assert_allclose(found(scores).numpy(), rival.predict_proba(u), atol=1e-5)


def test_two_classes_by_a_vector_are_a_logistic_regression_too():
    scores, y = skewed(3, classes=2)
    u = torch.log_softmax(scores, dim=1).numpy()
    rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(u, y.numpy())
    found = VectorScaling(penalty=0).fit(scores, y)
    np.testing.assert_allclose(found(scores).numpy(), rival.predict_proba(u), atol=1e-5)


@pytest.mark.parametrize("made", [VectorScaling, MatrixScaling])
def test_the_mean_probability_is_the_frequency_but_for_the_penalty(made):
    scores, y = skewed(4, samples=2000)
    tau = Temperature().fit(scores, y).value
    found = made(penalty=1e-6).fit(scores / tau, y)(scores / tau).mean(dim=0)
    assert_close(found, torch.bincount(y).double() / len(y), atol=1e-5, rtol=0)


@pytest.mark.parametrize("made", [VectorScaling, MatrixScaling])
def test_few_rows_change_little_and_a_number_added_to_a_row_nothing(made):
    scores, y = skewed(5, samples=3)
    near = made().fit(scores, y)
    assert float(near.change.abs().max()) < 1.5
    assert float(near.bias.abs().max()) < 1.5
    shift = torch.linspace(-50, 50, 3, dtype=torch.float64)[:, None]
    assert_close(made().fit(scores + shift, y)(scores + shift), near(scores), atol=1e-6, rtol=0)
    assert_close(made()(scores), scores.softmax(dim=1))  # not fitted: as they are


@pytest.mark.parametrize("made", [VectorScaling, MatrixScaling])
def test_a_class_that_never_occurs_and_perfect_separation_stay_finite(made):
    y = torch.arange(90) % 3
    scores = 30 * torch.nn.functional.one_hot(y, 4).double()  # perfect, and the fourth class never comes
    scores[:, 3] = -1e9  # it is masked, even
    found = made().fit(scores, y)
    assert bool(torch.isfinite(found.change).all())
    assert bool(torch.isfinite(found.bias).all())
    assert_close(found(scores).argmax(dim=1), y)


@pytest.mark.parametrize("made", [VectorScaling, MatrixScaling])
def test_plain_data_restore_it_and_types_are_kept(made):
    scores, y = skewed(6)
    found = made().fit(scores, y)
    again = made.of(found.plain())
    assert_close(again(scores), found(scores))
    assert found(scores.float()).dtype == torch.float32
    assert again.plain() == found.plain()


def test_bad_input_gets_one_sentence():
    scores, y = skewed(7)
    spoilt = scores.clone()
    spoilt[3, 1] = torch.nan
    found = VectorScaling().fit(scores, y)
    for act, words in (
        (lambda: VectorScaling().fit(spoilt, y), "`scores` of VectorScaling.fit must be finite"),
        (lambda: MatrixScaling().fit(scores, y[:-1]), r"`y` of MatrixScaling.fit must be of shape \(400,\)"),
        (lambda: VectorScaling().fit(scores, y + 1), "`y` of VectorScaling.fit must be class indices from 0 to 3"),
        (lambda: found(scores[:, :2]), "`scores` of VectorScaling.apply must be of 4 columns"),
        (lambda: VectorScaling([0.0, 0.0]), "`bias` of VectorScaling must be given beside change"),
        (
            lambda: MatrixScaling([0.0, 0.0], [0.0, 0.0]),
            r"`change` of MatrixScaling must be finite and of shape \(2, 2\)",
        ),
        (lambda: VectorScaling(penalty=-1), "`penalty` of VectorScaling"),
        (lambda: VectorScaling().plain(), "`change` of VectorScaling must be fitted"),
    ):
        with pytest.raises(InputError, match=words):
            act()
