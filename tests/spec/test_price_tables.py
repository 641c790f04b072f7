"""Prices in files: a matrix and a list of mistakes say the same."""

from pathlib import Path

import pytest

from labelspace.spec.actions import actions_of
from labelspace.spec.price_tables import names_in, read_prices
from labelspace.spec.prices import prices

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


WIDE = "true,mild,severe,order a test,send to a person\nsevere,10,-2,0.6,0.5\nmild,0,1,0.3,0.5\n"
LONG = (
    "true,called,cost\n*,send to a person,0.5\nmild,severe,1\nsevere,mild,10\nsevere,severe,-2\n"
    "mild,order a test,0.3\nsevere,order a test,0.6\n"
)
ONLY = "true\\action,predict severe,predict mild\nmild,1,0\nsevere,-2,10\n"
DONE = ("mild", "severe", "order a test", "send to a person")


@pytest.mark.parametrize(
    "text", [WIDE, LONG, LONG.replace("called", "action"), WIDE.replace("true", "true\\action"), WIDE.replace(",", ";")]
)
def test_columns_that_are_no_classes_are_actions(text: str, tmp_path: Path) -> None:
    found = read_prices(written(tmp_path, text), ["mild", "severe"])
    assert set(found.names) == set(DONE)
    assert found.names[:2] == DONE[:2], "classes first"
    columns = [found.names.index(name) for name in DONE]
    assert found.prices[:, columns].tolist() == [[0, 1, 0.3, 0.5], [10, -2, 0.6, 0.5]]


def test_actions_need_not_be_classes_at_all(tmp_path: Path) -> None:
    found = read_prices(written(tmp_path, ONLY), ["mild", "severe"])
    assert (found.names, found.prices.tolist()) == (("predict severe", "predict mild"), [[1, 0], [-2, 10]])
    assert names_in(written(tmp_path, ONLY)) == (["mild", "severe"], True)
    assert names_in(written(tmp_path, WIDE)) == (["severe", "mild"], True)
    assert names_in(written(tmp_path, LONG.replace("called", "action"))) == (["mild", "severe"], False)


def test_being_right_may_cost_where_columns_are_called_actions(tmp_path: Path) -> None:
    text = "true\\action,mild,severe\nmild,2,5\nsevere,9,-1\n"
    assert read_prices(written(tmp_path, text), ["mild", "severe"]).prices.tolist() == [[2, 5], [9, -1]]
    with pytest.raises(ValueError, match=r"0 for being right. Got 2.*If it is meant.*true\\action in the corner"):
        read_prices(written(tmp_path, text.replace("\\action", "")), ["mild", "severe"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WIDE.replace("order a test", ""), "a table with a name for every action. Got none in the first row"),
        (WIDE.replace("order a test", "send to a person"), "names every action once"),
        (WIDE.replace("severe,10", "sevree,10"), r"Got 'sevree' \(line 2\), which is none of the classes"),
        (WIDE.replace("mild,severe", "mild,sevree"), "Got 'sevree' .* Did you mean 'severe'"),
        ("true,mild,wait\nmild,0,1\nsevere,5,0\n", r"Got 'wait' \(first row\), which is none of the classes"),
        (WIDE.replace("0.3", "nan"), "prices that are numbers. Got 'nan' for true 'mild' called 'order a test'"),
        (LONG.replace("mild,order a test,0.3\n", ""), "none for true 'mild' called 'order a test'"),
        ("true,action,cost\nmild,,1\n", "a name for every action. Got none in the column of actions, line 2"),
    ],
)
def test_what_is_wrong_with_actions(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as error:
        read_prices(written(tmp_path, text), ["mild", "severe"])
    assert "\n" not in str(error.value)


def test_an_action_may_take_the_place_of_a_class(tmp_path):
    """As many columns as classes: one that is not free for the class without a column is no class misspelt."""
    (tmp_path / "p.csv").write_text("true,well,ill,ask\nwell,0,2,1\nill,9,0,1\ndead,9,2,1\n")
    table = actions_of(prices(str(tmp_path / "p.csv"), ["well", "ill", "dead"]))
    assert table is not None
    assert table.names == ("well", "ill", "ask")
    (tmp_path / "q.csv").write_text("true,well,ill,gone\nwell,0,2,1\nill,9,0,1\ndead,9,2,0\n")
    with pytest.raises(ValueError, match="gone"):
        prices(str(tmp_path / "q.csv"), ["well", "ill", "dead"])
