"""Files that are written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from labelspace import _files

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
