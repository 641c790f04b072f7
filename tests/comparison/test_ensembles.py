"""All seeds of a row as one model: judged by its own decision, taken home whole, refused where a part is lost."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from comparison.small import write_table
from labelspace import InputError, Run, compare, data
from labelspace.cli.main import app
from labelspace.comparison import Comparison, classified
from labelspace.comparison.chosen import Offer, is_worth_several
from labelspace.report.document import Room
from labelspace.report.reading import read_comparison
from labelspace.report.whatif import what_if
from labelspace.serving.onnx import export_onnx
from labelspace.sweeps.executors import InProcess

OPTIONS = {"methods": ["uniform"], "strengths": {"uniform": [0.1]}, "model": "linear", "epochs": 20, "seeds": 3}
OPTIONS |= {"cost": "squared", "rivals": "GaussianNB,ExtraTrees", "space": "uniform", "learning_rate": 0.05}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    place = tmp_path_factory.mktemp("ensembles")
    table = write_table(place / "steps.csv", ["1", "2", "3"])
    with pytest.MonkeyPatch.context() as patch:  # so that one is taken home, however little it saves
        patch.setattr(classified, "is_worth_several", lambda one, several, groups: True)
        found = compare(
            table,
            out=place,
            executor=InProcess(),
            **OPTIONS,
        )
    return found, table


def test_the_reference_the_winner_and_the_best_rival_that_draws(compared: tuple[Comparison, Path]) -> None:
    rows = [row for row in compared[0].result.rows if row.role == "ensemble" and not row.mixed]
    labels = [row.label for row in rows]
    assert labels[:2] == ["3 × one-hot", "3 × uniform"]
    assert labels[2].startswith("3 × ExtraTrees")
    assert len(set(labels)) == len(labels), "what is cheapest too is there once"
    assert all(len(row.runs) == 3 and len(row.temperatures or ()) == 1 for row in rows)
    assert all(row.change is not None and row.change.seeds == 1 for row in rows)


def test_its_decisions_are_those_of_the_mean(compared: tuple[Comparison, Path]) -> None:
    """In numpy: probabilities after each member's own calibration, their mean, one temperature, prices."""
    found, table = compared
    best = Run.load(found.folder)
    row = next(
        row for row in found.result.rows if found.result.best is not None and row.label == found.result.best.label
    )
    assert row.role == "ensemble"
    x, y = data.load(table).test.x, data.load(table).test.y.numpy()
    parts = []
    for name, member in zip(row.runs, best.members, strict=True):
        alone = Run.load(found.folder / "runs" / name)
        torch.testing.assert_close(alone.scores_of(x), member.scores_of(x), rtol=0, atol=0)
        assert member.decision is not None
        parts.append(member.decision.probabilities(alone.scores_of(x)).double().numpy())
    mean = np.mean(parts, axis=0)
    torch.testing.assert_close(best.scores_of(x).double().exp(), torch.from_numpy(mean), rtol=1e-5, atol=1e-6)
    p = best.predict_proba(x).double().numpy()
    cost = np.square(np.arange(3)[:, None] - np.arange(3))
    called = (p @ cost).argmin(axis=1)
    assert [best.names[place] for place in called] == best.decide(x)
    assert row.min_cost is not None
    assert row.min_cost.cost == pytest.approx(cost[y, called].mean())
    assert found.result.verdict.advice.startswith(f"Take {row.label} averaged with minimum-cost decisions: ")
    assert "it takes 3 times as long to run as one" in found.result.verdict.advice.lower()


def test_a_member_that_is_lost_or_another_is_refused(compared: tuple[Comparison, Path], tmp_path: Path) -> None:
    found, _ = compared
    for harm, said in {
        "gone": "one of several models that are one is missing",
        "other": "it is another run than the one that was taken home",
        "damaged": "its content is not what the run was finished with",
        "list": "it is missing",
    }.items():
        home = Path(shutil.copytree(found.folder / "best", tmp_path / harm))
        if harm == "gone":
            shutil.rmtree(home / "members" / "1")
        elif harm == "other":
            shutil.rmtree(home / "members" / "1")
            shutil.copytree(home / "members" / "2", home / "members" / "1")
        elif harm == "damaged":
            weights = home / "members" / "1" / "model.safetensors"
            weights.write_bytes(weights.read_bytes()[:-1] + b"x")
        else:
            (home / "members.json").unlink()
        with pytest.raises(InputError, match=said):
            Run.load(home)


NOT_WRITTEN = "its content is not what was written"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (None, "it is missing, and without it nothing says what members/ are"),
        (lambda said: "{oops", NOT_WRITTEN),
        (lambda said: "", NOT_WRITTEN),
        (lambda said: json.dumps({**said, "shares": [1.0]}), NOT_WRITTEN),
        (lambda said: json.dumps({**said, "shares": [0.5, 0.5, "much"]}), NOT_WRITTEN),
        (lambda said: json.dumps({**said, "shares": [0.5, 0.5, -0.5]}), NOT_WRITTEN),
        (lambda said: json.dumps({**said, "shares": [0.5, 0.5, 0.5]}), NOT_WRITTEN),
        (lambda said: json.dumps({**said, "shares": "alike"}), NOT_WRITTEN),
    ],
    ids=["missing", "no JSON", "empty", "too few", "no number", "negative", "too much", "no list"],
)
def test_a_list_of_members_that_is_not_what_was_written_is_refused_also_where_damage_is_allowed(
    compared: tuple[Comparison, Path], tmp_path: Path, change: Any, said: str
) -> None:
    home = Path(shutil.copytree(compared[0].folder / "best", tmp_path / "best"))
    path = home / "members.json"
    written = json.loads(path.read_text())
    if change is None:
        path.unlink()
    else:
        path.write_text(change({name: value for name, value in written.items() if name != "digest"}))
    with pytest.raises(InputError, match=said):
        Run.load(home, allow_damaged=True)


def test_members_of_equal_weight_were_all_that_was_written_before(
    compared: tuple[Comparison, Path], tmp_path: Path
) -> None:
    home = Path(shutil.copytree(compared[0].folder / "best", tmp_path / "best"))
    written = json.loads((home / "members.json").read_text())
    (home / "members.json").write_text(json.dumps({"seals": written["seals"]}))
    assert list(Run.load(home).shares) == [1 / 3] * 3


def test_predict_decides_by_the_mean_and_the_card_says_what_it_is(compared: tuple[Comparison, Path]) -> None:
    found, table = compared
    best = Run.load(found.folder)
    done = CliRunner().invoke(app, ["predict", str(found.folder / "best"), str(table)])
    assert done.exit_code == 0, done.output
    told = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["decision"] for row in told] == best.decide(table)
    said = (found.folder / "best" / "README.md").read_text(encoding="utf-8")
    assert f"| model | {len(best.members)} × " in said
    assert repr(best).startswith(f"Run({len(best.members)} models as one, {best.members[0].config.method} ")
    assert repr(best).count("; ") == len(best.members) - 1
    assert "seeds 0, 1, 2." in said


def test_several_networks_are_one_graph(compared: tuple[Comparison, Path], tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    best, x = Run.load(compared[0].folder), data.load(compared[1]).test.x
    assert {member.config.model for member in best.members} == {"linear"}
    assert export_onnx(best, best.deciding, tmp_path / "best.onnx").difference < 1e-5
    session = onnxruntime.InferenceSession(tmp_path / "best.onnx", providers=["CPUExecutionProvider"])
    p, _, decision = (torch.from_numpy(each) for each in session.run(None, {"x": x.numpy()}))
    torch.testing.assert_close(p, best.predict_proba(x).float(), rtol=1e-4, atol=1e-5)
    assert [best.names[place] for place in decision.tolist()] == best.decide(x)


def test_it_has_no_features(compared: tuple[Comparison, Path]) -> None:
    best = Run.load(compared[0].folder)
    with pytest.raises(InputError, match="of one network"):
        best.features(data.load(compared[1]).test.x)
    assert compared[0].save_html().stat().st_size > 0


def test_nothing_is_judged_twice(compared: tuple[Comparison, Path]) -> None:
    found, table = compared
    told: list[str] = []
    options = {"out": found.folder.parent, "executor": InProcess(), "report": lambda event, _: told.append(event)}
    again = compare(table, **options, **OPTIONS)
    assert "unchanged" in told
    assert again.result == found.result


def test_one_model_is_taken_where_validation_data_cannot_tell() -> None:
    one = Offer(torch.tensor([[1.0, 0.0] * 20]), 0.5)
    assert is_worth_several(one, Offer(torch.zeros(1, 40), 0.5))
    assert not is_worth_several(one, Offer(torch.tensor([[0.0, 1.0] * 20]), 0.1))
    assert not is_worth_several(one, one)


@pytest.fixture(scope="module")
def alike(compared: tuple[Comparison, Path], tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Return a comparison of the same whose network, Bayes and trees validation data do not tell apart."""
    place = tmp_path_factory.mktemp("alike")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classified, "is_worth_several", lambda one, several, groups: False)
        patch.setattr(classified, "alike", lambda offers: [1, 2, 3])
        return compare(compared[1], out=place, executor=InProcess(), **OPTIONS)


def test_rows_that_cannot_be_told_apart_are_averaged(alike: Comparison, compared: tuple[Comparison, Path]) -> None:
    """In numpy: all models of each row, one where its seeds gave the same, calibrated; the mean of the rows' means."""
    rows, best = alike.result.rows, Run.load(alike.folder)
    row = next(row for row in rows if row.mixed)
    assert (row.label, row.of, row.method, row.structured, len(row.runs)) == ("average of 7", None, "", False, 7)
    assert alike.result.best is not None
    assert alike.result.best.label == row.label
    labels = [next(one.label for one in rows if run in one.runs) for run in row.runs]
    assert labels == ["uniform"] * 3 + ["GaussianNB"] + ["ExtraTrees"] * 3
    part = data.load(compared[1]).test
    members = [Run.load(alike.folder / "runs" / name) for name in row.runs]
    by = [member.decision for member in best.members]
    pairs = zip(by, members, strict=True)
    parts = [how.probabilities(one.scores_of(part.x)).double().numpy() for how, one in pairs if how is not None]
    mean = (np.mean(parts[:3], axis=0) + parts[3] + np.mean(parts[4:], axis=0)) / 3
    assert len(parts) == 7
    torch.testing.assert_close(best.scores_of(part.x).double().exp(), torch.from_numpy(mean), rtol=1e-5, atol=1e-6)
    cost = np.square(np.arange(3)[:, None] - np.arange(3))
    called = (best.predict_proba(part.x).double().numpy() @ cost).argmin(axis=1)
    assert [best.names[place] for place in called] == best.decide(part.x)
    assert row.min_cost is not None
    assert row.min_cost.cost == pytest.approx(cost[part.y.numpy(), called].mean())


def test_it_is_said_what_is_averaged(alike: Comparison, tmp_path: Path) -> None:
    advice = alike.result.verdict.advice
    said = "Take the average of 7 models (3 × uniform; GaussianNB; 3 × ExtraTrees) with minimum-cost decisions: "
    assert advice.startswith(said)
    assert "alidation data do not tell them apart; it takes 7 times as long to run as one (" in advice
    assert "Too few rows" not in advice
    card = (alike.folder / "best" / "README.md").read_text(encoding="utf-8")
    assert "| model | 7 models: the mean of their calibrated probabilities |" in card
    assert "| members/3 | sklearn:GaussianNB; onehot: " in card
    said = alike.methods_text()
    assert "Validation data did not tell 3 rows apart; their 7 models were averaged (" in said
    best, first = Run.load(alike.folder), Run.load(alike.folder / "best" / "members" / "0")
    assert first.config.method == "uniform"
    assert first.deciding.rule == "min_cost"  # so that it can be exported by itself
    assert alike.folder is not None
    found: Any = what_if(read_comparison(alike.folder)[1], Room(10**7))
    assert [row["label"] for row in found["rows"]] == ["uniform", "one-hot"]
    with pytest.raises(
        InputError, match=r"7 models averaged, 4 of them no network.*Its networks are members/0, members/1, members/2:"
    ):
        export_onnx(best, best.deciding, tmp_path / "best.onnx")
    assert alike.save_html().stat().st_size > 0
