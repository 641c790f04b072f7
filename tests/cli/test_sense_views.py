"""What a terminal says of senses."""

from labelspace import LabelSpace, uniform, wordnet
from labelspace.cli.sense_views import sense_lines, senses_of


def test_doubtful_senses_come_first_and_what_has_none_before_them() -> None:
    names = ["screwdriver", "drill", "saw", "hammer"]
    found = senses_of(wordnet(names), names)
    assert [(sense.name, bool(sense.doubt)) for sense in found] == [
        ("saw", True),
        ("hammer", True),
        ("screwdriver", False),
        ("drill", False),
    ]
    assert found[0].rather == "saw.n.02"


def test_the_nearest_class_is_that_of_the_fewest_steps() -> None:
    space = wordnet(["cat", "dog", "truck"])
    found = {sense.name: (sense.nearest, sense.steps) for sense in senses_of(space, space.names)}
    assert found == {"cat": ("dog", 4), "dog": ("cat", 4), "truck": ("dog", 12)}
    (alone,) = senses_of(wordnet(["cat"]), ["cat"])
    assert (alone.nearest, alone.steps) == (None, None)


def test_other_spaces_have_no_senses_and_strange_sources_no_fault() -> None:
    assert senses_of(uniform(["a", "b"]), ["a", "b"]) == []
    assert sense_lines([]) == []
    space = wordnet(["cat", "dog"])
    odd = LabelSpace(space.names, space.matrix, "relations", {"builder": "wordnet", "senses": 3, "doubtful": []})
    (first, _) = senses_of(odd, odd.names)
    assert (first.synset, first.nearest, first.doubt) == (None, None, "")
    assert len(sense_lines(senses_of(odd, odd.names))) == 4
