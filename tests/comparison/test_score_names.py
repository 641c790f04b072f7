"""What columns are called: by files, by whoever asks, by prices; and labels that name classes or count columns."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from labelspace.comparison import Comparison, compare_scores
from labelspace.comparison.score_names import Naming, Priced, class_places, name_columns, priced_names, strays
from labelspace.serving.score_files import Sheet
from labelspace.sources.matrices import cost

CHANCE = np.random.default_rng(0)
NAMES = np.array(["low", "mid", "high"])
Y = CHANCE.integers(3, size=(2, 90))
SCORES = 2 * np.eye(3)[Y] + 1.5 * CHANCE.normal(size=(2, 90, 3))
PRICES = np.array([[0.0, 1, 4], [2, 0, 1], [9, 2, 0]])
TABLE = ",low,mid,high\nlow,0,1,4\nmid,2,0,1\nhigh,9,2,0\n"


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    (tmp_path / "prices.csv").write_text(TABLE)
    return tmp_path / "prices.csv"


def saved(folder: Path, part: int, **arrays: Any) -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.npz"
    np.savez(path, **{"scores": SCORES[part], "y": Y[part], **arrays})
    return path


def cost_of(found: Comparison) -> float:
    row = found.rows[0]
    assert row.min_cost is not None
    return row.min_cost.cost


def by_hand(found: Comparison) -> float:
    """Return what minimum-cost decisions cost on the test part, at the temperature that was found, in numpy."""
    assert found.rows[0].temperatures is not None
    scaled = SCORES[1] / found.rows[0].temperatures[0]
    p = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return float(PRICES[Y[1], (p @ PRICES).argmin(axis=1)].mean())


def test_prices_name_the_columns_and_that_is_said(prices: Path, tmp_path: Path) -> None:
    found = compare_scores([saved(tmp_path, 0), saved(tmp_path, 1)], cost=prices)
    assert found.result.data.names == ("low", "mid", "high")
    assert "3 classes by column as in prices.csv" in found.result.title
    assert "they are taken in the order of prices.csv, low, mid, high." in found.warnings[0]
    assert cost_of(found) == pytest.approx(by_hand(found), rel=1e-12)
    assert cost_of(found) == cost_of(compare_scores([(SCORES[0], Y[0]), (SCORES[1], Y[1])], cost=PRICES))


def test_files_that_name_their_columns_need_no_word(prices: Path, tmp_path: Path) -> None:
    found = compare_scores([saved(tmp_path, part, names=NAMES) for part in (0, 1)], cost=prices)
    assert found.warnings == []
    assert "· 3 classes ·" in found.result.title
    assert cost_of(found) == pytest.approx(by_hand(found), rel=1e-12)


def test_columns_are_matched_by_name(prices: Path, tmp_path: Path) -> None:
    """Each file has an order of its own; labels count the columns of their own file, or are names."""
    usual = compare_scores([saved(tmp_path, part, names=NAMES) for part in (0, 1)], cost=prices)
    order = np.array([2, 0, 1])
    turned = {"scores": SCORES[1][:, order], "y": np.argsort(order)[Y[1]], "names": NAMES[order]}
    found = compare_scores([saved(tmp_path, 0, names=NAMES), saved(tmp_path, 1, **turned)], cost=prices)
    assert found.rows == usual.rows
    in_text = compare_scores(
        [saved(tmp_path, 0, names=NAMES, y=NAMES[Y[0]]), saved(tmp_path, 1, **{**turned, "y": NAMES[Y[1]]})],
        cost=prices,
    )
    assert in_text.rows == usual.rows
    models = {
        "a": [saved(tmp_path, part, names=NAMES) for part in (0, 1)],
        "b": [saved(tmp_path, 0, names=NAMES), saved(tmp_path, 1, **turned)],
    }
    both = compare_scores(models, cost=prices)
    assert both.rows[0].min_cost == both.rows[1].min_cost


def test_a_part_without_names_has_those_of_its_own_model(prices: Path, tmp_path: Path) -> None:
    order = np.array([2, 0, 1])
    place = np.argsort(order)
    turned = [
        saved(tmp_path, 0, scores=SCORES[0][:, order], y=place[Y[0]], names=NAMES[order]),
        saved(tmp_path, 1, scores=SCORES[1][:, order], y=place[Y[1]]),
    ]
    models = {"a": [saved(tmp_path, part, names=NAMES) for part in (0, 1)], "b": turned}
    found = compare_scores(models, cost=prices)
    assert found.rows[0].min_cost == found.rows[1].min_cost
    assert found.warnings == [f"Nothing names the columns of {turned[1]}: they are taken to be as in {turned[0]}."]


def test_text_labels_beside_columns_without_names(prices: Path, tmp_path: Path) -> None:
    """Whoever sorted the labels to number the columns had another order than the prices."""
    parts = [saved(tmp_path, part, y=NAMES[Y[part]]) for part in (0, 1)]
    with pytest.raises(ValueError, match="'low', 'mid', 'high' in prices.csv, which need not be their order. Say it"):
        compare_scores(parts, cost=prices)
    found = compare_scores(parts, cost=prices, names=NAMES.tolist())
    assert cost_of(found) == pytest.approx(by_hand(found), rel=1e-12)
    prices.write_text(",a,b,c\na,0,1,4\nb,2,0,1\nc,9,2,0\n")  # sorted or not, it is this order
    letters = np.array(list("abc"))
    parts = [saved(tmp_path, part, y=letters[Y[part]]) for part in (0, 1)]
    assert cost_of(compare_scores(parts, cost=prices)) == cost_of(found)


def test_numbers_that_prices_name_in_another_order(prices: Path, tmp_path: Path) -> None:
    """Columns 0 … K−1 are not renamed by the order of a table."""
    order = [2, 0, 1]
    lines = [",".join([str(true), *(str(PRICES[true, called]) for called in order)]) for true in order]
    prices.write_text("\n".join([",2,0,1", *lines]))
    found = compare_scores([saved(tmp_path, 0), saved(tmp_path, 1)], cost=prices)
    assert found.result.data.names == ("0", "1", "2")
    assert "3 classes, 0…2 by column" in found.result.title
    assert cost_of(found) == pytest.approx(by_hand(found), rel=1e-12)
    prices.write_text(prices.read_text().replace("2,", "7,", 1))
    with pytest.raises(ValueError, match="prices of the classes|which need not be their order|are the classes"):
        compare_scores([saved(tmp_path, 0), saved(tmp_path, 1)], cost=prices)


def test_numbers_may_name_classes_or_count_columns() -> None:
    stars = ("1", "2", "3")

    def places(*labels: Any) -> list[list[int]]:
        sheets = [Sheet("here", None, stars, np.asarray(y)) for y in labels]
        return [found.tolist() for found in class_places(sheets, [len(y) for y in labels], stars)]

    assert places([1, 2, 3], [1, 1]) == [[0, 1, 2], [0, 0]]  # 3 counts no column
    assert places([0, 2, 1], [1, 1]) == [[0, 2, 1], [1, 1]]  # 0 names no class
    assert places(["1", "2"], ["1"]) == [[0, 1], [0]]
    with pytest.raises(ValueError, match=r"numbers that may be names \('1', '2', '3'\) or count the columns from 0"):
        places([1, 2, 2], [1, 1])
    usual = ("0", "1", "2")
    assert class_places([Sheet("here", None, usual, np.array([1, 2]))], [2], usual)[0].tolist() == [1, 2]


def test_labels_in_a_table_name_classes() -> None:
    sheet = Sheet("t.csv", None, ("2", "1", "0"), [2.0, "1", 0], by_name=True)
    assert class_places([sheet], [3], ("0", "1", "2"))[0].tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match="`y of scores` of compare must be names of classes. Got nothing in row 1 of"):
        class_places([sheet._replace(y=["1", " ", "0"])], [3], ("0", "1", "2"))
    with pytest.raises(ValueError, match="Got '0' in row 0 of t.csv. The classes are 'cat', 'dog'"):
        class_places([sheet._replace(names=("cat", "dog"), y=["0", "1"])], [2], ("cat", "dog"))


def test_what_prices_name(prices: Path, tmp_path: Path) -> None:
    assert priced_names(prices) == Priced(("low", "mid", "high"), "prices.csv")
    prices.write_text("true,predicted,cost\nlow,high,3\n*,mid,2\n*,*,1\n")
    assert priced_names(str(prices)) == Priced(("low", "high", "mid"), "prices.csv", ordered=False)
    prices.write_text("low,high,3\n*,*,1\n")
    assert priced_names(str(prices)) == Priced(("low", "high"), "prices.csv", ordered=False)
    space = cost(PRICES, NAMES.tolist())
    assert priced_names(space) == Priced(tuple(NAMES), "the prices", whole=False)
    assert priced_names(space.save(tmp_path / "c.safetensors")) == Priced(tuple(NAMES), "c.safetensors", whole=False)
    assert priced_names(pd.DataFrame(PRICES, NAMES, NAMES)) == Priced(tuple(NAMES), "the prices")
    assert [priced_names(each) for each in (None, "squared", PRICES, "under=5,over=1")] == [None] * 4


def test_a_space_of_prices_may_know_more_classes() -> None:
    space = cost(np.ones((4, 4)) - np.eye(4), ["low", "mid", "high", "none"])
    sheet = Sheet("here", None, tuple(NAMES), Y[0])
    assert name_columns([sheet], 3, priced=priced_names(space)).classes == tuple(NAMES)
    with pytest.raises(ValueError, match="Got 'x', 'mid', 'high' in the scores and 'low', 'none', 'mid', 'high' in"):
        name_columns([sheet._replace(names=("x", "mid", "high"))], 3, priced=priced_names(space))


def test_a_column_that_is_no_class() -> None:
    """A number of rows beside probabilities would be the surest class of all."""
    p = np.exp(SCORES) / np.exp(SCORES).sum(axis=2, keepdims=True)

    def frame(part: int) -> pd.DataFrame:
        return pd.DataFrame(p[part], columns=NAMES).assign(y=NAMES[Y[part]], number=np.arange(90))

    with pytest.raises(ValueError, match=r"number, which no label is, .*ignore=\['number'\]"):
        compare_scores([frame(0), frame(1)])
    found = compare_scores([frame(0), frame(1)], ignore=["number"], cost=cost(PRICES, NAMES.tolist()))
    assert cost_of(found) == pytest.approx(by_hand(found), rel=1e-9)
    naming = Naming(("a", "b", "rare"), "", vouched=False)
    table, y = torch.tensor([[[0.2, 0.7, 0.1]]]), [torch.tensor([0, 1])]
    assert strays([table], y, naming)[0].startswith("No label is of class rare")
    assert strays([table], y, naming._replace(vouched=True)) == []
