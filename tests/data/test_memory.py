"""No file fills the memory: what is asked for is read, after its size was looked at, and only from files."""

import gzip
import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest
import torch

from labelspace import _limits, compare_scores, data
from labelspace.data import npy, table_files
from labelspace.data.streams import pictures as picture_stream
from labelspace.data.streams import tables as table_stream

MEGABYTE = 1 << 20
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.tile([0, 1], 20)


def peak_of(function):
    """Return what a call gave, or its refusal, and the most memory that Python and numpy held during it."""
    tracemalloc.start()
    try:
        found = function()
    except ValueError as error:
        found = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found, peak


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
    for read in (table_files.read, lambda path: list(table_stream.pieces(path, 100))):
        said, peak = peak_of(lambda read=read: read(dictionary))
        assert "at most 67,108,864 bytes. Got 300,00" in said
        assert "LABELSPACE_MAX_UNPACKED=16G" in said
        assert peak < 10 * MEGABYTE


def test_the_variable_raises_the_cap_and_what_repeats_is_held_once(dictionary, monkeypatch):
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "1G")
    table, peak = peak_of(lambda: table_files.read(dictionary))
    assert [len(text) for text in table["text"]] == [1_000_000] * 300
    assert peak < 10 * MEGABYTE
    assert sum(len(piece["label"]) for piece in table_stream.pieces(dictionary, 70)) == 300


def test_rows_of_one_value_each(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    count = 9_000_000
    parquet.write_table(arrow.table({"label": arrow.array(np.zeros(count, np.int8))}), tmp_path / "t.parquet")
    said, peak = peak_of(lambda: table_files.read(tmp_path / "t.parquet"))
    assert f"Got {8 * count:,} in the" in said
    assert peak < MEGABYTE


def test_texts_that_repeat_what_came_before(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = ["x" * 400_000 + str(row) for row in range(600)]
    options = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}, "write_statistics": False}
    parquet.write_table(arrow.table({"text": texts}), tmp_path / "t.parquet", **options)
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    before = arrow.default_memory_pool().max_memory()
    said, peak = peak_of(lambda: table_files.read(tmp_path / "t.parquet"))
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
        assert table_files.read(tmp_path / "t.parquet") == columns
        pieces = list(table_stream.pieces(tmp_path / "t.parquet", 3))
        assert [value for piece in pieces for value in piece["struct"]] == columns["struct"]


def archive(path, arrays, junk=b""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            file.writestr(f"{name}.npy", content.getvalue())
        file.writestr("junk.npy", junk)
    return path


def announced(shape, descr="<f8"):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue()


def test_arrays_that_nobody_asked_for_are_not_read(tmp_path):
    junk = announced((50 * MEGABYTE,), "|u1") + bytes(50 * MEGABYTE)
    path = archive(tmp_path / "a.npz", {"x": X, "y": Y}, junk)
    dataset, peak = peak_of(lambda: data.load(path))
    assert len(dataset.train) + len(dataset.validation) + len(dataset.test) == 40
    assert peak < 20 * MEGABYTE
    scores = archive(tmp_path / "s.npz", {"scores": X, "y": np.arange(len(X)) % X.shape[1]}, junk)
    result, peak = peak_of(lambda: compare_scores([scores, scores]))
    assert result.verdict
    assert peak < 20 * MEGABYTE
    del junk


def test_a_packed_array_may_unpack_to_so_much(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("x.npy", "w", force_zip64=True) as packed:
        packed.write(announced((70 * MEGABYTE,), "|u1"))
        for _ in range(70):
            packed.write(bytes(MEGABYTE))
    said, peak = peak_of(lambda: npy.Stored(path)["x"])
    assert "an array 'x' that unpacks to at most 67,108,864 bytes. Got 73,400,448" in said
    assert peak < MEGABYTE
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "100M")
    assert npy.Stored(path)["x"].nbytes == 70 * MEGABYTE


@pytest.mark.parametrize("shape", [(1 << 40, 2), (1 << 62, 1 << 62), (-1, -800), (3,)])
def test_an_array_that_announces_what_it_does_not_hold(tmp_path, shape):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.npy").write_bytes(announced(shape) + bytes(800))
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.write(tmp_path / "folder" / "x.npy", "x.npy")
    for place in (path, tmp_path / "folder"):
        with pytest.raises(ValueError, match=r"bytes where an array of shape .* takes"):
            npy.Stored(place)["x"]


def test_a_cell_without_an_end(tmp_path, monkeypatch):
    for module in (table_files, table_stream):
        monkeypatch.setattr(module, "LONGEST_CELL", 1000)
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write('a,label\n"' + "x\n" * 5000)
    for read in (table_files.read, lambda path: list(table_stream.pieces(path, 10))):
        with pytest.raises(ValueError, match=r"field larger than field limit \(1000\)"):
            read(tmp_path / "t.csv.gz")
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "1M")
    (tmp_path / "t.csv").write_text("a,label\n" + "x" * 5000 + ",1\n")
    assert len(table_files.read(tmp_path / "t.csv")["a"][0]) == 5000
    assert len(next(table_stream.pieces(tmp_path / "t.csv", 10))["a"][0]) == 5000


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.npz", "t.parquet", "t.tar"])
@pytest.mark.parametrize("what", ["device", "pipe"])
def test_only_files_are_read(tmp_path, name, what):
    path = tmp_path / name
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="a file. Got .*, which is a device or a pipe"):
        data.load(path)
    if name not in ("t.npz", "t.tar"):
        with pytest.raises(ValueError, match="`x` of Run must be a file. Got .*, which is a device or a pipe"):
            list(table_stream.pieces(path, 10))


@pytest.mark.timeout(60)
def test_only_files_are_pictures(tmp_path, pictures):
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    decoded = list(picture_stream.pieces(picture_stream.listed([tmp_path / "zero.png"]), (1, 4, 4), True, 4))
    assert decoded[0].problems == {0: "a device or a pipe, no file"}
    with pytest.raises(ValueError, match="a device or a pipe"):
        picture_stream.listed(tmp_path / "zero.png")
    (pictures / "cat" / "zero.png").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"cat/zero.png \(a device or a pipe, no file\)"):
        data.load(pictures)
    assert data.load(pictures, skip_unreadable=True).source["skipped"] == {"count": 1, "files": ["cat/zero.png"]}


def test_the_variable_is_a_number_of_bytes(monkeypatch):
    assert _limits.cap(7) == 7
    for text, wanted in [("12", 12), ("3k", 3 << 10), ("500M", 500 << 20), ("16G", 16 << 30), (" 2 GiB ", 2 << 30)]:
        monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", text)
        assert _limits.cap(7) == wanted
    for text in ("many", "-1", "0", "1e9", "1" * 30):
        monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", text)
        with pytest.raises(ValueError, match="`LABELSPACE_MAX_UNPACKED` of labelspace must be a number of bytes"):
            _limits.cap(7)


def test_tensors_that_hold_no_array_of_numbers():
    dense = torch.from_numpy(X)
    for x in (dense.to_sparse(), dense.to(torch.bfloat16)):
        assert data.load((x, Y)).input_shape == (3,)
    same = data.load((dense.to_sparse(), Y))
    torch.testing.assert_close(same.train.x, data.load((dense, Y)).train.x)
    with pytest.raises(TypeError, match="`x` of data.load must be .* Got a tensor on the meta device"):
        data.load((dense.to("meta"), Y))
    with pytest.raises(TypeError, match="`y` of data.load must be .* Got a tensor on the meta device"):
        data.load((dense, torch.from_numpy(Y).to("meta")))
    with pytest.raises(TypeError, match="`x` of data.load must be an array, a tensor, or lists of one length"):
        data.load(([[1.0], [1.0, 2.0]], Y))


@pytest.mark.parametrize("shape", [(40, 0), (40, 3, 0), (40, 0, 5)])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_samples_without_numbers(shape, dtype):
    with pytest.raises(ValueError, match="samples with numbers in them"):
        data.load((np.zeros(shape, dtype), Y))


def test_a_label_that_is_one_number():
    with pytest.raises(ValueError, match="one row per label"):
        data.load((X, np.array(3)))


def test_what_is_not_packed_may_be_of_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr("labelspace.data.files.MOST", 1000)
    np.savez(tmp_path / "plain.npz", x=X, y=Y, groups=np.arange(40) % 8)
    np.savez_compressed(tmp_path / "packed.npz", x=np.ones((40, 300)), y=Y)
    assert data.load(tmp_path / "plain.npz").input_shape == (3,)
    with pytest.raises(ValueError, match="an array 'x' that unpacks to at most 1,000 bytes"):
        data.load(tmp_path / "packed.npz")


def test_to_ask_whether_an_array_is_there_reads_nothing(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, junk=np.array([{}, None], dtype=object))
    stored = npy.Stored(tmp_path / "a.npz")
    assert "junk" in stored
    assert "z" not in stored
    assert sorted(stored) == ["junk", "x"]
    with pytest.raises(ValueError, match="an array of Python objects"):
        stored["junk"]


@pytest.mark.parametrize("groups", [np.array(3), np.zeros((40, 2)), np.zeros(39)])
def test_groups_of_another_shape(groups):
    with pytest.raises(ValueError, match="one row per label"):
        data.load((X, Y), groups=groups)


def test_one_name_is_a_name(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, y=np.zeros(40, int), names=np.array("only"))
    with pytest.raises(ValueError, match="at least two classes. Got only 'only'"):
        data.load(tmp_path / "a.npz")
