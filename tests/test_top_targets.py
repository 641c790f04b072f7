"""Soft targets of a few classes a sample, against the same written out, for every method."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from labelspace import (
    Distillation,
    InputError,
    Learner,
    OneHot,
    TopTargets,
    UniformSmoothing,
    criterion_class,
    linear_loss,
    methods,
)

NAN = float("nan")


def drawn(count: int, classes: int) -> tuple[TopTargets, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    indices = torch.stack([torch.randperm(classes, generator=generator)[:2] for _ in range(count)])
    values = torch.rand(count, 2, generator=generator) / 2
    indices[1, 1], values[1, 1] = -1, 0
    indices[2], values[2] = -1, 0  # an ignored sample
    dense = torch.zeros(count, classes)
    for row in range(count):
        for place in range(2):
            if indices[row, place] >= 0:
                dense[row, indices[row, place]] = values[row, place]
    mass = dense.sum(dim=1, keepdim=True)  # what is left out of few targets goes to those that are there
    return TopTargets(indices, values), dense / torch.where(mass > 0, mass, 1)


@pytest.mark.parametrize("name", methods())
def test_every_method_takes_them_as_probabilities(name: str) -> None:
    kind = criterion_class(name)
    losses = []
    for top in (True, False):
        example = kind.example()
        few, dense = drawn(len(example.y), len(example.criterion.names))
        example.criterion.weight = torch.arange(1.0, 1 + len(example.criterion.names))
        call = example.criterion, example.output.clone().requires_grad_()
        if not kind.soft_targets:
            with pytest.raises(InputError, match="cannot use probabilities"):
                call[0](call[1], few, **example.extras)
            return
        loss = call[0](call[1], few if top else dense, **example.extras)
        loss.backward()
        losses.append((loss.detach(), call[1].grad))
    assert_close(losses[0], losses[1])


def test_positions_learners_and_chunks() -> None:
    few, dense = drawn(6, 5)
    assert_close(few.dense(5), dense)
    criterion = UniformSmoothing(5, reduction="none", ignore_index=4)
    output = torch.randn(2, 5, 3)
    placed = TopTargets(few.indices.reshape(2, 3, 2), few.values.reshape(2, 3, 2))
    assert_close(criterion(output, placed), criterion(output, dense.reshape(2, 3, 5).movedim(-1, 1)))
    head, x = torch.nn.Linear(4, 5), torch.randn(6, 4)
    assert_close(Learner(head, criterion)(x, few), criterion(head(x), dense))
    assert_close(linear_loss(criterion, x, head.weight, head.bias, few), criterion(head(x), dense))
    assert len(few[:2]) == 2
    assert_close(few[torch.tensor([4])].to("cpu").dense(5), dense[4:5])


def test_a_teacher_of_few_classes() -> None:
    teacher = torch.softmax(torch.randn(4, 6, generator=torch.Generator().manual_seed(0)), dim=1)
    few = TopTargets.of(teacher, 3)
    criterion, output, y = Distillation(6, temperature=2.0, hard=0.3), torch.randn(4, 6), torch.tensor([0, 1, 2, -100])
    kept = torch.where(teacher >= teacher.topk(3).values[:, -1:], teacher, 0)
    soft = kept.sqrt() / kept.sqrt().sum(dim=1, keepdim=True)  # at a temperature of 2
    log_p, log_q = torch.log_softmax(output, 1), torch.log_softmax(output / 2, 1)
    each = -0.3 * log_p[range(3), [0, 1, 2]] - 0.7 * 4 * (soft * log_q).sum(1)[:3]
    assert_close(criterion(output, y, teacher=few), each.mean())
    eye = torch.eye(6)
    assert_close(linear_loss(criterion, output, eye, None, y, teacher=few), each.mean())
    with pytest.raises(InputError, match="some mass in every row of a teacher"):
        criterion(output, y, teacher=TopTargets(few.indices, torch.zeros(4, 3)))


@pytest.mark.parametrize(
    ("indices", "values", "text"),
    [
        ([[0, 0]], [[0.5, 0.5]], "each class at most once a row"),
        ([[0, -1]], [[0.5, 0.5]], "0 where `indices` has −1"),
        ([[0, -2]], [[0.5, 0.0]], "class indices, or −1 for none. Got -2"),
        ([[0, 1]], [[0.9, 0.5]], "rows summing to at most 1. Got a row summing to 1.4"),
        ([[0, 1]], [[-0.1, 0.5]], "smallest entry -0.1"),
        ([[0, 1]], [[NAN, 0.5]], "not negative"),
        ([[0, 1]], [[0.5]], r"`values` of TopTargets must be probabilities of shape \(1, 2\)"),
        ([[0.0, 1.0]], [[0.5, 0.5]], "`indices` of TopTargets must be whole numbers"),
        ([[0, 7]], [[0.5, 0.5]], "class indices from 0 to 2, or −1 for none. Got 7"),
    ],
)
def test_bad_rows_are_refused(indices: Any, values: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        OneHot(3)(torch.zeros(1, 3), TopTargets(torch.tensor(indices), torch.tensor(values)))
