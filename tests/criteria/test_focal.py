"""Focal loss: its limits, its schedule, and confident samples."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from contract.harness import Inputs, as_case, plain
from labelspace.criteria.focal import Focal, _log_complement
from reference import focal as reference

RANDOM = torch.Generator().manual_seed(0)


def logits(*probabilities: float) -> torch.Tensor:
    """Return one row of logits with these probabilities."""
    return torch.tensor([probabilities], dtype=torch.float64).log()


def test_by_hand() -> None:
    # p_y = 1/4, γ = 3: (3/4)³ · log 4 = 27/64 · 1.386294 = 0.584843
    loss = Focal(2).double()(logits(0.25, 0.75), torch.tensor([0]))
    torch.testing.assert_close(loss, torch.tensor(27 / 64 * math.log(4), dtype=torch.float64))


def test_gamma_zero_is_cross_entropy() -> None:
    output, y = torch.randn(9, 5, generator=RANDOM), torch.arange(9) % 5
    torch.testing.assert_close(Focal(5, gamma=0.0)(output, y), cross_entropy(output, y))
    soft = torch.softmax(torch.randn(9, 5, generator=RANDOM), dim=1)
    torch.testing.assert_close(Focal(5, gamma=0.0)(output, soft), cross_entropy(output, soft))


@pytest.mark.parametrize(("p", "gamma"), [(0.1, 5.0), (0.19, 5.0), (0.21, 3.0), (0.49, 3.0), (0.9, 3.0)])
def test_the_schedule_takes_five_below_a_fifth_and_three_above(p: float, gamma: float) -> None:
    output, y = logits(p, 1 - p), torch.tensor([0])
    torch.testing.assert_close(Focal(2, gamma="flsd53")(output, y), Focal(2, gamma=gamma)(output, y))


def test_the_schedule_sees_on_which_side_of_a_fifth_nearly_equal_logits_are() -> None:
    # a class whose p is 0.2 − 1e-10: single precision has no such number, but its logits tell
    draws = torch.randn(200, 5, generator=RANDOM) * 1e-6
    known = torch.tensor([[-5.2334059e-07, 3.9607055e-08, -8.9963686e-07, 1.1232430e-06, 4.6180000e-07]])
    output, y = torch.cat([draws, known]), torch.cat([torch.arange(200) % 5, torch.tensor([1])])
    criterion = Focal(5, gamma="flsd53", reduction="none")
    torch.testing.assert_close(criterion(output, y).double(), criterion(output.double(), y), rtol=1e-5, atol=0)


def test_soft_labels_mix_the_losses_of_classes_each_with_its_own_gamma() -> None:
    # p = (0.1, 0.9), y = (0.5, 0.5): 0.5·0.9⁵·log 10 + 0.5·0.1³·log(10/9) = 0.679828 + 0.000053
    loss = Focal(2, gamma="flsd53")(logits(0.1, 0.9), torch.tensor([[0.5, 0.5]], dtype=torch.float64))
    expected = 0.5 * 0.9**5 * math.log(10) + 0.5 * 0.1**3 * math.log(10 / 9)
    torch.testing.assert_close(loss, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("soft", [False, True])
def test_the_schedule_against_the_reference(soft: bool) -> None:
    example = plain("focal")
    inputs = Inputs(Focal(4, gamma="flsd53").double(), example.output.requires_grad_(), example.y, {})
    inputs = inputs.soft() if soft else inputs
    case = as_case(inputs)
    torch.testing.assert_close(inputs.loss().item(), reference.loss(case, case))
    assert torch.autograd.gradcheck(lambda output: inputs.loss(output=output), inputs.output)
    assert torch.autograd.gradgradcheck(lambda output: inputs.loss(output=output), inputs.output)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 3.0, "flsd53"])
@pytest.mark.parametrize("other", [-1e4, -100.0, -30.0, -torch.inf])
def test_a_sure_sample_has_a_finite_gradient(gamma: float | str, other: float) -> None:
    output = torch.tensor([[0.0, other], [other, 0.0]], requires_grad=True)
    loss = Focal(2, gamma=gamma, reduction="none")(output, torch.tensor([0, 1]))
    loss.sum().backward()
    torch.testing.assert_close(loss, torch.zeros(2), rtol=0, atol=1e-12)
    torch.testing.assert_close(output.grad, torch.zeros(2, 2), rtol=0, atol=1e-12)


def test_complements_keep_their_digits() -> None:
    # p = 1/(1 + e⁻²⁰) rounds to 1 in float32, so 1 − p would be 0; its logarithm is −20 to nine digits
    log_p = torch.log_softmax(torch.tensor([[20.0, 0.0]]), dim=1)
    torch.testing.assert_close(_log_complement(log_p), torch.tensor([[-20.0, -math.exp(-20)]]))


def test_one_class_costs_nothing() -> None:
    torch.testing.assert_close(Focal(1)(torch.randn(3, 1, generator=RANDOM), torch.zeros(3).long()), torch.tensor(0.0))


@pytest.mark.parametrize("preset", ["paper", "reference"])
def test_presets_are_the_default(preset: str) -> None:
    assert float(Focal(3, preset=preset).gamma) == 3.0


def test_bad_options() -> None:
    with pytest.raises(ValueError, match=r"`gamma` of Focal must be a number in \[0, inf\). Got -1"):
        Focal(3, gamma=-1.0)
    with pytest.raises(ValueError, match="`gamma` of Focal must be one of 'flsd53'. Got 'flsd'. Did you mean 'flsd53'"):
        Focal(3, gamma="flsd")
    with pytest.raises(TypeError, match="`gamma` of Focal must be a number"):
        Focal(3, gamma=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_probability_of_exactly_a_fifth(dtype: torch.dtype) -> None:
    """γ is 5 below 0.2 and 3 from there on: five equal logits are there."""
    found = Focal(5, gamma="flsd53")(torch.zeros(1, 5, dtype=dtype), torch.tensor([0]))
    torch.testing.assert_close(found, torch.tensor(0.8**3 * math.log(5), dtype=dtype))
