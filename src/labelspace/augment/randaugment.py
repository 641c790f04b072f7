"""RandAugment on normalised batches: each image goes through a few operations drawn at random.

Every operation has one strength from 0 to 1, the magnitude divided by ten:

================  ======================================================  =====================================
operation         what happens to an image                                at strength s
================  ======================================================  =====================================
identity          nothing
brightness        pixels move away from or towards black                  factor 1 ± 0.9·s
contrast          pixels move away from or towards the image's mean grey  factor 1 ± 0.9·s
saturation        pixels move away from or towards their own grey         factor 1 ± 0.9·s; three channels only
posterise         fewer shades                                            2^(8 − 4·s) shades, rounded to a power
solarise          the lightest pixels become dark                         the lightest share s of the range
translate x, y    shift                                                   ± 0.45·s of the side
rotate            about the centre                                        ± 30°·s
shear x, y        about the centre                                        ± 0.3·s
================  ======================================================  =====================================

A normalised batch does not say where black and white are: an image's own smallest and largest value stand for them,
and no operation on colours leaves that range. On an image that holds both black and white this is what an imaging
library does. What moves in from outside is zero, the mean colour; positions between pixels are interpolated.

# differs from Cubuk et al. 2020: there a larger magnitude makes solarise weaker and posterise keeps 0 to 4 bits;
# sharpness, equalisation and automatic contrast, which need integer histograms or neighbours, are left out.
"""

import torch
from torch import Tensor

from labelspace import _checks, _devices
from labelspace.augment import draws
from labelspace.augment.transforms import image_shape, sample

SHIFTS = ("translate_x", "translate_y", "rotate", "shear_x", "shear_y")
COLOURS = ("brightness", "contrast", "saturation", "posterise", "solarise")
OPERATIONS = ("identity", *COLOURS, *SHIFTS)
LUMA = (0.299, 0.587, 0.114)


def randaugment(x: Tensor, generator: torch.Generator, *, operations: int = 2, magnitude: float = 9) -> Tensor:
    """Apply ``operations`` operations, drawn for each image with replacement, one after the other.

    Args:
        x: images, normalised floats.
        generator: which operations, and in which direction.
        operations: how many for each image.
        magnitude: from 0 (nothing but 256 shades) to 10 (the strongest of the table above).

    Shape:
        ``(N, C, H, W)`` → the same.

    Example:
        >>> images = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
        >>> randaugment(images, torch.Generator().manual_seed(0)).shape
        torch.Size([4, 3, 8, 8])

    Reference:
        Cubuk et al. 2020, section 3.
    """
    samples, channels, *_ = image_shape("randaugment", x)
    rounds = _checks.whole("randaugment", "operations", operations, low=1)
    strength = _checks.number("randaugment", "magnitude", magnitude, low=0, high=10) / 10
    draws.generator_of("randaugment", generator)
    names = [name for name in OPERATIONS if name != "saturation" or channels == 3]
    for _ in range(rounds):
        drawn = draws.integers(len(names), samples, generator, generator.device)
        signs = draws.integers(2, samples, generator, generator.device) * 2 - 1
        x = apply(x, names, drawn, signs * strength)
    return x


def apply(x: Tensor, names: list[str], drawn: Tensor, strengths: Tensor) -> Tensor:
    """Return the batch with operation ``names[drawn[i]]`` at the signed strength ``strengths[i]`` applied to image i.

    What was drawn may be on another device than the images. On the CPU it is best: how many images an operation has is
    looked at, and that makes any other device wait.

    Example:
        >>> apply(torch.tensor([[[[0.0, 1.0]]]]), ["solarise"], torch.tensor([0]), torch.tensor([1.0]))
        tensor([[[[1., 0.]]]])
    """
    out = x.clone()
    for number, name in enumerate(names):
        rows = (drawn == number).nonzero().squeeze(1)
        if name in COLOURS and len(rows):
            chosen, amounts = (_devices.moved(each, x.device) for each in (rows, strengths[rows]))
            out.index_copy_(0, chosen, recolour(x.index_select(0, chosen), name, amounts))
    rows = torch.tensor([name in SHIFTS for name in names], device=drawn.device)[drawn].nonzero().squeeze(1)
    if len(rows):
        theta = _matrices(names, drawn[rows], strengths[rows])
        chosen = _devices.moved(rows, x.device)
        out.index_copy_(0, chosen, sample(x.index_select(0, chosen), _devices.widest(theta, x.device)))
    return out


def recolour(x: Tensor, name: str, strengths: Tensor) -> Tensor:
    """Return the images with one operation on colours, within the range of each image.

    Example:
        >>> recolour(torch.tensor([[[[0.0, 0.5, 1.0]]]]), "brightness", torch.tensor([-1.0]))
        tensor([[[[0.0000, 0.0500, 0.1000]]]])
    """
    # only sums in a fixed order, products and comparisons: the bits do not depend on how threads share the work
    low, high = x.amin((1, 2, 3), keepdim=True), x.amax((1, 2, 3), keepdim=True)
    signed = strengths.to(x.dtype).reshape(-1, 1, 1, 1)
    if name == "posterise":
        changed = _posterised(x, low, high, signed.abs())
    elif name == "solarise":
        # in this form the threshold of strength 1 is exactly the darkest value, which is that of every background pixel
        lightest = (x >= (1 - signed.abs()) * high + signed.abs() * low) & (signed != 0)
        changed = torch.where(lightest, (low - x) + high, x)
    else:
        anchor = low if name == "brightness" else _grey(x)
        if name == "contrast":
            anchor = anchor.contiguous().mean(3, keepdim=True).mean(2, keepdim=True).mean(1, keepdim=True)
        changed = anchor + (x - anchor) * (1 + 0.9 * signed)
    return torch.minimum(torch.maximum(changed, low), high)


def _grey(x: Tensor) -> Tensor:
    if x.shape[1] != 3:
        return x
    red, green, blue = LUMA
    return x[:, 0:1] * red + x[:, 1:2] * green + x[:, 2:3] * blue


def _posterised(x: Tensor, low: Tensor, high: Tensor, strength: Tensor) -> Tensor:
    span = torch.where(high > low, high - low, 1)
    steps = (2 ** (8 - (4 * strength).round())).round() - 1
    return low + ((x - low) / span * steps).round() / steps * span


def _matrices(names: list[str], drawn: Tensor, strengths: Tensor) -> Tensor:
    """Return the ``(N, 2, 3)`` matrices of the shifts that were drawn, in the form ``sample`` takes."""
    # an operation that was not drawn has strength zero, so that one matrix holds all five
    place = {name: names.index(name) if name in names else -1 for name in SHIFTS}
    strength = {name: strengths.to(_devices.wide(drawn.device)) * (drawn == place[name]) for name in SHIFTS}
    angle = strength["rotate"] * (torch.pi / 6)
    across = [angle.cos(), 0.3 * strength["shear_x"] - angle.sin(), 0.9 * strength["translate_x"]]
    down = [0.3 * strength["shear_y"] + angle.sin(), angle.cos(), 0.9 * strength["translate_y"]]
    return torch.stack([*across, *down], dim=1).view(-1, 2, 3)
