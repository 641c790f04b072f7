"""What the report draws is what was recorded: the same decisions, for every strength that was tried and every seed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from scipy.optimize import minimize_scalar

from labelspace.comparison import Comparison, compare
from labelspace.report.confusions import drawn_trial
from labelspace.report.measures import measured
from labelspace.report.reading import Material, read_comparison
from labelspace.space import LabelSpace
from labelspace.sweeps.executors import InProcess

Array = np.ndarray[Any, np.dtype[np.float64]]
PROBABILITIES = ["as is", "inverted"]


@pytest.fixture(scope="module", params=PROBABILITIES)
def digits(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    options: dict[str, Any] = {"methods": ["uniform", "semantic"], "model": "linear", "epochs": 4, "seeds": 2}
    strengths = {"uniform": [0.1, 0.3, 0.5], "semantic": [0.2, 0.5, 0.7]}
    return compare(
        "digits",
        **options,
        strengths=strengths,
        cost="squared",
        probabilities=request.param,
        out=tmp_path_factory.mktemp("drawn"),
        executor=InProcess(),
    )


def softmax(scores: Array) -> Array:
    raised: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def on_simplex(point: Array) -> Array:
    """Return the nearest point of the simplex, by halving the shift that makes its entries sum to 1."""
    low, high = point.min() - 1, point.max()
    for _ in range(200):
        shift = (low + high) / 2
        low, high = (shift, high) if np.clip(point - shift, 0, None).sum() > 1 else (low, shift)
    return np.clip(point - low, 0, None)


def by_hand(scores: Array, y: Array, relations: Array | None, strength: float) -> tuple[float, float]:
    """Return temperature and mean squared distance of minimum-cost decisions, in numpy from the equations."""
    logits = scores.astype(np.float64)
    if relations is not None:
        targets = (1 - strength) * np.eye(10) + strength * relations
        mixtures = softmax(logits) @ np.linalg.inv(targets)
        logits = np.log(np.clip([on_simplex(point) for point in mixtures], 1e-12, None))

    def nll(log_temperature: float) -> float:
        return -float(np.log(softmax(logits / np.exp(log_temperature))[np.arange(len(y)), y.astype(int)]).mean())

    temperature = float(np.exp(minimize_scalar(nll, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).x))
    prices = np.square(np.arange(10.0)[:, None] - np.arange(10.0)[None, :])
    called = (softmax(logits / temperature) @ prices).argmin(axis=1)
    return temperature, float(prices[y.astype(int), called].mean())


def cost_of(material: Material, counts: Any) -> float:
    assert material.cost is not None
    return float((counts * material.cost.matrix.double()).sum() / counts.sum())


def alike(first: Path) -> list[Path]:
    """Return the runs that choices are made with of the same method, space and strength as this one, itself first."""

    def what(folder: Path) -> Any:
        config = json.loads((folder / "config.json").read_text())
        return [config[name] for name in ("method", "method_options", "space")]

    there = [first.with_name(path.name) for path in first.parent.glob(f"{first.name.partition('-')[0]}-*-seed100?")]
    return sorted((folder for folder in there if what(folder) == what(first)), key=lambda path: path.name[-1])


def test_every_strength_is_drawn_as_it_was_recorded(digits: Comparison) -> None:
    assert digits.folder is not None
    _, material = read_comparison(digits.folder)
    for row, stored in zip(material.rows, _alone(digits), strict=True):
        for trial in row.trials:
            recorded = next(each for each in stored["trials"] if each["value"] == trial.value)
            counts = drawn_trial(material, row, trial)
            assert counts is not None
            if recorded["seeds"] == 1:  # of the best strengths a mean over seeds is recorded, and the first is drawn
                assert cost_of(material, counts) == pytest.approx(recorded["validation_cost"], rel=1e-9)


def test_what_was_recorded_is_what_the_equations_say(digits: Comparison) -> None:
    assert digits.folder is not None
    for row in _alone(digits)[1:]:
        for trial in row["trials"]:
            first = digits.folder / "runs" / trial["run"]
            assert first.name.endswith("-seed1000"), "none of the seeds that are judged"
            folders = alike(first)
            assert len(folders) == trial["seeds"]
            relations = LabelSpace.load(first / "label_space.safetensors").matrix.double().numpy()
            used = relations if row["inverted"] else None
            stored = [load_file(folder / "scores.safetensors") for folder in folders]
            found = [by_hand(each["validation_scores"], each["validation_y"], used, trial["value"]) for each in stored]
            assert trial["temperature"] == pytest.approx(found[0][0], rel=1e-3)
            # a temperature that differs in its sixth digit may move one of 300 decisions by one step or two
            assert trial["validation_cost"] == pytest.approx(sum(cost for _, cost in found) / len(found), abs=4 / 300)
        if row["role"] == "method":
            assert sorted(trial["seeds"] for trial in row["trials"]) == [1, 3, 3]


def test_decisions_on_test_data_too(digits: Comparison) -> None:
    assert digits.folder is not None
    _, material = read_comparison(digits.folder)
    for row, stored in zip(material.rows, _alone(digits), strict=True):
        found = measured(material, row)
        assert found is not None
        assert cost_of(material, found.confusion) == pytest.approx(stored["min_cost"]["cost"], rel=1e-9)
        assert found.risk["risk"][-1] == pytest.approx(stored["min_cost"]["cost"], rel=1e-3)


def test_without_prices_the_likeliest_class_is_drawn(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An inversion may change which class is likeliest; what is called without prices was never inverted."""
    found = compare(
        "digits",
        methods=["semantic"],
        model="linear",
        epochs=4,
        seeds=1,
        strengths={"semantic": [0.3, 0.7]},
        tuning=1,
        cost="uniform",
        probabilities="inverted",
        out=tmp_path_factory.mktemp("plain"),
        executor=InProcess(),
    )
    assert found.folder is not None
    _, material = read_comparison(found.folder)
    for row, stored in zip(material.rows, _alone(found), strict=True):
        counts = measured(material, row)
        assert counts is not None
        accuracy = float(counts.confusion.diagonal().sum() / counts.confusion.sum())
        assert accuracy == pytest.approx(stored["argmax"]["accuracy"], rel=1e-9)
        for trial, recorded in zip(row.trials, stored["trials"], strict=False):
            drawn = drawn_trial(material, row, trial)
            assert drawn is not None
            share = 1 - float(drawn.diagonal().sum() / drawn.sum())
            if recorded["seeds"] == 1:
                assert share == pytest.approx(recorded["validation_cost"], rel=1e-9)


def _alone(found: Comparison) -> list[Any]:
    """Return the rows that are drawn: several models that are one have no run of their own."""
    return [row for row in found.content["rows"] if row["role"] != "ensemble"]
