"""Places in a taxonomy: from paths, and from tables in both of their forms."""

import pytest

from labelspace._tables import Row
from labelspace.spec.places import Place, pair_places, table_places, tree_of

PATHS = [("pets", "cat"), ("pets", "dog"), ("road", "bus")]


def rows(*lines: str) -> list[Row]:
    return [Row(number, line.split(",")) for number, line in enumerate(lines, 1)]


def test_levels_and_pairs_give_the_same_tree() -> None:
    names = ["bus", "cat", "dog"]
    by_path = tree_of([Place(path, "") for path in PATHS], names)
    levels = tree_of(table_places(rows("pets,cat", "pets,dog", "road,bus"), names), names)
    pairs = tree_of(table_places(rows("child,parent", "cat,pets", "dog,pets", "bus,road"), names), names)
    assert by_path.hops is not None
    assert by_path.hops.tolist() == [[0, 4, 4], [4, 0, 2], [4, 2, 0]]
    for other in (levels, pairs):
        assert other.hops is not None
        assert other.hops.tolist() == by_path.hops.tolist()


def test_groups_of_one_name_in_two_branches_stay_two() -> None:
    paths = [("men", "shoes", "boots"), ("women", "shoes", "heels")]
    space = tree_of([Place(path, "") for path in paths], None)
    assert space.hops is not None
    assert space.hops.tolist() == [[0, 6], [6, 0]]
    assert set(space.source["parents"]) == {"boots", "heels", "men", "women", "shoes", "women > shoes"}


def test_an_inner_node_may_be_a_class() -> None:
    space = tree_of([Place(("life", "dog", "poodle"), ""), Place(("life", "cat"), "")], ["dog", "poodle", "cat"])
    assert space.hops is not None
    assert space.hops[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("a", "b", "line 1"), ("b", "a", "line 2")], r"without circles. Got a → b → a \(line 2\)"),
        ([("a", "b", "line 1"), ("a", "c", "line 2")], r"one parent per node. Got 'a' under 'b' \(line 1\) and 'c'"),
    ],
)
def test_pairs_that_are_no_tree(pairs: list[tuple[str, str, str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pair_places(pairs)
