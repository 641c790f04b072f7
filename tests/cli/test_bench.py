"""`labelspace bench` prints what it measured."""

import json

import pytest
from typer.testing import CliRunner

from labelspace.cli.main import app


def test_a_table_and_json() -> None:
    options = ["--methods", "uniform", "--classes", "5,7", "--batch", "8", "--seconds", "0.01"]
    done = CliRunner().invoke(app, ["bench", *options])
    assert done.exit_code == 0, done.output
    assert [line.split()[1] for line in done.output.splitlines() if line.startswith("uniform")] == ["5", "7"]
    found = json.loads(CliRunner().invoke(app, ["bench", *options, "--json"]).stdout)
    assert [one["name"] for one in found["timings"]] == ["F.cross_entropy", "uniform"] * 2
    assert found["batch"] == 8


def test_a_method_that_is_refused_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_FREE_MEMORY", str(2**28))
    options = [
        "bench",
        "--methods",
        "lls,semantic,lwal,uniform",
        "--classes",
        "9000",
        "--batch",
        "2",
        "--seconds",
        "0.01",
    ]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.output.splitlines() if "refused" in line] == ["lls", "semantic", "lwal"]
    assert "uniform" in done.output
    found = json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout)
    assert [one["name"] for one in found["refused"]] == ["lls", "semantic", "lwal"]
    assert CliRunner().invoke(app, ["bench", "--methods", "unifrom"]).exit_code == 2


def test_bad_numbers_are_refused() -> None:
    done = CliRunner().invoke(app, ["bench", "--classes", "ten"])
    assert done.exit_code == 2
