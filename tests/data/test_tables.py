"""Tables on disk: what is said where one cannot be read, and that it helps."""

import gzip
import subprocess
import time

import pytest

from labelspace import data
from labelspace.data import tables
from labelspace.data.streams import ASKED


def message_of(path, **options):
    with pytest.raises(ValueError, match="data.load") as caught:
        data.load(path, **options)
    return str(caught.value)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize(
    ("encoding", "named", "word"),
    [
        ("latin-1", "WINDOWS-1252", "café"),
        ("cp1252", "WINDOWS-1252", "“quoted” – €"),
        ("latin-1", "ISO-8859-1", "caf\u00e9 \u0081"),
    ],
)
def test_the_remedy_for_another_encoding_works(tmp_path, ending, encoding, named, word):
    folder = tmp_path / "my files"
    folder.mkdir()
    lines = ["name,label", *(f"{word},{['well', 'ill'][i % 2]}" for i in range(40))]
    content = "\n".join(lines).encode(encoding)
    path = folder / f"patients{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    message = message_of(path)
    assert "not UTF-8" in message
    assert f"iconv -f {named} -t UTF-8" in message
    assert "Fetch" not in message
    subprocess.run(message.partition("for example: ")[2], shell=True, check=True)
    assert tables.read(folder / "patients-utf8.csv").columns["name"] == [word] * 40


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ("a,y\n1,0\n2\n", "Repair that line, or say with delimiter=… what separates the cells"),
        ('a,y\n"1,0\n', "Repair that line"),
        ("a y\n1 0\n", "delimiter=… says what separates them"),
    ],
)
def test_a_table_of_ones_own_is_not_to_be_fetched_again(tmp_path, content, remedy):
    (tmp_path / "t.csv").write_text(content)
    message = message_of(tmp_path / "t.csv")
    assert remedy in message
    assert "etch it again" not in message


def test_delimiters(tmp_path):
    (tmp_path / "t.csv").write_text("a;y\n" + "".join(f"{i};{i % 2}\n" for i in range(20)))
    assert data.load(tmp_path / "t.csv", delimiter=";").names == ("0", "1")
    assert "`delimiter` of data.load must be one character. Got ';;'" in message_of(tmp_path / "t.csv", delimiter=";;")


def test_line_ends_inside_and_outside_of_cells(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbfa,y\r\n"one\r\ntwo",0\r\nx,1\r"q""q",0\n')
    assert tables.read(tmp_path / "t.csv").columns == {"a": ["one\r\ntwo", "x", 'q"q'], "y": ["0", "1", "0"]}


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("diagnosi", "Did you mean 'Diagnosis'? "), ("DIAGNOSIS", "Did you mean 'Diagnosis'? "), ("zzz", "")],
)
def test_a_column_that_is_not_there(wanted, near):
    with pytest.raises(ValueError, match="`label`") as caught:
        tables.check_columns("label", ["age", wanted], ["age", "Diagnosis"])
    assert str(caught.value) == (
        f"`label` of data.load must be a column of the table. Got '{wanted}', which it does not have. "
        f"{near}Its columns are: 'age', 'Diagnosis'."
    )
    tables.check_columns("label", ["age"], ["age", "Diagnosis"])


def test_many_columns_are_not_all_listed():
    with pytest.raises(ValueError, match=r"'c19' …\.$"):
        tables.check_columns("label", ["zzz"], [f"c{i}" for i in range(30)])


@pytest.mark.timeout(60)
def test_forty_thousand_columns(tmp_path):
    names = [f"column{number}" for number in range(40_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *[",".join(["1"] * 40_000)] * 3]))
    started = time.monotonic()
    assert len(tables.read(path).columns) == 40_000
    assert len(next(tables.pieces(path, 10, ASKED))) == 40_000
    path.write_text("\n".join([",".join([*names, "column7"]), ",".join(["1"] * 40_001)]))
    with pytest.raises(ValueError, match="a table whose columns have different names"):
        tables.read(path)
    with pytest.raises(ValueError, match="columns have different names. Got wide.csv with 'column7'"):
        next(tables.pieces(path, 10, ASKED))
    # 35 s and 48 s where each name is counted among all
    assert time.monotonic() - started < 12
