"""Columns that name rows or give the label away, and rows alike by chance."""

import warnings

import numpy as np
import pytest

from labelspace import data
from labelspace.data.suspects import alike_by_chance, giving_away, identifiers

DRAW = np.random.default_rng(0)
Y = DRAW.integers(0, 4, 200)
NOISE = DRAW.normal(size=200).tolist()
ALL = [np.arange(200)]


@pytest.mark.parametrize(
    ("values", "kind", "named"),
    [
        (list(range(200)), "numeric", True),
        ([str(900 - 2 * i) for i in range(200)], "numeric", True),
        ([f"row {i}" for i in range(200)], "categorical", True),
        (DRAW.permutation(200).tolist(), "numeric", False),
        ([i / 3 for i in range(200)], "numeric", False),
        ([*range(199), None], "numeric", False),
        ([i // 2 for i in range(200)], "numeric", False),
    ],
)
def test_identifiers(values, kind, named):
    table, kinds = {"id": values, "noise": NOISE}, {"id": kind, "noise": "numeric"}
    assert identifiers(table, kinds, ALL) == (["id"] if named else [])
    # without it nothing would be left to learn from
    assert identifiers({"id": values}, kinds, ALL) == []
    assert identifiers({name: some[:40] for name, some in table.items()}, kinds, [np.arange(40)]) == []


def test_every_part_may_be_numbered_for_itself():
    table = {"id": [*range(100), *range(100)], "noise": NOISE}
    kinds = dict.fromkeys(table, "numeric")
    assert identifiers(table, kinds, [np.arange(100), np.arange(100, 200)]) == ["id"]
    assert identifiers(table, kinds, ALL) == []


def test_columns_that_give_the_label_away():
    ones = {f"level{k}": (k == Y).astype(int).tolist() for k in range(4)}
    table = {
        "noise": NOISE,
        "code": [f"code {2 * code + i % 2}" for i, code in enumerate(Y.tolist())],
        "score": (Y * 10 + DRAW.random(200)).tolist(),
        **ones,
        "nearly": [*Y[:-1].tolist(), (Y[-1] + 1) % 4],
        "constant": ["x"] * 200,
    }
    kinds = {name: "categorical" if name in ("code", "constant") else "numeric" for name in table}
    assert giving_away(table, kinds, Y) == [["code"], ["score"], list(ones)]
    without = {name: values for name, values in table.items() if name not in ("code", "score", "level0", "level1")}
    # two indicators of four classes leave two of them open
    assert giving_away(without, kinds, Y) == []
    assert giving_away({"noise": NOISE}, kinds, Y) == []
    assert giving_away({name: some[:40] for name, some in table.items()}, kinds, Y[:40]) == []


def digests_of(table):
    return np.asarray([hash(row) for row in zip(*table.values(), strict=True)]).astype(np.uint64)


def test_coarse_rows_are_alike_by_chance_and_copies_are_not():
    order = [np.arange(140), np.arange(140, 170), np.arange(170, 200)]
    coarse = {name: DRAW.integers(0, size, 200).tolist() for name, size in {"sex": 2, "region": 4, "age": 3}.items()}
    chances = alike_by_chance(coarse, digests_of(coarse), order)
    assert min(chances["validation"], chances["test"]) > 0.9
    # what other columns say already does not make a row less likely
    said_twice = {**coarse, **{f"in {k}": [int(k == value) for value in coarse["region"]] for k in range(4)}}
    assert min(alike_by_chance(said_twice, digests_of(said_twice), order).values()) > 0.9
    fine = {name: DRAW.integers(0, 40, 200).tolist() for name in "abcd"}
    copied = {name: [*values[:170], *values[:30]] for name, values in fine.items()}
    assert alike_by_chance(copied, digests_of(copied), order)["test"] < 0.05
    assert alike_by_chance(fine, digests_of(fine), order) == {}


def test_they_are_warned_of_on_load():
    table = {"id": list(range(200)), "size": NOISE, "code": Y.tolist(), "y": [f"class {code}" for code in Y]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset = data.load(table)
    said = [str(each.message) for each in caught]
    assert said[0].startswith("'id' is different in every row")
    assert said[1].startswith("'code' alone tells the label of every row")
    assert dataset.source["identifiers"] == ["id"]
    assert dataset.source["giving away"] == [["code"]]
    data.load(table, ignore=["id", "code"])
