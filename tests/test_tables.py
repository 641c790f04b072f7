"""One set of rules for tables of text: every door finds the same columns in the same file."""

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labelspace import _tables, data
from labelspace._opening import Asked
from labelspace.data import streams, tables
from labelspace.spec.prices import prices
from labelspace.spec.taxonomy import taxonomy

HEADER = ["size", "name", "label"]
ROWS = [["1.5", "Zoë", "low"], ["2", 'a "b" c', "high"], ["", "x", "low"], ["4e1", "y, z; w | v", "high"]]
Columns = dict[str, list[str]]


def text_of(separator: str, header: list[str] = HEADER, rows: list[list[str]] = ROWS) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return file.getvalue()


def whole(path: Path) -> Columns:
    return tables.read(path).columns


def piecewise(path: Path) -> Columns:
    pieces = list(tables.pieces(path, 3, streams.ASKED))
    assert [len(piece["size"]) for piece in pieces] == [3, 1]
    return {name: [cell for piece in pieces for cell in piece[name]] for name in pieces[0]}


def wanted(path: Path) -> Columns:
    return next(tables.pieces(path, 10, streams.ASKED, ["name", "size"]))


def by_hand(path: Path) -> Columns:
    header, *rows = _tables.table("cost", path, _tables.read_text("cost", path))[0]
    return {name: [row.cells[place] for row in rows] for place, name in enumerate(header.cells)}


@pytest.mark.parametrize("door", [whole, piecewise, wanted, by_hand])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le with its mark", "utf-16-be with its mark"]
)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_every_door_finds_the_same_columns(
    tmp_path: Path, door: Callable[[Path], Columns], separator: str, encoding: str, ending: str
) -> None:
    text = text_of(separator).replace("\n", "\r\n")
    name, _, marked = encoding.partition(" ")
    content = ("\ufeff" + text if marked else text).encode(name)
    path = tmp_path / f"t{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    assert door(path) == dict(zip(HEADER, map(list, zip(*ROWS, strict=True)), strict=True))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # what was read by the ending of the file before is read so still
        ("a;b,c\n1;2,3\n4;5,6\n", {"a;b": ["1;2", "4;5"], "c": ["3", "6"]}),
        ("text,label\none; two; three,x\nfour,y\n", {"text": ["one; two; three", "four"], "label": ["x", "y"]}),
        ('"a;b;c",d\n1,2\n', {"a;b;c": ["1"], "d": ["2"]}),
        # decimal commas do not make it a table of commas
        ("a;b\n1,5;2,5\n3,5;4,5\n", {"a": ["1,5", "3,5"], "b": ["2,5", "4,5"]}),
        ("a|b\n1,5|2\n3|4\n", {"a": ["1,5", "3"], "b": ["2", "4"]}),
    ],
)
def test_what_separates_cells(tmp_path: Path, text: str, columns: Columns) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert tables.read(tmp_path / "t.csv").columns == columns
    assert next(tables.pieces(tmp_path / "t.csv", 10, streams.ASKED)) == columns


def test_one_column_of_texts_stays_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("text\ngood; bad\nbad; good\n" + "plain\n" * 3)
    assert next(tables.pieces(tmp_path / "t.csv", 2, streams.ASKED, ["text"])) == {"text": ["good; bad", "bad; good"]}
    with pytest.raises(ValueError, match="delimiter=… says what separates them"):
        tables.read(tmp_path / "t.csv")


def test_a_cell_that_goes_on_where_looking_ends(tmp_path: Path) -> None:
    rows = [["x", "1"]] * 150 + [["line\n" * 100, "2"]] + [["y", "3"]] * 5
    (tmp_path / "t.csv").write_text(text_of(",", ["a;b", "c"], rows))
    assert tables.read(tmp_path / "t.csv").columns["c"] == [row[1] for row in rows]


def test_decimal_commas_are_numbers_to_train_and_to_predict_on(tmp_path: Path) -> None:
    rows = [[f"{row},5", f"{row % 3},{row % 2}", ["no", "yes"][row % 2]] for row in range(40)]
    path, points = tmp_path / "t.csv", tmp_path / "points.csv"
    path.write_text(text_of(";", ["size", "share", "label"], rows))
    points.write_text(
        text_of(",", ["size", "share", "label"], [[*(c.replace(",", ".") for c in r[:2]), r[2]] for r in rows])
    )
    read, same = data.load(path), data.load(points)
    assert read.source["columns"] == ["size", "share"]
    np.testing.assert_array_equal(read.train.x.numpy(), same.train.x.numpy())
    piece = next(tables.pieces(path, 2, streams.ASKED, ["size"], ["size"]))
    assert piece["size"] == ["0.5", "1.5"]
    assert piece["share"] == ["0,0", "1,1"]
    prices_path = tmp_path / "prices.csv"
    prices_path.write_text(";low;high\nlow;0;1,5\nhigh;2,5;0\n")
    assert prices(str(prices_path), ["low", "high"]).matrix.tolist() == [[0.0, 1.5], [2.5, 0.0]]
    # where commas separate, a number with a comma may be one with thousands
    points.write_text(text_of(",", ["size", "share", "label"], rows))
    assert data.load(points).source["encoding"][0].get("categories")


def test_files_by_hand_may_be_gzipped_and_as_windows_writes_them(tmp_path: Path) -> None:
    (tmp_path / "groups.csv.gz").write_bytes(
        gzip.compress("child|parent\nZoë|pets\nRex|pets\nvan|cars\n".encode("cp1252"))
    )
    assert taxonomy(tmp_path / "groups.csv.gz").names == ("Zoë", "Rex", "van")
    with gzip.open(tmp_path / "prices.csv.gz", "wb") as file:
        file.write(b"true,predicted,cost\n*,*,1\n" + b"\n" * (_tables.LARGEST + 1))
    with pytest.raises(ValueError, match="unpacks to at most 67,108,864 bytes"):
        prices(str(tmp_path / "prices.csv.gz"), ["a", "b"])


@pytest.mark.parametrize("content", [b"\xff\xfea\0,\0b", "a,b\n1,2\n".encode("utf-32"), b"\xff\xfe\x00\xd8,\0\n\0"])
def test_broken_encodings_are_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    for read in (lambda path: tables.read(path), lambda path: list(tables.pieces(path, 3, Asked("Run", "x")))):
        with pytest.raises(ValueError, match=r"must be .*\. Got "):
            read(tmp_path / "t.csv")
