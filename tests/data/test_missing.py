"""Cells without a value, and the rule for them."""

import json

import pytest
import torch
from torch.testing import assert_close

from labelspace import data
from labelspace.data.columns import Encoding
from small_tables import ROWS, write


def test_missing_values_need_a_rule(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[3][1] = rows[4][1] = "NA"
    rows[5][2] = ""
    path = write(tmp_path / "t.csv", rows)
    with pytest.raises(ValueError, match=r"`missing`.*2 in 'size', 1 in 'colour' \(of 40 rows\).*missing='indicator'"):
        data.load(path, label="sick", ignore=["id", "patient"])
    filled = data.load(path, label="sick", ignore=["id", "patient"], missing="median")
    assert filled.source["missing"] == {"size": 2, "colour": 1}
    assert torch.isfinite(filled.train.x).all()
    dropped = data.load(path, label="sick", ignore=["id", "patient"], missing="drop")
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


@pytest.mark.parametrize("rule", ["error", "median", "indicator", "drop"])
@pytest.mark.parametrize("spelling", ["", " ", "NA", "NaN", "null", "#N/A"])
def test_rows_without_a_label_are_left_out_whatever_the_rule(tmp_path, rule, spelling):
    rows = [[i, spelling if i in (3, 7) else "ab"[i % 2]] for i in range(20)]
    path = write(tmp_path / "t.csv", rows, ["v", "y"])
    with pytest.warns(UserWarning, match="2 rows have no label in 'y' .*: they are left out"):
        dataset = data.load(path, missing=rule)
    assert dataset.names == ("a", "b")
    assert sum(dataset.source["counts"].values()) == 18
    assert dataset.source["rows without a label"] == 2
    seen = torch.cat([part.x.flatten() for part in dataset.parts.values()])
    assert not {3.0, 7.0} & set(seen.tolist())


def test_a_class_may_be_called_none_and_with_names_also_na(tmp_path):
    rows = [[i, ["None", "NA", "mild"][i % 3]] for i in range(30)]
    path = write(tmp_path / "t.csv", rows, ["v", "y"])
    assert data.load(path, names=["None", "NA", "mild"]).names == ("None", "NA", "mild")
    with pytest.warns(UserWarning, match="10 rows have no label"):
        assert data.load(path).names == ("None", "mild")


def test_a_part_without_any_label_is_refused(tmp_path):
    write(tmp_path / "train.csv", [[i, i % 2] for i in range(20)], ["v", "y"])
    write(tmp_path / "test.csv", [[i, ""] for i in range(5)], ["v", "y"])
    with pytest.raises(ValueError, match="a column with labels. Got none in 'y' of the test part"):
        data.load(tmp_path, missing="drop")


@pytest.mark.parametrize("rule", ["error", "median", "indicator"])
def test_groups_and_texts_are_never_made_up(tmp_path, rule):
    rows = [[i, "" if i == 3 else f"p{i % 7}", i % 2] for i in range(40)]
    path = write(tmp_path / "t.csv", rows, ["v", "who", "y"])
    with pytest.raises(ValueError, match="1 in 'who'.*not made up.*missing='drop'"):
        data.load(path, group_by="who", missing=rule)
    assert sum(data.load(path, group_by="who", missing="drop").source["counts"].values()) == 39


def test_an_indicator_marks_what_the_median_fills(tmp_path):
    rows = [list(row) for row in ROWS]
    for row in (3, 9, 14, 20, 28, 33):
        rows[row][1] = "NA"
    path = write(tmp_path / "t.csv", rows)
    options = {"label": "sick", "ignore": ["id", "patient"]}
    filled, marked = (data.load(path, **options, missing=rule) for rule in ("median", "indicator"))
    assert marked.source["columns"] == ["size", "size is missing", "colour=blue", "colour=red"]
    for part in ("train", "validation", "test"):
        without, beside = filled.parts[part].x, marked.parts[part].x
        assert_close(beside[:, [0, 2, 3]], without, rtol=0, atol=0)
    gaps = torch.cat([part.x[:, 1] for part in marked.parts.values()])
    assert gaps.sum() == 6
    assert set(gaps.tolist()) == {0.0, 1.0}
    encoding = Encoding.stored(json.loads(json.dumps(marked.source["encoding"])))
    assert encoding.apply({"size": ["", "2"], "colour": ["red", "red"]})[:, 1].tolist() == [1, 0]
