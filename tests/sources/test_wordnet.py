import json
import random
import time
from pathlib import Path

import pytest
import torch

from labelspace.sources._wordnet_graph import shipped_graph
from labelspace.sources.tree import hop_relations
from labelspace.sources.wordnet import all_nouns, wordnet
from labelspace.space import LabelSpace
from labelspace.spec.words import words

CIFAR10 = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
FASHION = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag"]
CIFAR100 = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel
can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur
dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion
lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree
pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea
seal shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank
telephone television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""


def sense(space: LabelSpace, name: str) -> dict[str, object]:
    found = space.source["senses"][name]
    assert isinstance(found, dict)
    return found


def found(name: str) -> tuple[object, object]:
    """Return the synset of one name and how it was found."""
    report = sense(wordnet([name, "entity"]), name)
    return report["synset"], report["how"]


# ---- relations and hops


def test_known_hops_and_cifar10_names():
    space = wordnet(CIFAR10)
    assert space.kind == "relations"
    assert space.source["unmapped"] == []
    hops = space.hops
    assert hops is not None
    assert hops.dtype == torch.int64
    assert hops[space.index("cat"), space.index("dog")] == 4
    assert hops[space.index("cat"), space.index("truck")] == 17
    assert all(sense(space, name)["how"] == "exact" for name in CIFAR10)
    assert {name for name, _ in space.nearest("automobile", k=1)} == {"truck"}
    torch.testing.assert_close(hops, hops.T)
    torch.testing.assert_close(space.matrix, hop_relations(hops, 0.5).float())
    torch.testing.assert_close(space.matrix.sum(1), torch.ones(10))
    assert (space.matrix.diagonal() == 0).all()


def test_decay_sets_the_weights():
    row = wordnet(["cat", "dog", "truck"], decay=0.9).matrix[0]
    torch.testing.assert_close(row[2] / row[1], torch.tensor(0.9**13))
    torch.testing.assert_close(wordnet(["cat", "dog", "truck"], decay=1).matrix[0], torch.tensor([0.0, 0.5, 0.5]))


def test_the_order_of_classes_does_not_matter():
    space, turned = wordnet(CIFAR10), wordnet(CIFAR10[::-1])
    torch.testing.assert_close(turned.matrix, space.matrix.flip(0, 1))
    assert turned.hops is not None
    assert space.hops is not None
    torch.testing.assert_close(turned.hops, space.hops.flip(0, 1))


def test_two_names_of_one_synset_are_nearest_relatives():
    space = wordnet(["car", "automobile", "truck"])
    assert space.hops is not None
    assert space.hops.tolist() == [[0, 0, 2], [0, 0, 2], [2, 2, 0]]
    torch.testing.assert_close(space.matrix[0], torch.tensor([0.0, 0.8, 0.2]))


def test_an_unmapped_class_has_no_relatives():
    with pytest.warns(UserWarning, match=r"no noun for 'xqzzy'.*senses=\{'xqzzy'"):
        space = wordnet(["cat", "xqzzy", "dog"])
    assert space.source["unmapped"] == ["xqzzy"]
    assert list(space.source["senses"]) == ["cat", "dog"]
    assert space.hops is not None
    assert space.hops.tolist() == [[0, -1, 4], [-1, 0, -1], [4, -1, 0]]
    assert space.matrix.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_one_class_keeps_its_mass():
    assert wordnet(["cat"]).matrix.tolist() == [[1]]


def test_the_report_travels_in_the_file(tmp_path: Path):
    space = wordnet(CIFAR10)
    loaded = LabelSpace.load(space.save(tmp_path / "space.safetensors"))
    assert loaded.source == space.source
    assert loaded.source["version"] == "3.0"
    assert loaded.source["dictionary"] == "shipped"
    assert loaded.source["ambiguous"] == ["bird", "cat", "dog", "frog", "horse", "truck"]
    assert json.loads(json.dumps(dict(loaded.source))) == loaded.source
    assert sense(loaded, "cat") == {
        "alternatives": 7,
        "how": "exact",
        "id": "n02121620",
        "means": "cat, true cat: feline › carnivore",
        "synset": "cat.n.01",
    }


def test_a_thousand_classes_take_little_time():
    names = random.Random(0).sample(list(shipped_graph().lemmas), 1000)
    start = time.perf_counter()
    wordnet(names)
    assert time.perf_counter() - start < 5


# ---- names and senses


@pytest.mark.parametrize(
    ("name", "synset", "how"),
    [
        ("cat", "cat.n.01", "exact"),
        ("Traffic Light", "traffic_light.n.01", "exact"),
        ("t-shirt", "jersey.n.03", "exact"),
        ("Dogs", "dog.n.01", "plural"),
        ("mice", "mouse.n.01", "plural"),
        ("field mice", "vole.n.01", "plural"),
        ("women", "woman.n.01", "plural"),
        ("firemen", "fireman.n.01", "plural"),
        ("churches", "church.n.01", "plural"),
        ("buses", "bus.n.01", "plural"),
        ("boxes", "box.n.01", "plural"),
        ("dishes", "dish.n.01", "plural"),
        ("ponies", "pony.n.01", "plural"),
        ("T shirt", "jersey.n.03", "variant"),
        ("T_SHIRTS", "jersey.n.03", "variant"),
        ("tee-shirt", "jersey.n.03", "variant"),
        ("lawnmower", "lawn_mower.n.01", "variant"),
        ("PickupTruck", "pickup.n.01", "variant"),
        ("café", "cafe.n.01", "variant"),
        ("T-shirt/top", "jersey.n.03", "part"),
        ("tench, Tinca tinca", "tench.n.01", "part"),
        ("aquarium_fish", "fish.n.01", "head word"),
        ("AquariumFish", "fish.n.01", "head word"),
        ("Ankle boot", "boot.n.01", "head word"),
        ("tiny pickup truck", "pickup.n.01", "head word"),
        ("n02123045", "tabby.n.01", "id"),
        ("crane.n.05", "crane.n.05", "id"),
        ("men", "work_force.n.01", "exact"),
    ],
)
def test_names_are_found(name: str, synset: str, how: str):
    assert found(name) == (synset, how)


def test_names_of_common_datasets_all_map():
    assert wordnet([*FASHION, "Ankle boot"]).source["unmapped"] == []
    names = CIFAR100.split()
    assert len(names) == 100
    space = wordnet(names)
    assert space.source["unmapped"] == []
    by_head = [name for name in names if sense(space, name)["how"] == "head word"]
    assert by_head == ["aquarium_fish", "maple_tree"]


@pytest.mark.parametrize("name", ["class 1", "item a", "???", "猫", "n99999999", "cat.n.99"])
def test_names_without_a_noun_are_unmapped(name: str):
    with pytest.warns(UserWarning, match="WordNet has no noun for"):
        assert wordnet(["cat", name]).source["unmapped"] == [name]


@pytest.mark.parametrize("picked", ["crane.n.05", "n02012849", 5, "5", "Crane.n.5"])
def test_senses_are_picked(picked: str | int):
    space = wordnet(["crane", "flamingo"], senses={"crane": picked})
    expected = {"alternatives": 4, "how": "given", "id": "n02012849", "synset": "crane.n.05"}
    assert sense(space, "crane") == {**expected, "means": "crane: wading bird › aquatic bird"}
    assert space.source["ambiguous"] == []


def test_a_sense_maps_a_name_that_is_no_noun():
    space = wordnet(["xqzzy", "dog"], senses={"xqzzy": "cat.n.01"})
    assert space.hops is not None
    assert space.hops[0, 1] == 4
    assert sense(space, "xqzzy")["alternatives"] == 0


def test_a_sense_of_another_word_is_allowed_and_told():
    space = wordnet(["saw", "dog"], senses={"saw": "hammer.n.02"})
    assert (sense(space, "saw")["synset"], sense(space, "saw")["how"]) == ("hammer.n.02", "given, another word's")
    assert "saw by another word's" in words(space)


def test_wrong_senses_are_doubtful_until_they_are_given():
    names = ["saw", "hammer", "crane", "heron", "bat", "mouse"]
    space = wordnet(names)
    doubtful = space.source["doubtful"]
    assert sense(space, "saw")["synset"] == "proverb.n.01"
    assert doubtful["saw"]["rather"] == "power_saw.n.01"  # a tool, as saw.n.02 is
    assert doubtful["crane"]["rather"] == "crane.n.05"
    assert doubtful["heron"]["rather"] == "heron.n.02"  # its first sense is Hero of Alexandria
    settled = wordnet(names, senses={"saw": "saw.n.02", "hammer": 2, "heron": 2, "crane": 5, "mouse": 1, "bat": 1})
    assert settled.source["doubtful"] == {}
    assert settled.nearest("saw", k=1)[0][0] == "hammer"
    assert settled.nearest("heron", k=1)[0][0] == "crane"


def test_groups_above_the_classes_are_in_the_source():
    parents = wordnet(CIFAR10).source["parents"]
    assert parents["cat"] == parents["dog"] == "carnivore"
    assert parents["automobile"] == parents["truck"] == "motor vehicle"
    assert parents["motor vehicle"] == parents["craft"] == "vehicle"


def test_all_nouns_takes_no_fallback():
    assert all_nouns(CIFAR10)
    assert not all_nouns(["cat", "aquarium fish"])
    assert not all_nouns(["cat", "xqzzy"])


def test_a_plural_that_is_itself_a_noun_is_ambiguous():
    space = wordnet(["men", "woman"], senses={"men": 2})
    assert sense(space, "men")["synset"] == "man.n.01"
    assert wordnet(["men", "cat"]).source["ambiguous"] == ["men", "cat"]


# ---- refusals


def test_no_name_maps():
    with pytest.raises(ValueError, match=r"`names` of wordnet must be nouns of WordNet\. Got none.*senses="):
        wordnet(["xqzzy", "zzyqx"])


@pytest.mark.parametrize(
    ("senses", "error", "text"),
    [
        ({"cow": "cow.n.01"}, ValueError, "`senses` of wordnet must be names of classes. Got 'cow'"),
        (
            {"cat": "cat.n.09"},
            ValueError,
            r"Got 'cat.n.09' for 'cat'. The noun senses of 'cat' are: cat.n.01 \(cat, .* › carnivore\); guy.n.01",
        ),
        ({"cat": "cat.v.01"}, ValueError, r"Got 'cat.v.01' for 'cat'. Its noun senses are: cat.n.01"),
        ({"cat": "n00000001"}, ValueError, "Got 'n00000001' for 'cat'"),
        (
            {"cat": 9},
            ValueError,
            r"sense numbers up to 8 for 'cat'. Got 9. Its noun senses are: cat.n.01 \(.*; guy.n.01 \(",
        ),
        ({"cat": 0}, ValueError, "`senses` of wordnet must be a whole number of at least 1. Got 0"),
        ({"cat": 1.5}, TypeError, "`senses` of wordnet must be a whole number"),
        ({"cat": True}, TypeError, "`senses` of wordnet must be a whole number"),
        (["cat.n.01"], TypeError, "`senses` of wordnet must be a dict"),
    ],
)
def test_senses_are_checked(senses: object, error: type[Exception], text: str):
    with pytest.raises(error, match=text):
        wordnet(["cat", "dog"], senses=senses)


@pytest.mark.parametrize("decay", [0, 1.5, float("nan"), -1])
def test_decay_is_checked(decay: float):
    with pytest.raises(ValueError, match="`decay` of wordnet must be a number in"):
        wordnet(["cat", "dog"], decay=decay)


def test_names_are_checked():
    with pytest.raises(TypeError, match=r"`names` of wordnet must be a list of class names\. Got 10"):
        wordnet(10)
    with pytest.raises(ValueError, match="unique"):
        wordnet(["cat", "cat"])
