"""The command line as a whole: what it says by itself, and that it never sends what was typed to the terminal."""

import pytest
from typer.testing import CliRunner

import labelspace
from labelspace.cli.main import app


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_hello_and_version() -> None:
    assert run().startswith("labelspace: labels that know how classes relate.")
    assert run("--version") == f"labelspace {labelspace.__version__}\n"


def test_methods_and_models_are_those_of_the_library() -> None:
    listed = [line.split()[0] for line in run("methods").splitlines()]
    assert listed == list(labelspace.methods())
    assert run("models").split() == list(labelspace.models.names())


@pytest.mark.parametrize("arguments", [["no\x1b[31mred"], ["--no\x1b[31mred"], ["methods", "--no\x1b[31mred"]])
def test_what_was_typed_is_written_out(arguments: list[str]) -> None:
    said = run(*arguments, code=2)
    assert "\x1b[31m" not in said
    assert "\\x1b" in said
