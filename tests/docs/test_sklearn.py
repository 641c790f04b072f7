"""The code of the page runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "sklearn.md"


def test_it_runs() -> None:
    pytest.importorskip("pandas")
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    found: dict[str, object] = {}
    exec(compile(code, "sklearn.py", "exec"), found)
    assert found["search"].best_score_ > -1  # type: ignore[attr-defined]
    assert set(found["decided"].predict(found["x"])) <= {"setosa", "versicolor", "virginica", "look again"}  # type: ignore[attr-defined]
    assert (found["costs"] < 0.5).all()  # type: ignore[operator]
    assert found["soft"].targets_.shape == (3, 3)  # type: ignore[attr-defined]
    assert list(found["graded"].feature_names_in_) == ["age", "ward"]  # type: ignore[attr-defined]
    assert list(found["called"]) == list(found["graded"].predict(found["patients"]))  # type: ignore[attr-defined,call-overload]
