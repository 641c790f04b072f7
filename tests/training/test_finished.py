"""What a finished run says of new samples: names, probabilities, and what is cheapest to do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace import Decision, Run, compare, train
from labelspace.serving.take_home import take_home
from labelspace.sweeps.executors import InProcess

pandas = pytest.importorskip("pandas")
NAMES = ["big", "mid", "small"]
# true × decided
PRICES = np.array([[0.0, 1, 40], [2, 0, 1], [1, 1, 0]])
TEMPERATURE = 1.7


def table(rows: int = 120) -> Any:
    draw = np.random.default_rng(0)
    size = draw.normal(size=rows)
    label = np.array(["small", "mid", "big"])[np.digitize(size + draw.normal(0, 0.4, rows), [-0.4, 0.4])]
    return pandas.DataFrame({"size": size, "weight": draw.normal(50, 9, rows), "label": label})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs")
    return train(table(), label="label", model="linear", epochs=5, learning_rate=0.1, out=folder)


def softmax(scores: Any, temperature: float = 1.0) -> Any:
    raised = np.exp((scores - scores.max(1, keepdims=True)) / temperature)
    return raised / raised.sum(1, keepdims=True)


def test_names_indices_and_probabilities(run: Run) -> None:
    frame = table().drop(columns="label")
    scores = run.scores_of(frame).double().numpy()
    assert run.names == tuple(NAMES)
    np.testing.assert_array_equal(run.predict(frame).numpy(), scores.argmax(1))
    for given in (frame, frame.to_numpy(), frame.to_numpy().tolist()):
        assert run.predict(given, names=True) == [NAMES[index] for index in scores.argmax(1)]
    np.testing.assert_allclose(run.predict_proba(frame).numpy(), softmax(scores), rtol=1e-6)
    assert run.decide(frame) == run.predict(frame, names=True), "nothing says that mistakes differ"


@pytest.fixture(scope="module")
def home(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    decision = Decision("min_cost", TEMPERATURE, PRICES, NAMES)
    return take_home(run, decision, tmp_path_factory.mktemp("comparison") / "best").parent


def test_a_comparison_folder_is_its_best_run(run: Run, home: Path) -> None:
    frame = table().drop(columns="label")
    found = Run.load(home)
    assert found.folder == home / "best"
    p = softmax(run.scores_of(frame).double().numpy(), TEMPERATURE)
    np.testing.assert_allclose(found.predict_proba(frame).numpy(), p, rtol=1e-6)
    cheapest = [NAMES[index] for index in (p @ PRICES).argmin(1)]
    assert found.decide(frame) == cheapest != found.predict(frame, names=True)
    # the same run as training left it, with the comparison's decision
    for decision in (home, str(home), home / "best", home / "best" / "decision.json", found.decision):
        assert run.decide(frame, decision) == cheapest


def test_leaving_a_sample_to_somebody(run: Run) -> None:
    frame = table().drop(columns="label")
    p = softmax(run.scores_of(frame).double().numpy())
    costs = p @ PRICES
    wanted = [None if row.min() > 0.6 else NAMES[row.argmin()] for row in costs]
    found = run.decide(frame, Decision("min_cost", 1.0, PRICES, NAMES, abstain_cost=0.6))
    assert found == wanted
    assert 0 < wanted.count(None) < len(wanted)


def test_what_a_comparison_leaves_decides_as_it_judged(tmp_path: Path) -> None:
    prices = pandas.DataFrame(PRICES, index=NAMES, columns=NAMES)
    options: dict[str, Any] = {"methods": ["uniform"], "model": "linear", "seeds": 2, "epochs": 2}
    found = compare(
        table(), label="label", space=NAMES[::-1], cost=prices, out=tmp_path, executor=InProcess(), **options
    )
    best, frame = found.best, table().drop(columns="label")
    assert best.decision is not None
    p = softmax(best.scores_of(frame).double().numpy(), best.decision.temperature)
    assert best.decide(frame) == [NAMES[index] for index in (p @ PRICES).argmin(1)]
    assert Run.load(found.folder).decide(frame) == best.decide(frame)


def test_folders_that_are_not_there_are_called_that(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`folder` of Run.load must be the folder .* There is no folder .*nowhere\."):
        Run.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="a run with config.json"):
        Run.load(tmp_path)


def test_what_is_done_may_be_no_class(run: Run) -> None:
    frame, done = table().drop(columns="label"), [*NAMES, "order a test"]
    prices = np.column_stack([PRICES, np.full(len(NAMES), 0.6)])
    p = softmax(run.scores_of(frame).double().numpy())
    found = run.decide(frame, Decision("min_cost", 1.0, prices, NAMES, actions=done))
    assert found == [done[place] for place in (p @ prices).argmin(1)]
    assert 0 < found.count("order a test") < len(found)
