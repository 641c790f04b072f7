"""LabelSpace: what it accepts, what it gives back, and its file."""

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from labelspace import (
    LabelFileError,
    LabelSpace,
    confusion,
    cost,
    groups,
    ordinal,
    permuted,
    random_like,
    tree,
    uniform,
)

NAMES = ["cat", "dog", "car", "bus", "tram"]


@st.composite
def spaces(draw: st.DrawFn) -> LabelSpace:
    """Relations, vectors or costs of two to seven classes."""
    count = draw(st.integers(2, 7))
    seed = draw(st.integers(0, 2**31))
    kind = draw(st.sampled_from(["relations", "vectors", "cost", "ordinal", "uniform", "confusion"]))
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.rand(count, count, generator=generator) + 0.01
    if kind == "ordinal":
        return ordinal(count, power=draw(st.floats(0, 4)))
    if kind == "uniform":
        return uniform(count)
    if kind == "confusion":
        return confusion((numbers * 20 - 5).clamp_min(0).round())
    if kind == "cost":
        return cost(numbers.fill_diagonal_(0))
    if kind == "vectors":
        return LabelSpace(tuple("abcdefg"[:count]), numbers[:, : draw(st.integers(1, count))] - 0.5, "vectors")
    return LabelSpace(tuple("abcdefg"[:count]), numbers / numbers.sum(1, keepdim=True), "relations")


@given(spaces())
def test_relations_rows_sum_to_one_and_are_not_negative(space: LabelSpace) -> None:
    relations = space.relations()
    assert relations.kind == "relations"
    assert bool((relations.matrix >= 0).all())
    torch.testing.assert_close(relations.matrix.sum(1), torch.ones(len(space)), rtol=0, atol=1e-5)


@given(spaces(), st.floats(0, 1))
def test_targets_mix_identity_and_relations(space: LabelSpace, sigma: float) -> None:
    expected = (1 - sigma) * torch.eye(len(space)) + sigma * space.relations().matrix
    torch.testing.assert_close(space.targets(sigma), expected)
    torch.testing.assert_close(space.targets(0), torch.eye(len(space)), rtol=0, atol=0)


@given(spaces(), st.sampled_from(["cosine", "euclidean", "cos2"]))
def test_distances_are_symmetric_with_a_zero_diagonal(space: LabelSpace, metric: str) -> None:
    distances = space.distances(metric)
    torch.testing.assert_close(distances, distances.T, rtol=0, atol=0)
    torch.testing.assert_close(distances.diagonal(), torch.zeros(len(space)), rtol=0, atol=0)
    assert bool((distances >= 0).all())


@settings(max_examples=50)
@given(space=spaces(), data=st.data())
def test_subset_save_load_is_the_identity(
    tmp_path_factory: pytest.TempPathFactory, space: LabelSpace, data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(space.names), min_size=1, unique=True))
    subset = space.subset(chosen)
    path = tmp_path_factory.mktemp("space") / "labels.safetensors"
    loaded = LabelSpace.load(subset.save(path))
    assert (loaded.names, loaded.kind, loaded.source) == (tuple(chosen), space.kind, space.source)
    torch.testing.assert_close(loaded.matrix, subset.matrix, rtol=0, atol=0)
    torch.testing.assert_close(loaded.subset(chosen).matrix, subset.matrix, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(space.subset(space.names).matrix, space.matrix, rtol=1e-6, atol=1e-7)


def entropies(space: LabelSpace) -> torch.Tensor:
    rows = space.relations().matrix.double()
    return -torch.special.xlogy(rows, rows).sum(1)


@given(spaces(), st.integers(0, 1000))
def test_nulls_keep_the_entropy(space: LabelSpace, seed: int) -> None:
    shuffled, random = permuted(space, seed), random_like(space, seed)
    torch.testing.assert_close(entropies(shuffled).sort().values, entropies(space).sort().values, rtol=0, atol=1e-5)
    torch.testing.assert_close(entropies(random), entropies(space), rtol=0, atol=1e-5)
    torch.testing.assert_close(random.matrix.diagonal(), space.relations().matrix.diagonal(), rtol=0, atol=1e-6)
    assert shuffled.names == random.names == space.names


def test_nulls_are_seeded_and_no_copies() -> None:
    space = ordinal(6)
    torch.testing.assert_close(permuted(space, 3).matrix, permuted(space, 3).matrix, rtol=0, atol=0)
    pairs = groups([["a", "b"], ["c", "d"]])
    for seed in range(100):
        for original in (ordinal(["a", "b", "c"]), pairs):
            assert not torch.equal(permuted(original, seed).matrix, original.matrix)
    assert not torch.equal(random_like(space, 1).matrix, random_like(space, 2).matrix)


@given(spaces(), st.integers(0, 1000))
def test_a_shuffled_space_is_the_space_under_other_names(space: LabelSpace, seed: int) -> None:
    sharp = LabelSpace(space.names, space.matrix, space.kind, {**space.source, "temperature": 0.1})
    shuffled = permuted(sharp, seed)
    order = shuffled.source["order"]
    torch.testing.assert_close(shuffled.relations().matrix, sharp.relations().matrix[order][:, order])


def test_cost_and_vectors_become_relations_by_their_formulas() -> None:
    # cost: weights exp(−c/c̄), c̄ = mean(1, 3, 1, 1, 3, 1) = 5/3; row 0: exp(−0.6), exp(−1.8)
    prices = cost([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    first = torch.exp(torch.tensor([-0.6, -1.8]))
    torch.testing.assert_close(prices.relations().matrix[0, 1:], first / first.sum())
    # vectors: s = 1/(1+e^d) with d = 1 − cos; the cosines of row 0 are 0 and −1
    points = LabelSpace(("a", "b", "c"), torch.tensor([[1.0, 0], [0, 2.0], [-3.0, 0]]), "vectors")
    second = 1 / (1 + torch.exp(torch.tensor([1.0, 2.0])))
    torch.testing.assert_close(points.relations().matrix[0, 1:], second / second.sum())
    assert points.nearest("a") == [("b", 0.0), ("c", -1.0)]


def test_a_class_left_alone_keeps_its_mass() -> None:
    space = groups({"pets": ["cat", "dog"], "vehicles": ["car", "bus", "tram"]})
    torch.testing.assert_close(space.subset(["cat", "car", "bus"]).matrix[0], torch.tensor([1.0, 0, 0]))
    torch.testing.assert_close(ordinal(1).matrix, torch.ones(1, 1))
    torch.testing.assert_close(uniform(["only"]).relations().matrix, torch.ones(1, 1))


def test_tree_spaces_keep_their_hops_through_subset_and_file(tmp_path: Path) -> None:
    space = tree({"pet": ["cat", "dog"], "vehicle": {"rail": ["tram"], "road": ["car", "bus"]}})
    loaded = LabelSpace.load(space.subset(["bus", "cat", "tram"]).save(tmp_path / "t.safetensors"))
    assert loaded.hops is not None
    assert loaded.hops.tolist() == [[0, 5, 4], [5, 0, 5], [4, 5, 0]]
    assert ordinal(3).hops.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert uniform(3).hops is None


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: LabelSpace(("a", "a"), torch.eye(2), "relations"), "`names` of LabelSpace must be unique. Got 'a'"),
        (lambda: LabelSpace(("a", "b"), torch.eye(3), "relations"), "must be an array of 2 rows"),
        (lambda: LabelSpace(("a", "b"), torch.ones(2, 3) / 3, "relations"), "must be a square array"),
        (lambda: LabelSpace(("a", "b"), torch.ones(2, 2), "relations"), "rows that sum to 1.*Got 2 for 'a'"),
        (lambda: LabelSpace(("a", "b"), -torch.eye(2), "relations"), "non-negative"),
        (lambda: LabelSpace(("a", "b"), torch.eye(2), "relation"), "Did you mean 'relations'"),
        (lambda: LabelSpace(("a", "b"), torch.eye(2), "relations", {"x": object()}), "plain JSON data"),
        (lambda: cost([[0, float("nan")], [1, 0]]), "`matrix` of cost must be finite. Got nan at row 0, column 1"),
        (lambda: cost([[1, 1], [1, 0]]), "zero on its diagonal.* Got 1 for '0'"),
        (lambda: cost([[0, -1], [1, 0]]), "non-negative"),
        (lambda: cost([[0, 1], [1, 0]], ["a"]), "`names` of cost must be 2 names"),
        (lambda: confusion([[1, -1], [1, 0]]), "counts that are not negative"),
        (lambda: ordinal(3).targets(1.5), r"`smoothing` of LabelSpace.targets must be a number in \[0, 1\]. Got 1.5"),
        (lambda: ordinal(["low", "high"]).subset(["lo"]), "Got 'lo', which is none. Did you mean 'low'"),
        (lambda: ordinal(3).subset([3]), "names or indices from 0 to 2. Got 3"),
        (lambda: ordinal(3).subset([0, 0]), "unique"),
        (lambda: ordinal(3).distances("manhattan"), "`metric` of LabelSpace.distances must be one of"),
        (lambda: ordinal(["low", "high"]).nearest("hig"), "Did you mean 'high'"),
        (lambda: ordinal(0), "`classes` of ordinal must be a whole number of at least 1. Got 0"),
        (lambda: ordinal(3, power=-1), "`power` of ordinal"),
        (lambda: groups({"a": ["cat"], "b": ["cat", "dog"]}), "disjoint. Got 'cat' in 'a' and 'b'"),
        (
            lambda: groups([["cat", "dog"]], classes=["cat", "dog", "car"]),
            "a group for every class. Got none for 'car'",
        ),
        (lambda: groups([["cat", "dgo"]], classes=["cat", "dog"]), "Did you mean 'dog'"),
        (lambda: groups([[0, 1], [3]]), "a group for every class. Got none for '2'"),
        (lambda: tree({"a": "b", "b": "c", "c": "a"}), "without cycles. Got a → b → c → a"),
        (lambda: tree([("cat", "pet"), ("cat", "animal")]), "one parent per node. Got 'cat' under 'pet' and 'animal'"),
        (lambda: tree({"x": ["cat"], "y": ["cat", "dog"]}), "one parent per node"),
        (lambda: tree({"cat": "pet"}, leaves=["dog"]), "`leaves` of tree must be names of classes. Got 'dog'"),
        (lambda: tree({"cat": "pet"}, decay=0), r"`decay` of tree must be a number in \(0, 1\]. Got 0"),
    ],
)
def test_bad_values_get_a_clear_error(build, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=text):
        build()


@pytest.mark.parametrize("classes", ["cat", 3.0, True, [1, 2], ["a", ""]])
def test_bad_class_lists(classes: object) -> None:
    with pytest.raises(TypeError, match="must be"):
        ordinal(classes)  # type: ignore[arg-type]


def test_a_group_of_one_warns() -> None:
    with pytest.warns(UserWarning, match="Group 'b' has one class, 'car': it stays one-hot"):
        space = groups({"a": ["cat", "dog"], "b": ["car"]})
    torch.testing.assert_close(space.matrix[2], torch.tensor([0.0, 0, 1]))


def test_tree_forms_agree(tmp_path: Path) -> None:
    nested = tree({"animal": {"pet": ["cat", "dog"], "wild": ["wolf"]}, "car": None})
    mapping = {"cat": "pet", "dog": "pet", "wolf": "wild", "pet": "animal", "wild": "animal", "car": ""}
    file = tmp_path / "parents.csv"
    file.write_text("child,parent\n" + "".join(f"{child}, {parent}\n" for child, parent in mapping.items()))
    for other in (tree(mapping), tree(list(mapping.items())), tree(file), tree(str(file))):
        assert other.names == nested.names
        torch.testing.assert_close(other.matrix, nested.matrix)
    # cat–dog 2 edges, cat–wolf 4, cat–car: up three to the unnamed root, down one
    assert nested.hops is not None
    assert nested.hops[0].tolist() == [0, 2, 4, 4]
    weights = torch.tensor([0, 0.5**2, 0.5**4, 0.5**4])
    torch.testing.assert_close(nested.matrix[0], weights / weights.sum())
    file.write_text("child,parent\ncat\n")
    with pytest.raises(ValueError, match="in line 2"):
        tree(file)
    with pytest.raises(FileNotFoundError, match="which does not exist"):
        tree(tmp_path / "none.csv")


def test_equal_spaces_are_equal_files(tmp_path: Path) -> None:
    one = ordinal(NAMES).save(tmp_path / "one.safetensors").read_bytes()
    two = ordinal(NAMES).save(tmp_path / "two.safetensors").read_bytes()
    assert one == two


def write_header(path: Path, header: object, matrix: torch.Tensor | None = None) -> Path:
    text = header if isinstance(header, str) else json.dumps(header)
    save_file({"matrix": torch.eye(2) if matrix is None else matrix}, path, {"labelspace": text})
    return path


def test_untrustworthy_files_are_refused(tmp_path: Path) -> None:
    good = ordinal(NAMES).save(tmp_path / "good.safetensors")
    truncated = tmp_path / "truncated.safetensors"
    truncated.write_bytes(good.read_bytes()[:-10])
    empty = tmp_path / "empty.safetensors"
    empty.write_bytes(b"")
    malicious = tmp_path / "malicious.safetensors"
    malicious.write_bytes(pickle.dumps({"matrix": os.getcwd}))
    endless = tmp_path / "endless.safetensors"
    endless.write_bytes((2**62).to_bytes(8, "little") + b"{}")
    for path in (truncated, empty, malicious, endless):
        with pytest.raises(LabelFileError, match="cannot be read as a label file"):
            LabelSpace.load(path)
    header = {"version": 1, "names": ["a", "b"], "kind": "relations", "source": {}}
    newer = write_header(tmp_path / "newer.safetensors", {**header, "version": 3})
    with pytest.raises(LabelFileError, match="is of version 3; this labelspace reads versions 1 and 2"):
        LabelSpace.load(newer)
    foreign = tmp_path / "foreign.safetensors"
    save_file({"matrix": torch.eye(2)}, foreign)
    with pytest.raises(LabelFileError, match="but not a label file"):
        LabelSpace.load(foreign)
    for wrong in (
        "[",
        "[1]",
        "9" * 5000,
        {**header, "names": ["a"]},
        {**header, "kind": "x"},
        {**header, "names": None},
    ):
        with pytest.raises(LabelFileError):
            LabelSpace.load(write_header(tmp_path / "wrong.safetensors", wrong))
    with pytest.raises(LabelFileError, match="finite"):
        LabelSpace.load(write_header(tmp_path / "nan.safetensors", header, torch.full((2, 2), torch.nan)))
    with pytest.raises(FileNotFoundError, match="There is no label file at"):
        LabelSpace.load(tmp_path / "absent.safetensors")


def test_a_failed_save_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ordinal(3).save(tmp_path / "labels.safetensors")
    before = path.read_bytes()

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        ordinal(4).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["labels.safetensors"]


def test_names_survive_whatever_they_hold(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "naïve 🐈", "a\nb", "__class__"]
    assert LabelSpace.load(ordinal(names).save(tmp_path / "odd.safetensors")).names == tuple(names)


def test_matrices_are_copies_in_float32() -> None:
    mine = torch.eye(3, dtype=torch.float64)
    space = LabelSpace(("a", "b", "c"), mine, "relations")
    mine.fill_(7)
    torch.testing.assert_close(space.matrix, torch.eye(3))
    assert "relations 3×3" in repr(space)


def test_sparse_tensors_do_and_meta_tensors_do_not():
    prices = torch.tensor([[0.0, 2.0], [1.0, 0.0]])
    for sparse in (prices.to_sparse(), prices.T.to_sparse().T):
        torch.testing.assert_close(cost(sparse, ["a", "b"]).matrix, prices)
        torch.testing.assert_close(LabelSpace(("a", "b"), sparse, "vectors").matrix, prices)
    with pytest.raises(TypeError, match="`matrix` of cost must be .* Got a tensor on the meta device"):
        cost(prices.to("meta"))


def test_forty_thousand_names_of_which_two_are_equal():
    names = [str(number) for number in range(40_000)]
    started = time.monotonic()
    with pytest.raises(ValueError, match="unique. Got '7' more than once"):
        LabelSpace((*names, "7"), torch.zeros(1, 1), "cost")
    assert time.monotonic() - started < 10


def test_names_that_no_file_can_hold():
    with pytest.raises(ValueError, match=r"names of classes that are Unicode text. Got 'caf\\udce9'"):
        cost(torch.zeros(1, 1), ["caf\udce9"])


@pytest.mark.parametrize("kind", ["cost", "vectors"])
def test_numbers_beyond_single_precision_are_refused(kind: Any) -> None:
    numbers = torch.tensor([[0.0, 1e39], [1.0, 0.0]], dtype=torch.float64)
    with pytest.raises(
        ValueError, match=r"within the range of single precision, ±3.4e38. Got 1e\+39 at row 0, column 1"
    ):
        LabelSpace(["a", "b"], numbers, kind)
    with pytest.raises(ValueError, match=r"Got 1e\+39 at row 0, column 1"):
        cost(numbers, ["a", "b"])


@pytest.mark.parametrize(
    "hops", [[[0, 0.9], [0.9, 0]], [[0, 2**62], [2**62, 0]], [[0, -2], [-2, 0]], [[1, 2], [2, 0]], [[0, 2], [3, 0]]]
)
def test_hops_are_path_lengths(hops: Any) -> None:
    with pytest.raises(ValueError, match="`hops` of LabelSpace must be whole path lengths"):
        LabelSpace(["a", "b"], torch.eye(2), "relations", hops=torch.tensor(hops))


def test_align_is_another_order_of_the_same_numbers() -> None:
    names = ["low", "mid", "high"]
    order = [2, 0, 1]
    for space in (ordinal(names), cost([[0, 1, 4], [2, 0, 1], [9, 3, 0]], names)):
        aligned = space.align(np.array(["high", "low", "mid"]))
        assert aligned.names == ("high", "low", "mid")
        torch.testing.assert_close(aligned.matrix, space.matrix[order][:, order], rtol=0, atol=0)
        assert space.align(names) is space
        torch.testing.assert_close(aligned.align(names).matrix, space.matrix, rtol=0, atol=0)
    hops = ordinal(names).align(["high", "low", "mid"]).hops
    assert hops is not None
    assert hops.tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["low", "high"], r"all 3 names, in any order. Got without 'mid'. space.subset\(classes\) leaves some out"),
        (["low", "mid", "hi"], "Got unknown 'hi' and without 'high'. The classes are: 'low', 'mid', 'high'"),
        (["low", "mid", "high", "top"], "Got unknown 'top'. The classes are"),
        (["low", "low", "high"], "unique"),
    ],
)
def test_align_refuses_other_names(names: list[str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ordinal(["low", "mid", "high"]).align(names)
