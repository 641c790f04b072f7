"""Numbers in cells, and decimal commas beside different separators."""

import pytest

from labelspace import data
from labelspace.data.numbers import is_number, with_points


@pytest.mark.parametrize(("cell", "holds"), [("1.5", True), (2, True), ("1_000", False), (True, False), ("x", False)])
def test_numbers(cell, holds):
    assert is_number(cell) is holds


@pytest.mark.parametrize(
    ("cells", "separator", "read"),
    [
        (["0,5", "1,25", ""], "\t", ["0.5", "1.25", ""]),
        (["0,5", "1,250"], "|", ["0.5", "1.250"]),
        (["1,500", "20"], "\t", ["1,500", "20"]),  # a mark of thousands as well as of decimals: left alone
        (["1,500", "20"], ";", ["1.500", "20"]),
        (["1,5", "x"], ";", ["1,5", "x"]),
        (["1,5", "2,5"], ",", ["1,5", "2,5"]),
    ],
)
def test_decimal_commas(cells, separator, read):
    assert list(with_points({"v": cells}, ["v"], separator)["v"]) == read


def test_a_file_with_tabs_and_decimal_commas_is_the_one_with_commas_and_points(tmp_path):
    rows = [(i * 7 % 13 / 3, i * 5 % 11, "abc"[i % 3]) for i in range(60)]
    (tmp_path / "points.csv").write_text("size,width,kind\n" + "".join(f"{a:.3f},{b},{c}\n" for a, b, c in rows))
    lines = "".join(f"{a:.3f}\t{b}\t{c}\n".replace(".", ",") for a, b, c in rows)
    (tmp_path / "commas.tsv").write_text("size\twidth\tkind\n" + lines)
    points, commas = (data.load(tmp_path / name, label="kind") for name in ("points.csv", "commas.tsv"))
    assert commas.source["columns"] == ["size", "width"]
    assert commas.key == points.key
