"""The loss of samples that do not count alike, beside sums by hand, and what is refused."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from labelspace import InputError, Learner, MixedCrossEntropy, OneHot, UniformSmoothing, ordinal
from labelspace.training.weighted import SampleWeights

X = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
Y, ROWS = torch.tensor([0, 1, 2, 2, 1, 0]), torch.tensor([5, 0, 3, 1, 2, 4])
WEIGHTS = torch.tensor([1.0, 0.0, 2.0, 0.5, 3.0, 1.0])


def test_it_is_the_weighted_mean():
    learner = Learner(torch.nn.Identity(), UniformSmoothing(3, smoothing=0.2))
    each = cross_entropy(X[ROWS], Y[ROWS], label_smoothing=0.2, reduction="none")
    expected = (each * WEIGHTS[ROWS]).sum() / WEIGHTS.sum()
    torch.testing.assert_close(SampleWeights(WEIGHTS).loss(learner, X[ROWS], Y[ROWS], {}, ROWS), expected)
    assert learner.criterion.reduction == "mean"
    assert learner.training


def test_equal_weights_change_nothing():
    learner = Learner(torch.nn.Identity(), OneHot(3))
    found = SampleWeights(torch.full((6,), 2.0)).loss(learner, X, Y, {}, torch.arange(6))
    torch.testing.assert_close(found, cross_entropy(X, Y))


def test_what_would_be_something_else_is_refused():
    weights, rows = SampleWeights(WEIGHTS), torch.arange(6)
    classes = Learner(torch.nn.Identity(), OneHot(3, weight=[1.0, 2.0, 1.0]))
    with pytest.raises(InputError, match="the only weights, of samples as they are. Got weights of classes too"):
        weights.loss(classes, X, Y, {}, rows)
    with pytest.raises(InputError, match="samples that are mixed"):
        weights.loss(Learner(torch.nn.Identity(), OneHot(3)), X, torch.full((6, 3), 1 / 3), {}, rows)
    penalised = Learner(torch.nn.Identity(), MixedCrossEntropy(ordinal(3), learn="class", preset="paper"))
    with pytest.raises(InputError, match="mixed with terms that are no means over samples"):
        weights.loss(penalised, X, Y, {}, rows)
