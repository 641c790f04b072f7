"""The code of the page runs as it stands, its table is what it says, and its file is read."""

import re
from pathlib import Path

import numpy as np

from labelspace.spec.actions import actions_of
from labelspace.spec.prices import prices

PAGE = Path(__file__).parents[2] / "docs" / "decisions.md"


def test_the_worked_example() -> None:
    text = PAGE.read_text(encoding="utf-8")
    found: dict[str, object] = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), "decisions.py", "exec"), found)
    rows = [[cell.strip("* ") for cell in line.split("|")[2:-1]] for line in re.findall(r"^\| 0\..*\|$", text, re.M)]
    np.testing.assert_allclose(found["costs"], [[float(cell) for cell in row[:4]] for row in rows], rtol=1e-9)  # type: ignore[call-overload]
    assert found["done"] == [row[4] for row in rows]
    limited = found["limited"].doing(found["scores"])  # type: ignore[attr-defined]
    assert limited == ["mild", "send to a person", "severe"]
    assert found["left"].tolist() == [False, True, False]  # type: ignore[attr-defined]


def test_its_file_is_its_table(tmp_path: Path) -> None:
    path = tmp_path / "actions.csv"
    path.write_text(re.findall(r"```\n(true,.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0])
    table = actions_of(prices(str(path), ["mild", "severe"]))
    assert table is not None
    assert table.names == ("mild", "severe", "order a test", "send to a person")
    assert table.prices.tolist() == [[0, 2, 1, 1.5], [20, 0, 2, 1.5]]
