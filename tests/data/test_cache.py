import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from labelspace import data
from labelspace.data import cache, digests


def _rows():
    return np.arange(24, dtype=np.uint8).reshape(6, 1, 2, 2)


def _decode(calls):
    def blocks():
        calls.append(1)
        yield _rows()[:4], np.array([True, True, False, True, True])
        yield _rows()[4:], np.array([True, True])

    return blocks


def test_decoded_once_then_mapped(cache_dir):
    calls: list[int] = []
    first, second = cache.fetch("k", _decode(calls)), cache.fetch("k", _decode(calls))
    assert calls == [1]
    assert isinstance(second.rows, np.memmap)
    assert np.array_equal(second.rows, _rows())
    assert np.array_equal(first.digests, second.digests)
    assert second.kept.tolist() == [True, True, False, True, True, True, True]
    assert second.notice == ""
    second.rows[0] = 9
    assert np.array_equal(cache.fetch("k", _decode(calls)).rows, _rows())
    assert [path.name for path in (cache_dir / "images").iterdir()] == ["k"]


@pytest.mark.parametrize("damage", ["cut", "header", "json", "no header", "digests", "pixels", "a file"])
def test_a_damaged_entry_is_rebuilt(cache_dir, damage):
    cache.fetch("k", _decode([]))
    place = cache_dir / "images" / "k"
    header = place / "entry.json"
    if damage == "cut":
        os.truncate(place / "rows.bin", 20)
    elif damage == "header":
        header.write_text(json.dumps({**json.loads(header.read_text()), "shape": [3, 1, 2, 4]}))
    elif damage == "json":
        header.write_text("{")
    elif damage == "no header":
        header.unlink()
    elif damage == "digests":
        (place / "digests.npy").write_bytes(b"nothing")
    elif damage == "pixels":
        (place / "rows.bin").write_bytes(bytes(24))
    elif damage == "a file":
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
        place.write_text("in the way")
    calls: list[int] = []
    entry = cache.fetch("k", _decode(calls))
    assert calls == [1]
    assert entry.notice.startswith("rebuilt")
    assert np.array_equal(entry.rows, _rows())
    assert cache.fetch("k", _decode(calls)).notice == ""
    assert calls == [1]


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "file"))
    entry = cache.fetch("k", _decode([]))
    assert np.array_equal(entry.rows, _rows())
    assert "in memory" in entry.notice


def test_a_full_disk_is_done_without(monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_write", full)
    entry = cache.fetch("k", _decode([]))
    assert np.array_equal(entry.rows, _rows())
    assert "No space left" in entry.notice


def test_an_error_of_decoding_leaves_nothing_behind(cache_dir):
    def broken():
        yield _rows(), np.ones(6, dtype=bool)
        raise ValueError("unreadable")

    with pytest.raises(ValueError, match="unreadable"):
        cache.fetch("k", broken)
    assert list((cache_dir / "images").iterdir()) == []


def test_what_killed_processes_left_is_swept(cache_dir):
    left = cache_dir / "images" / ".k.old.part"
    left.mkdir(parents=True)
    os.utime(left, (0, 0))
    cache.fetch("k", _decode([]))
    assert not left.exists()


def test_two_processes_that_build_the_same_entry():
    def slower():
        yield from _decode([])()
        cache.fetch("k", _decode([]))

    entry = cache.fetch("k", slower)
    assert np.array_equal(entry.rows, _rows())
    assert entry.notice == ""


def test_images_of_a_folder_are_mapped_and_can_be_changed_without_harm(pictures, recwarn):
    first = data.load(pictures)
    first.train.x.zero_()
    second = data.load(pictures)
    assert int(second.train.x.max()) > 0
    assert first.key == second.key
    assert not torch.equal(first.train.x, second.train.x)
    assert len(recwarn) == 0


def sign_again(place, change):
    header = json.loads((place / "entry.json").read_text())
    header.pop("checksum")
    header.update(change)
    (place / "entry.json").write_text(json.dumps({**header, "checksum": digests.of_values(header)}))


def test_addresses_in_a_header_that_was_signed_again_are_not_followed(cache_dir):
    cache.fetch("k", _decode([]))
    sign_again(cache_dir / "images" / "k", {"dtype": "object", "shape": [3]})
    # in a process of its own, since following them ends it
    program = "from labelspace.data import cache; cache.fetch('k', lambda: iter(()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1, "an error of Python's, no crash: there is nothing to rebuild it from"
    assert "ValueError" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dtype": "object", "shape": [3]}, "its type is 'object', which is never written"),
        ({"dtype": "complex64"}, "its type is 'complex64', which is never written"),
        ({"dtype": "float32"}, "its size does not match its shape"),
        ({"dtype": ["O"]}, "never written"),
        ({"shape": [6, 1, 2, 3]}, "its size does not match its shape"),
        ({"shape": [12, 1, 2, 1]}, "its shape is not that of its rows"),
        ({"shape": [6, -1, -2, 2]}, "its shape is not that of its rows"),
        ({"shape": [6, 1, 2, 2.0]}, "its shape is not that of its rows"),
        ({"shape": 24}, "damaged"),
        ({"size": "24"}, "its size does not match its shape"),
    ],
)
def test_a_header_that_was_signed_again(cache_dir, change, said):
    cache.fetch("k", _decode([]))
    sign_again(cache_dir / "images" / "k", change)
    entry = cache.fetch("k", _decode([]))
    assert entry.notice.startswith("rebuilt, the cached copy was damaged")
    assert said in entry.notice
    assert np.array_equal(entry.rows, _rows())


def test_fingerprints_of_other_types_are_refused(cache_dir):
    for name, array in (("kept", np.array([1, 1, 0, 1, 1, 1, 1])), ("digests", np.zeros((6, 1), np.uint64))):
        cache.fetch("k", _decode([]))
        np.save(cache_dir / "images" / "k" / f"{name}.npy", array)
        assert "rebuilt" in cache.fetch("k", _decode([])).notice


@pytest.mark.parametrize("content", ["[]", '"text"', "7", "null", "[" * 100_000, "\ud800"])
def test_a_header_that_is_something_else(cache_dir, content):
    cache.fetch("k", _decode([]))
    (cache_dir / "images" / "k" / "entry.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert "rebuilt" in cache.fetch("k", _decode([])).notice
