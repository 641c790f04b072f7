"""Files to fill in, for data that need options to be read."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labelspace.cli.label_templates import cost_template, space_template
from labelspace.cli.labels import app


def test_data_are_read_with_the_options_of_training(tmp_path: Path) -> None:
    path = tmp_path / "patients.txt.csv"
    with path.open("w", newline="") as file:
        rows = [[f"id {i}", "" if i == 3 else i, ["mild", "severe", "none"][i % 3], f"p{i // 4}"] for i in range(160)]
        csv.writer(file, delimiter="^").writerows([["id", "age", "grade", "patient"], *rows])
    options = ["--label", "grade", "--group-by", "patient", "--ignore", "id", "--missing", "drop", "--delimiter", "^"]
    found = CliRunner().invoke(app, ["template", str(path), "--cost", "--classes", "severe,mild", *options])
    assert found.exit_code == 0, found.output
    assert found.stdout == "true\\predicted,severe,mild\nsevere,0,1\nmild,1,0\n"
    refused = CliRunner().invoke(app, ["template", str(path), "--cost", "--group-by", "who", "--delimiter", "^"])
    assert refused.exit_code == 2
    assert "`--group-by` must be a column of the table. Got 'who'" in refused.stderr


@pytest.mark.parametrize("long", [True, False])
def test_names_with_commas_and_quotes(long: bool) -> None:
    rows = list(csv.reader(cost_template(['a "b", c', "d"], long).splitlines()))
    assert rows[0][1:] == (["predicted", "cost"] if long else ['a "b", c', "d"])
    assert space_template(["x", "y"]).splitlines()[1:] == ["GROUP > x", "GROUP > y"]
