"""Columns of a table to numbers, by the training part alone."""

import json

import numpy as np
import pytest

from labelspace import data
from labelspace.data.columns import Encoding
from small_tables import ROWS, write


def test_free_text_is_not_taken_for_a_category(tmp_path):
    path = write(tmp_path / "t.csv", [[f"review number {i}", i, i % 2] for i in range(150)], ["review", "n", "y"])
    with pytest.raises(ValueError, match="'review' with 150 different texts.*text='review'"):
        data.load(path)
    assert data.load(path, text="review", ignore=["n"]).kind == "text"


def test_rows_of_one_patient_may_belong_together(tmp_path):
    path = write(tmp_path / "t.csv", [[f"patient {i // 2}", i, i % 2] for i in range(300)], ["patient", "n", "y"])
    with pytest.raises(
        ValueError, match=r"ignore=\['patient'\]; or, where its rows belong together, group_by='patient'"
    ):
        data.load(path)
    assert data.load(path, group_by="patient").train.groups is not None


def test_all_bad_columns_are_named(tmp_path):
    rows = [[f"a {i}", i, f"b {i}", i, i, i % 2] for i in range(150)]
    rows[7][1] = rows[9][1] = rows[9][4] = "inf"
    path = write(tmp_path / "t.csv", rows, ["one", "n", "two", "m", "k", "y"])
    both = (
        r"'one' with 150 different texts in 150 rows, 'two' with 150 .*Say what they are: categorical=\['one', 'two'\]"
    )
    with pytest.raises(ValueError, match=both):
        data.load(path)
    with pytest.raises(ValueError, match=r"3 NaN .*2 in 'n', first in row 7, 1 in 'k', first in row 9.*\['n', 'k'\]"):
        data.load(path, ignore=["one", "two"])
    with pytest.raises(ValueError, match="`numeric` .* Got 'a 0' in 'one', 'b 0' in 'two'. Repair these cells"):
        data.load(path, numeric=["one", "m", "two"])


def test_the_encoding_is_written_down_and_gives_the_same_features(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[3][1] = rows[30][1] = "NA"
    rows[5][2] = rows[31][2] = ""
    dataset = data.load(write(tmp_path / "t.csv", rows), label="sick", ignore=["id", "patient"], missing="median")
    encoding = Encoding.stored(json.loads(json.dumps(dataset.source["encoding"])))
    table = {"colour": [row[2] for row in rows], "other": rows, "size": [row[1] for row in rows]}
    everything = {tuple(row) for row in encoding.apply(table).tolist()}
    for part in dataset.parts.values():
        assert {tuple(row) for row in part.x.tolist()} <= everything
    assert encoding.features == dataset.source["columns"]


def test_an_encoding_by_hand():
    table = {"size": ["1", "3", "", "100"], "colour": ["red", "blue", None, "green"]}
    encoding = Encoding.fit(table, {"size": "numeric", "colour": "categorical"}, np.array([0, 1, 2]))
    # the median of 1 and 3; of two colours that are equally frequent the first by name
    assert encoding.plain() == [
        {"name": "size", "fill": 2.0},
        {"name": "colour", "fill": "blue", "categories": ["blue", "red"]},
    ]
    assert encoding.apply(table).tolist() == [[1, 0, 1], [3, 1, 0], [2, 1, 0], [100, 0, 0]]
    assert encoding.apply(table).dtype == np.float32
    assert encoding.columns[1].unseen(table["colour"]) == {"green": 1}
    assert encoding.apply({"size": [], "colour": []}).shape == (0, 3)
