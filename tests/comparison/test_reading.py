"""Features of a frozen network: computed once, told, and paid for by the budget."""

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from labelspace import models
from labelspace.comparison import compare, planning
from labelspace.comparison.reading import Reading
from labelspace.models.backbones import Backbone
from labelspace.sweeps.executors import InProcess


class Corners(Backbone):
    """Averages of the four quarters of an image."""

    kind, feature_dim, key = "images", 4, "corners/1"
    calls = 0

    def prepare(self, samples: Any) -> Tensor:
        return torch.as_tensor(samples).float()

    def extract(self, batch: Tensor) -> Tensor:
        Corners.calls += 1
        return torch.nn.functional.adaptive_avg_pool2d(batch, 2).flatten(1)


def test_all_are_read_in_the_end() -> None:
    told: list[Any] = []
    reading = Reading(lambda event, numbers: told.append((event, numbers["done"], numbers["of"])))
    reading.end()
    assert (told, reading.seconds) == ([], 0.0)
    reading(20, 50)
    reading.end()
    reading.end()
    assert told == [("features", 20, 50), ("features", 50, 50)]
    assert reading.seconds > 0


def test_the_budget_pays_for_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comparison finds them: it has the whole budget, but keeps to the epochs of the first."""
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "backbone", lambda name: Corners())
    monkeypatch.setattr(planning.budgets, "pace", lambda job: planning.budgets.Pace(0.05))
    clock = itertools.count(0, 3)
    monkeypatch.setattr("labelspace.comparison.reading.time.perf_counter", lambda: float(next(clock)))
    asked = {"methods": ["uniform"], "backbone": "corners", "model": "linear", "seeds": 1, "limit": 300}
    spent: list[float] = []
    real = planning.budgets.affordable
    monkeypatch.setattr(
        planning.budgets, "affordable", lambda seconds, *rest: spent.append(seconds) or real(seconds, *rest)
    )
    told: list[Any] = []
    calls: list[int] = []
    for cost in ("uniform", "ordinal"):
        compare(
            "digits",
            cost=cost,
            budget="2m",
            out=tmp_path / "out",
            executor=InProcess(),
            report=lambda event, numbers: told.append((event, numbers)),
            **asked,
        )
        calls.append(Corners.calls)
    features = [numbers for event, numbers in told if event == "features"]
    assert [each["done"] for each in features] == sorted({each["done"] for each in features})
    assert features[-1]["done"] == features[-1]["of"]
    assert spent == [120 - features[-1]["seconds"]]
    assert calls[0] == calls[1] > 0
    assert [event for event, _ in told].count("as_before") == 1
