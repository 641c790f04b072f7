"""Texts side by side and neighbours of tokens, from runs made by hand."""

from types import SimpleNamespace
from typing import Any

import torch

from labelspace.comparison.texts import LONGEST, SHOWN, neighbourhood, side_by_side
from labelspace.space import LabelSpace
from small_results import of_texts


def trained(method: str, texts: list[str], space: LabelSpace | None = None) -> Any:
    run = SimpleNamespace(translations={"test": texts}, space=space)
    return SimpleNamespace(entry=SimpleNamespace(method=method, label=method), runs=[run])


def data(count: int, longest: str = "") -> Any:
    sources, answers = [f"source {number}{longest}" for number in range(count)], ["right"] * count
    return SimpleNamespace(test=SimpleNamespace(text=tuple(sources), answers=tuple(answers)))


def test_texts_are_chosen_where_rows_differ_most_and_not_by_the_answers() -> None:
    count = 3 * SHOWN
    first = ["right"] * count
    # every third text is another one, and not one of them is right
    second = ["wholly else" if number % 3 == 2 else "rights" for number in range(count)]
    found = side_by_side([trained("onehot", first), trained("lls", second)], data(count))
    assert [each.source for each in found] == [f"source {number}" for number in range(2, count, 3)]
    assert found[0].rows == ("right", "wholly else")
    # the answers play no part
    assert [each.answer for each in found] == ["right"] * SHOWN


def test_few_and_long_texts() -> None:
    found = side_by_side([trained("onehot", ["", "a"]), trained("lls", ["", "b"])], data(2, "x" * 2 * LONGEST))
    assert len(found) == 2
    assert len(found[0].source) == LONGEST
    assert found[0].source.endswith("…")


def test_neighbours_are_those_of_the_first_learned_labels() -> None:
    names = ("<end>", "<unknown>", "▁dog", "▁dogs", "▁car", ".", "▁cars")
    points = torch.tensor([[9.0, 9], [8, 8], [1, 0], [1, 0.1], [0, 1], [5, 5], [0.1, 1]])
    space = LabelSpace(names, points, "vectors", {"builder": "labelemb"})
    rows = [trained("uniform", []), trained("labelemb", [], space)]
    found = neighbourhood(rows, of_texts().rows)
    assert found is not None
    assert found.label == "labelemb"
    assert [row.name for row in found.rows] == ["dog", "dogs", "car", "cars"]
    assert found.rows[0].nearest[0] == "dogs"
    assert found.rows[2].nearest[0] == "cars"
    assert not {"<end>", "<unknown>"} & {name for row in found.rows for name in row.nearest}


def test_parts_of_words_are_told_from_words() -> None:
    names = ("<end>", "<unknown>", "▁Shirt", "Shirt", "▁Hemd", "en")
    points = torch.tensor([[9.0, 9], [8, 8], [1, 0], [1, 0.1], [0, 1], [5, 5]])
    space = LabelSpace(names, points, "vectors", {"builder": "labelemb"})
    found = neighbourhood([trained("uniform", []), trained("labelemb", [], space)], of_texts().rows)
    assert found is not None
    assert [row.name for row in found.rows] == ["Shirt", "Hemd"]
    assert found.rows[0].nearest[0] == "·Shirt"


def test_without_learned_labels_there_are_none() -> None:
    assert neighbourhood([trained("onehot", []), trained("uniform", [])], of_texts().rows) is None
