"""The last linear layer and the loss in one, so that no scores of all samples are ever in memory."""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._linear_pass import Call, Pass
from labelspace.criteria.base import Criterion
from labelspace.criteria.layout import no_autocast
from labelspace.top_targets import TopTargets


def linear_loss(
    criterion: Criterion,
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    y: Tensor | TopTargets,
    *,
    sample_weight: Tensor | None = None,
    **extras: Tensor | TopTargets,
) -> Tensor:
    """Return ``criterion(linear(features, weight, bias), y)`` without ever holding all scores.

    Scores are made for some samples at a time, turned into gradients while they are there, and forgotten: what is in
    memory is that of the weights and 16 MiB. With ``reduction="none"`` they are made again in the backward pass.

    Gradients come from the forward pass, so there is one backward pass and no second derivative. Methods whose batch is
    the unit, that keep running statistics, or draw at random need all scores: they are refused.

    Args:
        criterion: of scope ``"sample"``; its weight, ``ignore_index`` and reduction hold as ever.
        features: ``(N, F)``, or ``(B, T, F)`` with ``class_dim=-1``; passed on to methods that need features.
        weight: ``(K, F)``, of the last layer.
        bias: ``(K,)`` or None.
        y: class indices, or probabilities, all of them or ``TopTargets``.
        sample_weight: one factor per sample, a constant.
        extras: ``teacher=`` for methods that need it: logits, or ``TopTargets``.

    Example:
        >>> from labelspace import UniformSmoothing
        >>> head, x, y = torch.nn.Linear(8, 5), torch.randn(6, 8), torch.tensor([0, 1, 2, 3, 4, -100])
        >>> criterion = UniformSmoothing(5)
        >>> loss = linear_loss(criterion, x, head.weight, head.bias, y)
        >>> torch.testing.assert_close(loss, criterion(head(x), y))
    """
    _check(criterion, features, weight)
    shape = features.shape[:-1]
    flat = features.reshape(-1, features.shape[-1])
    rows = {name: _flat(value, shape) for name, value in extras.items()}
    if "features" in criterion.needs:
        rows.setdefault("features", flat)
    parameters = [parameter for parameter in criterion.parameters() if parameter.requires_grad]
    counts = None if sample_weight is None else sample_weight.detach().reshape(-1)
    call = Call(criterion, _flat(y, shape), rows, parameters, counts)
    with no_autocast(features) or nullcontext():
        loss = _LinearLoss.apply(call, flat, weight, bias, *parameters)  # type: ignore[no-untyped-call]
    assert isinstance(loss, Tensor)
    return loss.reshape(shape) if criterion.reduction == "none" else loss


def takes(criterion: Criterion) -> bool:
    """Return whether ``linear_loss`` can do without all scores: a sample is looked at alone, and nothing is kept of it.

    Example:
        >>> from labelspace import OneHot, OnlineSmoothing
        >>> takes(OneHot(3)), takes(OnlineSmoothing(3))
        (True, False)
    """
    # extras get no gradient here, which is right where a method keeps it from them
    whole = bool(criterion.needs) and not criterion.stops_gradient
    return criterion.scope == "sample" and not criterion.statistics and not criterion.random and not whole


def _flat(value: Tensor | TopTargets, shape: torch.Size) -> Tensor | TopTargets:
    if isinstance(value, TopTargets):
        return value.flat()
    return value.reshape(-1, *value.shape[len(shape) :])


def _check(criterion: Criterion, features: Tensor, weight: Tensor) -> None:
    owner = "linear_loss"
    if not takes(criterion):
        expected = "a method that looks at one sample at a time and remembers nothing of it"
        remedy = "Call it as criterion(head(features), y)."
        raise _checks.fail(owner, "criterion", expected, type(criterion).__name__, remedy)
    if weight.ndim != 2 or len(weight) != criterion.output_dim or features.shape[-1] != weight.shape[1]:
        expected = f"of shape ({criterion.output_dim}, {features.shape[-1]}): outputs × features"
        raise _checks.fail(owner, "weight", expected, f"shape {tuple(weight.shape)}")
    if features.ndim != 2 and (features.ndim == 1 or criterion.class_dim not in (-1, features.ndim - 1)):
        expected = "of shape (N, F), or with class_dim=-1 of any shape that ends in F"
        raise _checks.fail(owner, "features", expected, f"shape {tuple(features.shape)}")


class _LinearLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: Call, features: Tensor, weight: Tensor, bias: Tensor | None, *own: Tensor) -> Tensor:
        wanted = ctx.needs_input_grad[1:]
        now = call.criterion.reduction != "none"
        # parameters of the criterion are not saved: rows that take missed steps in between are still what they were
        ctx.save_for_backward(features, weight, bias)
        ctx.call, ctx.spent = call, False
        tensors = (features, weight, bias, *call.parameters)
        loss, ctx.gradients = Pass(call, tensors, [now and each for each in wanted], None).run()
        return loss

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            remedy = "Use criterion(head(features), y), which has second derivatives."
            raise _checks.fail("linear_loss", "create_graph", "left out", "True", remedy)
        if ctx.spent:
            remedy = "Compute the loss again, or use criterion(head(features), y)."
            raise _checks.fail("linear_loss", "retain_graph", "left out", "a second backward pass", remedy)
        ctx.spent = True
        tensors = (*ctx.saved_tensors, *ctx.call.parameters)
        found, factor = ctx.gradients, 1.0
        ctx.gradients = None
        if ctx.call.criterion.reduction == "none":
            found = Pass(ctx.call, tensors, ctx.needs_input_grad[1:], gradient).run()[1]
        else:
            factor = float(gradient)
        for own in found:
            if own is not None and factor != 1:
                own.mul_(factor)
        typed = [own if own is None else own.to(like.dtype) for own, like in zip(found, tensors, strict=True)]
        return (None, *typed)
