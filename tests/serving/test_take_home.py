"""A run taken home: the folder, the model card, and what may be written in them."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace import metrics
from labelspace._checks import DamagedError
from labelspace.decisions.decision import Decision
from labelspace.serving.alone import Alone, load
from labelspace.serving.card import card
from labelspace.serving.predictions import ready
from labelspace.serving.take_home import take_decision, take_home, tidy
from labelspace.training.run import Run, train
from small_results import result

COMPARISON = result(
    title="digits · 10 classes · linear",
    verdict={"kind": "cheaper", "sentences": ["Semantic labels cost 0.71 per sample.", "The order did it."]},
    warnings=["Three seeds are few."],
    command="labelspace compare digits --cost squared",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs")
    options = {"model": "linear", "epochs": 2, "learning_rate": 0.01}
    return train("digits", method="semantic", space="ordinal", smoothing=0.3, out=out, **options)


@pytest.fixture
def decision(run: Run) -> Decision:
    place = torch.arange(10.0)
    return Decision("min_cost", 1.3, (place[:, None] - place).square(), run.preprocessing["names"], abstain_cost=2.0)


def test_the_folder_is_a_run_that_decides(run: Run, decision: Decision, tmp_path: Path) -> None:
    home = take_home(run, decision, tmp_path / "deep" / "best", COMPARISON)
    loaded, stored = ready(home)
    assert loaded.result == run.result
    torch.testing.assert_close(loaded.weights, run.weights)
    assert stored.plain() == decision.plain()
    assert json.loads((home / "decision.json").read_text())["temperature"] == 1.3
    assert (home / "README.md").read_text() == card(run, decision, COMPARISON)
    assert run.folder is not None
    for name in ("model.safetensors", "label_space.safetensors", "scores.safetensors", "config.json", "result.json"):
        assert (home / name).read_bytes() == (run.folder / name).read_bytes()
    assert not list(home.glob("checkpoint*")) + list(home.glob(".*"))


def test_a_decision_that_is_lost_is_damage(run: Run, decision: Decision, tmp_path: Path) -> None:
    home = take_home(run, decision, tmp_path / "best")
    (home / "decision.json").unlink()
    with pytest.raises(DamagedError, match=r"decision.json: it is missing\. The command that made the run"):
        ready(home)
    with pytest.warns(UserWarning, match="decision.json is damaged"):
        assert ready(home, allow_damaged=True).decision.rule == "argmax"


def test_a_run_that_was_never_on_disk(decision: Decision, tmp_path: Path) -> None:
    run = train("digits", model="linear", epochs=1, limit=100)
    home = take_home(run, decision, tmp_path / "best")
    torch.testing.assert_close(Run.load(home).scores, run.scores)


def test_what_is_not_ours_stays(run: Run, decision: Decision, tmp_path: Path) -> None:
    home = take_home(run, decision, tmp_path / "best")
    (home / "predictions.csv").write_text("somebody's")
    take_home(run, Decision("argmax", 2.0, None, decision.names), home)
    assert (home / "predictions.csv").read_text() == "somebody's"
    assert ready(home).decision.rule == "argmax"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_what_fails_half_way_leaves_the_old_folder(
    run: Run, decision: Decision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = take_home(run, decision, tmp_path / "best")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("labelspace.serving.take_home._files.write_bytes", full)
    with pytest.raises(ValueError, match="`folder` of take_home must be a folder that can be written.*No space left"):
        take_home(run, Decision("argmax", 2.0, None, decision.names), home)
    assert ready(home).decision.rule == "min_cost"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_a_decision_about_other_classes_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the classes of the run, in its order"):
        take_home(run, Decision("argmax", 1.0, None, ["a", "b"]), tmp_path / "best")


def test_the_card_says_what_was_measured(run: Run, decision: Decision) -> None:
    text = card(run, decision, COMPARISON)
    scores, y = run.scores["test_scores"], run.scores["test_y"]
    p = torch.softmax(scores.double() / 1.3, dim=1)
    prices = torch.as_tensor(decision.cost)
    cheapest = (p @ prices).argmin(dim=1)
    for guesses, words in ((scores.argmax(1), "likeliest class"), (cheapest, "least expected cost")):
        accuracy, paid = (guesses == y).double().mean().item(), prices[y, guesses].mean().item()
        assert f"| {words} | {accuracy:.4f} | {paid:.4g} |" in text
    assert f"calibration error {metrics.calibration_error(p, y):.4f}" in text
    silent = ((p @ prices).amin(dim=1) > 2.0).double().mean().item()
    assert f"abstains on {silent:.1%}" in text
    assert f"| 3 | {int((y == 3).sum())} | {((cheapest == y) & (y == 3)).sum() / (y == 3).sum():.3f} |" in text


def test_accuracy_beside_actions_is_called_that_of_some(run: Run, decision: Decision) -> None:
    assert "| decision | accuracy ↑ |" in card(run, decision, COMPARISON)
    prices = torch.cat([torch.as_tensor(decision.cost), torch.full((10, 1), 2.0)], dim=1)
    asking = Decision("min_cost", 1.3, prices, decision.names, actions=[*decision.names, "ask"])
    assert "| decision | accuracy of called ↑ |" in card(run, asking, COMPARISON)


def test_the_card_has_every_section(run: Run, decision: Decision) -> None:
    text = card(run, decision, COMPARISON)
    for words in (
        "# A classifier of 10 classes: digits",
        "on 800 train, 300 validation, 697 test samples",
        "semantic (smoothing 0.3)",
        "relations, 10 × 10, from ordinal",
        "| temperature | 1.3",
        "**Cheaper.** Semantic labels cost 0.71 per sample. The order did it.",
        "- Three seeds are few.",
        "labelspace predict . PICTURES/",
        'Run.load(".")',
    ):
        assert words in text, words
    alone = card(run, Decision("argmax", 1.0, None, decision.names))
    assert "How it was chosen" not in alone
    assert "cost per sample" not in alone


def test_the_lines_of_python_run(run: Run, decision: Decision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = take_home(run, decision, tmp_path / "best")
    lines = (home / "README.md").read_text().split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(home)
    monkeypatch.setattr(Run, "scores_of", lambda self, x: self.scores["test_scores"] if x == "PICTURES/" else None)
    found: dict[str, Any] = {}
    exec(lines, found)
    assert len(found["names"]) == 697


def test_names_that_markdown_would_take_for_something_else(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "a|b", "*x*", "new\nline"]
    x, y = [[float(i), float(i * i % 7)] for i in range(80)], [names[i % 4] for i in range(80)]
    run = train((x, y), model="linear", epochs=1)
    text = card(run, Decision("argmax", 1.0, None, run.preprocessing["names"]))
    assert "<script>" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") in (3, 4, 5) for line in rows)
    assert "| a\\|b | 3 |" in text
    assert "| new line |" in text
    assert "Fewer than 10 test samples of 4 classes" in text


def test_many_classes_are_cut() -> None:
    y = [f"class {i % 60}" for i in range(600)]
    run = train(([[float(i)] for i in range(600)], y), model="linear", epochs=1)
    text = card(run, Decision("argmax", 1.0, None, run.preprocessing["names"]))
    assert "… and 20 more" in text


def test_a_decision_takes_the_place_of_a_run_and_the_other_way_round(
    run: Run, decision: Decision, tmp_path: Path
) -> None:
    """Nothing of the one is left beside the other; what somebody put there stays."""
    best = take_home(run, decision, tmp_path / "best")
    (best / "notes.txt").write_text("mine")
    take_decision(Alone(decision, "logits", "model"), best, "a card")
    kept = ["README.md", "decision.json", "notes.txt", "scores.json"]
    assert sorted(path.name for path in best.iterdir()) == kept
    assert load(best).kind == "logits"
    take_home(run, decision, best)
    assert not (best / "scores.json").exists()
    assert ready(best).decision.plain() == decision.plain()


def test_a_whole_decision_that_a_killed_process_left_is_put_in_place(decision: Decision, tmp_path: Path) -> None:
    best = take_decision(Alone(decision, "logits", "model"), tmp_path / "best", "a card")
    stale = tmp_path / f".best.{'0' * 32}.part"
    best.rename(stale)
    tidy(best)
    assert load(best).model == "model"
    best.rename(stale)
    (stale / "README.md").unlink()  # it comes last
    tidy(best)
    assert not best.exists()
    assert not stale.exists()
