"""ONNX graphs: the same answers as the library, for any number of samples, with what is needed to use them inside."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import data, methods
from labelspace.comparison.entries import takes_space
from labelspace.decisions import Isotonic, MatrixScaling
from labelspace.decisions.decision import Decision
from labelspace.decisions.rules import RULES, Rule
from labelspace.serving import onnx as onnx_export
from labelspace.serving.onnx import export_onnx
from labelspace.training.run import Run, train

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
pytest.importorskip("onnxscript")


def decision_of(run: Run, **options: Any) -> Decision:
    place = torch.arange(float(len(run.preprocessing["names"])))
    return Decision("min_cost", 1.3, (place[:, None] - place).square(), run.preprocessing["names"], **options)


def answers(path: Path, x: torch.Tensor) -> list[torch.Tensor]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return [torch.from_numpy(part) for part in session.run(None, {"x": x.numpy()})]


def check(run: Run, decision: Decision, path: Path, x: torch.Tensor) -> None:
    """Compare the graph with the library on real samples."""
    assert export_onnx(run, decision, path).difference < 1e-5
    probabilities, likeliest, decided = answers(path, x)
    scores = run.scores_of(x)
    torch.testing.assert_close(probabilities, decision.probabilities(scores).float(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(likeliest, decision.likeliest(scores))
    wanted = decision.decide(scores)
    torch.testing.assert_close(decided, torch.where(wanted.abstained, -1, wanted.classes))


def test_digits_with_prices_and_abstention(tmp_path: Path) -> None:
    digits = data.load("digits")
    run = train(digits, model="linear", epochs=8, learning_rate=0.01)
    decision = decision_of(run, abstain_cost=4.0)
    check(run, decision, tmp_path / "m.onnx", digits.test.x)
    _, likeliest, decided = answers(tmp_path / "m.onnx", digits.test.x)
    assert (decided == -1).any()
    assert ((decided != -1) & (decided != likeliest)).any()
    facts = onnxruntime.InferenceSession(tmp_path / "m.onnx").get_modelmeta().custom_metadata_map
    assert {name: json.loads(facts[name]) for name in decision.plain()} == decision.plain()
    assert json.loads(facts["preprocessing"])["names"] == list(digits.names)
    assert "data" not in json.loads(facts["config"]), "where data lay is nobody's business"


@pytest.mark.parametrize("made", [MatrixScaling, Isotonic])
def test_a_calibrator_and_other_class_frequencies(made: type[MatrixScaling | Isotonic], tmp_path: Path) -> None:
    x = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] + 0.7 * torch.randn(200, generator=torch.Generator().manual_seed(1)) > 0.8).long()
    run = train((x.numpy(), [["no", "yes"][each] for each in y.tolist()]), model="linear", epochs=2)
    scores = run.scores_of(x.numpy())
    fitted = made().fit(scores, y)
    decision = Decision(
        "min_cost", 1.0, [[0, 1], [3, 0]], run.names, calibration=fitted, frequencies=[0.7, 0.3], prior=[0.4, 0.6]
    )
    assert not torch.equal(decision.likeliest(scores), scores.argmax(dim=1))
    check(run, decision, tmp_path / "m.onnx", x)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in methods() if name != "kd"])
def test_every_method(method: str, tmp_path: Path) -> None:
    space = "ordinal" if takes_space(method) else None
    run = train("digits", method=method, space=space, model="mlp-16", epochs=2, limit=200)
    check(run, decision_of(run), tmp_path / "m.onnx", data.load("digits").test.x)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "bfloat16"])
def test_other_precisions_are_written_in_single(precision: str, tmp_path: Path) -> None:
    run = train("digits", model="linear", epochs=1, limit=100, precision=precision)
    assert export_onnx(run, decision_of(run), tmp_path / "m.onnx").difference < 1e-5
    assert answers(tmp_path / "m.onnx", data.load("digits").test.x[:3])[0].dtype == torch.float32


@pytest.mark.slow
def test_colour_pictures_and_convolutions(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    x, y = draw.integers(0, 256, (60, 3, 16, 16), dtype=np.uint8), np.arange(60) % 3
    run = train((x, y), model="resnet8-small", epochs=1)
    check(run, Decision("argmax", 0.5, None, run.preprocessing["names"]), tmp_path / "m.onnx", torch.from_numpy(x))


@pytest.mark.slow
def test_columns_and_texts(tmp_path: Path) -> None:
    lines = [f"{i * 7 % 60},{'red' if i % 3 else 'blue'},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("v,colour,label\n" + "\n".join(lines) + "\n")
    run = train(tmp_path / "t.csv", model="mlp-8", epochs=1)
    check(run, decision_of(run), tmp_path / "m.onnx", data.load(tmp_path / "t.csv").test.x)
    lines = [f"{'good' if i % 2 else 'bad'} film number {i},{i % 2}" for i in range(60)]
    (tmp_path / "s.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    run = train(tmp_path / "s.csv", model="text-bag", epochs=1, data_options={"max_length": 6})
    check(run, decision_of(run), tmp_path / "s.onnx", data.load(tmp_path / "s.csv", max_length=6).test.x)


def test_networks_that_saw_training_inputs(tmp_path: Path) -> None:
    lines = [f"{i**1.5},{'red' if i % 3 else 'blue'},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("v,colour,label\n" + "\n".join(lines) + "\n")
    run = train(tmp_path / "t.csv", model="table", model_options={"bins": 4, "width": 8}, epochs=2)
    check(run, decision_of(run), tmp_path / "m.onnx", data.load(tmp_path / "t.csv").test.x)
    lines = [f"{'good ' * (i % 4)}film number {i},{i % 2}" for i in range(60)]
    (tmp_path / "s.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    run = train(tmp_path / "s.csv", model="text-tfidf", epochs=2, data_options={"max_length": 6})
    check(run, decision_of(run), tmp_path / "s.onnx", data.load(tmp_path / "s.csv", max_length=6).test.x)


@pytest.mark.slow
def test_a_text_transformer(tmp_path: Path) -> None:
    lines = [f"{'good ' * (i % 5)}film number {i},{i % 2}" for i in range(60)]
    (tmp_path / "s.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    run = train(tmp_path / "s.csv", model="text-transformer", epochs=1, data_options={"max_length": 6})
    check(run, decision_of(run), tmp_path / "s.onnx", data.load(tmp_path / "s.csv", max_length=6).test.x)


def test_a_graph_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = train("digits", model="linear", epochs=8, learning_rate=0.01)
    (tmp_path / "m.onnx").write_bytes(b"an older one")
    wrong = Decision("argmax", 1.001, None, run.preprocessing["names"])

    def other(self: onnx_export.Deployed, x: torch.Tensor) -> Any:
        p, likeliest, decided = onnx_export.Deployed(self.run, wrong).forward(x)
        return p.detach(), likeliest, decided

    monkeypatch.setattr(onnx_export.Deployed, "expected", other)
    with pytest.raises(RuntimeError, match=r"differs from torch by .* where 0.0001 is allowed"):
        export_onnx(run, Decision("argmax", 1.0, None, run.preprocessing["names"]), tmp_path / "m.onnx")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("m.onnx", b"an older one")]


def test_another_class_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    run = train("digits", model="linear", epochs=8, learning_rate=0.01)
    module = onnx_export.Deployed(run, decision_of(run)).eval()

    class Session:
        """Says the right probabilities and, of one sample, another decision."""

        def run(self, _: Any, feed: dict[str, Any]) -> list[Any]:
            found = [part.detach().numpy().copy() for part in module(torch.from_numpy(feed["x"]))]
            found[2][0] = (found[2][0] + 5) % 10
            return found

    assert onnx_export._difference(Session(), module, 4) == float("inf")


def test_a_network_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = train("digits", model="linear", epochs=1, limit=100)

    def fails(*_: object, **__: object) -> None:
        raise TypeError("no such operation\nand much more")

    monkeypatch.setattr("torch.onnx.export", fails)
    with pytest.raises(RuntimeError, match="cannot be written as ONNX: no such operation$"):
        export_onnx(run, decision_of(run), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_rule_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def by_hand(scores: torch.Tensor, _: torch.Tensor, __: torch.Tensor | None) -> torch.Tensor:
        return torch.tensor([row.index(min(row)) for row in scores.tolist()])

    monkeypatch.setitem(RULES, "unlikeliest", Rule("the unlikeliest class", "unlikeliest class", False, by_hand))
    run = train("digits", model="linear", epochs=1, limit=100)
    decision = Decision("unlikeliest", 1.0, None, run.preprocessing["names"])
    scores = run.scores["test_scores"]
    torch.testing.assert_close(decision.decide(scores).classes, scores.argmin(dim=1))
    with pytest.raises(RuntimeError, match="cannot be written as ONNX: "):
        export_onnx(run, decision, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rule", ["min_cost", "argmax"])
def test_actions_are_those_of_the_library(rule: str, tmp_path: Path) -> None:
    digits = data.load("digits")
    run = train(digits, model="linear", epochs=2, learning_rate=0.01, limit=300)
    place = torch.arange(10.0)
    # an even digit may be called so, a doubtful one asked about, and five is no answer
    even = torch.where(place % 2 == 0, 0.5, 4.0)
    table = torch.stack([*(place[:, None] - place).square().T[:5], even, torch.full((10,), 1.2)], dim=1)
    done = [*digits.names[:5], "some even digit", "ask"]
    decision = Decision(rule, 1.3, table, digits.names, actions=done)
    if rule == "min_cost":
        decision = decision.with_capacity(run.scores["validation_scores"], {"ask": 0.1})
    export_onnx(run, decision, tmp_path / "m.onnx")
    wanted = decision.decide(run.scores_of(digits.test.x)).actions
    torch.testing.assert_close(answers(tmp_path / "m.onnx", digits.test.x)[2], wanted)
    assert (wanted >= 5).any()
    facts = onnxruntime.InferenceSession(tmp_path / "m.onnx").get_modelmeta().custom_metadata_map
    assert json.loads(facts["actions"]) == done
