"""Spaces in words, and the shares of mass in them against sums by hand."""

import pytest

from labelspace import LabelSpace, cost, groups, ordinal, tree, uniform, wordnet
from labelspace.spec.words import spoken_space, spread_words, words


def test_the_shares_are_those_of_the_matrix() -> None:
    space = tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus", "tram"]})
    own = {"cat": "p", "dog": "p", "car": "v", "bus": "v", "tram": "v"}
    pairs = [(one, two) for one in space.names for two in space.names if one != two]
    near = sum(float(space.matrix[space.index(a), space.index(b)]) for a, b in pairs if own[a] == own[b]) / len(space)
    said = spread_words(space)
    assert f"{near:.0%}".replace("%", " %") in said
    assert f"{1 - near:.0%}".replace("%", " %") in said


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (ordinal(["low", "mid", "high"]), "order: low < mid < high"),
        (uniform(3), "uniform: 3 classes, all equally near"),
        (groups([["a", "b"], ["c", "d"]]), "groups: 4 classes in 2 groups; all mass stays inside the groups"),
        (cost([[0, 2], [2, 0]]), "prices: every mistake costs 2"),
        (LabelSpace(("a", "b"), [[0, 1], [1, 0]], "relations", {"builder": 7}), "7: 2 classes"),
    ],
)
def test_one_line(space: LabelSpace, said: str) -> None:
    assert spoken_space(space) == said


def test_long_orders_are_cut() -> None:
    said = words(ordinal(40))
    assert said.startswith("order: 0 < 1 < 2 < 3 < 4 < 5 < … < ")
    assert said.endswith(" < 39")


def test_nouns_that_are_near() -> None:
    assert spread_words(wordnet(["cat", "dog", "truck"])).startswith("of the mass, 9")


def test_doubtful_senses_are_named() -> None:
    names = ["saw", "hammer", "drill", "screwdriver"]
    assert words(wordnet(names)) == "WordNet: 4 of 4 names mapped; doubtful: saw, hammer (see `labels show`)"
    given = wordnet(names, senses={"saw": "saw.n.02", "hammer": "hammer.n.02"})
    assert words(given) == "WordNet: 4 of 4 names mapped, 2 by given senses"
    assert words(wordnet(names).subset(["drill", "screwdriver"])) == "WordNet: 2 of 2 names mapped"


def test_a_wordnet_space_of_an_earlier_version_has_no_doubts() -> None:
    space = wordnet(["saw", "hammer"])
    source = {key: value for key, value in space.source.items() if key != "doubtful"}
    assert words(LabelSpace(space.names, space.matrix, space.kind, source)) == "WordNet: 2 of 2 names mapped"
