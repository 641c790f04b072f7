"""Compressed label spaces: rows, relatives, parts and files against numpy, and no matrix where it would be large."""

import copy
import json
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from labelspace import LabelFileError, LabelSpace, SemanticSmoothing, analysis, compressed
from labelspace.compressed import CosineRows, GroupRows, LowRank, OrderRows, Rows, TopRows

NAMES = tuple("abcdefg")
Array = np.ndarray[Any, np.dtype[np.float64]]


def softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def low_rank(relu: bool) -> tuple[Rows, Array]:
    draws = np.random.default_rng(1)
    left, right = draws.normal(size=(7, 3)).astype("f4"), draws.normal(size=(3, 7)).astype("f4")
    products = left.astype("f8") @ right.astype("f8")
    rule = LowRank(torch.from_numpy(left), torch.from_numpy(right), relu=relu)
    return rule, softmax(np.maximum(products, 0) if relu else products)


def top_rows() -> tuple[Rows, Array]:
    draws = np.random.default_rng(2)
    dense = np.zeros((7, 7))
    indices, values, rest = np.full((7, 3), -1), np.zeros((7, 3)), draws.uniform(0.1, 0.5, 7)
    rest[5] = 0  # a row whose whole mass is on the classes it names
    for row in range(7):
        count = 1 + row % 3
        places = draws.permutation(7)[:count]
        mass = draws.uniform(0.1, 1, count)
        mass *= (1 - rest[row]) / mass.sum()
        dense[row] = rest[row] / (7 - count)
        dense[row, places] = mass
        indices[row, :count], values[row, :count] = places, mass
    return TopRows(torch.from_numpy(indices), torch.from_numpy(values), torch.from_numpy(rest)), dense


def cosine_rows() -> tuple[Rows, Array]:
    vectors = np.random.default_rng(3).normal(size=(7, 4)).astype("f4")
    vectors[2] = 0  # no direction: its cosine with all is 0
    wide = vectors.astype("f8")
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = wide / np.where(norms > 0, norms, 1)
    weights = 1 / (1 + np.exp((1 - unit @ unit.T) / 0.3))
    np.fill_diagonal(weights, 0)
    return CosineRows(torch.from_numpy(vectors), temperature=0.3), weights / weights.sum(axis=1, keepdims=True)


def order_rows() -> tuple[Rows, Array]:
    ranks = np.array([4, 0, 9, 1, 2, 30, 5])
    steps = np.abs(ranks[:, None] - ranks)
    weights = np.where(steps > 0, np.maximum(steps, 1) ** -1.5, 0)
    return OrderRows(torch.from_numpy(ranks), power=1.5), weights / weights.sum(axis=1, keepdims=True)


def group_rows() -> tuple[Rows, Array]:
    codes = np.array([3, 0, 3, 1, 0, 3, 0])  # the class of group 1 is alone
    weights = (codes[:, None] == codes) * (1 - np.eye(7))
    total = weights.sum(axis=1, keepdims=True)
    return GroupRows(torch.from_numpy(codes)), np.where(total > 0, weights / np.maximum(total, 1), np.eye(7))


CASES = {
    "order": order_rows,
    "groups": group_rows,
    "low-rank": lambda: low_rank(False),
    "low-rank relu": lambda: low_rank(True),
    "top-rows": top_rows,
    "cosine-rows": cosine_rows,
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[LabelSpace, Array]:
    rule, dense = CASES[request.param]()
    return LabelSpace(NAMES, rule, "relations", {"builder": "mine"}), dense


def close(found: torch.Tensor, expected: Array) -> None:
    torch.testing.assert_close(found, torch.from_numpy(np.asarray(expected)).float(), rtol=1e-5, atol=1e-6)


def test_rows_and_matrix_are_those_of_the_formula(case: tuple[LabelSpace, Array]) -> None:
    space, dense = case
    close(space.matrix, dense)
    close(space.rows(["f", "b"]), dense[[5, 1]])
    close(space.rows(torch.tensor([3])), dense[[3]])
    assert space.rows([0]).dtype == space.matrix.dtype == torch.float32
    assert space.shape == (7, 7)
    close(space.targets(0.3), 0.7 * np.eye(7) + 0.3 * dense)
    close(space.targets(0.3, ["f", "b"]), (0.7 * np.eye(7) + 0.3 * dense)[[5, 1]])
    assert space.relations() is space


def test_the_nearest_are_those_of_the_matrix(case: tuple[LabelSpace, Array]) -> None:
    space, dense = case
    written = LabelSpace(space.names, torch.from_numpy(dense), "relations")
    for name in NAMES:
        found = space.nearest(name, k=6)
        along = written.distances()[space.index(name), [space.index(other) for other, _ in found]]
        assert along.tolist() == sorted(along.tolist())
        close(
            torch.tensor([weight for _, weight in found]), dense[space.index(name), [NAMES.index(o) for o, _ in found]]
        )
        assert analysis.neighbours(space, k=6)[name] == found


def test_the_nearest_of_many_classes_are_those_of_the_row(
    case: tuple[LabelSpace, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    space, dense = case
    monkeypatch.setattr(compressed.rows, "LIMIT", 6 * 6 * 4)
    found = space.nearest("c", k=3)
    order = [place for place in np.argsort(-dense[2], kind="stable") if place != 2][:3]
    close(torch.tensor([weight for _, weight in found]), dense[2, order])
    assert len({name for name, _ in found}) == 3
    assert "c" not in dict(found)
    assert analysis.neighbours(space, k=3)["c"] == found


def test_probabilities_mix_rows_and_the_heaviest_are_those_of_the_matrix(case: tuple[LabelSpace, Array]) -> None:
    space, dense = case
    assert space.rule is not None
    y = np.random.default_rng(0).dirichlet(np.ones(7), 3)
    y[:, 2] = 0
    y[1] = 0
    torch.testing.assert_close(space.rule.mixed(torch.from_numpy(y)), torch.from_numpy(y @ dense), rtol=1e-6, atol=1e-7)
    for count in (1, 3, 6):
        places = space.rule.heaviest(count).numpy()
        assert all(len({*row, own}) == count + 1 for own, row in enumerate(places))
        others = np.where(np.eye(7) == 1, -1, dense)
        close(
            torch.from_numpy(np.sort(np.take_along_axis(dense, places, 1), 1)).float(),
            np.sort(others, 1)[:, 7 - count :],
        )


def test_criteria_take_them_as_they_are(case: tuple[LabelSpace, Array], monkeypatch: pytest.MonkeyPatch) -> None:
    space, dense = case
    monkeypatch.setattr(compressed.rows, "LIMIT", 100)
    criterion = SemanticSmoothing(space, smoothing=0.3)
    assert criterion.label_space().rule is space.rule
    assert criterion.target_matrix() is None
    assert not criterion.state_dict()
    output = torch.randn(4, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    log_p = np.log(softmax(output.numpy()))
    target = 0.7 * np.eye(7) + 0.3 * dense
    expected = -(target[[5, 0, 2]] * log_p[:3]).sum(axis=1).mean()
    found = criterion(output, torch.tensor([5, 0, 2, -100]))
    torch.testing.assert_close(found, torch.tensor(expected), rtol=1e-6, atol=0)
    y = np.random.default_rng(0).dirichlet(np.ones(7), 4)
    soft = criterion(output, torch.from_numpy(y))
    torch.testing.assert_close(soft, torch.tensor(-(y @ target * log_p).sum(axis=1).mean()), rtol=1e-6, atol=0)


@pytest.mark.parametrize("chosen", [["f", "a", "d"], ["b"], list(NAMES), list(reversed(NAMES))])
def test_a_part_is_renormalised(case: tuple[LabelSpace, Array], chosen: list[str]) -> None:
    space, dense = case
    places = [NAMES.index(name) for name in chosen]
    part = dense[np.ix_(places, places)]
    total = part.sum(axis=1, keepdims=True)
    expected = np.where(total > 0, part / np.where(total > 0, total, 1), np.eye(len(places)))
    found = space.subset(chosen)
    assert found.names == tuple(chosen)
    assert found.source == space.source
    close(found.matrix, expected)
    rule = space.rule
    assert rule is not None
    close(rule.subset(torch.tensor(places)).matrix(), expected)


def test_a_class_left_alone_keeps_its_mass() -> None:
    # a gives all to b; b shares with c; without b, a has nobody
    rule = TopRows(
        torch.tensor([[1, -1], [0, 2], [1, 0]]), torch.tensor([[1.0, 0], [0.5, 0.5], [0.25, 0.75]]), [0, 0, 0]
    )
    space = LabelSpace(("a", "b", "c"), rule, "relations")
    close(space.subset(["a", "c"]).matrix, np.array([[1.0, 0], [1, 0]]))
    many = rule.subset(torch.tensor([0, 2]))
    close(many.matrix(), np.array([[1.0, 0], [1, 0]]))


def test_a_small_part_is_a_matrix_and_a_large_one_is_not() -> None:
    generator = torch.Generator().manual_seed(0)
    rule = LowRank(torch.randn(300, 2, generator=generator), torch.randn(2, 300, generator=generator))
    space = LabelSpace([str(place) for place in range(300)], rule, "relations")
    assert space.subset(range(3)).rule is None
    assert isinstance(space.subset(range(200)).rule, LowRank)


def test_files_bring_back_every_bit(case: tuple[LabelSpace, Array], tmp_path: Path) -> None:
    space, _ = case
    path = space.save(tmp_path / "labels.safetensors")
    loaded = LabelSpace.load(path)
    assert (loaded.names, loaded.kind, loaded.source) == (space.names, space.kind, space.source)
    assert loaded.tensors.keys() == space.tensors.keys()
    for name, tensor in space.tensors.items():
        torch.testing.assert_close(loaded.tensors[name], tensor, rtol=0, atol=0)
    torch.testing.assert_close(loaded.matrix, space.matrix, rtol=0, atol=0)
    assert loaded.save(tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_files_with_a_matrix_are_what_they_were(tmp_path: Path) -> None:
    header = {"version": 1, "names": ["a", "b"], "kind": "relations", "source": {"builder": "x"}}
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    old = tmp_path / "old.safetensors"
    save_file({"matrix": torch.tensor([[0.25, 0.75], [1.0, 0.0]])}, old, {"labelspace": text})
    space = LabelSpace.load(old)
    torch.testing.assert_close(space.matrix, torch.tensor([[0.25, 0.75], [1.0, 0.0]]), rtol=0, atol=0)
    new = space.save(tmp_path / "new.safetensors")
    with safe_open(new, "pt") as file:
        written = json.loads(file.metadata()["labelspace"])
        torch.testing.assert_close(file.get_tensor("matrix"), space.matrix, rtol=0, atol=0)
    assert {name: value for name, value in written.items() if name != "digest"} == header


def test_copies_and_words(case: tuple[LabelSpace, Array]) -> None:
    space, _ = case
    for other in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        torch.testing.assert_close(other.matrix, space.matrix, rtol=0, atol=0)
        assert other.names == space.names
    assert len(space) == 7
    assert space.rule is not None
    assert repr(space) == f"LabelSpace(relations 7×7 from 'mine', {space.rule.form})"
    with pytest.raises(AttributeError):
        space.matrix = torch.eye(7)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        space.names = ()  # type: ignore[misc]


def test_what_would_be_large_is_refused_with_what_to_use_instead() -> None:
    count = 9000
    rule = TopRows(torch.arange(count)[:, None], torch.full((count, 1), 0.5), torch.full((count,), 0.5))
    space = LabelSpace([str(place) for place in range(count)], rule, "relations")
    message = r"at most 256 MiB. Got 9,000 × 9,000 numbers, 309 MiB. .* use rows\(classes\), nearest\(name\) or subset"
    for build in (lambda: space.matrix, lambda: space.targets(0.1), lambda: space.distances("cosine")):
        with pytest.raises(ValueError, match=message):
            build()
    assert space.nearest("7", k=1) == [("0", pytest.approx(0.5 / 8999))]


def test_relations_of_many_vectors_are_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
    space = LabelSpace(NAMES, vectors, "vectors", {"temperature": 0.5})
    dense = space.relations()
    monkeypatch.setattr(compressed.rows, "LIMIT", 100)
    found = space.relations()
    assert isinstance(found.rule, CosineRows)
    assert (found.kind, found.source) == (dense.kind, dense.source)
    monkeypatch.undo()
    torch.testing.assert_close(found.matrix, dense.matrix)


LEFT, RIGHT = torch.zeros(2, 1), torch.zeros(1, 2)
INDICES, VALUES, REST = torch.tensor([[1], [0]]), torch.tensor([[1.0], [0.5]]), torch.tensor([0.0, 0.5])


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: LowRank(LEFT, torch.zeros(2, 2)), r"must be of shapes \(K, h\) and \(h, K\)"),
        (lambda: LowRank(LEFT, torch.zeros(1, 3)), r"must be of shapes \(K, h\) and \(h, K\)"),
        (lambda: LowRank(LEFT * torch.nan, RIGHT), "`left` of LowRank must be finite"),
        (lambda: LowRank(LEFT + 1e30, RIGHT + 1e30), "so small that products are finite"),
        (lambda: LowRank(LEFT, RIGHT, relu=1), "`relu` of LowRank must be true or false"),
        (lambda: TopRows(INDICES + 1, VALUES, REST), "class indices from 0 to 1, or −1 for none. Got 2"),
        (lambda: TopRows(INDICES - 2, VALUES, REST), "or −1 for none. Got -2"),
        (lambda: TopRows(INDICES.double(), VALUES, REST), "`indices` of TopRows must be whole numbers"),
        (lambda: TopRows(INDICES[:1], VALUES, REST), "`indices` of TopRows must be whole numbers of shape"),
        (lambda: TopRows(torch.tensor([[1, 1], [0, -1]]), torch.full((2, 2), 0.5), REST), "Got 1 twice in row 0"),
        (lambda: TopRows(torch.tensor([[-1], [0]]), VALUES, REST), "0 where `indices` has −1. Got 1"),
        (lambda: TopRows(INDICES, VALUES, REST * 2), "rows that sum to 1. Got 1.5 in row 1"),
        (lambda: TopRows(INDICES, VALUES, -REST), "not negative. Got -0.5"),
        (lambda: TopRows(INDICES, VALUES, REST * torch.inf), "`rest` of TopRows must be finite"),
        (lambda: TopRows(INDICES, VALUES, REST[:1]), "`rest` of TopRows must be an array of 2 rows"),
        (lambda: TopRows(torch.tensor([[0]]), torch.tensor([[0.5]]), [0.5]), "0 where a row names every class"),
        (lambda: CosineRows(torch.eye(2), temperature=0), "`temperature` of CosineRows"),
        (lambda: LabelSpace(NAMES, LowRank(LEFT, RIGHT), "relations"), "a rule of 7 classes. Got one of 2"),
        (lambda: LabelSpace(("a", "b"), LowRank(LEFT, RIGHT), "cost"), "`kind` of LabelSpace must be 'relations'"),
        (lambda: LabelSpace(("a", "b"), LowRank(LEFT, RIGHT), "relations").rows(["x"]), "names of classes"),
    ],
)
def test_bad_rules_get_a_clear_error(build: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        build()


HEADER = {"version": 2, "names": ["a", "b"], "kind": "relations", "source": {}, "form": "low-rank", "facts": {}}


@pytest.mark.parametrize(
    ("header", "tensors"),
    [
        ({**HEADER, "form": "mine"}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "form": ["low-rank"]}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "facts": {"relu": "yes"}}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "facts": {"other": 1}}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "facts": 3}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "facts": {"left": 3}}, {"left": LEFT, "right": RIGHT}),
        (HEADER, {"left": LEFT}),
        (HEADER, {"left": LEFT, "right": RIGHT, "rest": LEFT.clone()}),
        (HEADER, {"left": torch.zeros(3, 1), "right": torch.zeros(1, 3)}),
        (HEADER, {"left": LEFT * torch.inf, "right": RIGHT}),
        ({**HEADER, "kind": "vectors"}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "form": "top-rows"}, {"indices": INDICES + 7, "values": VALUES, "rest": REST}),
        ({**HEADER, "form": "top-rows"}, {"indices": INDICES.bool(), "values": VALUES, "rest": REST}),
        ({key: value for key, value in HEADER.items() if key != "facts"}, {"left": LEFT, "right": RIGHT}),
        ({key: value for key, value in HEADER.items() if key != "form"}, {"left": LEFT, "right": RIGHT}),
        ({**HEADER, "version": 3}, {"left": LEFT, "right": RIGHT}),
    ],
)
def test_untrustworthy_files_are_refused(header: dict[str, Any], tensors: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, {"labelspace": json.dumps(header)})
    with pytest.raises(LabelFileError, match=r"odd\.safetensors"):
        LabelSpace.load(path)


def test_names_are_looked_at_once() -> None:
    names = [f"word {place}" for place in range(50_000)]
    rule = TopRows(torch.arange(50_000)[:, None], torch.ones(50_000, 1), torch.zeros(50_000))
    start = time.perf_counter()
    space = LabelSpace(names, rule, "relations")
    assert space.subset(names[::-1]).names[0] == "word 49999"
    with pytest.raises(ValueError, match="Got 'word 7' more than once"):
        LabelSpace([*names[:-1], "word 7"], rule, "relations")
    assert time.perf_counter() - start < 10  # seconds; with K² steps it took minutes
