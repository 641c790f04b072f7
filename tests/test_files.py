"""Files that are there whole or not at all."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from labelspace import _files


def test_bytes_and_json_are_what_was_written(tmp_path: Path) -> None:
    content = {"b": [1, 2.5, None], "a": "é"}
    _files.write_json(tmp_path / "x.json", content)
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(text) == content == _files.read_json(tmp_path / "x.json")
    assert text.index('"a"') < text.index('"b"')
    assert "é" in text
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _files.write_bytes(tmp_path / "x", b"old")
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        _files.write_bytes(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        _files.write_bytes(tmp_path / "no" / "x", b"")


def test_a_seal_breaks_with_any_change_but_the_layout() -> None:
    sealed = _files.sealed({"rule": "argmax", "prices": [0, 1]})
    assert _files.holds(json.loads(json.dumps(sealed, indent=7)))
    assert not _files.holds({**sealed, "prices": [0, 2]})
    assert _files.holds({"rule": "by hand"})


def test_pipes_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a file"):
        _files.read_bytes(tmp_path / "pipe")


def test_folders_change_places(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(name)
    _files.exchange(tmp_path / "one", tmp_path / "two")
    assert [(tmp_path / name / "name").read_text() for name in ("one", "two")] == ["two", "one"]
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


def test_a_lock_lets_one_at_a_time(tmp_path: Path) -> None:
    counted = tmp_path / "count"
    counted.write_text("0")

    def add() -> None:
        for _ in range(20):
            with _files.locked(tmp_path / "lock"):
                counted.write_text(str(int(counted.read_text()) + 1))

    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted.read_text() == "60"


def test_only_who_is_alone_sweeps(tmp_path: Path) -> None:
    swept: list[int] = []
    with _files.sharing(tmp_path, lambda: swept.append(1)), _files.sharing(tmp_path, lambda: swept.append(2)):
        assert swept == [1]


LEFT = f".page[1].html.{'0' * 32}.part"  # as a killed process leaves it
posix = pytest.mark.skipif(_files.fcntl is None, reason="needs locks")


@posix
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    others = [".page[1].html.part", f".page1.html.{'0' * 32}.part", f".page[1].html.{'x' * 32}.part"]
    for name in (LEFT, *others):
        (tmp_path / name).write_text("half")
    _files.write_bytes(tmp_path / "page[1].html", b"whole")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "page[1].html"])
    assert (tmp_path / "page[1].html").read_bytes() == b"whole"


@posix
def test_whoever_is_at_work_is_not_disturbed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with _files.replacing(path) as mine:
        mine.write_text("mine")
        _files.write_bytes(path, b"another's")
        assert path.read_bytes() == b"another's"
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("before")
    with suppress(KeyboardInterrupt), _files.replacing(path) as mine:
        mine.write_text("half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["table.csv"]
    assert path.read_text() == "before"
