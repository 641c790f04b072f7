"""The code of the page runs as it stands."""

import re
from pathlib import Path

import pytest

from many_results import TABLE, made

PAGE = Path(__file__).parents[2] / "docs" / "many.md"


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, costs in TABLE.items():
        (tmp_path / "runs" / name).mkdir(parents=True)
        made(name, costs, "LLS").write(tmp_path / "runs" / name)
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})
    text = capsys.readouterr().out
    assert text.startswith("3 datasets · 3 rows in all of them")
    assert text.splitlines()[-1].startswith("uniform 1.66")
    assert (tmp_path / "summary.html").is_file()
