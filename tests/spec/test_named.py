"""A label space by a word, and in words."""

from pathlib import Path

import pytest
import torch

from labelspace import LabelSpace, confusion, groups, lda, ordinal, permuted, random_like, text, tree, uniform, wordnet
from labelspace.spec.named import named
from labelspace.spec.words import words

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
        "WordNet: 2 of 3 names mapped": partly,
        "WordNet: 1 of 2 names mapped": partly.subset(["cat", "qwzx"]),
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
