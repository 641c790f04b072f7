"""Crop, flip and cutout against one image at a time."""

import numpy as np
import pytest
import torch
from torch import Tensor

from labelspace.augment.transforms import crop, cutout, flip, rectangles


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(samples: int = 6, channels: int = 3, height: int = 7, width: int = 9) -> Tensor:
    return torch.randn(samples, channels, height, width, generator=seeded(99))


def windows(padded: np.ndarray, height: int, width: int) -> list[np.ndarray]:
    rows, columns = padded.shape[1] - height + 1, padded.shape[2] - width + 1
    return [padded[:, i : i + height, j : j + width] for i in range(rows) for j in range(columns)]


@pytest.mark.parametrize("fill", ["zero", "reflect"])
@pytest.mark.parametrize("shape", [(6, 3, 7, 9), (5, 1, 8, 8), (1, 2, 4, 3)])
def test_crop_cuts_what_a_loop_over_images_cuts(shape: tuple[int, int, int, int], fill: str) -> None:
    x = images(*shape)
    padding, (samples, _, height, width) = 2, shape
    generator = seeded(5)
    top, left = (torch.randint(2 * padding + 1, (samples,), generator=generator).tolist() for _ in range(2))
    pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    padded = np.pad(x.numpy(), pads, mode="constant" if fill == "zero" else "reflect")
    expected = np.stack([padded[i, :, top[i] : top[i] + height, left[i] : left[i] + width] for i in range(samples)])
    result = crop(x, seeded(5), padding=padding, fill=fill)
    torch.testing.assert_close(result, torch.from_numpy(expected), rtol=0, atol=0)


def test_crop_reaches_every_window_about_equally_often() -> None:
    x = images(1, 1, 5, 6).expand(5000, 1, 5, 6)
    all_windows = np.stack(windows(np.pad(x[0].numpy(), ((0, 0), (1, 1), (1, 1))), 5, 6))
    found = crop(x, seeded(), padding=1).numpy()
    counts = np.array([(found == window).all((1, 2, 3)).sum() for window in all_windows])
    assert counts.sum() == 5000
    # nine windows, each Binomial(5000, 1/9) with a standard deviation of 22
    assert abs(counts - 5000 / 9).max() < 4 * 22.3


def test_crop_reads_other_memory_layouts_and_precisions() -> None:
    x = images(4, 3, 8, 8)
    expected = crop(x, seeded(1))
    torch.testing.assert_close(crop(x.to(memory_format=torch.channels_last), seeded(1)), expected, rtol=0, atol=0)
    torch.testing.assert_close(crop(x.double(), seeded(1)), expected.double(), rtol=0, atol=0)
    assert crop(x.half(), seeded(1), fill="reflect").dtype == torch.float16


@pytest.mark.parametrize(("side", "padding"), [(32, 4), (28, 4), (8, 1), (64, 8), (2, 1)])
def test_crop_pads_an_eighth_by_default(side: int, padding: int) -> None:
    x = images(20, 1, side, side)
    torch.testing.assert_close(crop(x, seeded()), crop(x, seeded(), padding=padding), rtol=0, atol=0)


def test_flip_mirrors_half_of_the_images() -> None:
    x = images(2000, 1, 2, 3)
    result = flip(x, seeded())
    mirrored = (result.numpy() == x.numpy()[..., ::-1]).all((1, 2, 3))
    untouched = (result == x).flatten(1).all(1).numpy()
    assert (mirrored ^ untouched).all()
    assert abs(int(mirrored.sum()) - 1000) < 4 * 22.4
    torch.testing.assert_close(flip(x, seeded(), probability=0.0), x, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("shape", "size"), [((8, 3, 7, 9), 3), ((8, 1, 8, 8), 4), ((8, 1, 8, 8), 8), ((8, 2, 5, 6), 1)]
)
def test_cutout_empties_what_a_loop_over_images_empties(shape: tuple[int, int, int, int], size: int) -> None:
    x = images(*shape)
    generator = seeded(3)
    centres = [torch.randint(side, (shape[0],), generator=generator).tolist() for side in shape[2:]]
    expected = x.numpy().copy()
    for image, row, column in zip(expected, *centres, strict=True):
        top, left = row - size // 2, column - size // 2
        image[:, max(top, 0) : top + size, max(left, 0) : left + size] = 0
    torch.testing.assert_close(cutout(x, seeded(3), size=size), torch.from_numpy(expected), rtol=0, atol=0)


def test_cutout_takes_half_of_the_side_by_default_and_keeps_its_input() -> None:
    x = torch.ones(500, 1, 8, 8)
    result = cutout(x, seeded())
    assert int((result == 0).flatten(1).sum(1).max()) == 16
    assert bool((x == 1).all())


def test_rectangles_outside_the_image_are_empty() -> None:
    mask = rectangles(*(torch.tensor([value]) for value in (-3, 0, 0, 9)), 4, 4)
    assert mask.shape == (1, 1, 4, 4)
    assert not bool(mask.any())


@pytest.mark.parametrize("function", [crop, flip, cutout])
def test_same_seed_same_bits_and_another_seed_others(function) -> None:
    x = images(64, 3, 8, 8)
    first = function(x, seeded(1))
    torch.manual_seed(7)  # the global state plays no part
    torch.testing.assert_close(function(x, seeded(1)), first, rtol=0, atol=0)
    assert not torch.equal(function(x, seeded(2)), first)


@pytest.mark.parametrize("function", [crop, flip, cutout])
def test_an_empty_batch_stays_empty(function) -> None:
    assert function(torch.zeros(0, 3, 8, 8), seeded()).shape == (0, 3, 8, 8)


@pytest.mark.parametrize("function", [crop, flip, cutout])
def test_what_is_not_a_batch_of_float_images_is_refused(function) -> None:
    name = function.__name__
    with pytest.raises(TypeError, match=f"`x` of {name} must be a floating point tensor. Got torch.uint8"):
        function(torch.zeros(2, 1, 4, 4, dtype=torch.uint8), seeded())
    with pytest.raises(ValueError, match=f"`x` of {name} must be images of shape"):
        function(torch.zeros(2, 4, 4), seeded())
    with pytest.raises(TypeError, match=f"`generator` of {name} must be a torch.Generator. Got None"):
        function(torch.zeros(2, 1, 4, 4), None)


def test_bad_options_are_refused() -> None:
    x = images(2, 1, 8, 8)
    with pytest.raises(ValueError, match="`padding` of crop must be at most 8 .* Got 9"):
        crop(x, seeded(), padding=9)
    with pytest.raises(ValueError, match="`padding` of crop must be at most 7 .*reflect"):
        crop(x, seeded(), padding=8, fill="reflect")
    with pytest.raises(ValueError, match="`padding` of crop must be a whole number of at least 0. Got -1"):
        crop(x, seeded(), padding=-1)
    with pytest.raises(ValueError, match="Did you mean 'reflect'"):
        crop(x, seeded(), fill="reflct")
    with pytest.raises(ValueError, match="`probability` of flip must be a number in"):
        flip(x, seeded(), probability=1.5)
    with pytest.raises(ValueError, match="`size` of cutout must be at most the shorter side of the images, 8. Got 16"):
        cutout(x, seeded(), size=16)
    with pytest.raises(ValueError, match="`size` of cutout must be a whole number of at least 1"):
        cutout(x, seeded(), size=0)
