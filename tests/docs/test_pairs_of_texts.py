"""The code of the page runs as it stands."""

import re
from pathlib import Path

import pytest

from parallel_text import PAIRS, write_lines

PAGE = Path(__file__).parents[2] / "docs" / "pairs-of-texts.md"


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tokenizers")
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "captions")
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert first == PAIRS[0][1]
    assert second.startswith("['")
