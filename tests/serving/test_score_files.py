"""Scores in every form that people keep them in say the same."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from labelspace._opening import Asked
from labelspace.comparison import compare_scores
from labelspace.serving.score_files import Beside, Sheet, checked, in_order, label_of, labels_of, read

ASKED = Asked("compare", "scores")
CHANCE = np.random.default_rng(0)
NAMES = np.array(["low", "mid", "high"])
Y = CHANCE.integers(3, size=(2, 60))
SCORES = (2 * np.eye(3)[Y] + 1.5 * CHANCE.normal(size=(2, 60, 3))).round(4)
GROUPS = np.array([f"p{number // 4}" for number in range(60)])


def frame(part: int) -> pd.DataFrame:
    return pd.DataFrame(SCORES[part], columns=NAMES).assign(y=NAMES[Y[part]], groups=GROUPS)


def npz(path: Path, part: int) -> object:
    np.savez(path, scores=SCORES[part], y=NAMES[Y[part]], names=NAMES, groups=GROUPS)
    return path


def csv(path: Path, part: int) -> object:
    frame(part).to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def semicolons(path: Path, part: int) -> object:
    frame(part).to_csv(path.with_suffix(".csv"), index=False, sep=";", decimal=",")
    return path.with_suffix(".csv")


def packed(path: Path, part: int) -> object:
    path.with_suffix(".tsv.gz").write_bytes(gzip.compress(frame(part).to_csv(index=False, sep="\t").encode()))
    return path.with_suffix(".tsv.gz")


def parquet(path: Path, part: int) -> object:
    pytest.importorskip("pyarrow")
    frame(part).set_index(np.arange(5, 65)).to_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


FORMS: dict[str, Callable[[Path, int], object]] = {
    "npz": npz,
    "csv": csv,
    "semicolons": semicolons,
    "packed": packed,
    "parquet": parquet,
    "frame": lambda path, part: frame(part),
    "dict of columns": lambda path, part: frame(part).to_dict("list"),
    "other order": lambda path, part: frame(part)[["groups", "high", "y", "low", "mid"]],
    "numbered": lambda path, part: frame(part).assign(**{"Unnamed: 0": range(60)}),
    "arrays": lambda path, part: {"scores": torch.tensor(SCORES[part]), "y": Y[part], "names": NAMES, "groups": GROUPS},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str, tmp_path: Path) -> None:
    prices = [[0, 1, 4], [2, 0, 1], [9, 2, 0]]
    usual = compare_scores(
        [{"scores": SCORES[part], "y": Y[part], "groups": GROUPS} for part in (0, 1)], cost=prices, names=NAMES.tolist()
    )
    parts = [FORMS[form](tmp_path / f"{part}.npz", part) for part in (0, 1)]
    found = compare_scores(parts, cost=prices, names=NAMES.tolist())
    assert found.rows == usual.rows
    assert found.verdict == usual.verdict  # groups count as well
    assert found.result.data.test_groups == 15
    many = compare_scores({"a": parts, "b": parts}, cost=prices, names=NAMES.tolist())
    assert [row.min_cost for row in many.rows] == [usual.rows[0].min_cost] * 2


def test_a_pair_of_a_frame_and_labels() -> None:
    sheet = read((pd.DataFrame(SCORES[0], columns=NAMES), pd.Series(NAMES[Y[0]])), "here", ASKED)[""]
    assert sheet.names == tuple(NAMES)
    np.testing.assert_array_equal(sheet.scores, SCORES[0])  # type: ignore[arg-type]
    assert labels_of(sheet.y) == NAMES[Y[0]].tolist()


def test_a_table_with_both_parts(tmp_path: Path) -> None:
    both = pd.concat([frame(0).assign(part="val"), frame(1).assign(part="test"), frame(0).assign(part="train")])
    both.sample(frac=1, random_state=0).sort_values("part", kind="stable").to_csv(tmp_path / "both.csv", index=False)
    found = read(tmp_path / "both.csv", "", ASKED)
    assert sorted(found) == ["test", "validation"]
    assert [len(np.asarray(found[part].scores)) for part in ("validation", "test")] == [60, 60]
    total = compare_scores(tmp_path / "both.csv", names=NAMES.tolist())
    usual = compare_scores([frame(0), frame(1)], names=NAMES.tolist())
    assert total.rows[0].argmax.cost == pytest.approx(usual.rows[0].argmax.cost)
    split = compare_scores(both.rename(columns={"part": "split"}), names=NAMES.tolist())
    assert split.rows == usual.rows


def test_other_columns(tmp_path: Path) -> None:
    given = frame(0).rename(columns={"y": "truth", "groups": "patient"}).assign(file="a.png")
    beside = Beside("truth", "patient", keep=["file"])
    sheet = read(given, "here", ASKED, beside)[""]
    assert (sheet.names, sheet.kept) == (tuple(NAMES), {"file": ["a.png"] * 60})
    assert sheet.y == NAMES[Y[0]].tolist()
    parts = [frame(part).rename(columns={"y": "truth", "groups": "patient"}) for part in (0, 1)]
    found = compare_scores(parts, label="truth", group_by="patient")
    assert found.rows == compare_scores([frame(0), frame(1)]).rows


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (frame(0).drop(columns="y"), {}, "a table with a column 'y' of labels. Got no y in .* label="),
        (
            frame(0).assign(file="a.png"),
            {},
            "finite numbers in every column. Got 'a.png' for 'file' in row 0 .* ignore=",
        ),
        (frame(0), {"label": "truth"}, "a table with a column 'truth'. Got no 'truth' among 'low', "),
        (frame(0), {"ignore": ["id"]}, "a table with a column 'id'. Got no 'id' among"),
        (frame(0)[["y", "low"]], {}, "a table with a column for each class beside 'y'. Got 'low' in"),
        (frame(0).replace({"low": {SCORES[0][7, 0]: np.nan}}), {}, "Got nan for 'low' in row 7 of the validation"),
        (3, {}, "for each part an NPZ, CSV or Parquet file, a DataFrame, .* Got int"),
        ({"y": [1]}, {}, "a column for each class beside 'y'. Got none"),
    ],
)
def test_what_is_no_table_of_scores(given: Any, options: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        compare_scores([given, frame(1)], **options)
    assert "\n" not in str(caught.value)


def test_cells_that_are_no_numbers_are_named_by_row() -> None:
    given = {"a": ["1", "x", "", "4"], "b": ["1", "2", "3", None]}
    sheet = read(given, "here", ASKED)[""]
    assert sheet.unread == {1: "'x' for 'a'", 2: "'' for 'a'", 3: "None for 'b'"}
    np.testing.assert_array_equal(sheet.scores, [[1, 1], [np.nan, 2], [np.nan, 3], [4, np.nan]])  # type: ignore[arg-type]


def test_names_and_columns() -> None:
    assert checked(Sheet("here", SCORES), ASKED).shape == (2, 60, 3)
    assert checked(Sheet("here", SCORES[0].tolist()), ASKED).shape == (1, 60, 3)
    with pytest.raises(
        ValueError, match="`names` of compare must be 3 names, one per column of the scores. Got 2 in h"
    ):
        checked(Sheet("here", SCORES, ("a", "b")), ASKED)
    turned = in_order(torch.tensor(SCORES), ("b", "c", "a"), ("a", "b", "c"))
    np.testing.assert_array_equal(turned, SCORES[:, :, [2, 0, 1]])
    bytes_too = read({"scores": SCORES, "names": NAMES.astype("S")}, "here", ASKED)[""]
    assert bytes_too.names == tuple(NAMES)


def test_labels() -> None:
    assert [label_of(value) for value in (3.0, 3, "3", 2.5, np.str_("a"))] == ["3", "3", "3", "2.5", "a"]
    assert labels_of(np.array(["a", "b"])) == ["a", "b"]
    assert labels_of([b"a", b"b"]) == ["a", "b"]
    assert labels_of(torch.tensor([1, 2])) is None
    assert labels_of("ab") is None
    assert labels_of(None) is None
