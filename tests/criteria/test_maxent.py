"""Confidence penalty: its limits and its minimum."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from labelspace.criteria.maxent import ConfidencePenalty

RANDOM = torch.Generator().manual_seed(0)


def test_by_hand() -> None:
    # p = (1/4, 3/4), y = 0: −log ¼ = 1.386294; H(p) = ¼·log 4 + ¾·log(4/3) = 0.562335; 1.386294 − 0.2·0.562335
    output = torch.tensor([[0.25, 0.75]]).log()
    loss = ConfidencePenalty(2, strength=0.2)(output, torch.tensor([0]))
    torch.testing.assert_close(loss, torch.tensor(1.386294 - 0.2 * 0.562335))


def test_strength_zero_is_cross_entropy() -> None:
    output, y = torch.randn(9, 5, generator=RANDOM), torch.arange(9) % 5
    torch.testing.assert_close(ConfidencePenalty(5, strength=0.0)(output, y), cross_entropy(output, y))
    soft = torch.softmax(torch.randn(9, 5, generator=RANDOM), dim=1)
    torch.testing.assert_close(ConfidencePenalty(5, strength=0.0)(output, soft), cross_entropy(output, soft))


def test_a_uniform_prediction_earns_the_whole_reward() -> None:
    loss = ConfidencePenalty(8, strength=2.0)(torch.zeros(1, 8), torch.tensor([3]))
    torch.testing.assert_close(loss, torch.tensor(math.log(8) - 2 * math.log(8)))


def test_the_optimum_is_less_than_sure() -> None:
    # K = 2 with logits (z, 0): the gradient −(1−p) + β·z·p·(1−p) is zero where p·z = 1/β
    z = torch.tensor([[3.0, 0.0]], dtype=torch.float64, requires_grad=True)
    p = torch.softmax(z.detach(), dim=1)[0, 0]
    loss = ConfidencePenalty(2, strength=float(1 / (3 * p)))(z, torch.tensor([0]))
    (gradient,) = torch.autograd.grad(loss, z)
    torch.testing.assert_close(gradient, torch.zeros_like(z), rtol=0, atol=1e-12)


def test_ruled_out_classes_carry_no_entropy() -> None:
    output = torch.tensor([[1.0, 0.0, -torch.inf]], requires_grad=True)
    loss = ConfidencePenalty(3)(output, torch.tensor([0]))
    torch.testing.assert_close(loss, ConfidencePenalty(2)(output[:, :2], torch.tensor([0])))
    loss.backward()
    assert output.grad is not None
    assert output.grad[0, 2] == 0


def test_bad_options() -> None:
    with pytest.raises(ValueError, match=r"`strength` of ConfidencePenalty must be a number in \[0, inf\). Got -0.1"):
        ConfidencePenalty(3, strength=-0.1)
