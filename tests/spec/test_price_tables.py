"""Prices in files: a matrix and a list of mistakes say the same."""

from pathlib import Path

import pytest

from labelspace.spec.price_tables import read_prices

NAMES = ["low", "mid", "high"]
MATRIX = "true,high,low,mid\nlow,4,0,1\nmid,1,2,0\nhigh,0,9,3\n"
LIST = "true,predicted,cost\n*,*,1\nhigh,low,9\nhigh,mid,3\nmid,low,2\nlow,high,4\n"
EXPECTED = [[0, 1, 4], [2, 0, 1], [9, 3, 0]]


def written(folder: Path, text: str) -> Path:
    path = folder / "prices.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text", [MATRIX, LIST, LIST.partition("\n")[2], MATRIX.replace(",", ";"), MATRIX.replace(",", "\t")]
)
def test_both_forms_say_the_same(text: str, tmp_path: Path) -> None:
    assert read_prices(written(tmp_path, text), NAMES).prices.tolist() == EXPECTED


def test_the_corner_may_say_that_rows_are_predictions(tmp_path: Path) -> None:
    turned = read_prices(written(tmp_path, MATRIX.replace("true", "predicted\\true")), NAMES)
    assert turned.prices.T.tolist() == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            MATRIX.replace("9", "x"),
            r"prices.csv: .* prices that are numbers. Got 'x' for true 'high' called 'low' \(line 4\)",
        ),
        (MATRIX.replace("9", "-9"), "prices of 0 or more. Got -9"),
        (MATRIX.replace("mid,1,2,0", "mid,1,2,5"), "prices of 0 for being right. Got 5"),
        (LIST.replace("*,*,1\n", ""), "a price for every mistake. Got none for true 'low' called 'mid'"),
        (LIST + "high,low,8\n", "."),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_prices(written(tmp_path, text), NAMES)
