"""Crop, flip, cutout, rotation and random resized crop of whole batches of images ``(N, C, H, W)``.

All samples go through the same tensor operations, each with its own random numbers. Batches are normalised, so that a
filled-in zero is the mean colour of the training part. ``benchmarks/augment.py`` compares them with a loop over images.
"""

import math

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


TRIES = 10  # windows drawn for an image, of which the first that fits into it is taken
RATIO = 4 / 3


def rotate(x: Tensor, generator: torch.Generator, *, degrees: float = 20.0) -> Tensor:
    """Turn every image about its centre by an angle of its own; what comes in from outside is zero.

    Args:
        x: images, floats.
        generator: where the angles come from.
        degrees: largest angle in either direction, up to 180. Mixed cross-entropy (003) rotates and does not say how
            far; 20 is the default of the library it names.

    Shape:
        ``(N, C, H, W)`` → the same.

    Example:
        >>> rotate(torch.ones(1, 1, 3, 3), torch.Generator().manual_seed(0), degrees=180)[0, 0, 1, 1]
        tensor(1.)
    """
    samples, *_ = image_shape("rotate", x)
    most = _checks.number("rotate", "degrees", degrees, low=0, high=180)
    angle = (2 * draws.uniform(samples, draws.generator_of("rotate", generator), x.device) - 1) * math.radians(most)
    still = torch.zeros_like(angle)
    turned = torch.stack([angle.cos(), -angle.sin(), still, angle.sin(), angle.cos(), still], dim=1)
    return sample(x, turned.view(-1, 2, 3)) if samples else x


def resized_crop(
    x: Tensor, generator: torch.Generator, *, smallest: float = 0.08, ratio: float | None = None
) -> Tensor:
    """Cut a window of random size and shape out of every image and stretch it to the size of the image.

    The window's share of the image's area is uniform in ``[smallest, 1]``, the logarithm of width by height uniform in
    ``± log(ratio)``; of ten windows drawn the first that fits is placed at random, and where none does, the largest
    allowed one is taken from the middle. This is torchvision's ``RandomResizedCrop`` at the image's own size.

    Args:
        x: images, floats.
        generator: where the windows come from.
        smallest: share of the area, above 0.
        ratio: of the sides, at least 1; by default 4/3.

    Shape:
        ``(N, C, H, W)`` → the same.

    Example:
        >>> images = torch.arange(16.0).view(1, 1, 4, 4)
        >>> resized_crop(images, torch.Generator().manual_seed(0), smallest=1.0, ratio=1.0).equal(images)
        True

    Reference:
        Szegedy et al. 2015, section 6.
    """
    owner = "resized_crop"
    samples, _, height, width = image_shape(owner, x)
    least = _checks.number(owner, "smallest", smallest, low=0, high=1, open_low=True)
    stretch = _checks.number(owner, "ratio", RATIO if ratio is None else ratio, low=1)
    draws.generator_of(owner, generator)
    share = least + (1 - least) * draws.uniform(samples * TRIES, generator, x.device).view(-1, TRIES)
    form = ((2 * draws.uniform(samples * TRIES, generator, x.device).view(-1, TRIES) - 1) * math.log(stretch)).exp()
    high, wide, fits = _sizes(share * height * width, form, height, width, stretch)
    top, left = (
        _placed(side - part, draws.uniform(samples, generator, x.device), fits)
        for side, part in ((height, high), (width, wide))
    )
    if not samples:
        return x
    row, column = _positions(top, high, height), _positions(left, wide, width)
    across, down = column[:, None, :].expand(-1, height, -1), row[:, :, None].expand(-1, -1, width)
    grid = torch.stack([across, down], dim=3)
    # rounding may put a place on the image's edge a little outside of it
    return functional.grid_sample(x, grid.to(x.dtype), padding_mode="border", align_corners=False)


def _sizes(area: Tensor, form: Tensor, height: int, width: int, stretch: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return height and width of each image's window in pixels, and whether one of those drawn fitted."""
    high, wide = (area / form).sqrt().round(), (area * form).sqrt().round()
    fitting = (high >= 1) & (high <= height) & (wide >= 1) & (wide <= width)
    fits = fitting.any(dim=1)
    first = fitting.to(torch.uint8).argmax(dim=1, keepdim=True)
    largest = min(height, round(width * stretch)), min(width, round(height * stretch))
    drawn = (each.gather(1, first).squeeze(1) for each in (high, wide))
    tall, broad = (torch.where(fits, each, most) for each, most in zip(drawn, largest, strict=True))
    return tall, broad, fits


def _placed(room: Tensor, drawn: Tensor, fits: Tensor) -> Tensor:
    """Return where a window begins: anywhere, or in the middle if none fitted."""
    return torch.where(fits, (drawn * (room + 1)).floor(), (room / 2).floor())


def _positions(start: Tensor, length: Tensor, side: int) -> Tensor:
    """Return where in the image each pixel of the result looks, ``(N, side)``, from −1 to 1 along the image."""
    centre = torch.arange(side, device=start.device, dtype=start.dtype) + 0.5
    inside = centre * (length / side)[:, None] - 0.5
    # what lies outside the window is not looked at: its own first and last pixel reach to its edges
    inside = torch.minimum(inside.clamp(min=0), (length - 1)[:, None])
    return (2 * (inside + start[:, None]) + 1) / side - 1


def sample(x: Tensor, theta: Tensor) -> Tensor:
    """Return images whose pixel at p is the input's at ``theta @ (p, 1)``, p counted from the centre.

    Places run from −1 to 1 along each side for the third column; the 2×2 part turns and shears in pixels, so that a
    rotation of an image that is not square stays a rotation.

    Example:
        >>> left = torch.tensor([[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
        >>> sample(torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]]), left).flatten()
        tensor([3., 4., 0., 0.])
    """
    height, width = x.shape[2:]
    column = ((torch.arange(width, device=x.device, dtype=x.dtype) * 2 + 1) / width - 1).view(1, 1, -1, 1)
    row = ((torch.arange(height, device=x.device, dtype=x.dtype) * 2 + 1) / height - 1).view(1, -1, 1, 1)
    # plain products rather than affine_grid's matrix product, whose rounding may depend on the number of threads
    scale = _devices.moved(torch.tensor([[1, height / width, 1], [width / height, 1, 1]], dtype=theta.dtype), x.device)
    across, down, move = (theta * scale).to(x.dtype)[:, None, None].unbind(4)
    grid = (across * column + move) + down * row
    return functional.grid_sample(x, grid, padding_mode="zeros", align_corners=False)
