import csv
import json

import pytest
from typer.testing import CliRunner

from labelspace.cli.data import app

run = CliRunner()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LABELSPACE_DATA", raising=False)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    with path.open("w", newline="") as file:
        rows = [["" if i == 5 else i, f"p{i // 4}", ["[b]well", "ill"][i % 2]] for i in range(40)]
        csv.writer(file).writerows([["age", "patient", "diagnosis"], *rows])
    return path


def test_list_says_what_is_known_and_found(tmp_path):
    (tmp_path / "mnist").mkdir()
    result = run.invoke(app, ["list", "--data-dir", str(tmp_path)])
    assert result.exit_code == 0
    assert "digits         built in" in result.output
    assert "cifar-10       not here" in result.output
    found = json.loads(run.invoke(app, ["list", "--data-dir", str(tmp_path), "--json"]).output)
    assert {row["name"]: row["found"] for row in found["datasets"]}["mnist"] == "mnist"


def test_check_of_sound_data_exits_with_0():
    result = run.invoke(app, ["check", "digits"])
    assert result.exit_code == 0
    assert "no problems found" in result.output


def test_check_of_data_with_problems_exits_with_1(table):
    result = run.invoke(app, ["check", str(table), "--label", "diagnosis", "--group-by", "patient"])
    assert result.exit_code == 1
    assert "problem: Values are missing: 1 in 'age'" in result.output
    assert run.invoke(app, ["check", str(table), "--missing", "drop", "--ignore", "patient"]).exit_code == 0


def test_check_prints_json(table):
    result = run.invoke(app, ["check", str(table), "--ignore", "patient", "--json"])
    report = json.loads(result.output)
    assert report["missing"] == {"age": 1}
    assert report["classes"] == ["[b]well", "ill"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "`name_or_path` of data.load must be"),
        (["mnist"], "looked for"),
        (["digits", "--label", "x"], "`label`"),
        (["digits", "--resize", "big"], "--resize must be a size"),
        (["digits", "--seed", "-1"], "`seed`"),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(arguments, message):
    result = run.invoke(app, ["check", *arguments])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_on_a_terminal_there_are_tables(table, monkeypatch):
    monkeypatch.setattr("labelspace.cli.data._on_terminal", lambda: True)
    result = run.invoke(app, ["check", str(table), "--ignore", "patient"])
    assert "[b]well" in result.output
    assert "┃" in result.output
    assert "┃" in run.invoke(app, ["list"]).output


@pytest.mark.parametrize("command", ["list", "check"])
def test_help_has_an_example(command):
    assert "Example: labelspace data" in run.invoke(app, [command, "--help"]).output
