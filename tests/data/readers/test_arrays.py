"""Arrays in files and in memory."""

import numpy as np
import pytest
import torch

from labelspace import data

X = np.random.default_rng(0).normal(size=(40, 3))


Y = np.tile([0, 1], 20)


def test_an_npz_file_of_one_part(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, y=Y, names=np.array(["no", "yes"]), groups=np.repeat(np.arange(10), 4))
    dataset = data.load(tmp_path / "a.npz")
    assert dataset.kind == "features"
    assert dataset.names == ("no", "yes")
    assert dataset.train.groups is not None
    assert dataset.train.x.dtype == torch.float32


def test_an_npz_file_of_given_parts(tmp_path):
    np.savez(tmp_path / "a.npz", x_train=X, y_train=Y, x_val=X[:4] + 1, y_val=Y[:4], x_test=X[:6] + 2, y_test=Y[:6])
    assert data.load(tmp_path / "a.npz").source["counts"] == {"train": 40, "validation": 4, "test": 6}


def test_embeddings_in_npy_files(tmp_path):
    np.save(tmp_path / "embeddings.npy", X)
    np.save(tmp_path / "labels.npy", np.array(["b", "a"])[Y])
    dataset = data.load(tmp_path)
    assert dataset.names == ("a", "b")
    assert dataset.input_shape == (3,)


@pytest.mark.parametrize(
    ("shape", "wanted"), [((40, 5, 6), (1, 5, 6)), ((40, 5, 6, 3), (3, 5, 6)), ((40, 3, 5, 6), (3, 5, 6))]
)
def test_bytes_are_images(shape, wanted):
    x = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    dataset = data.load((x, Y))
    assert dataset.kind == "images"
    assert dataset.input_shape == wanted


def test_a_pair_of_tensors_or_lists():
    first = data.load((torch.from_numpy(X), torch.from_numpy(Y)))
    second = data.load((X.tolist(), Y.tolist()))
    assert first.key == second.key
    assert first.key != data.load((X, Y), seed=1).key
    assert data.load((X, Y), groups=[f"g{i % 8}" for i in range(40)]).train.groups is not None


def test_pickles_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{"a": 1}, None], dtype=object), y=np.array([0, 1]))
    with pytest.raises(ValueError, match="pickled data is refused"):
        data.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.where(np.arange(120).reshape(40, 3) == 7, np.nan, X), Y, r"1 NaN or infinite.*row 2, column 1"),
        (X, Y[:-1], "one row per label"),
        (X[:, 0], Y, "one row per label"),
        (X, Y + 0.5, "measurements"),
        (X, np.zeros(40, dtype=int), "at least two classes"),
        (np.array([["a"]] * 40), Y, "numbers"),
        (np.full((40, 3), 1e300), Y, "finite"),
    ],
)
def test_bad_arrays_are_explained(x, y, message):
    with pytest.raises(ValueError, match=message):
        data.load((x, y))


def test_arrays_of_other_names_are_explained(tmp_path):
    np.savez(tmp_path / "a.npz", data=X, y=Y)
    with pytest.raises(ValueError, match="Call the arrays x and y"):
        data.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x_train=X, y_train=Y)
    with pytest.raises(ValueError, match="a held-out part"):
        data.load(tmp_path / "b.npz")
    (tmp_path / "c.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="c.npz"):
        data.load(tmp_path / "c.npz")


def test_tensors_that_hold_no_array_of_numbers():
    dense = torch.from_numpy(X)
    for x in (dense.to_sparse(), dense.to(torch.bfloat16)):
        assert data.load((x, Y)).input_shape == (3,)
    same = data.load((dense.to_sparse(), Y))
    torch.testing.assert_close(same.train.x, data.load((dense, Y)).train.x)
    with pytest.raises(TypeError, match="`x` of data.load must be .* Got a tensor on the meta device"):
        data.load((dense.to("meta"), Y))
    with pytest.raises(TypeError, match="`y` of data.load must be .* Got a tensor on the meta device"):
        data.load((dense, torch.from_numpy(Y).to("meta")))
    with pytest.raises(TypeError, match="`x` of data.load must be an array, a tensor, or lists of one length"):
        data.load(([[1.0], [1.0, 2.0]], Y))


@pytest.mark.parametrize("shape", [(40, 0), (40, 3, 0), (40, 0, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_samples_without_numbers(shape, dtype):
    with pytest.raises(ValueError, match="samples with numbers in them"):
        data.load((np.zeros(shape, dtype), Y))


def test_a_label_that_is_one_number():
    with pytest.raises(ValueError, match="one row per label"):
        data.load((X, np.array(3)))


def test_factors_of_costs_in_memory_and_in_a_file(tmp_path):
    amounts = np.arange(40.0)
    np.savez(tmp_path / "a.npz", x=X, y=Y, cost_factors=amounts)
    stored = data.load(tmp_path / "a.npz")
    given = data.load((X, Y), cost_factors=amounts)
    by_part = data.load(
        {"train": (X, Y), "test": (X[:4] + 50, Y[:4])}, cost_factors={"train": amounts, "test": [1, 1, 1, 1]}
    )
    torch.testing.assert_close(stored.test.factors, given.test.factors)
    torch.testing.assert_close(by_part.test.factors, torch.ones(4, dtype=torch.float64))
    for part in given.parts.values():  # X has rows of their own, which say whose factor it is
        rows = [int(np.flatnonzero((X.astype(np.float32) == row).all(axis=1))[0]) for row in part.x.numpy()]
        torch.testing.assert_close(part.factors, torch.from_numpy(amounts[rows]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(39), "`cost_factors` .* one per sample .*Got shape \\(39,\\)"),
        (np.ones((40, 2)), "Got shape \\(40, 2\\)"),
        (["much"] * 40, "Got 'much' in row 0"),
        (np.full(40, np.nan), "Got nan in row 0"),
        ({"train": np.ones(40)}, "one per sample for each of all"),
    ],
)
def test_factors_that_are_none(given, message):
    with pytest.raises(ValueError, match=message):
        data.load((X, Y), cost_factors=given)


@pytest.mark.parametrize("groups", [np.array(3), np.zeros((40, 2)), np.zeros(39)])
def test_groups_of_another_shape(groups):
    with pytest.raises(ValueError, match="one row per label"):
        data.load((X, Y), groups=groups)


def test_one_name_is_a_name(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, y=np.zeros(40, int), names=np.array("only"))
    with pytest.raises(ValueError, match="at least two classes. Got only 'only'"):
        data.load(tmp_path / "a.npz")
