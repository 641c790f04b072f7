"""Which senses are doubtful: the rule against plain paths, and how often it is right where the truth is known."""

import re
import tarfile

import numpy as np
import pytest

from labelspace.sources._wordnet_doubts import doubts
from labelspace.sources._wordnet_graph import NounGraph, shipped_graph
from labelspace.sources._wordnet_names import Reading, read_given, read_name
from realdata import data_folder

DATA = data_folder()
TINY = None if DATA is None else DATA / "tiny-imagenet-200" / "tiny-imagenet-200-subset.tar.gz"


def read(graph: NounGraph, names: list[str]) -> dict[str, Reading | None]:
    return {name: read_name(graph, name) for name in names}


def mean_steps(graph: NounGraph, synset: int, others: list[int]) -> float:
    """Return the rule's distance, path by path."""
    own = graph.heights_above(synset)
    found = []
    for other in others:
        above = graph.heights_above(other)
        found.append(min(own[node] + above[node] for node in own.keys() & above.keys()))
    return float(np.mean(sorted(found)[:3]))


@pytest.mark.parametrize(
    "names",
    [
        ["crane", "bat", "mouse", "saw"],
        ["saw", "hammer", "drill", "screwdriver", "plane"],
        ["crane", "heron", "stork", "eagle"],
        ["ray", "shark", "trout", "dolphin", "seal", "turtle"],
    ],
)
def test_a_sense_is_doubtful_where_another_is_as_near(names: list[str]) -> None:
    graph = shipped_graph()
    readings = read(graph, names)
    found = doubts(graph, readings)
    for name, reading in readings.items():
        assert reading is not None
        others = [each.synsets[0] for other, each in readings.items() if other != name and each is not None]
        own, *rest = [mean_steps(graph, synset, others) for synset in reading.synsets] + [np.inf]
        assert (name in found) == (min(rest) <= own)
        if name in found:
            best = graph.synset_name(reading.synsets[1 + int(np.argmin(rest))])
            assert found[name].rather == best
            assert found[name].why.startswith(f"{best} (")
            assert found[name].why.endswith(f"{'as near' if min(rest) == own else 'nearer'} to the other classes")


def test_real_names_whose_first_sense_is_wrong() -> None:
    graph = shipped_graph()
    fish = doubts(graph, read(graph, ["ray", "shark", "trout", "flatfish"]))
    assert fish["ray"].rather == "ray.n.07"  # the first is a beam of light
    tools = doubts(graph, read(graph, ["saw", "hammer", "drill", "screwdriver"]))
    assert (tools["saw"].rather, tools["hammer"].rather) == ("saw.n.02", "hammer.n.02")  # a proverb, part of a gun
    assert set(tools) == {"saw", "hammer"}


def test_fallbacks_are_doubtful_and_what_was_given_is_not() -> None:
    graph = shipped_graph()
    found = doubts(graph, read(graph, ["aquarium fish", "xqzzy", "T-shirt/top", "tench, Tinca tinca", "crane.n.01"]))
    assert found["aquarium fish"].why == "only its last words are a noun"
    assert found["xqzzy"].why.startswith("no noun")
    assert "'top'" in found["T-shirt/top"].why
    assert set(found) == {"aquarium fish", "xqzzy", "T-shirt/top"}
    given = {**read(graph, ["hammer", "drill"]), "saw": read_given(graph, "saw", "saw.n.01")}
    assert "saw" not in doubts(graph, given)


def test_with_nothing_to_compare_with_several_senses_are_doubtful() -> None:
    graph = shipped_graph()
    assert set(doubts(graph, read(graph, ["crane"]))) == {"crane"}
    assert doubts(graph, read(graph, ["screwdriver", "stork"])).keys() <= {"screwdriver"}


@pytest.mark.skipif(TINY is None or not TINY.is_file(), reason="the real data are not here")
def test_most_wrong_senses_of_tiny_imagenet_are_found() -> None:
    """The folders are synsets, so that the truth is known: names are the first words of each."""
    graph = shipped_graph()
    assert TINY is not None
    with tarfile.open(TINY) as archive:
        ids = sorted({found for name in archive.getnames() for found in re.findall(r"n(\d{8})", name)})
    truth = {graph.lemmas[graph.first_lemmas[synset]]: synset for i in ids if (synset := graph.synset_at(int(i)))}
    readings = read(graph, list(truth))
    wrong = {name for name, each in readings.items() if each is None or each.synsets[0] != truth[name]}
    found = set(doubts(graph, readings))
    assert (len(truth), len(wrong)) == (200, 44)
    assert (len(found), len(found & wrong)) == (46, 35)
