"""Label embedding: variants against the reference, what learns from what, compressed and pre-trained forms."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from contract.harness import assert_matches_reference, mixed_up, plain, weighted
from labelspace import LabelEmbedding, LabelSpace, ordinal
from labelspace.compressed import LowRank

NAMES = ["a", "b", "c", "d"]
VARIANTS = [
    {"preset": "paper"},
    {"preset": "reference"},
    {"hinge": "squared"},
    {"hinge": "absolute"},
    {"rank": 3},
    {"rank": 3, "preset": "paper"},
    {"rank": 3, "head_rank": 2},
    {"rank": 3, "head_rank": 0},
    {"head_rank": 2, "preset": "paper"},
    {"beta": 0.25, "temperature": 5.0},
    {"beta": 0.25, "preset": "paper"},
    {"beta": 0.8, "preset": "reference"},
]


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_every_variant_matches_the_reference(options, batch) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(1)
    inputs = batch("labelemb")
    criterion = LabelEmbedding(NAMES, in_features=5, cap=0.4, **options).double()
    for parameter in criterion.parameters():
        parameter.data = torch.randn(parameter.shape, dtype=torch.float64)
    criterion.weight = inputs.criterion.weight
    assert_matches_reference(replace(inputs, criterion=criterion))


@pytest.mark.parametrize(
    ("options", "hard", "soft"),
    [
        ({}, 1.0, 1.0),
        ({"preset": "paper"}, 1.0, 1.0),
        ({"preset": "reference"}, 0.5, 0.5),
        ({"preset": "reference", "beta": 0.8}, 0.8, 0.2),
        ({"beta": 0.25}, 0.25, 0.75),
        ({"beta": 0.5}, 0.5, 0.5),
        ({"beta": 1.0}, 1.0, 0.0),
    ],
)
def test_weights_of_the_first_two_terms_by_hand(options: dict[str, Any], hard: float, soft: float) -> None:
    # a fixed embedding leaves only those two. p = (1/2, 1/4, 1/4), y = 0: H(y, p) = log 2 and, with ê = (0, 1/2, 1/2),
    # H(ê, p) = log 4
    relations = LabelSpace(("a", "b", "c"), (torch.ones(3, 3) - torch.eye(3)) / 2, "relations")
    criterion = LabelEmbedding(["a", "b", "c"], pretrained=relations, **options)
    output = torch.tensor([[0.5, 0.25, 0.25]]).log()
    expected = hard * math.log(2) + soft * math.log(4)
    torch.testing.assert_close(criterion(output, torch.tensor([0])), torch.tensor(expected))


@pytest.mark.parametrize("options", [{}, {"beta": 0.3}])
@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_pretrained_embedding(options, batch) -> None:  # type: ignore[no-untyped-def]
    inputs = batch("labelemb")
    criterion = LabelEmbedding(NAMES, in_features=None, pretrained=ordinal(NAMES), **options).double()
    criterion.weight = inputs.criterion.weight
    assert not list(criterion.parameters())
    assert_matches_reference(replace(inputs, criterion=criterion, extras={}))
    torch.testing.assert_close(criterion.label_space().matrix, ordinal(NAMES).matrix)


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_a_compressed_pretrained_embedding(batch, relu: bool) -> None:  # type: ignore[no-untyped-def]
    inputs = batch("labelemb")
    generator = torch.Generator().manual_seed(3)
    rule = LowRank(torch.randn(4, 2, generator=generator), torch.randn(2, 4, generator=generator), relu=relu)
    space = LabelSpace(NAMES, rule, "relations")
    criterion = LabelEmbedding(NAMES, pretrained=space).double()
    criterion.weight = inputs.criterion.weight
    assert not list(criterion.parameters())
    assert_matches_reference(replace(inputs, criterion=criterion, extras={}))
    torch.testing.assert_close(criterion.label_space().matrix, space.matrix)
    dense = LabelEmbedding(NAMES, pretrained=LabelSpace(NAMES, space.matrix, "relations")).double()
    dense.weight = criterion.weight
    torch.testing.assert_close(criterion(inputs.output, inputs.y), dense(inputs.output, inputs.y), rtol=1e-5, atol=1e-6)


def test_equation_17_by_hand() -> None:
    # ê of class 0 is (½, ½); p = (¾, ¼): −log ¾ − ½·log ¾ − ½·log ¼
    space = LabelSpace(("a", "b"), torch.tensor([[0.5, 0.5], [0.25, 0.75]]), "relations")
    criterion = LabelEmbedding(["a", "b"], pretrained=space)
    loss = criterion(torch.tensor([[3.0, 1.0]]).log(), torch.tensor([0]))
    torch.testing.assert_close(loss, torch.tensor(-1.5 * math.log(0.75) - 0.5 * math.log(0.25)))


def test_a_learned_embedding_becomes_a_pretrained_one() -> None:
    first = plain("labelemb").criterion
    second = LabelEmbedding(["c", "a"], in_features=None, pretrained=first.label_space())
    expected = torch.softmax(first.embedding.detach(), 1)[[2, 0]][:, [2, 0]].float()
    torch.testing.assert_close(second.fixed, expected / expected.sum(1, keepdim=True))
    with pytest.raises(ValueError, match="`pretrained` of LabelEmbedding must be names of classes. Got 'z'"):
        LabelEmbedding(["a", "z"], in_features=None, pretrained=first.label_space())
    with pytest.raises(
        TypeError, match="`pretrained` of LabelEmbedding must be a LabelSpace. Got 'labels.safetensors'"
    ):
        LabelEmbedding(["a", "c"], pretrained="labels.safetensors")  # type: ignore[arg-type]


def test_what_learns_from_what() -> None:
    inputs = plain("labelemb")
    features = inputs.extras["features"].requires_grad_()
    criterion = inputs.criterion
    inputs.loss().backward()
    assert features.grad is None, "nothing behind the features learns from the second head"
    # with the stops of the code, E learns from the last term alone, so only rows whose samples are right move
    right = {
        int(label) for label, z in zip(inputs.y, criterion.second_head(features), strict=True) if z.argmax() == label
    }
    moved = {row for row in range(4) if bool(criterion.embedding.grad[row].any())}
    assert right
    assert moved == right


def test_start_of_the_embedding() -> None:
    # softmax of (1, 0 × 9): e/(e + 9) = 0.2320
    matrix = LabelEmbedding(10, in_features=3).label_space().matrix
    torch.testing.assert_close(matrix.diagonal(), torch.full((10,), 0.2320), rtol=0, atol=1e-4)
    scaled = LabelEmbedding(10, in_features=3, init_scale=5.0)
    torch.testing.assert_close(scaled.embedding.detach(), 5 * torch.eye(10))


def test_compressed_embedding_is_small() -> None:
    criterion = LabelEmbedding(5000, in_features=4, rank=10)
    labels = criterion.factor.numel() + criterion.basis.numel()
    assert labels == 2 * 5000 * 10
    loss = criterion(torch.randn(2, 5000), torch.tensor([3, 4999]), features=torch.randn(2, 4))
    loss.backward()
    assert bool(torch.isfinite(loss))


@pytest.mark.parametrize(
    ("options", "between"),
    [
        ({}, None),
        ({"rank": 3}, 3),
        ({"rank": 5}, None),  # as many as the features: nothing would be saved
        ({"rank": 3, "head_rank": 2}, 2),
        ({"rank": 3, "head_rank": 0}, None),
        ({"rank": 3, "preset": "paper"}, None),
        ({"rank": 3, "preset": "reference", "head_rank": 2}, 2),
        ({"head_rank": 2}, 2),
    ],
)
def test_a_compressed_embedding_has_a_compressed_second_head(options: dict[str, Any], between: int | None) -> None:
    criterion = LabelEmbedding(9, in_features=5, **options)
    assert criterion.second_head.in_features == (between or 5)
    assert hasattr(criterion, "narrow") == (between is not None)
    if between:
        assert criterion.narrow.weight.shape == (between, 5)


def test_hinge_by_hand() -> None:
    # second head sure of class 0 with p2 = 0.95: the hinge at 0.9 adds 0.05, squared 0.0025
    logit = torch.log(torch.tensor(0.95 / 0.05))
    losses = {}
    for hinge in ("linear", "squared"):
        criterion = LabelEmbedding(2, in_features=1, hinge=hinge)
        criterion.second_head.weight.data = torch.tensor([[1.0], [0.0]])
        criterion.second_head.bias.data.zero_()
        losses[hinge] = criterion(torch.zeros(1, 2), torch.tensor([0]), features=logit.reshape(1, 1))
    torch.testing.assert_close(losses["linear"] - losses["squared"], torch.tensor(0.05 - 0.0025), rtol=1e-4, atol=1e-5)


def test_the_second_term_comes_late() -> None:
    torch.manual_seed(0)
    late = LabelEmbedding(4, in_features=5, delay=2).double()
    at_once = LabelEmbedding(4, in_features=5).double()
    at_once.load_state_dict({name: value for name, value in late.state_dict().items() if "calls" not in name})
    output, features = torch.randn(6, 4).double(), torch.randn(6, 5).double()
    y = torch.tensor([0, 1, 2, 3, -100, 1])
    soft = torch.softmax(torch.eye(4).double(), dim=1)[y[y >= 0]]
    second = -(soft * torch.log_softmax(output[y >= 0], dim=1)).sum(dim=1).mean()
    for call in range(4):
        gap = at_once(output, y, features=features) - late(output, y, features=features)
        torch.testing.assert_close(gap, second if call < 2 else torch.zeros_like(second))
    late.eval()
    again = LabelEmbedding(4, in_features=5, delay=2).double()
    again.load_state_dict(late.state_dict())
    torch.testing.assert_close(again(output, y, features=features), at_once(output, y, features=features))


def test_the_reference_for_sequences() -> None:
    found = LabelEmbedding(9, in_features=5, rank=2, preset="reference")
    assert (found.delay, found.hinge) == (20_000, "absolute")
    assert (LabelEmbedding(9, in_features=5, preset="reference").delay, found.needs) == (0, ("features",))
    with pytest.raises(ValueError, match="`delay` of LabelEmbedding must be"):
        LabelEmbedding(9, in_features=5, delay=-1)


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="`in_features` of LabelEmbedding must be given unless `pretrained` is"):
        LabelEmbedding(3, in_features=None)
    with pytest.raises(ValueError, match="`temperature` of LabelEmbedding"):
        LabelEmbedding(3, in_features=2, temperature=0)
    with pytest.raises(ValueError, match="`head_rank` of LabelEmbedding must be a whole number of at least 0. Got -1"):
        LabelEmbedding(3, in_features=2, head_rank=-1)
    with pytest.raises(TypeError, match="`rank` of LabelEmbedding must be a whole number"):
        LabelEmbedding(3, in_features=2, rank="3")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`cap` of LabelEmbedding"):
        LabelEmbedding(3, in_features=2, cap=1.5)
    with pytest.raises(ValueError, match=r"`beta` of LabelEmbedding must be a number in \[0, 1\]. Got 2"):
        LabelEmbedding(3, in_features=2, beta=2.0)
    with pytest.raises(ValueError, match="`features` of LabelEmbedding must be given"):
        LabelEmbedding(3, in_features=2)(torch.zeros(1, 3), torch.tensor([0]))
    assert isinstance(LabelEmbedding(3, in_features=2, rank=2).label_space(), LabelSpace)


def test_the_labels_of_a_large_vocabulary_take_less_than_twenty_megabytes() -> None:
    # the target words of a corpus of talks; the second head is a layer of the network, not of the labels
    criterion = LabelEmbedding(22_439, in_features=8, rank=100)
    held = {name: value for name, value in criterion.state_dict().items() if not name.startswith("second_head")}
    assert sum(value.numel() * value.element_size() for value in held.values()) < 20e6
    assert criterion.label_space().rule is not None  # compressed too


@pytest.mark.parametrize("options", [{"beta": 1.0}, {"delay": 2}])
def test_a_term_without_weight_costs_nothing_where_a_class_is_ruled_out(options: dict[str, Any]) -> None:
    criterion = LabelEmbedding(3, in_features=2, **options)
    output = torch.tensor([[1.0, 0.0, -torch.inf]], requires_grad=True)
    loss = criterion(output, torch.tensor([0]), features=torch.ones(1, 2))
    loss.backward()
    assert torch.isfinite(loss)
    assert output.grad is not None
    assert bool(torch.isfinite(output.grad).all())
