"""Confusions and strengths of a page, from runs that were made by hand, beside plain counts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from labelspace.report.confusions import confusions, mistakes, strengths
from labelspace.report.document import Room
from labelspace.report.reading import StoredRun, read_comparison
from report.unpacking import unpack


def counts(run: StoredRun, temperature: float, part: str) -> np.ndarray:
    """Return who is called what at least expected cost of squared distance."""
    scores = run.scores()
    p = torch.softmax(scores[f"{part}_scores"].double() / temperature, dim=1).numpy()
    ranks = np.arange(p.shape[1])
    called = (p @ (ranks[:, None] - ranks[None]) ** 2.0).argmin(axis=1)
    found = np.zeros((len(ranks), len(ranks)))
    np.add.at(found, (scores[f"{part}_y"].numpy(), called), 1)
    return found


def assert_shown(matrix: dict[str, Any], order: list[int], expected: np.ndarray) -> None:
    """Compare a matrix of the page with counts, in the order of the page."""
    arranged = torch.from_numpy(expected[np.ix_(order, order)])
    torch.testing.assert_close(unpack(matrix["full"]), arranged, rtol=0, atol=5e-3)


def test_mistakes_are_shares_of_the_true_class() -> None:
    found = mistakes(torch.tensor([[3.0, 1, 0], [0, 0, 0], [2, 2, 4]]))
    assert bool(found.diagonal().isnan().all())
    outside = found[~torch.eye(3, dtype=torch.bool)].reshape(3, 2)
    torch.testing.assert_close(outside, torch.tensor([[0.25, 0.0], [0.0, 0.0], [0.25, 0.25]]))


def test_matrices_are_counted_over_all_seeds_and_of_every_strength(comparison: Path) -> None:
    _, material = read_comparison(comparison)
    found: Any = confusions(material, Room(10**7))
    order = list(found["layout"]["order"])
    assert sorted(order) == list(range(10))
    # the reference first, then the winner: what the page shows beside each other
    assert list(found["test"])[:2] == ["one-hot", "semantic"]
    for row in material.rows[:3]:
        every = [counts(run, t, "test") for run, t in zip(row.runs, row.temperatures, strict=True)]
        assert_shown(found["test"][row.label], order, np.mean(every, axis=0))
    reference = material.rows[0]
    assert_shown(
        found["validation"]["reference"], order, counts(reference.runs[0], reference.temperatures[0], "validation")
    )
    drawn = found["validation"]["rows"]
    assert set(drawn) == {row.label for row in material.rows if row.role == "method"}
    assert [trial["value"] for trial in drawn["semantic"]] == [0.1, 0.3, 0.5, 0.7, 0.9]


def test_what_does_not_fit_is_left_out(comparison: Path) -> None:
    _, material = read_comparison(comparison)
    assert confusions(material, Room(0)) is None
    whole: Any = confusions(material, Room(10**7))
    least = len(json.dumps(whole["test"]["one-hot"]))
    some: Any = confusions(material, Room(2 * least))
    assert "one-hot" in some["test"]
    assert len(some["test"]) < len(whole["test"])


def test_costs_over_strengths_are_those_of_the_record(comparison: Path) -> None:
    result, material = read_comparison(comparison)
    found: Any = strengths(material, Room(10**6))
    recorded = {row["label"]: row for row in json.loads((comparison / "comparison.json").read_text())["rows"]}
    assert [row["label"] for row in found["rows"]] == [row.label for row in result.rows if len(row.trials) > 1]
    for row in found["rows"]:
        trials = recorded[row["label"]]["trials"]
        assert row["values"] == [trial["value"] for trial in trials]
        np.testing.assert_allclose(row["costs"], [trial["validation_cost"] for trial in trials], rtol=1e-3)
        assert row["chosen"] == recorded[row["label"]]["strength"]["value"]
    assert found["reference"]["label"] == "one-hot"
