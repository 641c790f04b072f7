"""What the page decides from: probabilities of the best model and of the reference, beside plain torch."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace.report.document import Room
from labelspace.report.reading import read_comparison
from labelspace.report.whatif import CLASSES, ENTRIES, SAMPLES, what_if
from report.folders import write_comparison
from report.unpacking import unpack


def made(folder: Path) -> Any:
    return what_if(read_comparison(folder)[1], Room(10**7))


def test_probabilities_after_temperature_of_the_models_that_matter(comparison: Path) -> None:
    result, material = read_comparison(comparison)
    found = made(comparison)
    assert result.best is not None
    assert [row["label"] for row in found["rows"]] == [result.best.label, "one-hot"]
    for packed in found["rows"]:
        row = next(row for row in material.rows if row.label == packed["label"])
        scores = row.runs[0].scores()
        assert found["y"] == scores["test_y"].tolist()
        expected = torch.softmax(scores["test_scores"].double() / row.temperatures[0], dim=1)
        torch.testing.assert_close(unpack(packed["probabilities"]), expected, rtol=0, atol=2e-5)
    assert material.cost is not None
    torch.testing.assert_close(torch.tensor(found["prices"]).double(), material.cost.matrix.double())


def test_the_seed_that_is_taken_home(comparison: Path) -> None:
    _, material = read_comparison(comparison)
    best = material.best
    assert best is not None
    row = next(row for row in material.rows if row.label == best.label)
    third = best.model_copy(update={"run": row.runs[2].folder.path.name})
    found: Any = what_if(dataclasses.replace(material, best=third), Room(10**7))
    for packed, drawn in zip(found["rows"], (row, material.reference), strict=True):
        expected = torch.softmax(drawn.runs[2].scores()["test_scores"].double() / drawn.temperatures[2], dim=1)
        torch.testing.assert_close(unpack(packed["probabilities"]), expected, rtol=0, atol=2e-5)


def test_without_prices_every_mistake_costs_one(tmp_path: Path) -> None:
    found = made(write_comparison(tmp_path / "free", classes=6, seeds=1, samples=60, priced=False))
    assert torch.equal(torch.tensor(found["prices"]), 1 - torch.eye(6))


@pytest.mark.parametrize(("classes", "samples"), [(10, 5000), (90, 1500)])
def test_a_cap_on_samples_and_on_bytes(tmp_path: Path, classes: int, samples: int) -> None:
    found = made(write_comparison(tmp_path / "many", classes=classes, seeds=1, samples=samples))
    assert found["samples"] == samples
    assert len(found["y"]) == min(SAMPLES, ENTRIES // classes)
    y = torch.randint(classes, (samples,), generator=torch.Generator().manual_seed(0))
    assert found["y"][0] == int(y[0])
    assert found["y"][-1] == int(y[-1])  # spread over all of them
    assert len(json.dumps(found)) < 900_000


def test_too_many_classes_no_room_and_no_scores_have_none(comparison: Path, tmp_path: Path) -> None:
    _, material = read_comparison(comparison)
    many = dataclasses.replace(material, names=tuple(map(str, range(CLASSES + 1))))
    assert what_if(many, Room(10**7)) is None
    assert what_if(material, Room(10)) is None
    (tmp_path / "comparison.json").write_text((comparison / "comparison.json").read_text())
    assert made(tmp_path) is None
