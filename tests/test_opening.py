"""What opening may fill: a small file never becomes a large array, and only files are read."""

import gzip
import os
import struct
import tracemalloc
from pathlib import Path

import pytest

from labelspace import _inputs, _opening, data
from labelspace.data import files, tables
from labelspace.data.readers import cifar
from labelspace.data.streams import ASKED

MEGABYTE = 1 << 20


@pytest.fixture
def small_bounds(monkeypatch):
    """Bounds a thousandth of the real ones, so that files of a test may pass them."""
    monkeypatch.setattr(_opening, "HARMLESS", 64 << 10)
    monkeypatch.setattr(_opening, "MOST", 4 << 20)


def packed(path, content, times=1):
    """Write a file that unpacks to ``content`` so many times over, without making all of it here."""
    with gzip.open(path, "wb") as file:
        for _ in range(times):
            file.write(content)
    return path


def peak_of(function):
    """Return the most memory that Python held during a call that must be refused, and the message."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="unpack it first: gzip -d") as caught:
            function()
        return tracemalloc.get_traced_memory()[1], str(caught.value)
    finally:
        tracemalloc.stop()


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path):
    path = packed(tmp_path / "t.csv.gz", bytes(MEGABYTE), times=80)
    assert path.stat().st_size < MEGABYTE
    peak, message = peak_of(lambda: files.contents(path))
    assert "at most 67,108,864 bytes" in message
    assert f"{path.stat().st_size:,} bytes of t.csv.gz" in message
    assert peak < 75 * MEGABYTE


def test_what_packs_as_data_do_is_read_whole(tmp_path, small_bounds):
    content = bytes(range(256)) * 1000
    assert files.contents(packed(tmp_path / "a.gz", content)) == content
    assert files.contents(packed(tmp_path / "zeros.gz", bytes(60 << 10))) == bytes(60 << 10)
    random = __import__("random").Random(0).randbytes(5 << 20)
    with pytest.raises(ValueError, match="at most 4,194,304 bytes"):
        files.contents(packed(tmp_path / "random.gz", random))
    (tmp_path / "plain").write_bytes(random)
    assert files.contents(tmp_path / "plain") == random


def test_an_idx_file_holds_what_its_head_says(tmp_path):
    folder = tmp_path / "mnist"
    folder.mkdir()
    head = struct.pack(">BBBB3I", 0, 0, 8, 3, 10, 2, 2)
    path = packed(folder / "train-images-idx3-ubyte.gz", head + bytes(40 * MEGABYTE))
    for name in ("train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        (folder / name).write_bytes(b"")
    peak, message = peak_of(lambda: data.load(folder))
    assert "at most 56 bytes" in message
    assert peak < 10 * MEGABYTE
    # a head that promises everything does not help either
    packed(path, struct.pack(">BBBB3I", 0, 0, 8, 3, 2**31, 2**10, 2**10) + bytes(MEGABYTE), times=70)
    assert "at most 67,108,864 bytes" in peak_of(lambda: data.load(folder))[1]


def test_a_cut_idx_head_is_named(tmp_path):
    from labelspace.data.readers import idx

    (tmp_path / "a").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 3, 10))
    with pytest.raises(ValueError, match="8 bytes where the sizes alone take 16"):
        idx.parse(tmp_path / "a")


def test_a_cifar_batch_holds_so_many_records(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar, "MOST_RECORDS", 4)
    packed(tmp_path / "data_batch_1.bin.gz", bytes(3073 * 5))
    packed(tmp_path / "test_batch.bin.gz", bytes(3073))
    assert "at most 12,292 bytes" in peak_of(lambda: data.load(tmp_path))[1]


def test_a_table_is_read_as_it_unpacks(tmp_path, small_bounds):
    path = packed(tmp_path / "t.csv.gz", b"a,label\n" + b"1,x\n" * (1 << 20))
    peak, message = peak_of(lambda: data.load(path))
    assert f"at most {200 * path.stat().st_size:,} bytes" in message
    assert peak < 10 * MEGABYTE


def test_rows_to_predict_have_the_same_bound_and_the_same_words(tmp_path, small_bounds):
    path = packed(tmp_path / "t.csv.gz", b"a,label\n" + b"1,x\n" * (1 << 20))
    trained = peak_of(lambda: data.load(path))[1]
    peak, predicted = peak_of(lambda: sum(len(piece["a"]) for piece in tables.pieces(path, 1000, ASKED)))
    assert predicted == trained.replace("`name_or_path` of data.load", "`x` of Run")
    assert peak < 10 * MEGABYTE
    harmless = packed(tmp_path / "u.csv.gz", b"a,label\n" + b"1,x\n" * 1000)
    assert sum(len(piece["a"]) for piece in tables.pieces(harmless, 300, ASKED)) == 1000


def test_a_line_without_an_end_is_refused_in_rows_to_predict(tmp_path, monkeypatch):
    monkeypatch.setattr("labelspace._tables.LONGEST", 1000)
    (tmp_path / "t.csv").write_text("a,label\n" + "x" * 5000 + ",1\n")
    with pytest.raises(ValueError, match="a line of more than 1,000 characters"):
        list(tables.pieces(tmp_path / "t.csv", 10, ASKED))


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("labelspace._tables.LONGEST", 1000)
    (tmp_path / "t.csv").write_text("a,label\n" + "x" * 5000 + ",1\n")
    with pytest.raises(ValueError, match="a line of more than 1,000 characters"):
        data.load(tmp_path / "t.csv")


def test_a_packed_file_that_is_not_there_or_not_packed(tmp_path):
    with pytest.raises(ValueError, match=r"a readable a\.gz\. Got .*No such file"):
        files.contents(tmp_path / "a.gz")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"abc" * 100)[:-9])
    with pytest.raises(ValueError, match="Put a sound copy in its place"):
        files.contents(tmp_path / "a.gz")


def test_a_cell_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("labelspace._tables.LONGEST", 1000)
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write('a,label\n"' + "x\n" * 5000)
    for read in (lambda path: tables.read(path).columns, lambda path: list(tables.pieces(path, 10, ASKED))):
        with pytest.raises(ValueError, match=r"field larger than field limit \(1000\)"):
            read(tmp_path / "t.csv.gz")
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "1M")
    (tmp_path / "t.csv").write_text("a,label\n" + "x" * 5000 + ",1\n")
    assert len(tables.read(tmp_path / "t.csv").columns["a"][0]) == 5000
    assert len(next(tables.pieces(tmp_path / "t.csv", 10, ASKED))["a"][0]) == 5000


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
            list(tables.pieces(path, 10, ASKED))


def test_the_variable_is_a_number_of_bytes(monkeypatch):
    assert _opening.cap(7) == 7
    for text, wanted in [("12", 12), ("3k", 3 << 10), ("500M", 500 << 20), ("16G", 16 << 30), (" 2 GiB ", 2 << 30)]:
        monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", text)
        assert _opening.cap(7) == wanted
    for text in ("many", "-1", "0", "1e9", "1" * 30):
        monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", text)
        with pytest.raises(ValueError, match="`LABELSPACE_MAX_UNPACKED` of labelspace must be a number of bytes"):
            _opening.cap(7)


def test_the_variable_takes_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(_opening.VARIABLE, raising=False)
    assert _opening.cap(123) == 123
    for text, number in {"5": 5, "2K": 2048, "3 MiB": 3 * 2**20, "1g": 2**30, "1TB": 2**40}.items():
        monkeypatch.setenv(_opening.VARIABLE, text)
        assert _opening.cap(123) == number
    for text in ("0", "-1", "many", "1.5G"):
        monkeypatch.setenv(_opening.VARIABLE, text)
        with pytest.raises(ValueError, match="a number of bytes such as 500M or 16G"):
            _opening.cap(123)


def test_tables_of_all_pairs_have_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_opening.VARIABLE, "800")
    _inputs.check_table("f", "names", 10)
    with pytest.raises(ValueError, match=r"`names` of f must be so few classes .* Got 11, for which that takes"):
        _inputs.check_table("f", "names", 11)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path, "a folder"), (tmp_path / "pipe", "a device or a pipe")):
        with pytest.raises(ValueError, match=f"`data` of f must be a file. Got .*, which is {kind}"):
            _opening.check_regular("f", "data", path)
    _opening.check_regular("f", "data", tmp_path / "absent")
