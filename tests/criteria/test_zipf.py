"""Zipf's label smoothing: ranks, ties, dense votes, and classes that are ruled out."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from contract.harness import Inputs, as_case, plain
from labelspace.criteria import known
from labelspace.criteria.base import Share
from labelspace.criteria.zipf import ZipfSmoothing, _one_by_rank, _ranks, _votes
from reference import zipf as reference

RANDOM = torch.Generator().manual_seed(0)


def test_by_hand() -> None:
    # z = log(4, 2, 1, 1), y = 1. Ranks 1, 2, 3, 3 (the tie shares 3); without class 1 the weights 1, 1/3, 1/3 become
    # z̃ = (3, 1, 1)/5. q = (4, 1, 1)/6. KL = 0.6·log(0.6·6/4) + 2·0.2·log(0.2·6) = −0.063216 + 0.072929 = 0.009712.
    # −log p_1 = log 4 = 1.386294.
    output = torch.tensor([[4.0, 2.0, 1.0, 1.0]]).log()
    divergence = 0.6 * math.log(0.9) + 0.4 * math.log(1.2)
    loss = ZipfSmoothing(4, strength=0.5)(output, torch.tensor([1]))
    torch.testing.assert_close(loss, torch.tensor(math.log(4) + 0.5 * divergence))


def test_ties_share_the_smallest_rank() -> None:
    scores = torch.tensor([[4.0, 3.0, 3.0, 2.0, -torch.inf], [0.0, 0.0, 0.0, 1.0, 0.0]])
    torch.testing.assert_close(_ranks(scores), torch.tensor([[1, 2, 2, 4, 5], [2, 2, 2, 1, 2]]))


def test_strength_zero_is_cross_entropy() -> None:
    output, y = torch.randn(9, 5, generator=RANDOM), torch.arange(9) % 5
    torch.testing.assert_close(ZipfSmoothing(5, strength=0.0)(output, y), cross_entropy(output, y))


def test_the_divergence_is_zero_where_others_follow_zipf() -> None:
    # the true class first, the others at 1/2, 1/3, 1/4: their ranks are 2, 3, 4
    output = torch.tensor([[1.0, 1 / 2, 1 / 3, 1 / 4]], dtype=torch.float64).log()
    loss = ZipfSmoothing(4, strength=100.0)(output, torch.tensor([0]))
    torch.testing.assert_close(loss, cross_entropy(output, torch.tensor([0])))


def test_votes_count_positions() -> None:
    # five positions: class 1 wins three of them, class 0 two, class 2 none
    features = torch.tensor([[[1.0, 9, 1, 0, 0], [2, 0, 0, 1, 5], [0, 1, 0, 0, 0]]])
    torch.testing.assert_close(_votes(features, 3), torch.tensor([[2, 3, 0]]))
    torch.testing.assert_close(_votes(features.reshape(1, 3, 5, 1), 3), torch.tensor([[2, 3, 0]]))


def test_dense_votes_rank_the_classes() -> None:
    # votes 2, 3, 0 rank the classes 2, 1, 3; y = 1 leaves z̃ = (1/2, 1/3)/(5/6) = (0.6, 0.4) against q = (1/2, 1/2)
    features = torch.tensor([[[1.0, 9, 1, 0, 0], [2, 0, 0, 1, 5], [0, 1, 0, 0, 0]]])
    criterion = ZipfSmoothing(3, strength=1.0, votes="dense")
    assert criterion.needs == ("features",)
    loss = criterion(torch.zeros(1, 3), torch.tensor([1]), features=features)
    divergence = 0.6 * math.log(1.2) + 0.4 * math.log(0.8)
    torch.testing.assert_close(loss, torch.tensor(math.log(3) + divergence))


def dense() -> Inputs:
    example = plain("zipf")
    criterion = ZipfSmoothing(4, strength=0.3, votes="dense").double()
    return Inputs(criterion, example.output, example.y, example.extras)


def test_dense_votes_against_the_reference() -> None:
    inputs = dense()
    case = as_case(inputs)
    torch.testing.assert_close(inputs.loss().item(), reference.loss(case, case))
    output = inputs.output.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: inputs.loss(output=z), output)
    assert torch.autograd.gradgradcheck(lambda z: inputs.loss(output=z), output)


def test_dense_votes_commute_with_a_permutation_of_classes() -> None:
    inputs = dense()
    order = torch.tensor([2, 0, 3, 1])
    place = torch.argsort(order)
    features = inputs.extras["features"][:, order]
    moved = inputs.loss(output=inputs.output[:, order], y=place[inputs.y], extras={"features": features})
    torch.testing.assert_close(inputs.loss(), moved)


def test_no_gradient_flows_through_ranks() -> None:
    inputs = dense()
    features = inputs.extras["features"].requires_grad_()
    loss = inputs.loss(output=inputs.output.requires_grad_(), extras={"features": features})
    assert torch.autograd.grad(loss, features, allow_unused=True) == (None,)


@pytest.mark.parametrize("label", [0, 1])
def test_a_ruled_out_class_gets_no_mass(label: int) -> None:
    output = torch.tensor([[1.0, 0.5, 0.2, -torch.inf]], requires_grad=True)
    y = torch.tensor([label])
    loss = ZipfSmoothing(4, strength=0.7)(output, y)
    torch.testing.assert_close(loss, ZipfSmoothing(3, strength=0.7)(output[:, :3], y))
    loss.backward()
    assert output.grad is not None
    assert bool(torch.isfinite(output.grad).all())


def test_no_other_class_leaves_cross_entropy() -> None:
    output = torch.tensor([[1.0, -torch.inf]], requires_grad=True)
    loss = ZipfSmoothing(2)(output, torch.tensor([0]))
    loss.backward()
    torch.testing.assert_close(loss, torch.tensor(0.0))
    torch.testing.assert_close(output.grad, torch.zeros(1, 2))
    torch.testing.assert_close(ZipfSmoothing(1)(torch.ones(2, 1), torch.tensor([0, 0])), torch.tensor(0.0))


@pytest.mark.parametrize("preset", ["paper", "reference"])
def test_presets_take_dense_votes(preset: str) -> None:
    assert ZipfSmoothing(3, preset=preset).votes == "dense"
    assert ZipfSmoothing(3, preset=preset, votes="logits").needs == ()


def test_bad_options_and_features() -> None:
    with pytest.raises(ValueError, match="`votes` of ZipfSmoothing must be one of 'logits', 'dense'. Got 'dens'"):
        ZipfSmoothing(3, votes="dens")
    with pytest.raises(ValueError, match=r"`strength` of ZipfSmoothing must be a number in \[0, inf\)"):
        ZipfSmoothing(3, strength=-1.0)
    criterion = ZipfSmoothing(3, votes="dense")
    with pytest.raises(ValueError, match="`features` of ZipfSmoothing must be given with every call"):
        criterion(torch.zeros(2, 3), torch.tensor([0, 1]))
    for features in (torch.zeros(2, 3), torch.zeros(2, 64, 4, 4)):
        with pytest.raises(
            ValueError, match=r"`features` of ZipfSmoothing must be class scores .* \(N, 3, positions…\)"
        ):
            criterion(torch.zeros(2, 3), torch.tensor([0, 1]), features=features)


@pytest.mark.parametrize("seed", range(3))
def test_masses_by_numpys_sort_are_those_of_ranks(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(5, 40, generator=generator)
    scores[1:] = (4 * scores[1:]).round() / 4 * torch.tensor([[0.0], [1.0], [-1.0], [1e30]])  # ties, −0 among them
    scores[3, 7], scores[3, 8] = 0.0, -0.0
    higher = (scores.numpy()[:, None, :] > scores.numpy()[:, :, None]).sum(axis=2)
    sums = torch.empty(5, 1)
    found = _one_by_rank(scores, sums), sums
    expected = 1 / (higher + 1)
    torch.testing.assert_close(found[0], torch.from_numpy(expected).float())
    torch.testing.assert_close(found[1], torch.from_numpy((expected * np.log(expected)).sum(axis=1)[:, None]).float())
    _one_by_rank(scores[:1], sums[:1])
    assert sums[0].item() == pytest.approx((expected[0] * np.log(expected[0])).sum())


@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan])
@pytest.mark.parametrize("place", [0, 2], ids=["the class", "another"])
@pytest.mark.parametrize("classes", [3, 40])
def test_scores_that_are_not_finite_are_the_business_of_terms(value: float, place: int, classes: int) -> None:
    criterion, output, y = ZipfSmoothing(classes), torch.randn(4, classes), torch.tensor([1, 0, 2, 2])
    output[1, place] = value
    quick = criterion.summed(output, y, 0.25)
    assert quick is not None
    assert not torch.isfinite(quick)
    (term,) = criterion.terms(output, y)
    torch.testing.assert_close(criterion(output, y), term.values.mean(), equal_nan=True)


def test_single_precision_is_that_of_terms() -> None:
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(6, 9, generator=generator)
    output[0] = output[0].round()
    y = torch.tensor([0, 3, 8, 1, 1, 5])
    for reduction in ("mean", "sum"):
        found = []
        for dtype in (torch.float32, torch.float64):
            z = output.to(dtype).requires_grad_()
            loss = ZipfSmoothing(9, strength=0.7, reduction=reduction)(z, y)
            found.append((loss.detach().double(), torch.autograd.grad(loss, z)[0].double()))
        torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=1e-6)


def drawn(kind: str, generator: np.random.Generator, shape: tuple[int, int]) -> torch.Tensor:
    """Return scores with many ties, of all sizes, or of any bits that are a finite number."""
    if kind == "few values":
        scores = generator.choice(np.array([-1, -0.0, 0.0, 1e-45, -1e-45, 2.5], np.float32), shape)
    elif kind == "coarse":
        scores = (generator.normal(size=shape) * 2 ** generator.integers(0, 6)).round() / 2
    elif kind == "all equal":
        scores = np.full(shape, generator.choice([0.0, -0.0, 3.4e38, -1e-40]))
    else:
        bits = generator.integers(0, 2**32, shape, dtype=np.uint32)
        scores = np.nan_to_num(bits.view(np.float32), nan=0.0)
    return torch.from_numpy(scores.astype(np.float32))


@pytest.mark.parametrize("kind", ["few values", "coarse", "all equal", "any bits"])
@pytest.mark.parametrize("denormal", [True, False], ids=["denormal", "flushed"])
@pytest.mark.parametrize("seed", range(5))
def test_masses_are_those_of_ranks_of_any_scores(kind: str, denormal: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    torch.set_flush_denormal(not denormal)
    try:
        for classes in (2, 3, 17, 300, 2000):
            scores = drawn(kind, generator, (int(generator.integers(1, 6)), classes))
            sums = torch.empty(len(scores), 1)
            found, expected = _one_by_rank(scores, sums), 1 / _ranks(scores).double()
            assert torch.equal(found, expected.float())
            assert_close(sums, torch.xlogy(expected, expected).sum(dim=1, keepdim=True).float(), rtol=1e-6, atol=1e-6)
    finally:
        torch.set_flush_denormal(False)


def test_neighbours_are_told_apart() -> None:
    # each score is the next number after the one before it: with places in their bits they must not come to be equal
    start = np.array([[-1.5], [1.0], [3.4e38], [0.0], [-1e-44]], np.float32)
    bits = start.view(np.int32) + np.arange(-3, 0, dtype=np.int32)
    bits[3] = [2, 1, 3]
    scores = torch.from_numpy(bits.view(np.float32)).repeat(1, 100)
    assert torch.equal(_one_by_rank(scores, torch.empty(5, 1)), 1 / _ranks(scores))


@pytest.mark.parametrize("value", [torch.inf, -torch.inf, torch.nan])
def test_a_sort_may_lose_the_places_of_what_is_not_finite(value: float) -> None:
    scores = torch.randn(3, 500)
    scores[1, 7:9] = value
    sums = torch.empty(3, 1)
    assert torch.equal(_one_by_rank(scores, sums), torch.ones(3, 500))
    assert torch.equal(sums, torch.zeros(3, 1))


@pytest.mark.parametrize("share", [1 / 300, torch.rand(300)], ids=["alike", "weighted"])
def test_ranks_of_some_samples_at_a_time(share: Share, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "AT_A_TIME", 3000)
    output, y = (torch.randn(300, 200) * 4).round().requires_grad_(), torch.randint(200, (300,))
    criterion = ZipfSmoothing(200, strength=0.7)
    quick = criterion.summed(output, y, share)
    assert quick is not None
    expected = (criterion.terms(output, y)[0].values * share).sum()
    assert_close(quick, expected)
    (first,) = torch.autograd.grad(quick, output, retain_graph=True)
    assert_close(first, torch.autograd.grad(expected, output)[0])
    assert torch.equal(torch.autograd.grad(quick, output)[0], first)
