"""Scores that are put together, or cannot be: one clear sentence each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace.comparison import compare_scores

Y = np.arange(30) % 3
SCORES = np.eye(3)[Y] + np.random.default_rng(0).normal(size=(30, 3))
Files = dict[str, Any]


def saved(path: Path, **arrays: Any) -> str:
    np.savez(path, **arrays)
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    return saved(tmp_path / "good.npz", scores=SCORES, y=Y)


def refused(scores: Any, words: str, **options: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        compare_scores(scores, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("`")  # what was wrong, in the words of the call


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"scores": SCORES[:, 0]}, r"scores of shape \(N, K\), or \(seeds, N, K\).* Got \(30,\)"),
        ({"scores": SCORES[:, :1]}, r"at least one sample and two classes. Got \(30, 1\)"),
        ({"scores": SCORES[None, None]}, r"Got \(1, 1, 30, 3\)"),
        ({"scores": SCORES[:0], "y": Y[:0]}, r"at least one sample.* Got \(0, 3\)"),
        (
            {"scores": SCORES[:20]},
            r"`y of scores` of compare must be of shape \(20,\), one per sample. Got shape \(30,\)",
        ),
        ({"scores": SCORES[:, :2], "y": Y % 2}, "of the same seeds and classes in validation and test"),
        ({"scores": np.stack([SCORES] * 2)}, "of the same seeds and classes in validation and test"),
        ({"scores": np.where(SCORES > 1, np.nan, SCORES)}, "`scores` of compare must be finite. Got nan in row 0"),
        ({"scores": np.where(SCORES > 1, -np.inf, SCORES)}, "`scores` of compare must be finite"),
        (
            {"scores": SCORES.astype(str)},
            "`scores` of compare must be a tensor or array of numbers. Got ndarray of text",
        ),
        ({"scores": SCORES * 1j}, "`scores` of compare must be real numbers"),
        ({"y": Y + 1}, "`y of scores` of compare must be class indices from 0 to 2. Got 3"),
        ({"y": Y - 1}, "`y of scores` of compare must be class indices from 0 to 2. Got -1"),
        ({"y": Y.astype(float)}, "class indices .whole numbers.. Got dtype torch.float64"),
        ({"y": np.array(list("abc"))[Y]}, "names of classes. Got 'a' in row 0 of .*Nothing names the columns. Say it"),
        ({"y": np.array(list("abd"))[Y], "names": list("abc")}, "Got 'd' in row 2 .* The classes are 'a', 'b', 'c'."),
        ({"y": Y[:, None]}, r"`y of scores` of compare must be of shape \(30,\), one per sample"),
        ({"scores": np.array([[None] * 3] * 30)}, "an NPZ file of plain arrays.*Python objects"),
        ({"names": np.array(["a", None, "c"])}, "an NPZ file of plain arrays.*Python objects"),
        ({"names": ["a", "b"]}, "`names` of compare must be 3 names, one per column of the scores. Got 2"),
        ({"names": ["a", "b", "a"]}, "`names` of compare must be unique. Got 'a' more than once"),
    ],
)
def test_arrays(arrays: Files, words: str, good: str, tmp_path: Path) -> None:
    refused([saved(tmp_path / "bad.npz", **{"scores": SCORES, "y": Y, **arrays}), good], words, cost="squared")


@pytest.mark.parametrize("groups", [np.arange(5), np.zeros((30, 2)), np.full(30, np.nan)])
def test_groups(groups: Any, good: str, tmp_path: Path) -> None:
    bad = saved(tmp_path / "bad.npz", scores=SCORES, y=Y, groups=groups)
    refused([good, bad], "`groups` of compare must be", cost="squared")


@pytest.mark.parametrize("missing", ["scores", "y"])
def test_arrays_that_are_missing(missing: str, good: str, tmp_path: Path) -> None:
    arrays = {"scores": SCORES, "y": Y}
    del arrays[missing]
    refused([saved(tmp_path / "bad.npz", **arrays), good], f"arrays named scores and y.* Got no {missing} in .*bad.npz")


def npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, SCORES)


def truncated(path: Path) -> None:
    np.savez(path, scores=SCORES, y=Y)
    path.write_bytes(path.read_bytes()[:300])


def garbled(path: Path) -> None:
    np.savez_compressed(path, scores=SCORES, y=Y)
    content = bytearray(path.read_bytes())
    content[80:200] = bytes(120)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "broken", [npy, truncated, garbled, lambda path: path.write_bytes(b""), lambda path: path.write_text("a,b\n1,2\n")]
)
def test_files_that_are_something_else(broken: Callable[[Path], Any], good: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    broken(path)
    refused([good, path], "`scores` of compare must be an NPZ file of plain arrays. Got .*bad.npz")


def test_files_that_are_not_there(good: str, tmp_path: Path) -> None:
    refused([good, "nowhere.npz"], "the path of an NPZ, CSV or Parquet file. Got 'nowhere.npz', which is not there")
    refused([tmp_path, good], "which is not there")


def test_a_single_file_needs_both_parts(good: str) -> None:
    refused(
        [good], "a file with validation_scores, validation_y, test_scores and test_y. Got .* without validation_scores"
    )


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([], "one or two files per model. Got 0"),
        ([1, 2, 3], "one or two files per model. Got 3"),
        ({}, "those of at least one model. Got none"),
        ({"a": 3}, "one or two files per model. Got int"),
        (None, "one or two files per model. Got NoneType"),
        ((torch.zeros(4, 3), torch.zeros(4)), r"a dict of arrays or a pair \(scores, y\). Got Tensor"),
        ([(SCORES, Y, Y), (SCORES, Y)], r"a pair \(scores, y\). Got tuple"),
    ],
)
def test_what_is_no_pair(scores: Any, words: str) -> None:
    refused(scores, words)


def test_other_samples() -> None:
    first, other = (SCORES, Y), (SCORES, Y[::-1].copy())
    shorter = (SCORES[:20], Y[:20])
    wider = (np.hstack([SCORES, SCORES[:, :1]]), Y)
    refused({"a": [first, first], "b": [first, other]}, "of the same test samples and classes, .* Got others for 'b'")
    refused({"a": [first, first], "b": [other, first]}, "of the same validation samples and classes")
    refused({"a": [first, first], "b": [first, shorter]}, "of the same test samples and classes")
    refused({"a": [first, first], "b": [wider, wider]}, "of the same classes, .* Got 4 columns for 'b', not 3")
    twice = (np.stack([SCORES, SCORES]), Y)
    refused(
        {"a": [first, first], "b": [twice, twice]}, "of the same number of seeds for every model. Got 2 for 'b' and 1"
    )


def test_other_names(tmp_path: Path, good: str) -> None:
    paths = [saved(tmp_path / f"{order}.npz", scores=SCORES, y=Y, names=list(order)) for order in ("abc", "abd")]
    said = "of the same classes in every part of every model. Got 'c', 'a', 'b' in .*abc.npz and 'd', 'a', 'b' in .*abd"
    refused({"one": [paths[0], good], "two": [paths[1], good]}, said)
    refused(paths, said)
    refused([paths[0], good], "the classes that the files themselves name. Got 'd', .* and 'c', ", names=list("abd"))
    compare_scores({"one": [paths[0], good], "two": [paths[0], good]})


def test_prices_of_other_classes(good: str, tmp_path: Path) -> None:
    """One line that names both."""
    named = saved(tmp_path / "named.npz", scores=SCORES, y=Y, names=list("abc"))
    other = tmp_path / "prices.csv"
    other.write_text(",a,b,x\na,0,1,2\nb,1,0,1\nx,9,1,0\n")
    both = "prices of the classes of the scores. Got 'c', 'a', 'b' in the scores and 'x', 'a', 'b' in prices.csv"
    refused([named, named], both, cost=other)
    refused([good, good], both, cost=other, names=list("abc"))
    other.write_text("true,predicted,cost\nx,a,3\n*,*,1\n")
    with pytest.raises(ValueError, match="Got 'x' as true class in line 2, which is none of the classes"):
        compare_scores([named, named], cost=other)
    other.write_text(",a,b\na,0,1\nb,1,0\n")
    refused(
        [good, good], "of as many classes as the scores have columns. Got 2 classes in prices.csv for 3", cost=other
    )


def test_prices_by_name_need_names(good: str, tmp_path: Path) -> None:
    """Lines of mistakes have no order that columns might have, nor does what is written beside a space."""
    path = tmp_path / "prices.csv"
    path.write_text("true,predicted,cost\na,b,3\n*,*,1\n")
    refused(
        [good, good], r"Got '0', '1', '2' in the scores and 'a', 'b' in prices.csv. Say it: names=…", cost=str(path)
    )
    refused([good, good], r"Nothing names the classes .* give names=… \(--names a,b,c\)", space="a<b<c")
    compare_scores([good, good], cost=str(path), names=["a", "b", "c"])
    with pytest.raises(ValueError, match="`cost`") as caught:
        compare_scores([good, good], cost="bogus")
    assert "names=" not in str(caught.value)


def test_wrong_names_and_prices(good: str) -> None:
    refused([good, good], "`names` of compare must be 3 names, one per column of the scores. Got 4", names=list("abcd"))
    refused([good, good], "4 names, one per row of `matrix`. Got 3", cost=np.ones((4, 4)) - np.eye(4))
    refused([good, good], "`cost` of labelspace must be .* Did you mean 'squared'", cost="sqared")
    refused([good, good], "`margin` .* must be a number in", cost="squared", margin=0.0)


def test_parts_may_be_a_dict() -> None:
    pair = (SCORES, Y)
    usual = compare_scores([pair, pair], cost="squared")
    assert compare_scores({"validation": pair, "test": pair}, cost="squared").rows == usual.rows
    assert compare_scores({"model": {"val": pair, "test": pair}}, cost="squared").rows == usual.rows
    arrays = {"validation_scores": SCORES, "validation_y": Y, "test_scores": SCORES, "test_y": Y}
    assert compare_scores(arrays, cost="squared").rows == usual.rows
    assert compare_scores([{"scores": SCORES, "y": Y}, pair], cost="squared").rows == usual.rows


def test_files_with_both_parts_are_models(tmp_path: Path) -> None:
    """Two of them without names are not the validation and the test part of one model."""
    arrays = {"validation_scores": SCORES, "validation_y": Y, "test_scores": SCORES, "test_y": Y}
    paths = [saved(tmp_path / f"{name}.npz", **arrays) for name in "ab"]
    refused(paths, "one part in each of two files. Got .*a.npz, which says itself .* models .* need names")
    assert [row.label for row in compare_scores(dict(zip("ab", paths, strict=True))).rows] == ["a", "b"]
