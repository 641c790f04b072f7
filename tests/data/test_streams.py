"""Rows and pictures without labels, some at a time."""

import numpy as np
import pytest

from labelspace import data
from labelspace.data import streams
from labelspace.data.columns import Encoding


@pytest.mark.timeout(60)
def test_only_files_are_pictures(tmp_path, pictures):
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    decoded = list(streams.picture_pieces(streams.pictures_in([tmp_path / "zero.png"]), (1, 4, 4), True, 4))
    assert decoded[0].problems == {0: "a device or a pipe, no file"}
    with pytest.raises(ValueError, match="a device or a pipe"):
        streams.pictures_in(tmp_path / "zero.png")
    (pictures / "cat" / "zero.png").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"cat/zero.png \(a device or a pipe, no file\)"):
        data.load(pictures)
    assert data.load(pictures, skip_unreadable=True).source["skipped"] == {"count": 1, "files": ["cat/zero.png"]}


ENCODING = Encoding.fit({"a": ["1", "3"], "b": ["x", "y"]}, {"a": "numeric", "b": "categorical"}, np.array([0, 1]))
TABLE = {"a": ["1", "", "oops", "1e39"], "b": ["x", "y", "x", ""]}


def test_rows_that_will_not_do_have_a_reason():
    said = streams.row_problems(ENCODING, TABLE, "median")
    wrong = "which is no finite number"
    assert said == {2: f"'oops' in 'a', {wrong}", 3: f"'1e39' in 'a', {wrong}"}
    for rule in ("drop", "error"):  # where training filled nothing, a gap spoils its row, not the file
        assert streams.row_problems(ENCODING, TABLE, rule) == {1: "no value in 'a'", 3: "no value in 'b'", 2: said[2]}
    assert streams.without(TABLE, said) == {"a": ["1", ""], "b": ["x", "y"]}


def test_columns_that_are_missing_and_slices():
    with pytest.raises(ValueError, match="none called 'Size'. Did you mean 'size'"):
        streams.check_columns(["Size"], {"size": [1]})
    assert [piece["a"] for piece in streams.slices(TABLE, 3)] == [["1", "", "oops"], ["1e39"]]
