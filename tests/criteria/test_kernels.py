"""Losses with their gradients against the per-sample forms, and second derivatives."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace import ConfidencePenalty, LearnableSmoothing
from labelspace.criteria import kernels
from labelspace.criteria import known as parts
from labelspace.criteria.targets import TargetRows

SHARES = [0.25, torch.tensor([0.5, 0.0, 2.0, 0.125], dtype=torch.float64)]


@pytest.fixture(params=["small batch", "large batch"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every batch for a small one, or for a large one of which one or two samples fit into the cache."""
    monkeypatch.setattr(parts, "FEW", 0 if request.param == "large batch" else 2**30)
    monkeypatch.setattr(parts, "AT_A_TIME", 8)
    monkeypatch.setattr(kernels, "LARGE", parts.FEW)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
def test_cross_entropy(share: Tensor | float) -> None:
    output, y = numbers(4, 3), torch.tensor([2, 0, 1, 1])
    expected = (-output.log_softmax(dim=1)[torch.arange(4), y] * share).sum()
    assert_close(kernels.cross_entropy(output, y, share), expected)
    with pytest.raises(IndexError):
        kernels.cross_entropy(output, torch.tensor([2, 0, -100, 1]), share)


Y = torch.tensor([2, 0, 1, 1])
Loss = Callable[[Tensor], Tensor]


def pairs(classes: int, share: Tensor | float) -> dict[str, tuple[Loss, Loss]]:
    """Return losses of kernels, and the per-sample values of each from its equation."""
    rows = 2 * numbers(4, classes, seed=1).softmax(dim=1)
    own = torch.nn.functional.one_hot(Y, classes).double()
    two, mass = 0.3 * own + 0.3, rows + 0.1
    known_sum = (mass * mass.log()).sum(dim=1, keepdim=True)
    target = (mass * (1 - own)) / (mass * (1 - own)).sum(dim=1, keepdim=True)
    log_p = lambda z: z.log_softmax(dim=1)  # noqa: E731
    against = lambda t: lambda z: -(t * log_p(z)).sum(dim=1)  # noqa: E731
    p_own = lambda z: (log_p(z) * own).sum(dim=1)  # noqa: E731
    damped = lambda z: -((1 - p_own(z).exp()) ** 2.5) * p_own(z)  # noqa: E731
    unsure = lambda z: 0.4 * (log_p(z).exp() * log_p(z)).sum(dim=1) - p_own(z)  # noqa: E731

    def by_rank(z: Tensor) -> Tensor:
        others = z.masked_fill(own.bool(), -torch.inf).log_softmax(dim=1).masked_fill(own.bool(), 0)
        return 0.7 * (torch.xlogy(target, target) - target * others).sum(dim=1) - p_own(z)

    relations, kept = 2 * numbers(classes, classes, seed=2).softmax(dim=1), TargetRows()
    smoothed, even, by_rows = kernels.smoothed_cross_entropy, kernels.even_cross_entropy, kernels.mixed_cross_entropy
    return {
        "rows": (lambda z: kernels.soft_cross_entropy(z, rows, share), against(rows)),
        "mixed rows": (lambda z: by_rows(z, Y, rows.__getitem__, share, 0.7, 0.3), against(0.7 * own + 0.3 * rows)),
        "smoothed": (
            lambda z: smoothed(z, Y, 0.7, 0.3, relations, kept, share),
            against(0.7 * own + 0.3 * relations[Y]),
        ),
        "even": (lambda z: even(z, Y, 0.6, 0.3, share, against(two), TargetRows()), against(two)),
        "focal": (lambda z: kernels.focal(z, Y, 2.5, share, damped), damped),
        "confident": (lambda z: kernels.confident(z, Y, 0.4, share, unsure), unsure),
        "ranked": (
            lambda z: kernels.ranked(z, Y, mass.__getitem__, known_sum.__getitem__, 0.7, share, by_rank),
            by_rank,
        ),
    }


FORMS = list(pairs(3, 1.0))


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("share", SHARES, ids=["one share", "a share each"])
@pytest.mark.parametrize("classes", [3, 40])
@pytest.mark.parametrize("form", FORMS)
def test_losses_and_gradients_are_those_of_the_equations(share: Tensor | float, classes: int, form: str) -> None:
    mine, values = pairs(classes, share)[form]
    here, there = (3 * numbers(4, classes) for _ in range(2))
    first, second = mine(here.requires_grad_()), (values(there.requires_grad_()) * share).sum()
    assert_close(first, second)
    assert_close(torch.autograd.grad(3 * first, here), torch.autograd.grad(3 * second, there))
    assert torch.equal(here, 3 * numbers(4, classes))


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("form", FORMS)
def test_losses_differentiate_twice(form: str) -> None:
    loss, _ = pairs(3, 0.25)[form]
    output = numbers(4, 3).requires_grad_()
    assert torch.autograd.gradcheck(loss, output)
    assert torch.autograd.gradgradcheck(loss, output)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("label", [-100, -1, 3])
def test_a_label_that_is_no_class_is_an_error_of_every_form(label: int) -> None:
    output, y = numbers(2, 3), torch.tensor([0, label])
    careful = lambda output: output[:, 0]  # noqa: E731
    mixed, kept = kernels.mixed_cross_entropy, TargetRows()
    for form in (
        lambda: mixed(output, y, output.exp().__getitem__, 0.5, 0.7, 0.3),
        lambda: mixed(output, y, output.exp().__getitem__, 0.5),  # with nothing for the class
        lambda: kernels.smoothed_cross_entropy(output, y, 0.7, 0.3, torch.eye(3).double(), kept, 0.5),
        lambda: kernels.even_cross_entropy(output, y, 0.5, 0.25, 0.5, careful, kept),
        lambda: kernels.focal(output, y, 2.0, 0.5, careful),
        lambda: kernels.confident(output, y, 2.0, 0.5, careful),
        lambda: kernels.ranked(output, y, output.exp().__getitem__, output.__getitem__, 2.0, 0.5, careful),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            form()


@pytest.mark.usefixtures("size")
def test_focal_and_ranked_where_a_class_is_far_ahead_or_far_behind() -> None:
    output = torch.tensor([[200.0, 0.0, -1.0], [-200.0, 0.0, 1.0], [0.5, 0.0, 0.0]])
    y, mass = torch.tensor([0, 0, 0]), torch.tensor([[1.0, 1 / 2, 1 / 3]]).repeat(3, 1)
    exact = output.double().requires_grad_()
    log_p = exact.log_softmax(dim=1)[:, 0]
    rest = -torch.expm1(log_p)
    others = exact[:, 1:].log_softmax(dim=1)
    target = torch.tensor([0.6, 0.4], dtype=torch.float64)
    divergence = (target * (target.log() - others)).sum(dim=1)
    known_sum = torch.xlogy(mass, mass).sum(dim=1, keepdim=True)
    unused = lambda output: output[:, 0]  # noqa: E731
    for expected, form in (
        (-(rest**2.5 * log_p), lambda z: kernels.focal(z, y, 2.5, 1.0, unused)),
        (
            0.7 * divergence - log_p,
            lambda z: kernels.ranked(z, y, mass.__getitem__, known_sum.__getitem__, 0.7, 1.0, unused),
        ),
    ):
        mine = output.clone().requires_grad_()
        loss = form(mine)
        assert_close(loss, expected.sum().float())
        gradient = torch.autograd.grad(expected.sum(), exact, retain_graph=True)[0]
        assert_close(torch.autograd.grad(loss, mine)[0], gradient.float(), rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("lowest", [torch.finfo(torch.float32).min, -1e30])
@pytest.mark.parametrize("strength", [0.1, 2.0, 30.0])
def test_confident_where_classes_are_ruled_out(lowest: float, strength: float) -> None:
    output = numbers(4, 300).float()
    output[:, 5:] = lowest
    exact, there = output[:, :5].double().requires_grad_(), output.requires_grad_()
    log_p = exact.log_softmax(dim=1)
    expected = (strength * (log_p.exp() * log_p).sum(dim=1) - log_p[torch.arange(4), Y]).sum()
    unused = lambda output: output[:, 0]  # noqa: E731
    loss = kernels.confident(there, Y, strength, 1.0, unused)
    assert_close(loss, expected.float())
    found = torch.autograd.grad(loss, there)[0]
    assert_close(found[:, :5], torch.autograd.grad(expected, exact)[0].float(), rtol=1e-5, atol=1e-6)
    assert_close(found[:, 5:], torch.zeros(4, 295))


@pytest.mark.parametrize("strength", [0.0, 1e-46, 1e-39, 1e-25, 1e-10])
def test_a_strength_of_almost_nothing_is_cross_entropy(strength: float) -> None:
    output = 3 * numbers(4, 5).float()
    plain = output.clone().requires_grad_()
    torch.nn.functional.cross_entropy(plain, Y).backward()
    assert plain.grad is not None
    criteria = [ConfidencePenalty(5, strength=strength)]
    if torch.tensor(strength) > 0:
        criteria.append(LearnableSmoothing(5, smoothing=strength, terms=["H(t,p)"], halve=False))
    for criterion in criteria:
        here = output.clone().requires_grad_()
        criterion(here, Y).backward()
        assert_close(here.grad, plain.grad)
        for own in criterion.parameters():
            assert own.grad is not None
            assert_close(own.grad, torch.zeros_like(own))
