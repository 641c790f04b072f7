import numpy as np
import pytest

from labelspace import data
from labelspace.data import labels


@pytest.mark.parametrize(
    ("values", "codes", "names"),
    [
        (["b", "a", "b"], [1, 0, 1], ("a", "b")),
        (["10", "9"], [1, 0], ("9", "10")),
        (["01", "1"], [0, 1], ("01", "1")),
        ([3, 1, 3], [1, 0, 1], ("1", "3")),
        ([1.0, 2.0], [0, 1], ("1", "2")),
        (["1.0", "2.0"], [0, 1], ("1", "2")),
        ([True, False], [1, 0], ("False", "True")),
        (np.array([[5], [4]]), [1, 0], ("4", "5")),
        (["NA", "None"], [0, 1], ("NA", "None")),
        (np.array([2**64 - 1, 0, 2**63], dtype=np.uint64), [2, 0, 1], ("0", str(2**63), str(2**64 - 1))),
        (np.array([10**30, 5], dtype=object), [1, 0], ("5", str(10**30))),
    ],
)
def test_labels_of_any_spelling(values, codes, names):
    found, classes = labels.encode(values)
    assert found.tolist() == codes
    assert found.dtype == np.int64
    assert classes == names


def test_declared_names_fix_the_order():
    assert labels.encode(["low", "high"], ["low", "high"])[0].tolist() == [0, 1]
    assert labels.encode([0, 1], ["low", "high"])[1] == ("low", "high")


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ([0.5, 1.0], None, "`y` of data.load must be class labels.*0.5.*measurements"),
        (["0.5", "1"], None, "measurements"),
        ([1.0, float("nan")], None, "1 missing \\(row 1\\)"),
        (["a", ""], None, "1 missing"),
        ([[1, 0], [0, 1]], None, "argmax"),
        (["hihg"], ["low", "high"], "Did you mean 'high'"),
        ([0, 2], ["low", "high"], "positions 0 to 1"),
        (np.array([2**64 - 1], dtype=np.uint64), ["low", "high"], f"positions 0 to 1 .* Got labels from {2**64 - 1}"),
        ([1e30, 2.0], None, r"at most 9,007,199,254,740,992 where they are floats. Got 1e\+30"),
        (["1e30", "2"], None, r"Got 1e\+30"),
        (["9" * 5000, "8"], None, "class labels"),
        ([-1e300, 2.0], None, r"Got -1e\+300"),
        (np.array([10**400, 1.0], dtype=object), None, "class labels"),
    ],
)
def test_bad_labels_are_explained(values, names, message):
    with pytest.raises(ValueError, match=message):
        labels.encode(values, names)


def test_single_and_empty_classes_are_refused():
    with pytest.raises(ValueError, match="at least two classes. Got only 'a'"):
        labels.check_classes(np.array([0, 0]), ("a",))
    with pytest.raises(ValueError, match="1 without any \\('c'\\)"):
        labels.check_classes(np.array([0, 1]), ("a", "b", "c"))


def test_names_that_no_file_can_hold():
    with pytest.raises(ValueError, match=r"names of classes that are Unicode text. Got 'caf\\udce9'"):
        labels.check_classes(np.array([0, 1]), ("a", "caf\udce9"))


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        (list(range(100)), False),
        ([i % 150 for i in range(1500)], False),  # ten of each
        ([i % 150 for i in range(1499)], True),
        ([float(i % 150) for i in range(1499)], True),
        ([str(i % 1001) for i in range(50_000)], True),
        ([f"class {i % 150}" for i in range(300)], False),
        ([f"review {i % 150}" for i in range(299)], True),
    ],
)
def test_quantities_and_texts_are_no_classes(values, refused):
    if not refused:
        labels.check_classes_repeat("price", values)
        return
    with pytest.raises(
        ValueError, match=r"a column of classes. Got 'price' with .* different .*categorical=\['price'\]"
    ):
        labels.check_classes_repeat("price", values)


def test_each_number_is_a_class_where_that_is_said():
    table = {"size": [i / 7 for i in range(600)], "code": [i % 150 for i in range(600)]}
    assert len(data.load(table, label="code", categorical=["code"]).names) == 150
