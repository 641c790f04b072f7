"""What suits the data where nothing was said."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from labelspace.comparison.entries import DEFAULT
from labelspace.comparison.question import MARGIN, Question

ASKED: dict[str, Any] = {
    "data": "multi30k",
    "dataset": None,
    "space": None,
    "cost": None,
    "model": "auto",
    "seeds": 3,
    "budget": "2m",
}


def dataset(kind: str, labels: int = 5000) -> Any:
    return SimpleNamespace(kind=kind, names=[str(number) for number in range(labels)])


def test_classifiers_are_compared_as_ever() -> None:
    found = Question(**ASKED, methods=()).about(dataset("images"))
    assert found.methods == DEFAULT
    assert found.options == {}


def test_sequences_have_methods_ranks_and_a_margin_of_their_own() -> None:
    found = Question(**ASKED, methods=()).about(dataset("sequences"))
    assert found.methods == ("onehot", "uniform", "labelemb", "lls")
    assert found.options == {
        "margin": MARGIN,
        "method_options": {"labelemb": {"rank": 100, "head_rank": 0}, "lls": {"rank": 64}},
    }


def test_what_was_said_stays() -> None:
    options = {"margin": 1.0, "method_options": {"lls": {"rank": 8}, "uniform": {"smoothing": 0.2}}}
    found = Question(**ASKED, methods=(), options=options).about(dataset("sequences", 50))
    assert found.options["margin"] == 1.0
    assert found.options["method_options"] == {
        "labelemb": {"rank": 50, "head_rank": 0},
        "lls": {"rank": 8},
        "uniform": {"smoothing": 0.2},
    }
    options = {"method_options": {"labelemb": {"rank": 100}}}
    found = Question(**ASKED, methods=("labelemb",), options=options).about(dataset("sequences"))
    assert found.options["method_options"] == {"labelemb": {"rank": 100, "head_rank": 0}}, "as if it was left out"
    said = Question(**ASKED, methods=("onehot", "lls")).about(dataset("sequences"))
    assert said.methods == ("onehot", "lls")
    assert said.options == {"margin": MARGIN, "method_options": {"lls": {"rank": 64}}}


def test_what_was_left_out_names_the_folder_as_what_it_stands_for() -> None:
    left_out = Question(**ASKED, methods=()).about(dataset("images"))
    said = Question(**ASKED, methods=DEFAULT).about(dataset("images"))
    assert left_out.folder("runs", "key") == said.folder("runs", "key") != said.folder("runs", "other")
    assert said.folder("runs", "key").parent == Path("runs")


def test_prices_in_the_middle_of_a_large_frame_make_another_question(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    names = [f"class {number}" for number in range(80)]
    first = pandas.DataFrame(1.0 - np.eye(80), index=names, columns=names)
    second = first.copy()
    second.iloc[40, 41] = 7.0
    assert str(first) == str(second), "their texts leave the middle out"
    asked = {**ASKED, "methods": (), "space": names}
    folders = [Question(**{**asked, "cost": cost}).folder(tmp_path, "key") for cost in (first, first.copy(), second)]
    assert folders[0] == folders[1] != folders[2]
    other = {**asked, "space": names[::-1], "cost": first}
    assert Question(**other).folder(tmp_path, "key") != folders[0]
