"""What docs/wordnet.md shows is what is printed."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labelspace.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "wordnet.md").read_text(encoding="utf-8")


def test_the_list_of_senses_is_what_the_command_prints() -> None:
    command = re.search(r"\$ labelspace (labels show wordnet .*)", PAGE)
    assert command is not None
    result = CliRunner().invoke(app, command[1].split())
    shown = PAGE[command.end() :].partition("\n\nA line is")[0].split("…\n", 1)[1]
    lines = [line.removeprefix("    ") for line in shown.splitlines()]
    assert len(lines) == 8
    assert "\n".join(lines) in result.stdout


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    found: dict[str, object] = {}
    exec(code, found)
    assert capsys.readouterr().out == "saw: hand tool › tool {}\n"
