"""Isotonic calibration beside scikit-learn's."""

import numpy as np
import pytest
import torch
from sklearn.isotonic import IsotonicRegression

from labelspace import InputError
from labelspace.decisions import Isotonic


def crooked(seed, samples=500, ties=False):
    """Return scores of two classes that say more in the middle than at the ends."""
    random = np.random.default_rng(seed)
    x = random.normal(0, 2, samples)
    x = x.round(1) if ties else x
    y = (random.uniform(size=samples) < 1 / (1 + np.exp(-np.sign(x) * np.abs(x) ** 0.5))).astype(np.int64)
    return torch.tensor(np.stack([random.normal(size=samples), np.zeros(samples)], axis=1)) + torch.tensor(
        np.stack([np.zeros(samples), x], axis=1)
    ), torch.tensor(y)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("samples", [2, 7, 500])
def test_it_equals_scikit_learn(samples, ties):
    scores, y = crooked(1, samples, ties)
    y[0], y[1] = 0, 1
    x, edge = (scores[:, 1] - scores[:, 0]).numpy(), 1 / (samples + 2)
    rival = IsotonicRegression(y_min=edge, y_max=1 - edge, out_of_bounds="clip").fit(x, y.numpy())
    new = np.concatenate([np.linspace(-9, 9, 301), x])
    found = Isotonic().fit(scores, y)(torch.tensor(np.stack([np.zeros_like(new), new], axis=1)))
    np.testing.assert_allclose(found[:, 1].numpy(), rival.predict(new), atol=1e-6)
    np.testing.assert_allclose(found.sum(dim=1).numpy(), 1, atol=1e-12)


def test_plain_data_restore_it_in_few_points():
    scores, y = crooked(2)
    found = Isotonic().fit(scores, y)
    assert len(found.points) < 100
    torch.testing.assert_close(Isotonic.of(found.plain())(scores), found(scores))
    assert found(scores.float()).dtype == torch.float32


def test_bad_input_gets_one_sentence():
    scores, y = crooked(3)
    spoilt = scores.clone()
    spoilt[0, 0] = torch.nan
    for act, words in (
        (lambda: Isotonic().fit(scores[:, [0, 1, 1]], y), "`scores` of Isotonic.fit must be of two classes"),
        (
            lambda: Isotonic().fit(scores, torch.zeros_like(y)),
            "`y` of Isotonic.fit must be of both classes. Got only 0",
        ),
        (lambda: Isotonic().fit(spoilt, y), "`scores` of Isotonic.fit must be finite"),
        (lambda: Isotonic()(spoilt), "`scores` of Isotonic.apply must be finite"),
        (lambda: Isotonic([0.0, 0.0], [0.1, 0.2]), "`points` of Isotonic must be rising"),
        (lambda: Isotonic([0.0, 1.0], [0.5, 0.2]), "`values` of Isotonic must be rising probabilities"),
        (lambda: Isotonic([0.0], [1.0]), "`values` of Isotonic must be rising probabilities"),
    ):
        with pytest.raises(InputError, match=words):
            act()
