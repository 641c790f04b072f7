"""Rivals: which ones, on what data, as rows of a comparison, and taken home where they win."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB

from comparison.small import single, write_table
from labelspace import InputError, Run, compare, data
from labelspace.comparison import rivals
from labelspace.comparison.rivals import asked, entries_of
from labelspace.report.table import markdown_table, text_table
from labelspace.sweeps.executors import InProcess


def dataset(kind: str, samples: int, classes: int = 3, shape: tuple[int, ...] = (4,)) -> SimpleNamespace:
    words = ("<padding>", "<unknown>", "film") if kind == "text" else None
    names = tuple(map(str, range(classes)))
    return SimpleNamespace(kind=kind, train=range(samples), names=names, input_shape=shape, vocabulary=words)


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (dataset("table", 500), ["HistGradientBoosting", "LogisticRegression", "ExtraTrees", "SVC"]),
        (dataset("features", 20_000), ["HistGradientBoosting", "LogisticRegression", "ExtraTrees"]),
        (dataset("images", 800, 10, (1, 8, 8)), ["LogisticRegression", "ExtraTrees", "SVC"]),
        (dataset("images", 800, 10, (3, 32, 32)), []),
        (dataset("table", 300_000), []),
        (dataset("table", 5_000, 345), []),
        (dataset("text", 500), ["LogisticRegression"]),
        (dataset("sequences", 500), []),
    ],
)
def test_what_suits_the_data_and_what_is_left_out(given, labels: list[str]) -> None:
    entries, notes = entries_of(("auto",), given)
    assert [entry.label for entry in entries] == labels
    fit = [label for label, each in {**rivals.USUAL, **({}, rivals.OF_TEXTS)[given.kind == "text"]}.items()
           if given.kind in each.kinds]  # fmt: skip
    for label in fit:
        assert (label in labels) != any(label in note for note in notes)
    assert all(entry.role == "rival" and entry.method == "onehot" for entry in entries)


def test_what_does_not_draw_is_fitted_once() -> None:
    entries, _ = entries_of(("auto",), dataset("table", 500))
    assert {entry.label: entry.once for entry in entries}["ExtraTrees"] is False
    assert {entry.label: entry.once for entry in entries}["HistGradientBoosting"] is True
    entries, _ = entries_of(("auto",), dataset("table", 50_000))
    assert {entry.label: entry.once for entry in entries}["HistGradientBoosting"] is False


def test_names_and_objects() -> None:
    names = asked(["SVC", GaussianNB(), "sklearn:StandardScaler+KNeighborsClassifier"])
    entries, notes = entries_of(names, dataset("images", 10**6, 10, (3, 32, 32)))  # asked for, whatever it takes
    assert [entry.label for entry in entries] == ["SVC", "GaussianNB", "StandardScaler+KNeighbors"]
    assert notes == []
    assert asked(ExtraTreesClassifier())[0].startswith("given-ExtraTreesClassifier-")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("none,SVC", "none, or some"),
        ("SVD", "the name of a class of scikit-learn. Got 'SVD'. Did you mean 'SVC'"),
        ("timm:resnet18", "Networks are given as model="),
        (KMeans(), "KMeans, which has neither"),
    ],
)
def test_others_are_refused_in_a_line(given: object, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        entries_of(asked(given), dataset("table", 100))
    assert str(caught.value).startswith("`rivals` of compare")
    with pytest.raises(InputError, match="left out for sequences"):
        entries_of(("SVC",), dataset("sequences", 100))


def test_as_many_trials_as_methods_have_where_they_are_soon_fitted() -> None:
    entries, notes = entries_of(("auto", "GaussianNB"), dataset("table", 500), trials=3)
    tried = {entry.label: entry.trials() for entry in entries}
    assert [len(tried[label]) for label in rivals.USUAL] == [3, 3, 3, 3]
    assert tried["SVC"] == [{"C": 0.1}, {"C": 1.0}, {"C": 100.0}]
    assert (tried["GaussianNB"], notes) == ([{}], [])
    entries, notes = entries_of(("auto",), dataset("table", 9_000, 10), trials=3)
    assert {entry.label: len(entry.trials()) for entry in entries}["SVC"] == 1
    assert notes == ["Too slow to be tuned on so many samples, and fitted with their defaults: SVC."]


def test_a_module_and_its_estimator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "from sklearn.naive_bayes import GaussianNB\n\n\nclass Mine(GaussianNB):\n    pass\n\n\nready = Mine()\n"
    (tmp_path / "brought_along.py").write_text(content + "number = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names = asked("brought_along:Mine, brought_along:ready,sklearn.svm:SVC")
    entries, _ = entries_of(names, dataset("table", 100))
    assert [entry.label for entry in entries] == ["Mine", "SVC"]  # the same by another name is the same
    for text, said in {
        "brought_along:number": "which is none",
        "brought_along:Yours": "which fails: AttributeError: module 'brought_along' has no attribute 'Yours'",
        "nowhere:Mine": "which fails: ModuleNotFoundError: No module named 'nowhere'",
        "sklearn.cluster:KMeans": "KMeans, which has neither",
        "sklearn.linear_model:LinearRegression": "LinearRegression, which has neither",
    }.items():
        with pytest.raises(InputError, match=re.escape(said)) as caught:
            asked(text)
        assert str(caught.value).startswith("`rivals` of compare")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory):
    out, bad = tmp_path_factory.mktemp("rivals"), GaussianNB(var_smoothing=-1.0)
    options = {"methods": ["uniform"], "model": "linear", "seeds": 2, "epochs": 2, "limit": 200, "cost": "squared"}
    given = ["SVC", ExtraTreesClassifier(10), bad]
    found = compare("digits", rivals=given, out=out, executor=InProcess(), **options)
    return found, lambda **more: compare("digits", out=out, executor=InProcess(), **{**options, **more}), given


def test_rivals_are_rows_of_their_own(compared) -> None:
    result = compared[0].result
    assert [row.role for row in result.rows[:6]] == ["reference", "method", *["rival"] * 4]
    vectors, forest = result.rows[2:4]
    assert (vectors.label, forest.label) == ("SVC", "ExtraTrees")
    # what is usual is tuned as methods are, what is given has its own settings
    # as many as the method has, but for what is tried further out
    assert 5 <= len(vectors.trials) <= 7
    assert 5 <= len(result.rows[1].trials) <= 7
    assert len(forest.trials) == 1
    assert vectors.strength is not None
    assert vectors.strength.value == min(vectors.trials, key=lambda trial: trial.validation_cost).value
    assert forest.strength is None
    assert len(set(vectors.runs)) == 1
    assert len(vectors.runs) == len(set(forest.runs)) == 2
    assert forest.change is not None
    assert forest.p_value is not None
    assert forest.p_holm is None  # no candidate of the verdict about labels
    assert result.verdict.subject == "uniform"
    problem = next(text for text in result.warnings if "left out" in text)
    assert re.fullmatch("A rival was left out: FitError: GaussianNB could not be fitted: .*", problem)


def test_costs_are_those_of_its_own_probabilities(compared) -> None:
    from sklearn.svm import SVC

    digits = data.load("digits").limit(200)
    x, new = (digits.normalize(part.x).flatten(1).numpy() for part in (digits.train, digits.test))
    row = compared[0].result.rows[2]
    called = SVC(C=row.strength.value).fit(x, digits.train.y.numpy()).decision_function(new).argmax(axis=1)
    assert row.argmax.cost == pytest.approx(np.square(called - digits.test.y.numpy()).mean())


def test_the_cheapest_of_all_rows_is_taken_home(compared) -> None:
    comparison = compared[0]
    result = comparison.result
    cheapest = min((row for row in result.rows if row.role != "ensemble"), key=lambda row: row.validation_cost)
    assert cheapest.role == "rival"
    taken = next(row for row in result.rows if row.label == result.best.label)
    assert taken == cheapest or (taken.mixed and taken.runs[0] in cheapest.runs)  # with others that are no dearer
    assert result.verdict.advice.startswith(f"Take {taken.spoken} ")
    best = Run.load(comparison.folder)
    assert best.folder == comparison.folder / "best"
    x = data.load("digits").test
    torch.testing.assert_close(best.scores_of(x.x), best.scores["test_scores"], rtol=0, atol=0)
    assert len(best.decide(x.x[:3])) == 3


def test_tables_show_them_below_the_methods(compared) -> None:
    result = compared[0].result
    lines = text_table(result, 120).splitlines()
    at = lines.index("rivals")
    assert [line.split()[0] for line in lines[at + 1 : at + 4]] == ["SVC", "ExtraTrees", "ExtraTrees,"]
    marked = [line for line in lines if "▸" in line and "validation" not in line]
    assert len(marked) == 1
    assert result.best.label in marked[0]
    assert "| SVC (rival) |" in markdown_table(result)
    assert compared[0].save_html().stat().st_size > 0


def test_nothing_is_fitted_twice_and_a_plan_repeats_it(compared) -> None:
    first, again, given = compared
    told: list[str] = []
    same = again(rivals=given[:2], report=lambda event, _: told.append(event))
    assert same.result.rows[2].runs == first.result.rows[2].runs
    without = again(rivals="none")
    assert [row["label"] for row in single(without)] == ["one-hot, tuned", "uniform"]
    assert "rivals" not in (without.folder / "plan.toml").read_text()
    assert "rivals = " in (same.folder / "plan.toml").read_text()


def test_an_estimator_is_no_model_of_a_comparison(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a network, which every method can train"):
        compare("digits", model="sklearn:SVC", epochs=1, out=tmp_path)


def test_a_budget_that_rivals_overshoot_is_told(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    options = {"methods": ["uniform"], "model": "linear", "seeds": 1, "rivals": "GaussianNB", "rehearse": False}
    options |= {"cost": "uniform", "out": tmp_path / "runs", "executor": InProcess()}

    def told(**more: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        compare(table, **options, **more, report=found.__setitem__)
        return found.get("overrun", {})

    over = told(budget="0.01s")
    assert over["budget"] == "0.01s"
    assert over["seconds"] > over["fitting"] > 0
    assert told(budget="10m", epochs=1) == {}  # which has no budget
