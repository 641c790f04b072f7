"""Discriminant spaces: the same place for every class as scikit-learn, and the formula of the relations."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from torch.testing import assert_close

from labelspace.sources.lda import discriminant_means, lda
from realdata import data_folder

FASHION = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


def blobs(samples, features, classes, seed=0, dtype=np.float64):
    """Return unequal classes whose features are correlated and differ in scale by many orders."""
    random = np.random.default_rng(seed)
    y = np.minimum(random.geometric(0.3, size=samples) - 1, classes - 1)
    y[: 2 * classes] = np.tile(np.arange(classes), 2)
    centres = random.normal(size=(classes, features))
    x = (centres[y] + random.normal(size=(samples, features))) @ random.normal(size=(features, features))
    return (x * 10.0 ** random.uniform(-3, 3, size=features) + 5).astype(dtype), y


def sklearn_means(x, y, components=None):
    model = LinearDiscriminantAnalysis(solver="svd", n_components=components).fit(x, y)
    z = model.transform(x)
    return np.stack([z[y == label].mean(axis=0) for label in range(y.max() + 1)]).astype(np.float64)


def cosines(means):
    rows = torch.as_tensor(means, dtype=torch.float64)
    rows = rows / rows.norm(dim=1, keepdim=True)
    return rows @ rows.T


def assert_same_cosines(x, y, reference=None, tolerance=1e-9):
    theirs = cosines(sklearn_means(x if reference is None else reference, y))
    ours = cosines(discriminant_means(x, y, int(y.max()) + 1))
    assert_close(ours, theirs, atol=tolerance, rtol=0)


@pytest.mark.parametrize("components", [None, 1, 3])
def test_means_equal_those_of_scikit_learn_up_to_sign(components):
    x, y = blobs(500, 12, 6)
    ours = discriminant_means(x, y, 6, components)
    theirs = torch.from_numpy(sklearn_means(x, y, components))
    assert ours.dtype == torch.float64
    signs = (ours * theirs).sum(dim=0).sign()
    assert_close(ours * signs, theirs, atol=1e-8, rtol=1e-8)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 8), features=st.integers(2, 15))
def test_cosines_equal_those_of_scikit_learn(seed, classes, features):
    x, y = blobs(200, features, classes, seed)
    assert_same_cosines(x, y, tolerance=1e-7)


def test_more_features_than_samples():
    x, y = blobs(60, 300, 4)
    assert_same_cosines(x, y, tolerance=1e-7)


def test_both_ways_to_whiten_agree():
    # 40 samples of 39 and of 41 features, the last two constant: the same data, seen from either side
    x, y = blobs(40, 39, 3)
    wide = np.concatenate([x, np.ones((40, 2))], axis=1)
    assert_close(cosines(discriminant_means(wide, y, 3)), cosines(discriminant_means(x, y, 3)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_without_information_change_nothing(dtype):
    x, y = blobs(400, 10, 5, dtype=dtype)
    constant = np.full((400, 2), 0.1, dtype)
    constant_within_classes = (y * 0.3).astype(dtype)[:, None]
    once = np.zeros((400, 2), dtype)
    once[7] = 1.0  # two pixels lit in one and the same sample are collinear
    lit_once = np.concatenate([x, once[:, :1]], axis=1)
    everything = np.concatenate([constant, x, once, constant_within_classes, 2 * x[:, :3]], axis=1)
    # scikit-learn takes the rounding of a constant's mean for variation, so it gets the features that matter
    assert_same_cosines(everything, y, lit_once.astype(np.float64), tolerance=1e-7 if dtype is np.float64 else 1e-4)


def test_single_precision_holds_its_accuracy():
    # eigenvalues from 1e-7 of the largest up, exact copies, and a mean far from zero: what float32 sums would lose
    random = np.random.default_rng(3)
    x, y = blobs(5000, 30, 8, seed=3)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    close = x[:, :1] + 1e-3 * random.normal(size=(5000, 1))
    x = (np.concatenate([x, close, x[:, 1:2]], axis=1) + 50).astype(np.float32)
    exact = cosines(discriminant_means(x.astype(np.float64), y, 8))
    assert_close(cosines(discriminant_means(x, y, 8)), exact, atol=1e-5, rtol=0)
    assert_close(exact, cosines(sklearn_means(x.astype(np.float64), y)), atol=1e-7, rtol=0)


def test_single_precision_with_mostly_collinear_features():
    random = np.random.default_rng(4)
    x, y = blobs(3000, 8, 5, seed=4)
    x = ((x - x.mean(axis=0)) / x.std(axis=0)) @ random.normal(size=(8, 60))
    x = x.astype(np.float32)
    exact = cosines(discriminant_means(x.astype(np.float64), y, 5))
    assert_close(cosines(discriminant_means(x, y, 5)), exact, atol=1e-5, rtol=0)


def test_parts_do_not_matter(monkeypatch):
    x, y = blobs(300, 20, 4)
    wide, wide_y = blobs(30, 50, 4)
    whole = [discriminant_means(x, y, 4), discriminant_means(wide, wide_y, 4)]
    monkeypatch.setitem(discriminant_means.__globals__, "PART", 130)
    monkeypatch.setitem(discriminant_means.__globals__, "ROWS", 2)
    parts = [discriminant_means(x, y, 4), discriminant_means(wide, wide_y, 4)]
    for one, other in zip(whole, parts, strict=True):
        assert_close(cosines(one), cosines(other), atol=1e-9, rtol=0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float32])
def test_every_kind_of_number_and_images(dtype):
    random = torch.Generator().manual_seed(0)
    y = torch.arange(3).repeat(40)
    images = torch.randint(0, 9, (120, 1, 2, 3), generator=random) + y[:, None, None, None]
    flat = images.reshape(120, 6).double().numpy()
    space = lda(images.to(dtype), y.to(torch.uint8))
    assert_close(space.matrix, lda(flat, y.tolist()).matrix, atol=1e-5, rtol=0)


def test_arrays_of_every_layout():
    x, y = blobs(80, 5, 3)
    expected = discriminant_means(x, y, 3)
    frozen = x.copy()
    frozen.flags.writeable = False
    for same in (frozen, np.asfortranarray(x), x[::-1].copy()[::-1], x.astype(">f8"), x.tolist()):
        assert_close(discriminant_means(same, y, 3), expected)


def test_the_input_is_left_alone():
    x, y = blobs(80, 5, 3)
    kept = x.copy()
    discriminant_means(x, y, 3)
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_relations_follow_the_formula(temperature):
    x, y = blobs(400, 9, 5)
    cosine = cosines(sklearn_means(x, y)).numpy()
    similarity = 1 / (1 + np.exp((1 - cosine) / temperature))
    np.fill_diagonal(similarity, 0)
    expected = similarity / similarity.sum(axis=1, keepdims=True)
    space = lda(x, y, temperature=temperature, names=list("abcde"))
    assert space.kind == "relations"
    assert space.names == tuple("abcde")
    assert_close(space.matrix.double(), torch.from_numpy(expected), atol=1e-6, rtol=0)
    logarithms = np.log(expected, where=expected > 0, out=np.zeros_like(expected))
    entropy = -(expected * logarithms).sum(axis=1)
    np.testing.assert_allclose(space.source["row_entropy"], entropy, atol=1e-5)
    assert space.source["samples_per_class"] == np.bincount(y).tolist()
    assert (space.source["components"], space.source["temperature"]) == (4, temperature)


def test_permuting_classes_permutes_the_relations():
    x, y = blobs(300, 8, 4)
    order = np.array([2, 0, 3, 1])
    permuted = lda(x, order[y]).matrix
    assert_close(permuted[order][:, order], lda(x, y).matrix)


def test_class_means_on_a_line_leave_columns_of_zeros():
    x, y = blobs(300, 6, 3)
    residual = x - np.stack([x[y == k].mean(axis=0) for k in range(3)])[y]
    means = discriminant_means(residual + y[:, None] * residual.std(axis=0), y, 3)
    assert means.shape == (3, 2)
    assert_close(means[:, 1], torch.zeros(3, dtype=torch.float64))


def test_two_classes():
    x, y = blobs(100, 4, 2)
    assert_close(lda(x, y).matrix, torch.tensor([[0.0, 1.0], [1.0, 0.0]]))


X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.where(Y == 1, 0, Y)}, r"Got no sample of class 1 \('1'\)\. Add samples of it, or leave"),
        ({"names": ["a", "b", "c", "d"]}, r"no sample of class 3 \('d'\)"),
        ({"names": ["a", "b"]}, r"`y` of lda must be class indices from 0 to 1\. Got 2\."),
        ({"y": Y - 1}, r"class indices from 0 to 1\. Got -1\."),
        ({"y": Y[:5]}, r"of shape \(12,\), one per row of `x`\. Got shape \(5,\)"),
        ({"y": Y.astype(float)}, r"class indices \(whole numbers\)\. Got dtype float64\. numpy\.unique"),
        ({"y": np.array(["a", "b", "c"] * 4)}, r"class indices \(whole numbers\)"),
        ({"y": Y * 0}, r"indices of at least 2 classes"),
        ({"x": np.where(X[4, 1] == X, np.nan, X)}, r"`x` of lda must be finite\. Got nan in sample 4, feature 1\."),
        ({"x": np.where(X[0, 0] == X, -np.inf, X)}, r"Got -inf in sample 0, feature 0"),
        ({"x": X[:, 0]}, r"samples × features\. Got shape \(12,\)\. A single feature"),
        ({"x": X[:, :0]}, r"samples × features\. Got shape \(12, 0\)"),
        ({"x": X.astype(str)}, r"whole numbers or floats"),
        ({"x": torch.from_numpy(X).to(torch.complex64)}, r"whole numbers or floats"),
        ({"x": [[1.0], [2.0, 3.0]]}, r"`x` of lda must be an array of numbers\. Got list"),
        ({"x": np.ones((12, 3))}, r"varying within classes\. Got features that are all constant"),
        ({"x": np.full((12, 3), 1e308) * np.sign(X)}, r"small enough to add up"),
        ({"components": 0}, r"`components` of lda must be a whole number of at least 1"),
        ({"components": 3}, r"from 1 to min\(classes − 1, features\) = 2\. Got 3"),
        ({"components": 1.5}, r"`components` of lda"),
        ({"temperature": 0}, r"`temperature` of lda must be a number in \(0, inf\)"),
        ({"temperature": -1.0}, r"`temperature` of lda"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lda(**({"x": X, "y": Y} | arguments))


def read_fashion(folder: Path, part: str):
    pixels = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    return np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 28, 28), np.frombuffer(labels, np.uint8, offset=8)


@pytest.fixture(scope="module")
def fashion():
    folder = data_folder()
    if folder is None or not (folder / "fashion-mnist").is_dir():
        pytest.skip("Fashion-MNIST is not on this machine")
    return read_fashion(folder / "fashion-mnist", "t10k")


@pytest.mark.data
def test_a_shirt_is_nearest_to_other_tops(fashion):
    space = lda(*fashion, names=FASHION)
    assert space.nearest("Shirt", k=1)[0][0] in {"T-shirt/top", "Pullover", "Coat"}
    assert {name for name, _ in space.nearest("Sneaker", k=2)} == {"Sandal", "Ankle boot"}


@pytest.mark.data
def test_real_images_in_single_precision_agree_with_scikit_learn(fashion):
    images, y = fashion
    x = (images.reshape(-1, 784)[:4000] / 255).astype(np.float32)
    assert_same_cosines(x, y[:4000].astype(np.int64), tolerance=1e-3)
