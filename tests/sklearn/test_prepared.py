"""Samples as training wants them, beside scikit-learn's scaler and repeated rows."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from labelspace.sklearn.prepared import Prepared, Scales, dataset_of

DRAWS = np.random.default_rng(0)


def test_columns_are_standardised_as_scikit_learn_does():
    x = DRAWS.normal([3, 1e9, 0], 5, (40, 3))  # single precision would lose the second column
    weights = DRAWS.integers(1, 4, 40).astype(float)
    scales = Scales.of(x, (3,), weights)
    np.testing.assert_allclose(scales(x), StandardScaler().fit(x, sample_weight=weights).transform(x), atol=1e-6)
    repeated = Scales.of(np.repeat(x, weights.astype(int), axis=0), (3,), None)
    np.testing.assert_allclose(repeated.std, scales.std, rtol=1e-6)


def test_pictures_are_standardised_by_channel():
    x = DRAWS.normal(size=(10, 2 * 3 * 4)) * 7 + 1
    found = Scales.of(x, (2, 3, 4), None)(x)
    pictures = x.reshape(10, 2, 3, 4)
    mean, std = pictures.mean(axis=(0, 2, 3)), pictures.std(axis=(0, 2, 3))
    np.testing.assert_allclose(found, (pictures - mean[:, None, None]) / std[:, None, None], rtol=1e-12)


def test_constant_columns_become_zero():
    x = np.array([[1.0, 0.1], [2.0, 0.1]])
    np.testing.assert_allclose(Scales.of(x, (2,), None)(x)[:, 1], 0, atol=1e-12)


def test_parts():
    x, codes, weights = DRAWS.normal(size=(20, 2)), np.arange(20) % 2, np.arange(20.0)
    dataset, found = dataset_of(Prepared(x, codes, weights), ["no", "yes"], 0.2, seed=0)
    assert [len(part) for part in dataset.parts.values()] == [16, 4, 0]
    assert found.tolist() == [weights[np.abs(x - row).sum(axis=1).argmin()] for row in dataset.train.x.numpy()]
    whole, _ = dataset_of(Prepared(x, codes, weights), ["no", "yes"], 0.0, seed=0)
    assert len(whole.train) == 20
    other, _ = dataset_of(Prepared(x, codes, weights + 1), ["no", "yes"], 0.0, seed=0)
    assert whole.key != other.key
