"""Crop, flip and cutout of whole batches of images ``(N, C, H, W)``.

Each is a function of the batch, a generator and its options; all samples go through the same tensor operations, each
with its own random numbers. Batches are normalised, so that a filled-in zero is the mean colour of the training part.
``benchmarks/augment.py`` compares them with a loop over images: at 128×3×32×32 on one thread crop took about a quarter
of the loop's time, cutout a third, flip two thirds.
"""

import torch
from torch import Tensor
from torch.nn import functional

from labelspace import _checks, _devices
from labelspace.augment import draws

FILLS = ("zero", "reflect")


def crop(x: Tensor, generator: torch.Generator, *, padding: int | None = None, fill: str = "zero") -> Tensor:
    """Pad every image on all sides and cut a random window of the old size out of it.

    Args:
        x: images, floats.
        generator: where the windows come from.
        padding: pixels on each side; by default an eighth of the shorter side (4 at 32×32, 1 at 8×8).
        fill: ``"zero"``, the mean colour of a normalised batch, or ``"reflect"``, the image mirrored at its border.

    Shape:
        ``(N, C, H, W)`` → the same.

    Example:
        >>> crop(torch.ones(1, 1, 2, 2), torch.Generator().manual_seed(0), padding=1).flatten()
        tensor([0., 1., 0., 0.])
    """
    samples, channels, height, width = image_shape("crop", x)
    border = max(1, (min(height, width) + 4) // 8) if padding is None else padding
    _check_border(border, _checks.choice("crop", "fill", fill, FILLS), min(height, width))
    draws.generator_of("crop", generator)
    top = draws.integers(2 * border + 1, samples, generator, x.device)
    left = draws.integers(2 * border + 1, samples, generator, x.device)
    if not samples:
        return x
    padded = functional.pad(x, (border,) * 4, mode="constant" if fill == "zero" else "reflect").contiguous()
    # every row of every window is a run of `width` numbers in the flat padded batch: copying runs by their start
    # takes a third of the time of indexing windows, and works for any layout of the images
    rows, columns = height + 2 * border, width + 2 * border
    image = torch.arange(samples, device=x.device) * channels * rows * columns + top * columns + left
    channel = torch.arange(channels, device=x.device)[:, None] * rows * columns
    start = image[:, None, None] + channel + torch.arange(height, device=x.device) * columns
    return padded.view(-1).unfold(0, width, 1).index_select(0, start.view(-1)).view(x.shape)


def _check_border(border: int, fill: str, side: int) -> None:
    _checks.whole("crop", "padding", border)
    most = side - 1 if fill == "reflect" else side
    if border > most:
        expected = f"at most {most} for images with a side of {side} and fill={fill!r}"
        raise _checks.fail("crop", "padding", expected, border, "Leave it out for an eighth of the side.")


def flip(x: Tensor, generator: torch.Generator, *, probability: float = 0.5) -> Tensor:
    """Mirror images left to right.

    Args:
        x: images, floats.
        generator: which images.
        probability: of an image being mirrored.

    Shape:
        ``(N, C, H, W)`` → the same.

    Example:
        >>> flip(torch.tensor([[[[1.0, 2.0]]]]), torch.Generator(), probability=1.0).flatten()
        tensor([2., 1.])
    """
    samples, *_ = image_shape("flip", x)
    probability = _checks.number("flip", "probability", probability, low=0, high=1)
    chosen = draws.uniform(samples, draws.generator_of("flip", generator), generator.device) < probability
    # counted where they were drawn: another device would have to be waited for
    rows = _devices.moved(chosen.nonzero().squeeze(1), x.device)
    return x.clone().index_copy_(0, rows, x.index_select(0, rows).flip(3))


def cutout(x: Tensor, generator: torch.Generator, *, size: int | None = None) -> Tensor:
    """Set a square of each image to zero; its centre is any pixel, what lies outside the image is lost.

    Args:
        x: images, floats.
        generator: where the centres come from.
        size: side of the square; by default half of the shorter side (16 at 32×32, as published for CIFAR-10).

    Shape:
        ``(N, C, H, W)`` → the same.

    Example:
        >>> (cutout(torch.ones(1, 1, 8, 8), torch.Generator().manual_seed(1), size=2) == 0).sum()
        tensor(4)

    Reference:
        DeVries and Taylor 2017, section 3.
    """
    samples, _, height, width = image_shape("cutout", x)
    side = min(height, width)
    hole = _checks.whole("cutout", "size", max(1, side // 2) if size is None else size, low=1)
    if hole > side:
        expected = f"at most the shorter side of the images, {side}"
        raise _checks.fail("cutout", "size", expected, hole, "Leave it out for half of the side.")
    draws.generator_of("cutout", generator)
    top = draws.integers(height, samples, generator, x.device) - hole // 2
    left = draws.integers(width, samples, generator, x.device) - hole // 2
    return torch.where(rectangles(top, left, top + hole, left + hole, height, width), 0, x)


def rectangles(top: Tensor, left: Tensor, bottom: Tensor, right: Tensor, height: int, width: int) -> Tensor:
    """Return a mask ``(N, 1, H, W)`` that is true inside each rectangle, its bottom and right edges left out."""
    row = torch.arange(height, device=top.device)
    column = torch.arange(width, device=top.device)
    inside_rows = (row >= top[:, None]) & (row < bottom[:, None])
    inside_columns = (column >= left[:, None]) & (column < right[:, None])
    return (inside_rows[:, :, None] & inside_columns[:, None, :])[:, None]


def image_shape(owner: str, x: Tensor) -> tuple[int, int, int, int]:
    """Return N, C, H, W of a batch of float images; refuse everything else."""
    if not isinstance(x, Tensor) or not x.is_floating_point():
        got = getattr(x, "dtype", type(x).__name__)
        raise _checks.fail_type(owner, "x", "a floating point tensor", got, "Normalise the batch first.")
    if x.ndim != 4 or 0 in x.shape[1:]:
        raise _checks.fail(owner, "x", "images of shape (N, C, H, W)", f"shape {tuple(x.shape)}")
    samples, channels, height, width = x.shape
    return samples, channels, height, width
