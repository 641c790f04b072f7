"""Datasets by name, path and options."""

import json

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace import data

X = np.random.default_rng(0).normal(size=(60, 3))


Y = np.repeat([0, 1, 2], [40, 19, 1])


def test_names():
    assert data.names() == (
        "digits",
        "mnist",
        "fashion-mnist",
        "cifar-10",
        "cifar-100",
        "tiny-imagenet",
        "imdb",
        "multi30k",
        "iwslt15",
        "en-vi",
        "summaries",
        "lcsts",
    )


def test_digits():
    dataset = data.load("digits")
    assert dataset.input_shape == (1, 8, 8)
    assert [len(part) for part in dataset.parts.values()] == [800, 300, 697]
    assert dataset.train.y.dtype == torch.int64
    assert dataset.key == data.load("digits").key
    json.dumps(dataset.source)


@pytest.mark.parametrize("seed", range(4))
def test_digits_have_parts_of_fixed_sizes_with_all_classes_in_proportion(seed):
    dataset = data.load("digits", seed=seed)
    counts = torch.stack([torch.bincount(part.y) for part in dataset.parts.values()])
    assert counts.sum(1).tolist() == [800, 300, 697]
    pool = counts.sum(0)
    expected = pool * torch.tensor([[800], [300], [697]]) / 1797
    # each of the two draws rounds to a neighbouring whole number
    assert_close(counts.float(), expected, atol=2.0, rtol=0.0)
    assert not torch.equal(dataset.test.x, data.load("digits", seed=seed + 1).test.x)


def test_digits_split_otherwise_where_shares_are_given():
    assert [len(part) for part in data.load("digits", validation=0.15, test=0.15).parts.values()] == [1258, 269, 270]
    assert [len(part) for part in data.load("digits", validation=0.1).parts.values()] == [920, 180, 697]


def test_a_missing_dataset_says_where_it_was_looked_for(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=f"looked for {tmp_path}/mnist.*Put the four IDX files.*data_dir="):
        data.load("mnist", data_dir=tmp_path)
    monkeypatch.setenv("LABELSPACE_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(ValueError, match="elsewhere/imdb.*train.csv.gz"):
        data.load("imdb")


def test_bad_names_and_options():
    with pytest.raises(ValueError, match="Did you mean 'mnist'"):
        data.load("mnits")
    with pytest.raises(ValueError, match="`sed` of data.load.*Did you mean 'seed'"):
        data.load("digits", sed=1)
    with pytest.raises(TypeError, match="a name, a path, a pair"):
        data.load(3)
    with pytest.raises(ValueError, match="leaves training samples"):
        data.load("digits", validation=0.5, test=0.5)
    with pytest.raises(ValueError, match="`test`"):
        data.load("digits", test=1.5)


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "a.pkl").write_bytes(b"")
    with pytest.raises(ValueError, match="a file of a known kind"):
        data.load(tmp_path / "a.pkl")


def test_a_class_of_one_sample_stays_in_training():
    dataset = data.load((X, Y))
    assert 2 in dataset.train.y.tolist()
    assert dataset.source["split"]["kept whole in training (one sample)"] == ["2"]


def test_statistics_are_of_the_training_part():
    dataset = data.load((X, Y))
    assert_close(dataset.normalize.mean, dataset.train.x.mean(0))
