"""The public datasets themselves, read and counted where they are on this machine."""

import warnings

import pytest
import torch

from labelspace import data
from realdata import data_folder

FOLDER = data_folder()
pytestmark = [pytest.mark.data, pytest.mark.skipif(FOLDER is None, reason="the real datasets are not here")]


def load(name, **options):
    return data.load(name, data_dir=FOLDER, **options)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    # decoded once for all tests; the cache folder of each test is another one
    patch = pytest.MonkeyPatch()
    patch.setenv("LABELSPACE_CACHE", str(tmp_path_factory.mktemp("tiny")))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first = load("tiny-imagenet")
        second = load("tiny-imagenet", names="words")
    yield first, second, [str(warning.message) for warning in caught]
    patch.undo()


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_idx(name):
    dataset = load(name)
    assert len(dataset.train) + len(dataset.validation) == 60_000
    assert len(dataset.test) == 10_000
    assert dataset.input_shape == (1, 28, 28)
    every = torch.cat([dataset.train.y, dataset.validation.y])
    if name == "fashion-mnist":
        assert torch.bincount(every).tolist() == [6000] * 10
        assert dataset.names[0] == "T-shirt/top"
    else:
        assert torch.bincount(every)[:2].tolist() == [5923, 6742]


def test_cifar_10():
    dataset = load("cifar-10")
    assert len(dataset.train) + len(dataset.validation) == 10_000
    assert torch.bincount(dataset.test.y).tolist() == [1000] * 10
    assert dataset.names[:3] == ("airplane", "automobile", "bird")
    assert dataset.input_shape == (3, 32, 32)


@pytest.mark.slow
def test_tiny_imagenet(tiny):
    first, second, said = tiny
    assert len(first.train) + len(first.validation) == 16_000
    assert torch.bincount(first.test.y).tolist() == [20] * 200
    assert first.input_shape == (3, 64, 64)
    assert len(first.names) == 200
    assert "n02124075" in first.names
    assert second.names[first.names.index("n02124075")] == "Egyptian cat"
    assert first.train.x.equal(second.train.x)
    assert len(said) == 2
    assert "1 of the 4000 test samples" in said[0]


@pytest.mark.slow
def test_imdb():
    with pytest.warns(UserWarning, match="123 of the 25000 test samples have the same content"):
        dataset = load("imdb")
    assert len(dataset.train) + len(dataset.validation) == 25_000
    assert torch.bincount(dataset.test.y).tolist() == [12_500, 12_500]
    assert dataset.names == ("negative", "positive")
    assert len(dataset.vocabulary or ()) == 20_000
    assert dataset.train.x.shape[1] == 256


def test_mnist_with_the_first_5000_as_development_set():
    dataset = load("mnist", validation="first 5000")
    assert [len(part) for part in dataset.parts.values()] == [55_000, 5_000, 10_000]
    # the first labels of MNIST, as everybody knows them, and the digits among the first 5,000
    assert dataset.validation.y[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert torch.bincount(dataset.validation.y).tolist() == [479, 563, 488, 493, 535, 434, 501, 550, 462, 495]
    every = load("mnist", validation="none")
    assert [len(part) for part in every.parts.values()] == [60_000, 0, 10_000]
    torch.testing.assert_close(every.train.x[:5000], dataset.validation.x)
    torch.testing.assert_close(every.train.x[5000:], dataset.train.x)
    some = load("mnist", validation="first 5000", classes="8,3")
    assert torch.bincount(some.validation.y).tolist() == [462, 493]
