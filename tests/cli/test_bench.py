"""`labelspace bench` prints what it measured."""

import json

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


def test_bad_numbers_are_refused() -> None:
    done = CliRunner().invoke(app, ["bench", "--classes", "ten"])
    assert done.exit_code == 2
