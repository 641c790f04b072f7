"""The code of the page runs as it stands, and what it says of sizes is so."""

import re
from pathlib import Path

import pytest

from labelspace.comparison.rivals import INPUTS, SAMPLES, USUAL

PAGE = Path(__file__).parents[2] / "docs" / "rivals.md"


@pytest.mark.long
def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {"__name__": "rivals"}
    exec(compile(code, "rivals.py", "exec"), found)
    rows = found["result"].result.rows  # type: ignore[attr-defined]
    single = [row.label for row in rows if row.role != "ensemble"]
    assert single[:4] == ["one-hot, tuned", "uniform", "SVC", "RandomForest"]


def test_sizes_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    boosting, logistic, forest, vectors = USUAL.values()
    assert f"at most {INPUTS:,} numbers" in text
    assert f"everything above {SAMPLES:,} training samples" in text
    assert f"support vectors above {vectors.samples:,}" in text
    assert f"regression above {logistic.samples:,}" in text
    assert f"trees above {forest.sizes:,} samples × classes" in text
    assert f"gradient boosting above {boosting.classes} classes" in text
    assert logistic.options == {"max_iter": 1000}
