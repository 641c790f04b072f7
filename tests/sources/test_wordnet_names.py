"""From the name of a class to a noun: each rule once."""

import pytest

from labelspace.sources._wordnet_graph import shipped_graph
from labelspace.sources._wordnet_names import other_part, read_given, read_name


@pytest.mark.parametrize(
    ("name", "how", "synset"),
    [
        ("cat", "exact", "cat.n.01"),
        ("dogs", "plural", "dog.n.01"),
        ("geese", "plural", "goose.n.01"),
        ("T-shirt/top", "part", "jersey.n.03"),
        ("aquarium fish", "head word", "fish.n.01"),
        ("n02121620", "id", "cat.n.01"),
        ("crane.n.05", "id", "crane.n.05"),
    ],
)
def test_how_a_name_is_read(name: str, how: str, synset: str) -> None:
    graph = shipped_graph()
    reading = read_name(graph, name)
    assert reading is not None
    assert (reading.how, graph.synset_name(reading.synsets[0])) == (how, synset)


def test_what_is_no_noun_has_no_reading() -> None:
    assert read_name(shipped_graph(), "xqzzy") is None


def test_a_chosen_sense_comes_first() -> None:
    graph = shipped_graph()
    for sense in ("crane.n.05", 5):
        reading = read_given(graph, "crane", sense)
        assert reading.how == "given"
        assert len(set(reading.synsets)) == len(reading.synsets) == len(graph.senses_of("crane"))
    with pytest.raises(ValueError, match="sense numbers up to .* for 'crane'. Got 99"):
        read_given(graph, "crane", 99)
    with pytest.raises(ValueError, match=r"senses of 'crane' are: crane.n.01 .*; crane.n.05 \(crane: wading bird"):
        read_given(graph, "crane", "crane.n.77")
    with pytest.raises(ValueError, match=r"senses of 'saw' are: proverb.n.01 .*; saw.n.02 \(saw: hand tool"):
        read_given(graph, "crane", "saw.n.77")
    assert read_given(graph, "crane", "saw.n.02").how == "given, another word's"


def test_parts_that_mean_something_else() -> None:
    graph = shipped_graph()
    jersey, tench = (read_name(graph, name) for name in ("T-shirt/top", "tench, Tinca tinca"))
    assert jersey is not None
    assert other_part(graph, "T-shirt/top", jersey.synsets[0]) == "top"
    assert tench is not None
    assert other_part(graph, "tench, Tinca tinca", tench.synsets[0]) is None
