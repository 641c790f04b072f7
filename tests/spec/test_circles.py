"""Taxonomies that go in circles or have no end are refused, and soon."""

import json
import time

import numpy as np
import pytest
import torch

from labelspace import LabelFileError, LabelSpace, metrics, tree, wordnet
from labelspace.spec.named import named
from labelspace.spec.prices import cost_words, implied
from labelspace.spec.words import words

SQUARE = np.array([[0.0, 1.0], [1.0, 0.0]])


def space_of(source, kind="relations"):
    return LabelSpace(("a", "b"), SQUARE, kind, source, torch.tensor([[0, 2], [2, 0]]))


def nested(depth):
    return {"leaf": None} if depth == 0 else {f"group {depth}": nested(depth - 1)}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "parents", [{"a": "b", "b": "a"}, {"a": "a", "b": "a"}, {"a": "c", "b": "", "c": "d", "d": "c"}]
)
def test_a_label_file_whose_parents_form_a_circle(tmp_path, parents):
    space = space_of({"builder": "tree", "parents": parents})
    assert words(space) == "tree: 2 classes"
    path = space.save(tmp_path / "circle.safetensors")
    for read in (LabelSpace.load, named):
        with pytest.raises(LabelFileError, match="circle.safetensors: .*form a circle at"):
            read(path)
    with pytest.raises(ValueError, match="without cycles"):
        metrics.level_accuracy([0, 1], [1, 0], space)


@pytest.mark.parametrize("parents", [None, ["a"], {"a": 3, "b": ""}, {"a": ["x"], "b": ""}, {"a": ""}])
def test_a_label_file_whose_parents_are_none(tmp_path, parents):
    space = space_of({"builder": "tree", "parents": parents})
    assert words(space) == "tree: 2 classes"
    with pytest.raises(LabelFileError, match="the parents of its tree"):
        LabelSpace.load(space.save(tmp_path / "odd.safetensors"))
    with pytest.raises(ValueError, match="tree_space"):
        metrics.level_accuracy([0, 1], [1, 0], space)


def test_a_label_file_whose_top_has_a_parent(tmp_path):
    path = space_of({"builder": "tree", "parents": {"a": "", "b": "", "": "a"}}).save(tmp_path / "top.safetensors")
    with pytest.raises(LabelFileError, match="the top of its tree must have no parent, not 'a'"):
        LabelSpace.load(path)


def test_a_group_that_holds_itself():
    inside: dict = {}
    inside["pets"] = inside
    around: list = []
    around.append(around)
    for parents in (inside, {"pets": around}, nested(5000 // 10)):
        with pytest.raises(ValueError, match="nested at most 100 levels deep"):
            tree(parents)
    assert tree({"top": nested(50)}).names == ("leaf",)


@pytest.mark.timeout(60)
def test_a_long_chain_takes_a_moment(tmp_path):
    pairs = [(f"node{number}", f"node{number + 1}") for number in range(20_000)]
    started = time.monotonic()
    assert tree(pairs).names == ("node0",)
    with pytest.raises(ValueError, match=r"without cycles. Got node0 → node1 → .* → … → node0"):
        tree([*pairs, ("node20000", "node0")])
    for ending, lines in (
        (".csv", [f"{child},{parent}" for child, parent in pairs]),
        (".txt", [" > ".join(dict(pairs))]),
    ):
        path = tmp_path / f"chain{ending}"
        path.write_text("child,parent\n" * (ending == ".csv") + "\n".join(lines))
        with pytest.raises(ValueError, match="a taxonomy of at most 100 levels"):
            named(path)
    # 46 s and more than 60 s where every node looks at all above it
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "child,parent\na,b\nb,c\nc,a\n"),
        ("t.json", '{"a": "b", "b": "a"}'),
        ("t.yaml", "a: b\nb: a\n"),
        ("t.yaml", "a: &x\n  b: *x\n"),
    ],
)
def test_files(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match="circles|at most 100 levels"):
        named(tmp_path / name)
    if name == "t.csv":
        with pytest.raises(ValueError, match="without cycles. Got a → b → c → a"):
            tree(tmp_path / name)


@pytest.mark.timeout(60)
def test_hypernyms_in_a_circle_end(tmp_path):
    lines = [
        "00000010 03 n 01 cat 0 001 @ 00000020 n 0000 | a",
        "00000020 03 n 01 pet 0 001 @ 00000010 n 0000 | b",
    ]
    (tmp_path / "data.noun").write_text("\n".join(lines) + "\n")
    (tmp_path / "index.noun").write_text("cat n 1 1 @ 1 0 00000010\npet n 1 1 @ 1 0 00000020\n")
    assert wordnet(["cat", "pet"], folder=tmp_path).hops.tolist() == [[0, 1], [1, 0]]
    (tmp_path / "data.noun").write_text("\n".join(lines).replace("00000010", "9" * 30) + "\n")
    (tmp_path / "index.noun").write_text(f"cat n 1 1 @ 1 0 {'9' * 30}\npet n 1 1 @ 1 0 00000020\n")
    with pytest.raises(ValueError, match="a number that is too large"):
        wordnet(["cat", "pet"], folder=tmp_path)


def test_more_leaves_than_a_table_of_pairs_can_have(tmp_path):
    (tmp_path / "t.csv").write_text("child,parent\n" + "".join(f"leaf{number},top\n" for number in range(30_000)))
    with pytest.raises(ValueError, match=r"so few classes.* Got 30,000, for which that takes 7 GiB"):
        tree(tmp_path / "t.csv")


def test_a_device_is_no_taxonomy(tmp_path):
    for ending in (".txt", ".csv", ".json"):
        (tmp_path / f"zero{ending}").symlink_to("/dev/zero")
        for read in (named, tree):
            with pytest.raises(ValueError, match="which is a device or a pipe"):
                read(tmp_path / f"zero{ending}")


@pytest.mark.parametrize(
    "source",
    [
        {"builder": "permuted"},
        {"builder": "permuted", "of": 3},
        {"builder": "wordnet", "senses": 7},
        {"builder": "groups"},
        {"builder": "groups", "groups": ["a"]},
        {"builder": "groups", "groups": {"x": 3}},
        {"builder": "groups", "groups": {"x": [["a"], {}]}},
        {"builder": "ordinal", "order": [["a"], "b"]},
        {"builder": "ordinal", "order": 1, "power": "steep"},
        {"builder": "ordinal", "power": 10**400},
        {"builder": "ordinal", "order": ["a", "b", "a"]},
        {"builder": "lda", "components": [1]},
        {"builder": ["tree"]},
        {"builder": "relations", "of": []},
    ],
)
def test_a_source_may_say_anything(tmp_path, source):
    path = space_of(source).save(tmp_path / "odd.safetensors")
    space = named(path, ["b", "a"])
    assert words(space)
    assert implied(space) is None or implied(space).kind == "cost"


@pytest.mark.parametrize("under", ["much", None, 10**400, [1], float("1e300")])
def test_prices_may_say_anything(under):
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    source = {"builder": "prices", "rule": "steps", "under": under}
    assert cost_words(LabelSpace(("a", "b"), matrix, "cost", json.loads(json.dumps(source))))[0]
