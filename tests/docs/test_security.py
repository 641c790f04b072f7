"""Every promise of SECURITY.md is tried by a test that is there."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SECURITY = TESTS.parent / "SECURITY.md"
ROW = re.compile(r"^\| (?P<promise>[^|]+) \| (?P<tests>[^|]+) \|$", re.MULTILINE)


def test_the_tests_it_names_are_there() -> None:
    rows = [row for row in ROW.finditer(SECURITY.read_text(encoding="utf-8")) if "test_" in row["tests"]]
    assert len(rows) >= 15
    for row in rows:
        file = None
        for name in re.findall(r"`([^`]+)`", row["tests"]):
            if name.endswith(".py"):
                file = (TESTS / name).read_text(encoding="utf-8")
            else:
                assert file is not None
                assert f"def {name}(" in file, f"{row['promise']}: {name}"


def test_every_promise_has_a_row() -> None:
    text = SECURITY.read_text(encoding="utf-8")
    promises = re.findall(r"^- \*\*(.+?)\*\*", text.partition("## How each")[0], re.MULTILINE)
    assert len(promises) == 10, "a promise came or went: its rows in the table too"
