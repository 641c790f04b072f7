"""Mixup and CutMix: pairs of samples become one, and so do their labels.

Both return probabilities ``(N, K)``. An ignored sample has a row of zeros; mixed with a labelled one, the row holds
the labelled one's share only, and counts that much.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.augment import draws
from labelspace.augment.transforms import image_shape, rectangles
from labelspace.criteria.targets import IGNORED


def mixup(
    x: Tensor, y: Tensor, classes: int, alpha: float, generator: torch.Generator, *, per_sample: bool = False
) -> tuple[Tensor, Tensor]:
    """Blend every sample with another of the batch: ``λ·x + (1−λ)·x'``, ``λ·y + (1−λ)·y'``, λ from Beta(α, α).

    Args:
        x: samples, floats of any shape.
        y: class indices (−100 is ignored) or probabilities.
        classes: K.
        alpha: α; small values leave most samples nearly alone, 1 draws λ uniformly.
        generator: where λ and the partners come from.
        per_sample: draw one λ for each sample rather than one for the batch.

    Shape:
        ``(N, …)``, ``(N,)`` or ``(N, K)`` → ``(N, …)``, ``(N, K)``.

    Example:
        >>> x, y = torch.tensor([[0.0], [1.0]]), torch.tensor([0, 1])
        >>> mixed, soft = mixup(x, y, 2, 1.0, torch.Generator().manual_seed(3))
        >>> bool((soft[:, 1:] == mixed).all())
        True

    Reference:
        Zhang et al. 2018, eq. (1).
    """
    if not isinstance(x, Tensor) or not x.is_floating_point():
        got = getattr(x, "dtype", type(x).__name__)
        raise _checks.fail_type("mixup", "x", "a floating point tensor", got, "Token ids cannot be blended.")
    soft = probabilities("mixup", y, classes, len(x))
    share, partner = _drawn("mixup", alpha, generator, per_sample, x)
    return _blend(x, share, partner), _blend(soft, share, partner)


def mixups(
    x: Tensor, y: Tensor, classes: int, alphas: Sequence[tuple[float, bool]], generators: Sequence[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Do to each of several batches, at once, what ``mixup`` does to one: the same bits, with a few large operations.

    Args:
        x: the batches, floats.
        y: class indices (−100 is ignored).
        classes: K.
        alphas: of each batch α, and whether λ is drawn for each sample.
        generators: of each batch, where λ and the partners come from.

    Shape:
        ``(D, N, …)``, ``(D, N)`` → ``(D, N, …)``, ``(D, N, K)``.

    Example:
        >>> x, y = torch.tensor([[[0.0], [1.0]]]), torch.tensor([[0, 1]])
        >>> mixed, soft = mixups(x, y, 2, [(1.0, False)], [torch.Generator().manual_seed(3)])
        >>> bool((soft[..., 1:] == mixed).all())
        True
    """
    count, samples = y.shape
    soft = probabilities("mixups", y.flatten(), classes, y.numel())
    found = [
        _drawn("mixups", alpha, generator, per_sample, x[0])
        for (alpha, per_sample), generator in zip(alphas, generators, strict=True)
    ]
    share = torch.stack([each.expand(samples) for each, _ in found]).flatten()
    first = torch.arange(0, y.numel(), samples, device=y.device)[:, None]  # of each batch's rows
    partner = (torch.stack([each for _, each in found]) + first).flatten()
    mixed = _blend(x.flatten(0, 1), share, partner)
    return mixed.reshape(x.shape), _blend(soft, share, partner).reshape(count, samples, classes)


def cutmix(
    x: Tensor, y: Tensor, classes: int, alpha: float, generator: torch.Generator, *, per_sample: bool = False
) -> tuple[Tensor, Tensor]:
    """Paste a rectangle of another image of the batch into every image; labels mix by area.

    The rectangle's sides are ``√(1−λ)`` of the image's, λ from Beta(α, α), its centre any pixel; what lies outside
    the image is lost, and the labels follow the pixels that were really replaced.

    Args:
        x: images, floats.
        y: class indices (−100 is ignored) or probabilities.
        classes: K.
        alpha: α; 1 draws the area uniformly.
        generator: where rectangles and partners come from.
        per_sample: draw one rectangle for each image rather than one for the batch.

    Shape:
        ``(N, C, H, W)``, ``(N,)`` or ``(N, K)`` → ``(N, C, H, W)``, ``(N, K)``.

    Example:
        >>> x = torch.arange(2.0).reshape(2, 1, 1, 1).expand(2, 1, 4, 4)
        >>> mixed, soft = cutmix(x, torch.tensor([0, 1]), 2, 1.0, torch.Generator().manual_seed(4))
        >>> bool((mixed.mean((1, 2, 3)) == soft[:, 1]).all())
        True

    Reference:
        Yun et al. 2019, eq. (1) and (2).
    """
    samples, _, height, width = image_shape("cutmix", x)
    soft = probabilities("cutmix", y, classes, samples)
    kept, partner = _drawn("cutmix", alpha, generator, per_sample, x)
    sides = (1 - kept).sqrt()
    edges = []
    for side in (height, width):
        half = (sides * side).long() // 2
        centre = draws.integers(side, len(kept), generator, x.device)
        edges += [(centre - half).clamp(min=0), (centre + half).clamp(max=side)]
    top, bottom, left, right = edges
    pasted = torch.where(rectangles(top, left, bottom, right, height, width), x.index_select(0, partner), x)
    area = (bottom - top) * (right - left)
    return pasted, _blend(soft, 1 - area.to(kept.dtype) / (height * width), partner)


def probabilities(owner: str, y: Tensor, classes: int, samples: int) -> Tensor:
    """Return labels as rows of probabilities: one-hot for indices, zeros where a sample is ignored.

    Example:
        >>> probabilities("mixup", torch.tensor([1, -100]), 2, 2)
        tensor([[0., 1.],
                [0., 0.]])
    """
    count = _checks.whole(owner, "classes", classes, low=1)
    if not isinstance(y, Tensor) or y.dtype == torch.bool or y.is_complex():
        got = getattr(y, "dtype", type(y).__name__)
        raise _checks.fail_type(owner, "y", "a tensor of class indices or probabilities", got)
    wanted = (samples, count) if y.is_floating_point() else (samples,)
    if tuple(y.shape) != wanted:
        expected = f"class indices of shape ({samples},) or probabilities of shape ({samples}, {count})"
        raise _checks.fail(owner, "y", expected, f"{y.dtype} of shape {tuple(y.shape)}")
    if y.is_floating_point():
        return y
    # looking at values makes another device wait; there training's own check of the data must do
    wrong = y[(y != IGNORED) & ((y < 0) | (y >= count))] if y.device.type == "cpu" else y[:0]
    if len(wrong):
        expected = f"class indices from 0 to {count - 1} (or {IGNORED} for ignored)"
        raise _checks.fail(owner, "y", expected, int(wrong[0]), "Map the labels to 0…K−1 first.")
    return (y[:, None] == torch.arange(count, device=y.device)).to(torch.float32)


def _drawn(owner: str, alpha: float, generator: torch.Generator, per_sample: bool, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return λ, one for the batch or one for each sample, and the partner of each sample."""
    alpha = _checks.number(owner, "alpha", alpha, low=0, open_low=True)
    draws.generator_of(owner, generator)
    share = draws.beta(alpha, len(x) if per_sample else 1, generator, x.device)
    return share, draws.permutation(len(x), generator, x.device)


def _blend(values: Tensor, share: Tensor, partner: Tensor) -> Tensor:
    # two products and a sum, not lerp: its fused rounding could depend on how threads share the work
    shape = (-1,) + (1,) * (values.ndim - 1)
    own, other = (part.to(values.dtype).reshape(shape) for part in (share, 1 - share))
    return values * own + values.index_select(0, partner) * other
