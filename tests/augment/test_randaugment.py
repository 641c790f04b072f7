"""Each operation against numpy or scipy on one image, then how they are drawn."""

import math

import numpy as np
import pytest
import torch
from scipy.ndimage import affine_transform
from torch import Tensor
from torch.nn import functional

from labelspace.augment.randaugment import COLOURS, OPERATIONS, SHIFTS, apply, randaugment, recolour, sample

STRENGTHS = [-1.0, -0.9, -0.3, 0.1, 0.5, 0.9, 1.0]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(samples: int, channels: int, height: int, width: int) -> Tensor:
    return torch.randn(samples, channels, height, width, generator=seeded(99), dtype=torch.float64)


def coloured(image: np.ndarray, name: str, strength: float) -> np.ndarray:
    """Return one image after an operation on colours, written out in units of black = 0 and white = 1."""
    low, high = image.min(), image.max()
    unit = (image - low) / (high - low)
    grey = np.tensordot([0.299, 0.587, 0.114], unit, 1) if len(image) == 3 else unit
    factor = 1 + 0.9 * strength
    if name == "posterise":
        shades = 2 ** (8 - round(4 * abs(strength)))
        unit = np.round(unit * (shades - 1)) / (shades - 1)
    elif name == "solarise":
        unit = np.where(unit >= 1 - abs(strength) - 1e-12, 1 - unit, unit)
    else:
        anchor = {"brightness": 0.0, "contrast": grey.mean(), "saturation": grey}[name]
        unit = np.clip(anchor + (unit - anchor) * factor, 0, 1)
    return low + unit * (high - low)


def shifted(image: np.ndarray, name: str, strength: float) -> np.ndarray:
    """Return one image after a shift, by scipy, in pixels."""
    height, width = image.shape[1:]
    angle = math.radians(30 * strength) if name == "rotate" else 0.0
    cosine, sine = math.cos(angle), math.sin(angle)
    matrix = np.array([[cosine, sine], [-sine, cosine]])  # rows, columns: of what is taken from where
    matrix[1, 0] += 0.3 * strength * (name == "shear_x")
    matrix[0, 1] += 0.3 * strength * (name == "shear_y")
    move = 0.45 * strength * np.array([height * (name == "translate_y"), width * (name == "translate_x")])
    centre = (np.array([height, width]) - 1) / 2
    offset = centre - matrix @ centre + move
    return np.stack([affine_transform(one, matrix, offset, order=1, mode="grid-constant") for one in image])


@pytest.mark.parametrize(
    ("name", "channels"),
    [(name, count) for name in COLOURS for count in (1, 3, 4) if name != "saturation" or count == 3],
)
def test_colours_equal_numpy(name: str, channels: int) -> None:
    x = images(len(STRENGTHS), channels, 5, 6)
    expected = np.stack([coloured(image, name, s) for image, s in zip(x.numpy(), STRENGTHS, strict=True)])
    result = recolour(x, name, torch.tensor(STRENGTHS, dtype=torch.float64))
    torch.testing.assert_close(result, torch.from_numpy(expected))


@pytest.mark.parametrize("name", SHIFTS)
@pytest.mark.parametrize("shape", [(8, 8), (6, 11)])
def test_shifts_equal_scipy(name: str, shape: tuple[int, int]) -> None:
    x = images(len(STRENGTHS), 2, *shape)
    expected = np.stack([shifted(image, name, s) for image, s in zip(x.numpy(), STRENGTHS, strict=True)])
    drawn = torch.zeros(len(x), dtype=torch.int64)
    result = apply(x, [name], drawn, torch.tensor(STRENGTHS, dtype=torch.float64))
    torch.testing.assert_close(result, torch.from_numpy(expected))


def test_sampling_equals_the_affine_grid_of_torch_on_square_images() -> None:
    x = images(4, 3, 8, 8)
    theta = torch.eye(2, 3, dtype=torch.float64) + 0.2 * images(4, 1, 2, 3)[:, 0]
    grid = functional.affine_grid(theta, list(x.shape), align_corners=False)
    torch.testing.assert_close(sample(x, theta), functional.grid_sample(x, grid, align_corners=False))


@pytest.mark.parametrize("name", COLOURS)
def test_colours_stay_in_the_range_of_an_image_and_leave_a_flat_one_alone(name: str) -> None:
    x = (images(50, 3, 4, 4) * 3 + 1).float()
    strengths = torch.linspace(-1, 1, 50)
    result = recolour(x, name, strengths)
    assert bool((result.amin((1, 2, 3)) >= x.amin((1, 2, 3))).all())
    assert bool((result.amax((1, 2, 3)) <= x.amax((1, 2, 3))).all())
    flat = torch.full((3, 3, 4, 4), 0.7)
    torch.testing.assert_close(recolour(flat, name, torch.tensor([-0.9, 0.0, 0.9])), flat)


def test_every_operation_does_something_and_identity_nothing() -> None:
    x = images(len(OPERATIONS), 3, 8, 8).float()
    result = apply(x, list(OPERATIONS), torch.arange(len(OPERATIONS)), torch.full((len(OPERATIONS),), 0.9))
    same = (result == x).flatten(1).all(1).tolist()
    assert [name for name, unchanged in zip(OPERATIONS, same, strict=True) if unchanged] == ["identity"]


def test_magnitude_zero_changes_nothing_but_shades() -> None:
    x = images(200, 3, 8, 8).float()
    result = randaugment(x, seeded(), operations=1, magnitude=0)
    span = (x.amax() - x.amin()).item()
    torch.testing.assert_close(result, x, rtol=0, atol=span / 255)
    exact = (result == x).flatten(1).all(1).float().mean()
    assert exact > 0.5


def test_operations_are_drawn_equally_often() -> None:
    x = images(1, 1, 8, 8).float().expand(5000, 1, 8, 8)
    result = randaugment(x, seeded(), operations=1, magnitude=9)
    variants, counts = result.flatten(1).unique(dim=0, return_counts=True)
    # ten operations without saturation: seven in two directions, posterise, solarise and identity
    assert len(variants) == 17
    shares = counts.sort().values / 5000
    torch.testing.assert_close(shares[:14], torch.full((14,), 0.05), rtol=0, atol=4 * 0.0031)
    torch.testing.assert_close(shares[14:], torch.full((3,), 0.1), rtol=0, atol=4 * 0.0042)


def test_rounds_follow_each_other() -> None:
    x = images(32, 3, 8, 8).float()
    generator = seeded(4)
    once = randaugment(x, generator, operations=1, magnitude=5)
    twice = randaugment(once, generator, operations=1, magnitude=5)
    torch.testing.assert_close(randaugment(x, seeded(4), operations=2, magnitude=5), twice, rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(48, 3, 32, 32), (1, 3, 224, 224), (7, 1, 8, 8)])
def test_the_number_of_threads_does_not_change_a_bit(shape: tuple[int, int, int, int]) -> None:
    x = images(*shape).float()
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append([randaugment(x, seeded(seed), operations=3) for seed in range(4)])
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=0, atol=0)


def test_input_is_kept_and_an_empty_batch_stays_empty() -> None:
    x = images(16, 3, 8, 8).float()
    before = x.clone()
    randaugment(x, seeded())
    torch.testing.assert_close(x, before, rtol=0, atol=0)
    assert randaugment(x[:0], seeded()).shape == (0, 3, 8, 8)


def test_bad_options_are_refused() -> None:
    x = images(2, 3, 8, 8).float()
    with pytest.raises(ValueError, match="`operations` of randaugment must be a whole number of at least 1. Got 0"):
        randaugment(x, seeded(), operations=0)
    with pytest.raises(ValueError, match=r"`magnitude` of randaugment must be a number in \[0, 10\]. Got 15"):
        randaugment(x, seeded(), magnitude=15)
    with pytest.raises(TypeError, match="`x` of randaugment must be a floating point tensor"):
        randaugment(x.long(), seeded())
    with pytest.raises(TypeError, match="`generator` of randaugment"):
        randaugment(x, 3)
