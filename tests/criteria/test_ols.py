"""Online smoothing: starts, the fine-grained variant, and commits inside an epoch."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from contract.harness import assert_matches_reference, plain
from labelspace import OnlineSmoothing


def test_first_epoch_is_half_cross_entropy() -> None:
    output, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
    torch.testing.assert_close(OnlineSmoothing(4)(output, y), 0.5 * cross_entropy(output, y))


@pytest.mark.parametrize("preset", ["paper", "reference", "reference-fine"])
def test_presets_match_the_reference(preset: str) -> None:
    inputs = plain("ols")
    criterion = OnlineSmoothing(4, preset=preset).double()
    assert_matches_reference(replace(inputs, criterion=criterion))
    assert float(criterion.label_matrix[0, 0]) == (0.0 if preset == "reference" else 0.25)


def test_a_row_freezes_once_it_is_sure() -> None:
    criterion = OnlineSmoothing(2, preset="reference-fine")
    criterion(torch.tensor([[4.0, 0.0], [0.0, 1.0]], requires_grad=True), torch.tensor([0, 1]))
    criterion.end_epoch()
    sure = criterion.label_matrix[0].clone()
    assert float(sure.max()) > 0.88
    criterion(torch.tensor([[1.0, 0.0], [0.0, 2.0]], requires_grad=True), torch.tensor([0, 1]))
    criterion.end_epoch()
    torch.testing.assert_close(criterion.label_matrix[0], sure, rtol=0, atol=0)
    torch.testing.assert_close(criterion.label_matrix[1], torch.softmax(torch.tensor([0.0, 2.0]), 0))


def test_commit_every_so_many_steps() -> None:
    torch.manual_seed(0)
    batches = [(torch.randn(8, 3) + 2 * torch.eye(3)[y], y) for y in torch.randint(3, (4, 8))]
    automatic, by_hand = OnlineSmoothing(3, commit_every=2), OnlineSmoothing(3)
    for step, (output, y) in enumerate(batches):
        automatic(output.requires_grad_(), y)
        by_hand(output, y)
        if step % 2 == 1:
            by_hand.end_epoch()
        torch.testing.assert_close(automatic.label_matrix, by_hand.label_matrix)
    assert bool(by_hand.label_matrix.any())


def test_an_epoch_without_training_changes_nothing() -> None:
    criterion = plain("ols").criterion
    before = criterion.label_matrix.clone()
    criterion.end_epoch()
    torch.testing.assert_close(criterion.label_matrix, before, rtol=0, atol=0)


def test_counts_do_not_stop_at_256_in_bfloat16() -> None:
    criterion = OnlineSmoothing(2)
    output = torch.tensor([[2.0, 0.0]] * 600, dtype=torch.bfloat16, requires_grad=True)
    criterion(output, torch.zeros(600, dtype=torch.long))
    assert float(criterion.statistics.sums["count"][0]) == 600
