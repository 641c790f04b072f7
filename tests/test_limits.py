"""Caps, and the variable that sets them."""

import os
from pathlib import Path

import pytest

from labelspace import _limits


def test_the_variable_takes_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(_limits.VARIABLE, raising=False)
    assert _limits.cap(123) == 123
    for text, number in {"5": 5, "2K": 2048, "3 MiB": 3 * 2**20, "1g": 2**30, "1TB": 2**40}.items():
        monkeypatch.setenv(_limits.VARIABLE, text)
        assert _limits.cap(123) == number
    for text in ("0", "-1", "many", "1.5G"):
        monkeypatch.setenv(_limits.VARIABLE, text)
        with pytest.raises(ValueError, match="a number of bytes such as 500M or 16G"):
            _limits.cap(123)


def test_tables_of_all_pairs_have_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_limits.VARIABLE, "800")
    _limits.check_table("f", "names", 10)
    with pytest.raises(ValueError, match=r"`names` of f must be so few classes .* Got 11, for which that takes"):
        _limits.check_table("f", "names", 11)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path, "a folder"), (tmp_path / "pipe", "a device or a pipe")):
        with pytest.raises(ValueError, match=f"`data` of f must be a file. Got .*, which is {kind}"):
            _limits.check_regular("f", "data", path)
    _limits.check_regular("f", "data", tmp_path / "absent")
