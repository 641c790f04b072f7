"""Rotation against scipy and resized crops against torch, one image at a time."""

import math

import numpy as np
import pytest
import torch
from scipy import ndimage
from torch import Tensor

from labelspace.augment.transforms import resized_crop, rotate


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(samples: int = 6, channels: int = 3, height: int = 7, width: int = 9) -> Tensor:
    return torch.randn(samples, channels, height, width, generator=seeded(99), dtype=torch.float64)


def turned(image: np.ndarray, angle: float) -> np.ndarray:
    """Return one channel whose pixel at p, counted from the centre, is the input's at p turned by the angle."""
    matrix = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])  # rows, columns
    centre = (np.array(image.shape) - 1) / 2
    return ndimage.affine_transform(image, matrix, centre - matrix @ centre, order=1, mode="grid-constant")


@pytest.mark.parametrize("shape", [(6, 3, 7, 9), (5, 1, 8, 8), (4, 2, 4, 3)])
@pytest.mark.parametrize("degrees", [20.0, 180.0])
def test_rotation_is_that_of_scipy(shape: tuple[int, int, int, int], degrees: float) -> None:
    x = images(*shape)
    share = torch.rand(shape[0], generator=seeded(5), dtype=torch.float64).numpy()
    angles = (2 * share - 1) * math.radians(degrees)
    expected = np.stack(
        [[turned(channel, angle) for channel in image] for image, angle in zip(x.numpy(), angles, strict=True)]
    )
    torch.testing.assert_close(rotate(x, seeded(5), degrees=degrees), torch.from_numpy(expected))


def test_no_angle_changes_nothing_and_a_disc_stays_in_its_place() -> None:
    x = images()
    torch.testing.assert_close(rotate(x, seeded(), degrees=0.0), x)
    place = torch.linspace(-1, 1, 65, dtype=torch.float64)
    disc = torch.exp(-4 * (place[:, None] ** 2 + place**2)).expand(20, 1, 65, 65)
    torch.testing.assert_close(
        rotate(disc, seeded(), degrees=180.0)[..., 16:49, 16:49], disc[..., 16:49, 16:49], atol=2e-3, rtol=0
    )


def window(height: int, width: int, shares: list[float], forms: list[float], stretch: float) -> tuple[int, int, bool]:
    """Return the first window that fits, as the published description has it, or the largest allowed one."""
    for share, form in zip(shares, forms, strict=True):
        area, aspect = share * height * width, math.exp(form * math.log(stretch))
        high, wide = round(math.sqrt(area / aspect)), round(math.sqrt(area * aspect))
        if 0 < high <= height and 0 < wide <= width:
            return high, wide, True
    if width / height < 1 / stretch:
        return round(width * stretch), width, False
    if width / height > stretch:
        return height, round(height * stretch), False
    return height, width, False


@pytest.mark.parametrize(
    ("shape", "smallest", "ratio"),
    [
        ((40, 3, 7, 9), 0.08, 4 / 3),
        ((40, 1, 8, 8), 0.5, 2.0),
        ((20, 2, 5, 40), 0.9, 1.1),  # no window fits: the middle of the image
        ((20, 1, 40, 5), 0.9, 1.1),
        ((20, 1, 6, 6), 1.0, 1.0),
    ],
)
def test_resized_crops_are_those_of_a_loop(shape: tuple[int, ...], smallest: float, ratio: float) -> None:
    x = images(*shape)
    samples, _, height, width = shape
    generator = seeded(7)
    share, form = (
        torch.rand(samples * 10, generator=generator, dtype=torch.float64).view(samples, 10) for _ in range(2)
    )
    places = [torch.rand(samples, generator=generator, dtype=torch.float64).tolist() for _ in range(2)]
    shares, forms = (smallest + (1 - smallest) * share).tolist(), (2 * form - 1).tolist()
    expected = []
    for number in range(samples):
        high, wide, fits = window(height, width, shares[number], forms[number], ratio)
        rooms = (height - high, width - wide)
        top, left = (
            int(place[number] * (room + 1)) if fits else room // 2 for place, room in zip(places, rooms, strict=True)
        )
        part = x[number : number + 1, :, top : top + high, left : left + wide]
        expected.append(
            torch.nn.functional.interpolate(part, size=(height, width), mode="bilinear", align_corners=False)
        )
    result = resized_crop(x, seeded(7), smallest=smallest, ratio=ratio)
    torch.testing.assert_close(result, torch.cat(expected))


def test_shares_of_the_area_are_as_asked() -> None:
    # an image whose value is its column: the spread of values in a row says how wide the window was
    side = 64
    x = torch.arange(float(side), dtype=torch.float64).expand(2000, 1, side, side)
    both = torch.cat([x, x.mT], dim=1)
    found = resized_crop(both, seeded(), smallest=0.25)
    wide = found[:, 0].amax((1, 2)) - found[:, 0].amin((1, 2)) + 1
    high = found[:, 1].amax((1, 2)) - found[:, 1].amin((1, 2)) + 1
    share, aspect = wide * high / side**2, wide / high
    assert share.min() > 0.23
    # of windows with share s the part min(1, −log s / log(4/3)) fits: E[s] = 0.34894 / 0.61902 over [0.25, 1]
    assert abs(float(share.mean()) - 0.5637) < 4 * 0.2 / 2000**0.5
    assert aspect.min() > 0.72
    assert aspect.max() < 1.4
    assert abs(float(aspect.log().mean())) < 0.02


@pytest.mark.parametrize("function", [rotate, resized_crop])
def test_same_seed_same_bits_and_another_seed_others(function) -> None:
    x = images(64, 3, 8, 8).float()
    kept = x.clone()
    first = function(x, seeded(1))
    torch.manual_seed(7)  # the global state plays no part
    torch.testing.assert_close(function(x, seeded(1)), first, rtol=0, atol=0)
    assert not torch.equal(function(x, seeded(2)), first)
    torch.testing.assert_close(x, kept, rtol=0, atol=0)
    assert first.dtype == torch.float32
    torch.testing.assert_close(function(x.to(memory_format=torch.channels_last), seeded(1)), first)
    torch.testing.assert_close(function(x.double(), seeded(1)).float(), first, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("function", [rotate, resized_crop])
def test_bad_batches_are_refused_and_empty_ones_stay_empty(function) -> None:
    name = function.__name__
    assert function(torch.zeros(0, 3, 8, 8), seeded()).shape == (0, 3, 8, 8)
    with pytest.raises(TypeError, match=f"`x` of {name} must be a floating point tensor. Got torch.uint8"):
        function(torch.zeros(2, 1, 4, 4, dtype=torch.uint8), seeded())
    with pytest.raises(TypeError, match=f"`generator` of {name} must be a torch.Generator. Got None"):
        function(torch.zeros(2, 1, 4, 4), None)


def test_bad_options_are_refused() -> None:
    x = images()
    with pytest.raises(ValueError, match=r"`degrees` of rotate must be a number in \[0, 180\]. Got 181"):
        rotate(x, seeded(), degrees=181)
    with pytest.raises(ValueError, match=r"`smallest` of resized_crop must be a number in \(0, 1\]. Got 0"):
        resized_crop(x, seeded(), smallest=0)
    with pytest.raises(ValueError, match=r"`ratio` of resized_crop must be a number in \[1, inf\). Got 0.5"):
        resized_crop(x, seeded(), ratio=0.5)
