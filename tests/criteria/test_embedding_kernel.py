"""The loss of a label embedding network in one go: values and gradients against the terms, second derivatives."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace import LabelEmbedding
from labelspace.criteria import embedding_kernel
from labelspace.criteria.embedding_kernel import share_of_right

OPTIONS: list[dict[str, Any]] = [
    {},
    {"preset": "paper", "hinge": "squared"},
    {"beta": 0.25, "temperature": 0.5, "hinge": "absolute", "stop_targets": False},
    {"preset": "reference"},
    {"rank": 3},
    {"rank": 3, "head_rank": 0},
    {"delay": 2},
]


def made(classes: int, **options: Any) -> tuple[LabelEmbedding, dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(0)
    criterion = LabelEmbedding(classes, in_features=5, cap=0.4, **options).double()
    for parameter in criterion.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    output = torch.randn(12, classes, generator=generator, dtype=torch.float64)
    features = torch.randn(12, 5, generator=generator, dtype=torch.float64)
    with torch.no_grad():  # the second head is right for the first half
        said = criterion._second(features, features.dtype).argmax(dim=1)
    y = torch.where(torch.arange(12) < 6, said, torch.arange(12) % classes)
    return criterion, {"output": output.requires_grad_(), "y": y, "features": features}


def loss_and_gradients(criterion: LabelEmbedding, batch: dict[str, Tensor]) -> list[Tensor]:
    loss = criterion(**batch)
    return [loss.detach(), *torch.autograd.grad(loss, [batch["output"], *criterion.parameters()])]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("common", [{}, {"reduction": "sum"}, {"weight": [0.5, 2.0, 0.0, 1.0]}])
def test_the_same_as_by_terms(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], common: dict[str, Any]) -> None:
    criterion, batch = made(4, **options, **common)
    batch = {**batch, "y": batch["y"].clone()}
    batch["y"][7] = -100
    criterion.eval()
    quick = loss_and_gradients(criterion, batch)
    monkeypatch.setattr(LabelEmbedding, "summed", lambda *arguments, **more: None)
    assert_close(quick, loss_and_gradients(criterion, batch))


@pytest.mark.parametrize("options", OPTIONS)
def test_second_derivatives(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    def second() -> list[Tensor]:
        criterion, batch = made(3, **options)
        inputs = [batch["output"], *criterion.parameters()]
        for _ in range(2):  # a delay of two calls is over when the second one is differentiated
            loss = criterion(**batch)
        first = torch.autograd.grad(loss, inputs, create_graph=True)
        size = sum(each.square().sum() for each in first)
        return [*first, *torch.autograd.grad(size, inputs)]

    found = second()
    monkeypatch.setattr(LabelEmbedding, "summed", lambda *arguments, **more: None)
    assert_close(found, second())


def test_the_kernel_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    criterion, batch = made(4)
    called = []
    kernel = embedding_kernel.embedded
    monkeypatch.setattr("labelspace.criteria.labelemb.embedded", lambda *a, **k: called.append(1) or kernel(*a, **k))
    criterion(**batch)
    assert called


def test_equals_of_the_second_head_are_the_first_class() -> None:
    criterion, batch = made(3)
    with torch.no_grad():
        criterion.second_head.weight.zero_()
        criterion.second_head.bias.copy_(torch.tensor([1.0, 1.0, 0.0]))
    rows = [loss_and_gradients(criterion, {**batch, "y": torch.full((12,), label)}) for label in range(2)]
    place = 2 + [name for name, _ in criterion.named_parameters()].index("embedding")
    assert [bool(each[place].any()) for each in rows] == [True, False]


def test_what_the_last_term_counts() -> None:
    right, share = torch.tensor([1.0, 0.0, 1.0]), torch.tensor([0.5, 0.25, 0.25])
    assert_close(share_of_right(right, share, True), torch.tensor([4 / 3, 0.0, 4 / 3]))
    assert_close(share_of_right(right, 1.0, False), right)
    assert_close(share_of_right(0 * right, share, True), torch.zeros(3))
