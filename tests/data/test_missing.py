"""Cells without a value, and the rule for them."""

import pytest
import torch

from labelspace import data
from small_tables import ROWS, write


def test_missing_values_need_a_rule(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[3][1] = rows[4][1] = "NA"
    rows[5][2] = ""
    path = write(tmp_path / "t.csv", rows)
    with pytest.raises(ValueError, match=r"`missing`.*2 in 'size', 1 in 'colour' \(of 40 rows\).*missing='median'"):
        data.load(path, ignore=["id", "patient"])
    filled = data.load(path, ignore=["id", "patient"], missing="median")
    assert filled.source["missing"] == {"size": 2, "colour": 1}
    assert torch.isfinite(filled.train.x).all()
    dropped = data.load(path, ignore=["id", "patient"], missing="drop")
    assert sum(dropped.source["counts"].values()) == 37
    assert dropped.source["dropped rows"] == 3


def test_the_median_is_of_the_training_part(tmp_path):
    train = write(
        tmp_path / "train.csv", [[value, i % 2] for i, value in enumerate([1, 2, 3, 4, 5, 6, 7, 8])], ["v", "y"]
    )
    write(tmp_path / "validation.csv", [[1000, 0], [1001, 1]], ["v", "y"])
    write(tmp_path / "test.csv", [["", 0], [2000, 1]], ["v", "y"])
    dataset = data.load(train.parent, missing="median")
    assert dataset.test.x.flatten().tolist() == [4.5, 2000]


def test_missing_labels_are_never_made_up(tmp_path):
    rows = [[i, "" if i == 3 else i % 2] for i in range(20)]
    path = write(tmp_path / "t.csv", rows, ["v", "y"])
    with pytest.raises(ValueError, match="1 in 'y'.*not made up"):
        data.load(path, missing="median")
    assert sum(data.load(path, missing="drop").source["counts"].values()) == 19
