"""What is known about classes, by their names."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from labelspace import InputError, ordinal
from labelspace.sklearn.known import indexable_rows, known_prices, known_space, names_of, positive_weights
from labelspace.spec.actions import actions_of


def test_names_are_what_people_write():
    assert names_of(np.array([0, 10])) == ["0", "10"]
    assert names_of(np.array([-1.0, 2.5])) == ["-1", "2.5"]
    assert names_of(np.array([False, True])) == ["False", "True"]
    assert names_of(np.array(["1.0", "a b"], dtype=object)) == ["1.0", "a b"]


def test_spaces_are_cut_but_never_stretched():
    assert known_space("me", "a<b<c", ["c", "a"]).names == ("c", "a")
    assert known_space("me", ["a", "b", "c"], ["c", "a"]).names == ("c", "a")
    assert known_space("me", {"x": ["a", "b"], "y": ["c", "d"]}, ["c", "d"]).names == ("c", "d")
    assert known_space("me", ordinal(["a", "b", "c"]), ["b", "a"]).names == ("b", "a")
    for space in ("a<b<c", ["a", "b", "c"], ordinal(["a", "b", "c"])):
        with pytest.raises(InputError, match="`space` of me must be"):
            known_space("me", space, ["a", "e"])


def test_a_table_for_numbers_that_look_like_counted_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1, 0.5], [2, 0, 0.5]], columns=["0", "1", "ask"])
    table = actions_of(known_prices("me", frame, ["0", "1"]))
    assert table.names == ("0", "1", "ask")
    assert table.prices.tolist() == [[0, 1, 0.5], [2, 0, 0.5]]
    written = pandas.DataFrame([["a", 0, 1], ["b", 2, 0]], columns=["true", "a", "b"])
    assert known_prices("me", written, ["b", "a"]).matrix.tolist() == [[0, 2], [1, 0]]


def test_prices_in_a_dict():
    assert known_prices("me", {0: {1: 3}, 1: {0: 4.5}}, ["0", "1"]).matrix.tolist() == [[0, 3], [4.5, 0]]
    more = {"a": {"b": 3, "c": 1}, "b": {"a": 4, "c": 1}, "c": {"a": 5, "b": 1}}
    assert known_prices("me", more, ["c", "a"]).matrix.tolist() == [[0, 5], [1, 0]]


def test_weights_and_rows():
    assert positive_weights("me", [0, 2.0], np.zeros((2, 1))).tolist() == [0, 2]
    with pytest.raises(ValueError, match="(?i)zero"):
        positive_weights("me", [0, 0.0], np.zeros((2, 1)))
    with pytest.raises(ValueError, match="(?i)negative"):
        positive_weights("me", [1, -1.0], np.zeros((2, 1)))
    assert isinstance(indexable_rows(coo_array(np.eye(2))), csr_array)
    assert indexable_rows([[1], [2]]) == [[1], [2]]


def test_a_table_the_other_way_round_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    actions = pandas.DataFrame([[0, 2, 1.0], [20, 0, 2.0]], ["mild", "severe"], ["mild", "severe", "order a test"])
    with pytest.raises(ValueError, match="`cost` of cost_scorer.*Got a row 'order a test'"):
        known_prices("cost_scorer", actions.T, ["mild", "severe"])
    fold = known_prices("cost_scorer", actions, ["severe"])  # a fold that lacks a class
    assert fold.names == ("severe",)
