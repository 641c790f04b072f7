"""Mixup and CutMix: labels follow what was really mixed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor

from labelspace import make_criterion
from labelspace.augment import draws
from labelspace.augment.mixing import cutmix, mixup, mixups, probabilities

MIXINGS = [mixup, cutmix]
CPU = torch.device("cpu")


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def one_hot_images(y: Tensor, classes: int, height: int, width: int) -> Tensor:
    """Return images whose channel c is 1 where the class is c: the mean of a mixture is its label."""
    return torch.nn.functional.one_hot(y, classes).float()[:, :, None, None].expand(-1, -1, height, width)


@given(
    samples=st.integers(1, 9),
    classes=st.integers(1, 5),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    alpha=st.floats(0.05, 8),
    per_sample=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_label_mass_is_the_share_of_pixels(
    samples: int, classes: int, height: int, width: int, alpha: float, per_sample: bool, seed: int
) -> None:
    y = torch.randint(classes, (samples,), generator=seeded(seed))
    x = one_hot_images(y, classes, height, width)
    for mixing in MIXINGS:
        mixed, soft = mixing(x, y, classes, alpha, seeded(seed), per_sample=per_sample)
        assert mixed.shape == x.shape
        torch.testing.assert_close(soft, mixed.mean((2, 3)))
        torch.testing.assert_close(soft.sum(1), torch.ones(samples))


def test_mixup_equals_a_loop_over_samples() -> None:
    x, y = torch.randn(7, 3, 4, 5, generator=seeded(1)), torch.tensor([0, 2, 1, 1, 0, 2, 2])
    generator = seeded(8)
    share = draws.beta(0.4, 7, generator, CPU).numpy()
    partner = draws.permutation(7, generator, CPU).numpy()
    one_hot = np.eye(3)[y.numpy()]
    mixed, soft = mixup(x, y, 3, 0.4, seeded(8), per_sample=True)
    for i, (own, other) in enumerate(zip(share, partner, strict=True)):
        blend = own * x[i].double().numpy() + (1 - own) * x[other].double().numpy()
        torch.testing.assert_close(mixed[i].double(), torch.from_numpy(blend), rtol=1e-5, atol=1e-6)
        label = own * one_hot[i] + (1 - own) * one_hot[other]
        torch.testing.assert_close(soft[i].double(), torch.from_numpy(label), rtol=1e-5, atol=1e-6)


def test_batches_at_once_are_those_one_by_one_bit_for_bit() -> None:
    x, y = torch.randn(3, 7, 5, generator=seeded()), torch.randint(4, (3, 7), generator=seeded(1))
    y[1, 2] = -100
    shares = [(0.2, False), (0.4, True), (1.0, False)]
    mixed, soft = mixups(x, y, 4, shares, [seeded(number) for number in range(3)])
    for number, (alpha, per_sample) in enumerate(shares):
        alone = mixup(x[number], y[number], 4, alpha, seeded(number), per_sample=per_sample)
        torch.testing.assert_close((mixed[number], soft[number]), alone, rtol=0, atol=0)


@pytest.mark.parametrize("per_sample", [False, True])
def test_cutmix_equals_a_loop_over_images(per_sample: bool) -> None:
    samples, height, width = 12, 10, 13
    x, y = torch.randn(samples, 2, height, width, generator=seeded(1)), torch.arange(samples) % 4
    generator = seeded(6)
    count = samples if per_sample else 1
    kept = draws.beta(1.0, count, generator, CPU).numpy()
    partner = draws.permutation(samples, generator, CPU).tolist()
    rows, columns = (draws.integers(side, count, generator, CPU).tolist() for side in (height, width))
    mixed, soft = cutmix(x, y, 4, 1.0, seeded(6), per_sample=per_sample)
    for i in range(samples):
        j = i if per_sample else 0
        half_height, half_width = (int(side * np.sqrt(1 - kept[j])) // 2 for side in (height, width))
        top, bottom = max(rows[j] - half_height, 0), min(rows[j] + half_height, height)
        left, right = max(columns[j] - half_width, 0), min(columns[j] + half_width, width)
        expected = x[i].clone()
        expected[:, top:bottom, left:right] = x[partner[i], :, top:bottom, left:right]
        torch.testing.assert_close(mixed[i], expected, rtol=0, atol=0)
        share = 1 - (bottom - top) * (right - left) / (height * width)
        label = torch.zeros(4)
        label[y[i]] += share
        label[y[partner[i]]] += 1 - share
        torch.testing.assert_close(soft[i], label)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0])
def test_shares_follow_the_beta_distribution(alpha: float) -> None:
    drawn = draws.beta(alpha, 4000, seeded(), CPU).numpy()
    assert stats.kstest(drawn, stats.beta(alpha, alpha).cdf).pvalue > 0.01


def test_one_share_for_the_batch_or_one_for_each_sample() -> None:
    x, y = torch.arange(64.0)[:, None], torch.arange(64)
    _, soft = mixup(x, y, 64, 1.0, seeded(2))
    assert len(soft[soft > 0].unique()) <= 3
    _, soft = mixup(x, y, 64, 1.0, seeded(2), per_sample=True)
    assert len(soft[soft > 0].unique()) > 60


@pytest.mark.parametrize("mixing", MIXINGS)
def test_probabilities_and_indices_mix_alike(mixing) -> None:
    y = torch.tensor([0, 1, 2, 1])
    x = torch.randn(4, 1, 8, 8, generator=seeded())
    by_index = mixing(x, y, 3, 1.0, seeded(3))
    by_probability = mixing(x, torch.eye(3)[y], 3, 1.0, seeded(3))
    torch.testing.assert_close(by_index, by_probability, rtol=0, atol=0)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_ignored_samples_bring_no_mass_and_criteria_accept_the_rest(mixing) -> None:
    y = torch.tensor([0, -100, 1, 2, -100, 1, 0, 2])
    x = torch.randn(8, 1, 8, 8, generator=seeded())
    _, soft = mixing(x, y, 3, 1.0, seeded(5))
    _, all_labelled = mixing(x, y.clamp(min=0), 3, 1.0, seeded(5))
    _, labelled_mass = mixing(x, (y >= 0).float()[:, None], 1, 1.0, seeded(5))
    torch.testing.assert_close(soft.sum(1), labelled_mass[:, 0])
    assert bool((soft <= all_labelled).all())
    assert bool(torch.isfinite(make_criterion("onehot", 3)(torch.randn(8, 3, generator=seeded()), soft)))
    _, nothing = mixing(x, torch.full((8,), -100), 3, 1.0, seeded(5))
    torch.testing.assert_close(nothing, torch.zeros(8, 3), rtol=0, atol=0)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_same_seed_same_bits_whatever_the_threads(mixing) -> None:
    x, y = torch.randn(64, 3, 32, 32, generator=seeded()), torch.arange(64) % 10
    first = mixing(x, y, 10, 1.0, seeded(1), per_sample=True)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        torch.manual_seed(7)
        np.random.seed(7)  # noqa: NPY002  # the global states play no part
        torch.testing.assert_close(mixing(x, y, 10, 1.0, seeded(1), per_sample=True), first, rtol=0, atol=0)
    finally:
        torch.set_num_threads(threads)
    assert not torch.equal(mixing(x, y, 10, 1.0, seeded(2))[0], first[0])


@pytest.mark.parametrize("mixing", MIXINGS)
def test_small_batches(mixing) -> None:
    x, y = torch.randn(1, 1, 8, 8, generator=seeded()), torch.tensor([1])
    mixed, soft = mixing(x, y, 2, 1.0, seeded())
    torch.testing.assert_close(mixed, x)
    torch.testing.assert_close(soft, torch.tensor([[0.0, 1.0]]))
    mixed, soft = mixing(x[:0], y[:0], 2, 1.0, seeded())
    assert (mixed.shape, soft.shape) == ((0, 1, 8, 8), (0, 2))


def test_precision_is_kept() -> None:
    x = torch.randn(4, 3, generator=seeded(), dtype=torch.float64)
    mixed, soft = mixup(x, torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0]], 3, 1.0, seeded())
    assert (mixed.dtype, soft.dtype) == (torch.float64, torch.float64)
    mixed, soft = mixup(x.bfloat16(), torch.tensor([0, 1, 2, 0]), 3, 1.0, seeded())
    assert (mixed.dtype, soft.dtype) == (torch.bfloat16, torch.float32)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_bad_options_are_refused(mixing) -> None:
    name, x, y = mixing.__name__, torch.zeros(2, 1, 4, 4), torch.tensor([0, 1])
    with pytest.raises(ValueError, match=rf"`alpha` of {name} must be a number in \(0, inf\). Got 0"):
        mixing(x, y, 2, 0, seeded())
    with pytest.raises(TypeError, match=f"`generator` of {name} must be a torch.Generator"):
        mixing(x, y, 2, 1.0, None)
    with pytest.raises(TypeError, match=f"`x` of {name} must be a floating point tensor. Got torch.int64"):
        mixing(x.long(), y, 2, 1.0, seeded())
    with pytest.raises(ValueError, match=f"`y` of {name} must be class indices from 0 to 1 .* Got 2. Map the labels"):
        mixing(x, torch.tensor([0, 2]), 2, 1.0, seeded())
    with pytest.raises(ValueError, match=f"`y` of {name} must be class indices from 0 to 1 .* Got -1"):
        mixing(x, torch.tensor([0, -1]), 2, 1.0, seeded())
    with pytest.raises(ValueError, match=r"probabilities of shape \(2, 3\). Got torch.float32 of shape \(2, 2\)"):
        mixing(x, torch.eye(2), 3, 1.0, seeded())
    with pytest.raises(TypeError, match="`y` of .* must be a tensor of class indices or probabilities. Got torch.bool"):
        mixing(x, y.bool(), 2, 1.0, seeded())
    with pytest.raises(ValueError, match=f"`classes` of {name} must be a whole number of at least 1"):
        mixing(x, y, 0, 1.0, seeded())


def test_cutmix_needs_images() -> None:
    with pytest.raises(ValueError, match=r"`x` of cutmix must be images of shape \(N, C, H, W\). Got shape \(2, 4\)"):
        cutmix(torch.zeros(2, 4), torch.tensor([0, 1]), 2, 1.0, seeded())


def test_probabilities_of_small_integer_types() -> None:
    expected = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    torch.testing.assert_close(probabilities("mixup", torch.tensor([1, -100], dtype=torch.int16), 2, 2), expected)
