"""`labelspace train` and `labelspace` alone, as a person types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labelspace.cli.main import app

SHORT = ["--model", "mlp-16", "--epochs", "2", "--limit", "200"]


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output + str(result.exception)
    return result.stdout


def test_alone_it_says_what_a_newcomer_needs() -> None:
    text = run()
    assert "labelspace train digits" in text
    assert len(text.splitlines()) <= 10


def test_trains_and_resumes(tmp_path: Path) -> None:
    text = run("train", "digits", "--method", "lls", "--smoothing", "0.2", "--out", str(tmp_path), *SHORT)
    assert "test        accuracy" in text
    again = json.loads(
        run("train", "digits", "--method", "lls", "--smoothing", "0.2", "--out", str(tmp_path), "--json", *SHORT)
    )
    assert Path(again["folder"]).is_dir()
    assert 0 <= again["test"]["accuracy"] <= 1
    assert len(list(tmp_path.glob("lls-*"))) == 1


def test_options_of_the_method(tmp_path: Path) -> None:
    text = run("train", "digits", "--method", "lwal", "--option", "repel=0.1", "--json", "--out", str(tmp_path), *SHORT)
    config = json.loads((Path(json.loads(text)["folder"]) / "config.json").read_text())
    assert config["method_options"] == {"repel": 0.1}


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run("train", "digits", "--tensorboard", "--out", str(tmp_path), *SHORT)
    assert list(tmp_path.rglob("events.out.tfevents*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "nowhere"], "nowhere"),
        (["train", "digits", "--method", "semantik"], "Did you mean 'semantic'"),
        (["train", "digits", "--method", "semantic"], "must be a LabelSpace"),
        (["train", "digits", "--epochs", "0"], "`epochs` of train"),
        (["train", "digits", "--option", "repel"], "`option` of train must be NAME=VALUE"),
        (["train", "digits", "--model", "resnet-32"], "resnet32"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments: list[str], words: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "labelspace", *arguments, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("arguments", [["train"], ["data", "list"], ["data", "check"]])
def test_help_has_an_example(arguments: list[str]) -> None:
    assert "xample" in run(*arguments, "--help")


def test_an_order_is_never_guessed_from_the_alphabet(tmp_path: Path) -> None:
    table = tmp_path / "order.csv"
    rows = [f"{number},{number * number},{['low', 'mid', 'high'][number % 3]}" for number in range(90)]
    table.write_text("a,b,label\n" + "\n".join(rows) + "\n")
    command = ["train", str(table), "--method", "semantic", "--space", "ordinal", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "Text has no order of its own" in result.output
    text = run("train", "digits", "--method", "semantic", "--space", "ordinal", "--out", str(tmp_path), *SHORT)
    assert "0 < 1 < 2" in text


def test_lists_and_version() -> None:
    assert "lls" in run("methods")
    assert "resnet32" in run("models")
    assert run("--version").startswith("labelspace ")
