"""Distillation against torch, by hand and at its limits."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax, softmax

from labelspace.criteria.kd import Distillation


def batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(5)
    output, teacher = torch.randn(2, 7, 4, generator=generator, dtype=torch.float64)
    return output, torch.randint(4, (7,), generator=generator), 3 * teacher


def test_by_hand() -> None:
    # τ = 2, K = 2. z/τ = (ln 3, 0)/1, so the model's softened p is (3/4, 1/4); t/τ = (ln 1, 0), so the teacher is
    # (1/2, 1/2): H = −½ ln ¾ − ½ ln ¼, times τ² = 4. p itself is (9/10, 1/10); the label is the second class: −ln 0.1.
    # β = ¼: L = ¼·ln 10 + ¾·4·(−½ ln ¾ − ½ ln ¼).
    output = torch.tensor([[2 * math.log(3), 0.0]], dtype=torch.float64)
    criterion = Distillation(2, temperature=2.0, hard=0.25)
    expected = 0.25 * math.log(10) + 0.75 * 4 * (-0.5 * math.log(0.75) - 0.5 * math.log(0.25))
    loss = criterion(output, torch.tensor([1]), teacher=torch.zeros(1, 2, dtype=torch.float64))
    torch.testing.assert_close(loss, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("scale", [True, False])
def test_gradient_equals_torchs_divergence(scale: bool) -> None:
    output, y, teacher = batch()
    left, right = output.clone().requires_grad_(), output.clone().requires_grad_()
    criterion = Distillation(4, temperature=3.0, hard=0.2, scale=scale)
    criterion(left, y, teacher=teacher).backward()
    divergence = kl_div(log_softmax(right / 3, dim=1), softmax(teacher / 3, dim=1), reduction="batchmean")
    (0.2 * cross_entropy(right, y) + 0.8 * (9 if scale else 1) * divergence).backward()
    torch.testing.assert_close(left.grad, right.grad)


def test_hard_one_is_cross_entropy_even_beside_minus_infinity() -> None:
    output, y, teacher = batch()
    output[0, (y[0] + 1) % 4] = -torch.inf
    loss = Distillation(4, temperature=3.0, hard=1.0)(output, y, teacher=teacher)
    torch.testing.assert_close(loss, cross_entropy(output, y))


def test_default_learns_from_the_teacher_alone() -> None:
    output, y, teacher = batch()
    loss = Distillation(4)(output, y, teacher=teacher)
    torch.testing.assert_close(loss, cross_entropy(output, softmax(teacher, dim=1)))
    torch.testing.assert_close(loss, Distillation(4)(output, (y + 1) % 4, teacher=teacher))


def test_a_sure_teacher_is_a_label() -> None:
    output, y, _ = batch()
    sure = torch.full_like(output, -torch.inf)
    sure[torch.arange(len(y)), y] = 0
    torch.testing.assert_close(Distillation(4)(output, (y + 1) % 4, teacher=sure), cross_entropy(output, y))


def test_no_gradient_reaches_the_teacher() -> None:
    output, y, teacher = batch()
    teacher.requires_grad_()
    Distillation(4, temperature=2.0, hard=0.5)(output.requires_grad_(), y, teacher=teacher).backward()
    assert output.grad is not None
    assert teacher.grad is None


def test_a_teacher_of_another_precision_leaves_the_loss_alone() -> None:
    output, y, teacher = batch()
    loss = Distillation(4, temperature=2.0)(output.float(), y, teacher=teacher)
    assert loss.dtype == torch.float32
    half = Distillation(4, temperature=2.0)(output.float(), y, teacher=teacher.half())
    torch.testing.assert_close(loss, half, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_class_that_both_rule_out_costs_nothing(dtype: torch.dtype, temperature: float) -> None:
    # shares that no number can hold, against a probability of exactly 0
    output = torch.tensor([[-torch.inf, 0.3, 0.1]], dtype=dtype, requires_grad=True)
    for logit in (-4000.0, -1e30, -torch.inf):
        teacher = torch.tensor([[logit, 1.0, 0.0]], dtype=dtype)
        loss = Distillation(3, temperature=temperature, hard=0.3)(output, torch.tensor([1]), teacher=teacher)
        (gradient,) = torch.autograd.grad(loss, output)
        without = Distillation(2, temperature=temperature, hard=0.3)
        torch.testing.assert_close(loss, without(output[:, 1:], torch.tensor([0]), teacher=teacher[:, 1:]))
        assert gradient.isfinite().all()
        assert gradient[0, 0] == 0


def test_label_space_is_one_hot() -> None:
    torch.testing.assert_close(Distillation(["a", "b"]).label_space().matrix, torch.eye(2))


def test_bad_teachers() -> None:
    output, y, teacher = batch()
    with pytest.raises(ValueError, match="`teacher` of Distillation must be given with every call"):
        Distillation(4)(output, y)
    with pytest.raises(ValueError, match="`teacher` of Distillation must be logits for 4 classes.* Got 3 columns"):
        Distillation(4)(output, y, teacher=teacher[:, :3])
    with pytest.raises(ValueError, match=r"`teacher` .* in the layout of `output`, which has 2 dim.* Got shape \(7,\)"):
        Distillation(4)(output, y, teacher=teacher[:, 0])
    with pytest.raises(ValueError, match="`teacher` of Distillation must be for the same 7 samples"):
        Distillation(4)(output, y, teacher=teacher[:3])


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("hard", -0.1, r"`hard` of Distillation must be a number in \[0, 1\]. Got -0.1"),
        ("temperature", 0.0, r"`temperature` of Distillation must be a number in \(0, inf\)"),
        ("preset", "reference", "`preset` of Distillation must be one of 'paper'"),
    ],
)
def test_bad_options(option: str, value: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Distillation(4, **{option: value})  # type: ignore[arg-type]


def test_true_labels_are_learned_where_they_have_a_share() -> None:
    output, y, teacher = batch()
    other = (y + 1) % 4
    alone, shared = Distillation(4), Distillation(4, hard=0.3)
    torch.testing.assert_close(alone(output, y, teacher=teacher), alone(output, other, teacher=teacher), rtol=0, atol=0)
    assert not torch.isclose(shared(output, y, teacher=teacher), shared(output, other, teacher=teacher))
    assert "nothing is learned from the true labels" in str(Distillation.__doc__)
