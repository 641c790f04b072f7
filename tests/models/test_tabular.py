"""The network for tables, against numpy in double precision."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import labelspace
from labelspace._checks import InputError
from labelspace.models import build, fit_inputs
from labelspace.models.tabular import WIDEST, Places
from labelspace.training.run import Run
from small_networks import seeded

Floats = NDArray[np.float64]


def reference(train: Floats, x: Floats, bins: int) -> Floats:
    """Return clipped numbers and their places, number by number."""
    found = [x / np.sqrt(1 + (x / 3) ** 2)]
    for column in range(x.shape[1]):
        edges = np.quantile(train[:, column], np.linspace(0, 1, bins + 1))
        for low, high in pairwise(edges):
            place = (x[:, column] - low) / (high - low) if high > low else np.zeros(len(x))
            found.append(np.clip(place, 0, 1)[:, None])
    return np.concatenate(found, axis=1)


def columns(samples: int, seed: int) -> Floats:
    """Return columns as tables have them: smooth, long-tailed, counted, a category, constant."""
    draws = np.random.default_rng(seed)
    tail, counted = np.exp(2 * draws.normal(size=samples)), draws.poisson(1.5, samples)
    category = draws.random(samples) < 0.1
    return np.stack([draws.normal(size=samples), tail, counted, category, np.zeros(samples)], axis=1)


@pytest.mark.parametrize("bins", [0, 2, 7, 32])
def test_places_are_those_of_numpy(bins: int) -> None:
    train, x = columns(500, 0), columns(200, 1) * 1.5
    layer = Places(5, bins).double()
    layer.fit_inputs(torch.from_numpy(train))
    torch.testing.assert_close(layer(torch.from_numpy(x)).numpy(), reference(train, x, bins))


def test_before_it_has_seen_anything_bins_are_those_of_a_normal_distribution() -> None:
    x = torch.randn(20_000, 1, generator=torch.Generator().manual_seed(0))
    places = Places(1, 4)(x)[:, 1:]
    torch.testing.assert_close(
        (places > 0).double().mean(dim=0), torch.tensor([1, 0.75, 0.5, 0.25]).double(), rtol=0, atol=0.02
    )


def test_it_starts_as_if_there_were_no_bins() -> None:
    model = seeded("table", (4,), dropout=0.0)
    x = torch.randn(6, 4)
    before = model(x)
    fit_inputs(model, 6, lambda rows: 3 * x[rows])
    torch.testing.assert_close(model(x), before, rtol=0, atol=0)


@pytest.mark.parametrize(("features", "bins"), [(3, 32), (WIDEST // 32, 32), (WIDEST // 8, 8), (WIDEST, 0)])
def test_many_numbers_get_fewer_bins(features: int, bins: int) -> None:
    places = build("table", (features,), 2, width=2).body[0]  # type: ignore[index]
    assert places.bins == bins


@pytest.mark.parametrize("options", [{"bins": -1}, {"width": 0}, {"layers": 0}, {"dropout": 1.0}, {"dropout": "much"}])
def test_options_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=rf"`{next(iter(options))}` of models.build\('table'\) must be"):
        build("table", (4,), 2, **options)


def steps(samples: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return numbers whose class depends on thresholds."""
    x = torch.rand(samples, 3, generator=torch.Generator().manual_seed(seed))
    return x, (10 * x[:, 0]).long() % 2


def test_automatic_for_tables_and_it_learns_thresholds(tmp_path: Path) -> None:
    data = {"train": steps(800, 0), "validation": steps(200, 1), "test": steps(200, 2)}
    options = {"learning_rate": 3e-3, "epochs": 12, "batch_size": 32}
    run = labelspace.train(data, **options, out=tmp_path)
    assert run.config.model == "table"
    plain = labelspace.train(data, model="mlp-128", **options)
    # five stripes: 0.96 against 0.57
    assert run.result["test"]["accuracy"] > 0.9 > 0.75 > plain.result["test"]["accuracy"]
    assert run.folder is not None
    loaded = Run.load(run.folder)
    x, _ = data["test"]
    torch.testing.assert_close(loaded.learner()(loaded_normalised(loaded, x)), run.scores["test_scores"])


def loaded_normalised(run: Run, x: torch.Tensor) -> torch.Tensor:
    """Return samples as the model of a run reads them."""
    mean, std = (torch.tensor(run.preprocessing[name]) for name in ("mean", "std"))  # type: ignore[literal-required]
    return (x - mean) / std
