"""Tables that are written while they come: whole or not at all."""

import csv
import io
from pathlib import Path

import pytest

from labelspace.cli.table_output import check_output, table_file

PIECES = [{"row": [0, 1], "text": ["=1+1", None]}, {"row": [2], "text": ['x, "y"']}]


@pytest.mark.parametrize("spreadsheet", [True, False])
def test_csv(tmp_path: Path, spreadsheet: bool) -> None:
    path = tmp_path / "t.csv"
    with table_file(path, spreadsheet) as write:
        for piece in PIECES:
            write(piece)
        assert not path.exists()
    rows = list(csv.reader(io.StringIO(path.read_text())))
    assert rows == [["row", "text"], ["0", "'=1+1" if spreadsheet else "=1+1"], ["1", ""], ["2", 'x, "y"']]


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with table_file(tmp_path / "t.parquet") as write:
        for piece in PIECES:
            write(piece)
    assert parquet.read_table(tmp_path / "t.parquet").to_pydict() == {
        "row": [0, 1, 2],
        "text": ["=1+1", None, 'x, "y"'],
    }


def test_nothing_is_left_of_a_table_that_was_not_finished(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"), table_file(tmp_path / "t.csv") as write:
        write({"row": [0, 1], "text": ["only one"]})
    assert list(tmp_path.iterdir()) == []


def test_places_that_will_not_do(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a")
    for path, words in (
        ("t.txt", "ends in .csv or .parquet"),
        ("in.csv", "another file"),
        ("no/t.csv", "can be written to"),
    ):
        with pytest.raises(ValueError, match=words):
            check_output("predict", tmp_path / path, tmp_path / "in.csv")
