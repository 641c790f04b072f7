"""Label spaces on a terminal: shades by value, and differences against sums by hand."""

import csv
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from labelspace import LabelSpace, cost, ordinal, uniform
from labelspace.cli.label_views import (
    SHADES,
    cheapest,
    cost_template,
    difference,
    heat_map,
    nearest,
    shortened,
    space_template,
    title,
)
from labelspace.cli.labels import app


def test_darker_is_more() -> None:
    space = ordinal(5)
    lines = heat_map(space)
    assert len(lines) == 7
    shades = [
        [line[3 + 2 * column] if len(line) > 3 + 2 * column else " " for column in range(5)] for line in lines[1:6]
    ]
    for row in range(5):
        others = [column for column in range(5) if column != row]
        order = sorted(others, key=lambda column: float(space.matrix[row, column]))
        levels = [SHADES.index(shades[row][column]) for column in order]
        assert levels == sorted(levels)


def test_amounts_are_the_mass_that_moved() -> None:
    one, two = ordinal(["low", "mid", "high", "top"]), uniform(["top", "high", "mid", "low"])
    found = difference(one, two)
    moved = np.abs(one.matrix.numpy() - two.subset(one.names).matrix.numpy()).sum(1) / 2
    for row in found.rows:
        assert row.amount == pytest.approx(moved[one.index(row.name)], abs=1e-6)
    assert [row.amount for row in found.rows] == sorted((row.amount for row in found.rows), reverse=True)
    assert found.agreement is None
    assert found.lines(1)[0].startswith("agreement cannot be measured: `second` of labels diff must be of distances")


def test_prices_are_compared_as_prices_and_read_by_direction() -> None:
    one, two = (
        cost([[0, 1, 9], [2, 0, 3], [1, 1, 0]], ["a", "b", "c"]),
        cost([[0, 1, 4], [2, 0, 3], [1, 1, 0]], ["a", "b", "c"]),
    )
    (row,) = difference(one, two).rows
    assert (row.name, row.about, row.amount) == ("a", "c", 5.0)
    assert cheapest(one, ["a", "b"], 1) == {"a": [("b", 1.0)], "b": [("a", 2.0)]}


def test_vectors_are_near_by_plain_distances() -> None:
    points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    space = LabelSpace(("a", "b", "c"), points, "vectors", {"metric": "euclidean"})
    assert nearest(space, ["a"], 2) == {"a": [("c", 1.0), ("b", 5.0)]}
    assert title(space)[1] == "vectors of 3 classes"


def test_names_are_one_short_line() -> None:
    assert shortened("a\nb   c") == "a b c"
    assert len(shortened("x" * 99)) == 24


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
