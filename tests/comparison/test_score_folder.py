"""What a comparison of scores leaves behind: a page, and a decision that saves elsewhere what it saved here."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace import Decision
from labelspace.comparison import Comparison, compare_scores
from labelspace.comparison.score_folder import run_names
from labelspace.comparison.score_models import Model
from labelspace.serving.alone import Met, decisions, load
from labelspace.spec.price_tables import names_in

NAMES = ["low", "mid", "high"]
PRICES = np.array([[0.0, 1, 4], [2, 0, 1], [9, 2, 0]])


def part(seed: int, noise: float = 1.5, seeds: int | None = None) -> dict[str, Any]:
    y = np.random.default_rng(100 + seed).integers(3, size=150)
    shape = (150, 3) if seeds is None else (seeds, 150, 3)
    scores = 3 * (np.eye(3)[y] + noise * np.random.default_rng(int(10 * noise) + seed).normal(size=shape))
    return {"scores": scores, "y": y, "names": np.array(NAMES)}


def test_what_was_saved_can_be_taken_home(tmp_path: Path) -> None:
    """The decision in the folder, applied to the test scores anew, costs what the comparison said."""
    found = compare_scores([part(0), part(1)], cost=PRICES, out=tmp_path)
    assert found.folder is not None
    assert found.folder.parent == tmp_path
    row = found.rows[0]
    assert row.min_cost is not None
    met, test = Met(), part(1)
    columns = next(decisions(load(found.folder / "best"), {**test, "y": None}, met))
    called = np.array([NAMES.index(str(name)) for name in columns["decision"]])
    assert PRICES[test["y"], called].mean() == pytest.approx(row.min_cost.cost, rel=1e-12)
    assert row.temperatures is not None
    p = np.exp(test["scores"] / row.temperatures[0])
    by_hand = ((p / p.sum(axis=1, keepdims=True)) @ PRICES).argmin(axis=1)
    np.testing.assert_array_equal(called, by_hand)
    assert Decision.load(found.folder / "best" / "decision.json").temperature == row.temperatures[0]
    assert found.result.next == f"labelspace predict {found.folder / 'best'} NEW_SCORES"


def test_the_page_is_drawn_from_the_folder(tmp_path: Path) -> None:
    found = compare_scores({"a": [part(0), part(1)], "b|?": [part(0, 1.0), part(1, 1.0)]}, cost=PRICES, out=tmp_path)
    page = found.save_html()
    again = Comparison.load(page.parent)
    assert again == found
    text = page.read_text(encoding="utf-8")
    assert all(f'"{name}"' in text for name in ("confusions", "reliability"))
    assert [row.runs for row in found.rows] == [("0-a-0",), ("1-b-0",)]
    with pytest.raises(ValueError, match="asked of a trained comparison. Got one of scores alone"):
        _ = found.best
    with pytest.raises(ValueError, match="only images can be shown. Got scores alone"):
        found.save_html(examples=1)


def test_the_best_model_and_its_best_seed_go_home(tmp_path: Path) -> None:
    models = {"noisy": [part(0, 2.0, 3), part(1, 2.0, 3)], "good": [part(0, 0.8, 3), part(1, 0.8, 3)]}
    found = compare_scores(models, cost=PRICES, out=tmp_path)
    best = found.recommendation
    assert best is not None
    assert best.label == "good"
    alone = [
        compare_scores(
            [{**each, "scores": each["scores"][seed]} for each in models["good"]],
            cost=PRICES,
        ).rows[0]
        for seed in range(3)
    ]
    costs = [row.validation_cost for row in alone]
    seed = int(np.argmin(np.array(costs, dtype=float)))
    assert best.run == f"1-good-{seed}"
    temperature = json.loads((tmp_path / found.folder / "best" / "decision.json").read_text())["temperature"]  # type: ignore[operator]
    assert alone[seed].temperatures == pytest.approx((temperature,))


def test_the_folder_depends_on_all_that_was_asked_and_nothing_else(tmp_path: Path) -> None:
    def folder(**options: Any) -> Path | None:
        given = {"cost": PRICES, "out": tmp_path, **options}
        return compare_scores([part(0), part(1)], **given).folder

    first = folder()
    assert folder(command="typed otherwise") == first
    others = [folder(cost="uniform"), folder(margin=0.1), folder(level=0.9), folder(names=NAMES[::-1])]
    assert len({first, *others}) == 5


def test_nothing_is_written_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert compare_scores([part(0), part(1)], cost=PRICES).folder is None
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="`out` of compare must be a folder that can be written to"):
        compare_scores([part(0), part(1)], cost=PRICES, out=tmp_path / "file")


def test_names_of_folders() -> None:
    assert run_names(Model("../../ü b", [None, None]), 3) == ("3-b-0", "3-b-1")  # type: ignore[list-item]
    assert run_names(Model("..", [None]), 0) == ("0-0",)  # type: ignore[list-item]


def test_scores_beyond_single_precision(tmp_path: Path) -> None:
    huge = [{**each, "scores": each["scores"] * 1e300} for each in (part(0), part(1))]
    compare_scores(huge, cost=PRICES, out=tmp_path).save_html()


def test_names_in_a_table_of_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("true\\predicted,a,'=b\na,0,1\n'=b,2,0\n")
    assert names_in(path) == (["a", "=b"], True)
