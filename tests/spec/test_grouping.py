"""Groups as people write them: no mass leaves a group, whichever way the groups were said."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace import groups, tree, wordnet
from labelspace.data.readers.cifar import NAMES_10
from labelspace.metrics import level_accuracy
from labelspace.spec.named import named
from labelspace.spec.words import spoken_space, spread_words, words

# Table 1 of the paper, read row by row: the columns are the clusters
TABLE = {
    "cifar10-0": ["frog cat ship horse", "truck dog bird automobile", "airplane deer"],
    "cifar10-1": ["bird airplane truck dog", "automobile frog horse cat", "deer ship"],
    "cifar10-2": ["airplane deer frog bird", "automobile cat horse dog", "ship truck"],
    "cifar10-3": ["airplane automobile cat bird", "ship horse dog deer", "truck - - frog"],
}
LINES = "# Table 1\nmass transport: airplane, ship, truck\npersonal transport: automobile, horse\n\n"
LINES += 'domestic animals: cat, "dog"\nother animals: bird, deer,\nother animals: frog\n'
INLINE = "groups:airplane,ship,truck|automobile,horse|cat,dog|bird,deer,frog"
ARROWS = "mass > airplane\nmass > ship\nmass > truck\nown > automobile\nown > horse\n"
ARROWS += "life > pets > cat\nlife > pets > dog\nlife > wild > bird\nlife > wild > deer\nlife > wild > frog\n"


def clusters(name: str) -> list[list[str]]:
    rows = [row.split() for row in TABLE[name]]
    columns = [[row[place] for row in rows if place < len(row)] for place in range(4)]
    return [[member for member in column if member != "-"] for column in columns]


def equation_4(name: str, smoothing: float) -> np.ndarray:
    """T worked out from eq. (1) and (4) in numpy."""
    group = {member: set(column) for column in clusters(name) for member in column}
    relations = np.zeros((10, 10))
    for i, own in enumerate(NAMES_10):
        for j, other in enumerate(NAMES_10):
            if other in group[own] and i != j:
                relations[i, j] = 1 / (len(group[own]) - 1)
    return (1 - smoothing) * np.eye(10) + smoothing * relations


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize("name", TABLE)
def test_the_groupings_of_the_paper_are_equation_4(name: str) -> None:
    assert sorted(member for column in clusters(name) for member in column) == sorted(NAMES_10)
    for space in (named(f"groups:{name}", NAMES_10), named(f"groups:{name}"), groups(name), groups(name, NAMES_10)):
        assert space.names == NAMES_10
        assert_close(space.targets(0.3), torch.tensor(equation_4(name, 0.3), dtype=torch.float32))
        outside = torch.tensor(
            [[not any({a, b} <= set(c) for c in clusters(name)) for b in NAMES_10] for a in NAMES_10]
        )
        assert space.targets(0.3)[outside].abs().max() == 0


def test_the_table_and_the_text_call_the_semantic_grouping_differently() -> None:
    for other in ("cifar10-4", "cifar10-semantic"):
        assert_close(groups(other).matrix, groups("cifar10-3").matrix, rtol=0, atol=0)


@pytest.mark.parametrize(
    "spec",
    [
        ("g.txt", LINES),
        ("g", LINES.replace("\n", "\r\n")),
        ("groups:g.txt", LINES.replace(": ", ":")),
        ("groups:t.txt", ARROWS),
        ("groups:t.csv", "".join(",".join(line.split(" > ")[:-3:-1]) + "\n" for line in ARROWS.splitlines())),
        (
            "groups:t.json",
            '{"m": ["airplane", "ship", "truck"], "o": ["automobile", "horse"],'
            '"l": {"p": ["cat", "dog"], "w": ["bird", "deer", "frog"]}}',
        ),
        (INLINE, ""),
        (INLINE.replace("groups:", "groups: mass: ").replace("|cat", " | pets: cat"), ""),
    ],
)
def test_every_way_to_say_groups_keeps_all_mass_inside(spec: tuple[str, str], tmp_path: Path) -> None:
    place, text = spec
    if text:
        prefix, _, file = place.rpartition("groups:")
        place = ("groups:" if prefix or place.startswith("groups:") else "") + write(tmp_path, file, text)
    space = named(place, NAMES_10)
    assert_close(space.targets(0.5), torch.tensor(equation_4("cifar10-3", 0.5), dtype=torch.float32))
    assert words(space) == "groups: 10 classes in 4 groups"


def test_a_taxonomy_file_is_still_a_taxonomy_and_says_how_much_leaves_the_group(tmp_path: Path) -> None:
    lines = "".join(f"{n} > {m}\n" for n, column in enumerate(clusters("cifar10-3")) for m in column)
    space = named(write(tmp_path, "t.txt", lines), NAMES_10)
    # decay 1/2: a sibling is 2 edges away, all others 4: of three 2/4 of 2/4 + 7/16 stays, of two 1/4 of 1/4 + 8/16
    inside = {3: (2 / 4) / (2 / 4 + 7 / 16), 2: (1 / 4) / (1 / 4 + 8 / 16)}
    share = (6 * inside[3] + 4 * inside[2]) / 10
    assert [round(1 - value, 4) for value in inside.values()] == [0.4667, 0.6667]
    assert spread_words(space).startswith(
        f"of the mass, {100 * share:.0f} % stays in a class's own group and 55 % leaves"
    )
    assert spoken_space(named(f"groups:{tmp_path / 't.txt'}", NAMES_10)).endswith("all mass stays inside the groups")


def test_where_mass_goes_in_other_spaces() -> None:
    # cat–dog 4 edges, cat–truck 17, dog–truck 12: the nearest has 2^13, 2^8 and 2^5 times the mass of the other
    share = np.mean([2**13 / (2**13 + 1), 2**8 / (2**8 + 1), 2**5 / (2**5 + 1)])
    found = spread_words(wordnet(["cat", "dog", "truck"]))
    assert found == f"of the mass, {100 * share:.0f} % goes to the nearest relatives and 1 % farther"
    assert (
        spread_words(tree({"pets": ["cat", "dog"]}))
        == "of the mass, 100 % stays in a class's own group and 0 % leaves it"
    )
    assert spread_words(named("ordinal", ["1", "2"])) == ""


def test_classes_at_the_top_and_groups_of_one_stay_alone(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="'car' has one class"):
        space = named("groups:" + write(tmp_path, "t.txt", "pets > cat\npets > dog\ncar\n"))
    assert_close(space.matrix, torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]]))


def test_a_label_file_of_a_tree_is_read_as_groups(tmp_path: Path) -> None:
    tree({"life": {"pets": ["cat", "dog"], "wild": ["emu", "fox"]}}).save(tmp_path / "t.safetensors")
    space = named(f"groups:{tmp_path / 't.safetensors'}", ["fox", "cat", "dog", "emu"])
    assert space.nearest("fox", k=1) == [("emu", 1.0)]
    named("ordinal", ["1", "2"]).save(tmp_path / "o.safetensors")
    with pytest.raises(ValueError, match="groups or a taxonomy, after 'groups:'"):
        named(f"groups:{tmp_path / 'o.safetensors'}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: cat\nb: dog", "g.txt: .*nothing for 'car'. Add it to a group; a group of one is allowed"),
        ("a: cat, dog\nb: car, cat", "Got 'cat' \\(in 'a', line 1\\) again \\(in 'b', line 2\\). Keep one"),
        ("a: cat, dgo\nb: car, dog", "'dgo' \\(in 'a', line 1\\), which is none of the classes. Did you mean 'dog'"),
        ("a: cat, dog\nb:", "groups, one a line. Got 'b:' in line 2. Write lines such as 'pets: cat, dog'"),
        ("a: cat, dog\ncar", "groups, one a line. Got 'car' in line 2"),
    ],
)
def test_what_is_wrong_with_groups_is_said_once(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        named(write(tmp_path, "g.txt", text), ["cat", "dog", "car"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("groups:cat,dog", "nothing for 'car'"),
        ("groups:cat,dog|car,cat", "'cat' \\(in 'group 1'\\) again \\(in 'group 2'\\)"),
        ("groups:cat,dog||car", "group 2 of which is empty"),
        ("groups:cifar10-x", "groups: one of cifar10-0, .*Did you mean 'cifar10-"),
        ("groups:", "groups: one of cifar10-0"),
        ("groups:cifar10-1", "which is none of the classes"),
    ],
)
def test_what_is_wrong_after_the_prefix_is_said_once(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named(spec, ["cat", "dog", "car"])
    with pytest.raises(FileNotFoundError, match="which does not exist"):
        named("groups:nothing.txt", ["cat", "dog", "car"])
    with pytest.raises(ValueError, match="one of 'cifar10-0'"):
        groups("cifar-10")


def test_classes_with_a_colon_or_a_comma() -> None:
    with pytest.warns(UserWarning, match="one class"):
        space = named('groups:10:30,"a, b"|x', ["10:30", "a, b", "x"])
    assert space.nearest("10:30", k=1) == [("a, b", 1.0)]


def test_groups_of_all_classes_are_cut_to_those_of_the_data(tmp_path: Path) -> None:
    chosen = ["truck", "cat", "ship", "bird"]
    taxonomy = write(tmp_path, "t.txt", ARROWS)
    for spec in ("groups:cifar10-3", INLINE, write(tmp_path, "g.txt", LINES), f"groups:{taxonomy}"):
        space = named(spec, chosen, among=NAMES_10)
        # cat and bird are left alone: they keep their mass
        assert_close(space.matrix, torch.tensor([[0.0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]))
        assert words(space) == "groups: 4 classes in 3 groups"
    assert_close(named(taxonomy, chosen, among=NAMES_10).matrix, named(taxonomy, NAMES_10).subset(chosen).matrix)
    assert words(named("a<b<c<d", ["d", "a"], among=["a", "b", "c", "d"])) == "order: a < d"
    assert words(named("a<d", ["d", "a"], among=["a", "b", "c", "d"])) == "order: a < d"
    with pytest.raises(ValueError, match="'catt'.*Did you mean 'cat'"):
        named("groups:truck,ship|catt,bird", chosen, among=NAMES_10)


def test_accuracy_of_groups_by_hand() -> None:
    space = groups({"pets": ["cat", "dog"], "cars": ["taxi", "cat car"]}, ["cat", "dog", "taxi", "cat car"])
    found = level_accuracy([0, 0, 3, 0], [0, 1, 2, 3], space)
    assert_close(found, torch.tensor([0.75, 0.25], dtype=torch.float64))
    # a class may bear the name of its group, and one group for all is no level
    assert_close(level_accuracy([1], [0], groups({"a": ["a", "b"]})), torch.tensor([0.0], dtype=torch.float64))
