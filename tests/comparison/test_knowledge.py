"""What is known about classes: what is built where nothing is said, and how mistakes are then judged."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from torch.testing import assert_close

from labelspace import LabelSpace, data, groups, ordinal
from labelspace.comparison.knowledge import Doing, discriminants, gather, known
from labelspace.data.dataset import Dataset


def dataset(names: list[str], **options: Any) -> Dataset:
    chance = np.random.default_rng(0)
    y = np.arange(60) % len(names)
    x = (chance.normal(size=(60, 4)) + y[:, None] * np.array([1, 0, 0, 0.5])).astype(np.float32)
    return data.load((x, [names[each] for each in y]), **options)


def test_names_that_are_numbers_have_an_order_and_prices_by_distance() -> None:
    given = dataset(["2", "10", "1"])
    found = gather(None, None, given, given.train.y)
    assert found.word == "order"
    places = torch.tensor([[1, 2, 10].index(int(name)) for name in given.names])
    assert_close(found.cost.matrix.double(), (places[:, None] - places[None]).abs().double())
    judge = found.judge(given.names, given.test.y)
    assert judge.priced
    assert_close(judge.ranks, places)


def test_nouns_are_offered_wordnet_and_never_given_it() -> None:
    given = dataset(["cat", "dog", "truck"])
    found = gather(None, None, given, given.train.y)
    assert found.space is None
    assert "--space wordnet" in found.offer
    judge = found.judge(given.names, given.test.y)
    assert not judge.priced
    assert_close(judge.cost, 1 - torch.eye(3, dtype=torch.float64))
    assert found.spoken.cost == "every mistake costs 1"
    asked = gather("wordnet", None, given, given.train.y)
    assert asked.space is not None
    assert (asked.word, asked.space.source["builder"], asked.offer) == ("tree", "wordnet", "")


def test_two_classes_are_offered_nothing() -> None:
    given = dataset(["cat", "dog"])
    assert gather(None, None, given, given.train.y).offer == ""


def test_other_names_say_nothing() -> None:
    given = dataset(["zxqv", "qqxz", "vvzq"])
    found = gather(None, None, given, given.train.y)
    assert found.space is None
    assert found.offer == ""
    assert found.word == "label space"
    assert found.judge(given.names, given.test.y).ranks is None


def test_a_space_and_prices_of_all_classes_are_cut_to_those_of_the_data() -> None:
    given = dataset(["low", "mid", "top"])
    space = ordinal(["low", "mid", "high", "top"])
    found = gather(space, "squared", given, given.train.y)
    places = torch.tensor([["low", "mid", "high", "top"].index(name) for name in given.names]).double()
    assert found.space is not None
    assert found.space.names == given.names
    ranks = places.argsort().argsort().double()  # of the three that are left
    assert_close(found.cost.matrix.double(), (ranks[:, None] - ranks[None]).square())
    with pytest.raises(ValueError, match="mid|top"):
        gather(ordinal(["low", "high"]), None, given, given.train.y)


def test_groups_are_judged_by_their_levels_and_rare_classes_by_balance() -> None:
    names = ("a", "b", "c", "d")
    cost = LabelSpace(names, 1 - torch.eye(4), "cost")
    judge = known(groups([["a", "b"], ["c", "d"]]), cost).judge(names, torch.tensor([0, 1, 2, 3, 3, 3]))
    assert judge.tree is not None
    assert judge.imbalanced
    even = known(None, cost).judge(names, torch.tensor([0, 1, 2, 2, 3, 3]), "inverted")
    assert (even.tree, even.imbalanced, even.inverted) == (None, False, True)


def test_data_suggest_the_directions_that_scikit_learn_finds() -> None:
    given = dataset(["zxqv", "qqxz", "vvzq"])
    found = discriminants(given, given.train.y)
    assert found is not None
    x = given.normalize(given.train.x).flatten(1).double().numpy()
    means = LinearDiscriminantAnalysis(solver="eigen").fit(x, given.train.y.numpy()).transform(x)
    centres = torch.stack([torch.from_numpy(means[given.train.y.numpy() == each].mean(0)) for each in range(3)])
    between, own = torch.cdist(centres, centres), found.distances().double()
    # the same class is the nearest to each
    far = torch.eye(3, dtype=torch.float64) * 1e9
    assert (between + far).argmin(1).tolist() == (own + far).argmin(1).tolist()
    assert discriminants(replace(given, kind="text"), given.train.y) is None  # numbers of words have no geometry


def test_actions_of_a_table_and_of_a_tree() -> None:
    given = dataset(["a", "b", "c", "d"])
    table = [[0, 1, 1, 1, 0.2], [1, 0, 1, 1, 0.2], [1, 1, 0, 1, 0.2], [1, 1, 1, -1, 0.2]]
    acting = gather(None, table, given, given.train.y, Doing([*given.names, "ask"], {"ask": 0.1}))
    judge = acting.judge(given.names, given.test.y)
    assert (judge.actions, judge.priced, judge.capacity) == (("a", "b", "c", "d", "ask"), True, {"ask": 0.1})
    assert_close(judge.cost, torch.tensor(table, dtype=torch.float64))
    limit = "at most 10\N{NARROW NO-BREAK SPACE}% ask"
    assert acting.spoken.cost == f"prices as given, with 1 action beside the classes, {limit}"
    pairs = groups({"one": ["a", "b"], "two": ["c", "d"]})
    nodes = gather(pairs, None, given, given.train.y, Doing("tree")).judge(given.names, given.test.y)
    assert nodes.actions == ("a", "b", "c", "d", "one", "two", "any")
    assert nodes.cost[0].tolist() == [0, 0.5, 1, 1, 0.25, 1, 0.5]
