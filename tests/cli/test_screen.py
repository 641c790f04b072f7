"""What is printed is what is there: names and paths neither steer the terminal nor are read as markup."""

import io
import json
import threading
import unicodedata
from pathlib import Path

import pytest
from rich.table import Table
from typer.testing import CliRunner

from labelspace.cli import screen, stopping
from labelspace.cli.main import app
from labelspace.cli.screen import Screen, TrainingBar, bars, shown

HOSTILE = [
    "\x1b[31mred",
    "\x9b2J",
    "a\x07b",
    "gone\rforged",
    "\x7f",
    "\u202etxt.exe",
    "\u200bzero",
    "\udcff",
    "\U000e0041tag",
]
MARKUP = ["x[red]", "x[/]", "[bold]", ":smile:", r"\[b]", "[link=file:///etc]y[/link]"]


def is_readable(text: str) -> bool:
    return not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs") for letter in text.replace("\n", ""))


def run(*arguments: str) -> str:
    """Return everything that a command prints."""
    found = CliRunner().invoke(app, list(arguments))
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.output


@pytest.mark.parametrize("name", HOSTILE)
def test_shown(name: str) -> None:
    assert is_readable(shown(name))
    assert shown(name).isprintable()
    # nothing is lost: what is shown is how Python writes it
    assert shown(name) == name.encode("unicode_escape", "surrogatepass").decode()


@pytest.mark.parametrize("name", ["é", "日本", "e\u0301", "a\nb", "a\tb", "👩", "عربي", *MARKUP])
def test_everything_else_stays_as_it_is(name: str) -> None:
    assert shown(name) == name


@pytest.mark.parametrize("name", HOSTILE + MARKUP)
@pytest.mark.parametrize("terminal", [True, False])
def test_screen_and_tables(name: str, terminal: bool) -> None:
    file = io.StringIO()
    on = Screen(file=file, width=200, force_terminal=terminal, color_system=None, highlight=False)
    on.print(f"folder {name}", style="yellow", soft_wrap=True)
    table = Table(name, title=name)
    table.add_row(name)
    on.print(table)
    assert is_readable(file.getvalue())
    assert file.getvalue().count(shown(name)) == 4


@pytest.mark.parametrize("name", HOSTILE + MARKUP)
def test_titles_of_bars(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    on = Screen(file=file, width=200, force_terminal=True, color_system=None)
    monkeypatch.setattr(screen, "errors", on)
    bar = bars("{task.fields[note]}")
    bar.add_task(name, total=2, note=name)
    on.print(bar)
    assert is_readable(file.getvalue())
    assert file.getvalue().count(shown(name)) == 2


@pytest.mark.parametrize("name", HOSTILE + MARKUP)
def test_json_is_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    screen.print_json({"names": [name], name: 1})
    printed = capsys.readouterr().out
    assert is_readable(printed)
    assert json.loads(printed) == {"names": [name], name: 1}


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "\udcff"])
def test_names_of_classes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "groups.txt"
    path.write_text(f"pets: {name}, dog\ncars: bus, van\n", encoding="utf-8", newline="")
    assert is_readable(run("labels", "show", str(path)))
    assert is_readable(run("labels", "show", str(path), "--class", f"{name}?"))
    assert is_readable(run("labels", "diff", f"groups:{name},b|c,d", "uniform"))


@pytest.mark.parametrize("flag", ["--\x1b[31m", "-\x1b", "--k=\x1b]0;title\x07"])
def test_what_was_typed(flag: str) -> None:
    for command in ([], ["labels", "show", "a<b"], ["train"]):
        assert is_readable(run(*command, flag))
    assert is_readable(run(flag[1:]))


def test_a_message_is_one_line(tmp_path: Path) -> None:
    said = run("compare", "a", "b\nlabelspace: all is well")
    assert len(said.splitlines()) == 1
    said = run("labels", "show", "a<b", "--class", "c\nlabelspace: all is well")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("name", ["x[red]", "x[/]", "x[bold]y", "\x1b[31mx"])
def test_folders_of_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("train", "digits", "--model", "linear", "--epochs", "1", "--limit", "50", "--out", name)
    assert shown(f"{name}/onehot-") in said
    assert is_readable(said)
    again = run("train", "digits", "--model", "linear", "--epochs", "1", "--limit", "50", "--out", name)
    assert shown(f"already finished, read from {name}/onehot-") in again


def test_the_farewell_tells_whether_anything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_unsaid", threading.Semaphore(9))
    monkeypatch.setattr(stopping, "_lost", threading.Event())
    on, anew = "the same command goes on from here.", "the same command begins anew: nothing was kept yet."
    assert stopping.farewell().endswith(on)
    with pytest.raises(KeyboardInterrupt), TrainingBar("training"):
        raise KeyboardInterrupt
    assert stopping.farewell().endswith(anew)
    with TrainingBar("training") as bar:
        assert stopping.farewell().endswith(anew)
        bar.report("saved", {"epoch": 0, "step": 3})
        assert stopping.farewell().endswith(on)
    with TrainingBar("training") as bar:
        bar.report("resumed", {"epoch": 0, "step": 3})
        assert stopping.farewell().endswith(on)
