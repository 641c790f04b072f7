"""Rotation and random resized crop of whole batches of images ``(N, C, H, W)``: positions between pixels are blended.

As in ``engine.transforms``, all samples go through the same tensor operations, each with its own random numbers.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from labelspace import _checks
from labelspace.augment import draws
from labelspace.augment.randaugment import sample
from labelspace.augment.transforms import image_shape

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
