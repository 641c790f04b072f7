"""A label space by a word or an order, and in words."""

from pathlib import Path

import pytest
import torch

from labelspace import LabelSpace, confusion, groups, lda, ordinal, permuted, random_like, text, tree, uniform, wordnet
from labelspace.spec.named import by_value, named, numeric_order, order, order_of
from labelspace.spec.words import words

SIZES = ["high", "low", "mid"]


def test_an_order_is_the_ordinal_space_in_the_order_of_the_data() -> None:
    space = order("low<mid<high", SIZES)
    assert space.names == ("high", "low", "mid")
    # by hand: from low, mid is one step and high two, so masses are 2/3 and 1/3
    expected = torch.tensor([[0, 1 / 3, 2 / 3], [1 / 3, 0, 2 / 3], [1 / 2, 1 / 2, 0]])
    torch.testing.assert_close(space.matrix, expected)
    assert order_of(space) == ("low", "mid", "high")
    assert words(space) == "order: low < mid < high"


def test_blanks_do_not_matter_and_classes_may_be_left_to_the_text() -> None:
    assert order(" low <mid< high ").names == ("low", "mid", "high")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("low<hgih<mid", "Got 'hgih', which is none of the classes. Did you mean 'high'?"),
        ("low<High<mid", "Did you mean 'high'?"),
        ("low<mid", "Got nothing for 'high'. Put it where it belongs"),
        ("low<mid<low<high", "Got 'low' again. Keep one of them."),
        ("low<<high", "Got 'low<<high'. Write for example 'low<mid<high'."),
        ("<", "Write for example"),
        ("a<b<c", "Got 'a', which is none of the classes and 2 more that are none. The classes are: 'high', 'low'"),
    ],
)
def test_every_class_must_be_named_once(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="`space` of labelspace must be an order") as error:
        named(text, SIZES)
    assert message in str(error.value)


def test_names_may_hold_the_sign_of_order() -> None:
    names = [">50K", "<50K", "50K"]
    assert order_of(named("<50K<50K<>50K", names)) == ("<50K", "50K", ">50K")
    assert order_of(named("<50K < 50K < >50K", names)) == ("<50K", "50K", ">50K")
    with pytest.raises(ValueError, match="must be an order"):
        named("<50K<60K<>50K", names)


def test_a_long_order_is_not_taken_for_a_file() -> None:
    names = [f"class number {index}" for index in range(300)]
    assert order_of(named("<".join(names), names[::-1])) == tuple(names)


def test_numbers_are_in_the_order_of_their_values_wherever_they_stand() -> None:
    names = ["10", "9", "-1.5", "2"]
    assert numeric_order(names) == ["-1.5", "2", "9", "10"]
    space = named("ordinal", names)
    assert space.names == tuple(names)
    torch.testing.assert_close(space.matrix, ordinal(["-1.5", "2", "9", "10"]).subset(names).matrix)
    assert words(space) == "order: -1.5 < 2 < 9 < 10"


@pytest.mark.parametrize("names", [["a", "b"], ["1", "1.0"], ["1", "nan"], ["1_0", "2"], ["1", "inf"]])
def test_what_is_no_number_has_no_order_of_its_own(names: list[str]) -> None:
    assert numeric_order(names) is None
    with pytest.raises(ValueError, match="Text has no order of its own"):
        by_value(names)


def test_the_order_of_a_space_built_without_one_written() -> None:
    space = ordinal(["low", "mid", "high"], power=2.0)
    assert order_of(space) == ("low", "mid", "high")
    bare = type(space)(space.names, space.matrix, space.kind, {"builder": "ordinal", "power": 2.0})
    assert order_of(bare) == ("low", "mid", "high")
    # moved without a written order: nobody can say which end is low
    assert order_of(bare.subset(SIZES)) is None
    assert words(bare.subset(SIZES)) == "order of 3 classes"
    # but by way of `named` the order is written before the classes are moved
    assert order_of(named(bare, SIZES)) == ("low", "mid", "high")
    assert order_of(None) is None


def test_the_order_of_a_part() -> None:
    assert order_of(order("a<b<c<d").subset(["d", "a", "c"])) == ("a", "c", "d")


def test_a_long_order_is_shortened_in_words() -> None:
    said = words(order("<".join(str(index) for index in range(100))))
    assert said == "order: 0 < 1 < 2 < 3 < 4 < 5 < … < 97 < 98 < 99"


NAMES = ["cat", "dog", "truck"]


def test_words_for_builders() -> None:
    torch.testing.assert_close(named("uniform", NAMES).matrix, uniform(NAMES).matrix)
    torch.testing.assert_close(named("wordnet", NAMES).matrix, wordnet(NAMES).matrix)
    x = torch.tensor([[0.0, 0.1], [0.1, 0.0], [1.0, 0.2], [1.1, 0.0], [9.0, 9.2], [9.1, 9.0]])
    y = torch.tensor([0, 0, 1, 1, 2, 2])
    torch.testing.assert_close(named("lda", NAMES, x, y).matrix, lda(x, y, names=NAMES).matrix)
    assert words(named("lda", NAMES, x, y)) == "LDA: 3 classes by their means on 2 discriminants"


def test_label_files_are_matched_by_name(tmp_path: Path) -> None:
    space = tree({"pet": ["cat", "dog"], "vehicle": ["truck", "bus"]})
    path = str(space.save(tmp_path / "space.safetensors"))
    found = named(path, NAMES[::-1])
    assert found.names == ("truck", "dog", "cat")
    torch.testing.assert_close(found.matrix, space.subset(NAMES[::-1]).matrix)
    torch.testing.assert_close(named(space, NAMES[::-1]).matrix, found.matrix)
    assert named(path).names == space.names
    with pytest.raises(ValueError, match="nothing for 'trukc' and 1 more. Did you mean 'truck'?"):
        named(path, ["cat", "trukc", "lorry"])
    with pytest.raises(FileNotFoundError, match="no label file"):
        named(str(tmp_path / "other.safetensors"), NAMES)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("wordnett", "Did you mean 'wordnet'?"),
        ("Ordinal", "Did you mean 'ordinal'?"),
        ("zzzz", "No file has this name either."),
        ("ordinal", "Text has no order of its own"),
        ("lda", "'lda' only where there are samples"),
    ],
)
def test_bad_words_get_one_clear_message(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="^`space` of labelspace must be ") as error:
        named(spec, NAMES)
    assert message in str(error.value)


def test_words_need_classes() -> None:
    with pytest.raises(ValueError, match="given with the classes. Got 'wordnet' alone"):
        named("wordnet")


def test_a_space_in_words() -> None:
    with pytest.warns(UserWarning, match="no noun"):
        partly = wordnet(["cat", "dog", "qwzx"])
    said = {
        "uniform: 3 classes, all equally near": uniform(NAMES),
        "WordNet: 2 of 3 names mapped; doubtful: cat, qwzx (see `labels show`)": partly,
        "WordNet: 1 of 2 names mapped; doubtful: cat, qwzx (see `labels show`)": partly.subset(["cat", "qwzx"]),
        "groups: 4 classes in 2 groups": groups([["a", "b"], ["c", "d"]]),
        "groups: 2 classes in 1 group": groups([["a", "b"], ["c", "d"]]).subset(["c", "d"]),
        "tree: 2 classes in 1 group, depth 2": tree({"p": ["a", "b"], "q": {"r": ["c", "d"]}}).subset(["a", "b"]),
        "text: 2 classes by their names, read by letters": text(["ab", "ba"], letters),
        "confusion: 2 classes by the mistakes of a model": confusion([[1, 2], [3, 4]], ["a", "b"]),
        "shuffled: 3 classes of ordinal, under wrong names": permuted(ordinal(3), 0),
        "random rows, as flat as those of ordinal: 3 classes": random_like(ordinal(3), 0),
        "relations of text: 2 classes": text(["ab", "ba"], letters).relations(),
        "lls: 2 classes": LabelSpace(("a", "b"), torch.eye(2), "relations", {"builder": "lls"}),
        "a matrix: 2 classes": LabelSpace(("a", "b"), torch.eye(2), "relations"),
        "prices: every mistake costs 2": LabelSpace(("a", "b"), torch.tensor([[0.0, 2], [2, 0]]), "cost"),
    }
    for expected, space in said.items():
        assert words(space) == expected


def letters(names: list[str]) -> list[list[float]]:
    return [[1.0, name.index("a")] for name in names]
