"""Parquet files: what they hold, and that no file fills the memory."""

import numpy as np
import pytest

from labelspace.data import tables
from labelspace.data.streams import ASKED
from memory_peak import peak_of

MEGABYTE = 1 << 20


@pytest.fixture
def dictionary(tmp_path):
    """A thousand bytes of Parquet in which 300 rows have the same text of a million letters."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    codes = arrow.array(np.zeros(300, np.int32))
    texts = arrow.DictionaryArray.from_arrays(codes, arrow.array(["x" * 1_000_000]))
    parquet.write_table(arrow.table({"text": texts, "label": np.arange(300) % 2}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    return tmp_path / "t.parquet"


def test_a_text_that_every_row_repeats(dictionary):
    for read in (lambda path: tables.read(path).columns, lambda path: list(tables.pieces(path, 100, ASKED))):
        said, peak = peak_of(lambda read=read: read(dictionary))
        assert "at most 67,108,864 bytes. Got 300,00" in said
        assert "LABELSPACE_MAX_UNPACKED=16G" in said
        assert peak < 10 * MEGABYTE


def test_the_variable_raises_the_cap_and_what_repeats_is_held_once(dictionary, monkeypatch):
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "1G")
    table, peak = peak_of(lambda: tables.read(dictionary).columns)
    assert [len(text) for text in table["text"]] == [1_000_000] * 300
    assert peak < 10 * MEGABYTE
    assert sum(len(piece["label"]) for piece in tables.pieces(dictionary, 70, ASKED)) == 300


def test_rows_of_one_value_each(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    count = 9_000_000
    parquet.write_table(arrow.table({"label": arrow.array(np.zeros(count, np.int8))}), tmp_path / "t.parquet")
    said, peak = peak_of(lambda: tables.read(tmp_path / "t.parquet").columns)
    assert f"Got {8 * count:,} in the" in said
    assert peak < MEGABYTE


def test_texts_that_repeat_what_came_before(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = ["x" * 400_000 + str(row) for row in range(600)]
    options = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}, "write_statistics": False}
    parquet.write_table(arrow.table({"text": texts}), tmp_path / "t.parquet", **options)
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    before = arrow.default_memory_pool().max_memory()
    said, peak = peak_of(lambda: tables.read(tmp_path / "t.parquet").columns)
    assert "at most 67,108,864 bytes" in said
    assert peak < 100 * MEGABYTE
    assert arrow.default_memory_pool().max_memory() - before < 150 * MEGABYTE


def test_what_parquet_files_held_they_hold(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "text": ["b", None, "a", "b"],
        "number": [1, None, 3, 4],
        "list": [["x", "y"], [], None, ["x"]],
        "struct": [{"k": "u", "n": 1}, None, {"k": None, "n": 2}, {"k": "u", "n": 3}],
        "map": [[("a", "b")], [], None, [("c", "d")]],
        "bytes": [b"\xff", b"", None, b"a"],
        "flag": [True, False, None, True],
        "category": ["x", "y", "x", None],
    }
    types = {"map": arrow.map_(arrow.string(), arrow.string())}
    arrays = {name: arrow.array(values, type=types.get(name)) for name, values in columns.items()}
    arrays["category"] = arrays["category"].dictionary_encode()
    for size in (1, 3, 100):
        parquet.write_table(arrow.table(arrays), tmp_path / "t.parquet", row_group_size=size)
        assert tables.read(tmp_path / "t.parquet").columns == columns
        pieces = list(tables.pieces(tmp_path / "t.parquet", 3, ASKED))
        assert [value for piece in pieces for value in piece["struct"]] == columns["struct"]
