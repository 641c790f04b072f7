"""Label noise: exact rates, the right classes, nothing else touched."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from labelspace.training.noise import LabelNoise, label_noise, pairwise, symmetric

NOISES = [pairwise, symmetric]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def labels(samples: int, classes: int, seed: int = 0) -> Tensor:
    return torch.randint(classes, (samples,), generator=seeded(seed))


def confusion(y: Tensor, wrong: Tensor, classes: int) -> Tensor:
    return (y * classes + wrong).bincount(minlength=classes**2).view(classes, classes)


def rounded(rate: float, count: int) -> int:
    return math.floor(round(rate * count, 9) + 0.5)


@given(st.integers(2, 11), st.integers(0, 300), st.floats(0, 1), st.integers(0, 2**31))
def test_every_class_has_exactly_the_rate(classes: int, samples: int, rate: float, seed: int) -> None:
    y = labels(samples, classes, seed)
    before = y.clone()
    for noise in NOISES:
        wrong, changed = noise(y, classes, rate, seeded(seed))
        torch.testing.assert_close(y, before, rtol=0, atol=0)
        torch.testing.assert_close(changed, wrong != y, rtol=0, atol=0)
        assert wrong.dtype == y.dtype
        assert bool(((wrong >= 0) & (wrong < classes)).all())
        off = confusion(y, wrong, classes)
        moved = off.sum(1) - off.diagonal()
        expected = [rounded(rate, int(count)) for count in off.sum(1)]
        unlike = [c for c in range(classes) if int(moved[c]) != expected[c]]
        # with an odd number of classes one has no partner
        assert len(unlike) <= (classes % 2 if noise is pairwise else 0)
        assert all(int(moved[c]) == 0 for c in unlike)


def test_ten_classes_become_five_pairs() -> None:
    y = torch.arange(10).repeat(100)
    wrong, _ = pairwise(y, 10, 0.3, seeded(1))
    counts = confusion(y, wrong, 10)
    partners = (counts - counts.diagonal().diag()).argmax(1)
    torch.testing.assert_close(partners[partners], torch.arange(10), rtol=0, atol=0)
    assert bool((partners != torch.arange(10)).all())
    expected = 70 * torch.eye(10, dtype=torch.int64)
    expected[torch.arange(10), partners] = 30
    torch.testing.assert_close(counts, expected, rtol=0, atol=0)


def test_rate_one_exchanges_names_and_two_times_gives_the_labels_back() -> None:
    y = labels(50, 4)
    wrong, changed = pairwise(y, 4, 1.0, seeded(2))
    assert bool(changed.all())
    torch.testing.assert_close(pairwise(wrong, 4, 1.0, seeded(2))[0], y, rtol=0, atol=0)


def test_pairs_are_drawn_equally_often() -> None:
    y = torch.arange(4)
    partners = torch.stack([pairwise(y, 4, 1.0, seeded(seed))[0] for seed in range(600)])
    counts = partners[:, 0].bincount(minlength=4)
    assert counts[0] == 0
    assert (counts[1:] - 200).abs().max() < 4 * 11.6


def test_an_odd_class_is_left_alone_and_it_is_not_always_the_same() -> None:
    y = torch.arange(5)
    alone = [(pairwise(y, 5, 1.0, seeded(seed))[0] == y).nonzero().flatten().tolist() for seed in range(40)]
    assert all(len(classes) == 1 for classes in alone)
    assert len({classes[0] for classes in alone}) == 5


def test_symmetric_noise_is_uniform_over_the_other_classes() -> None:
    y = torch.arange(6).repeat(2000)
    wrong, _ = symmetric(y, 6, 0.5, seeded())
    counts = confusion(y, wrong, 6).double()
    torch.testing.assert_close(counts.diagonal(), torch.full((6,), 1000.0, dtype=torch.float64), rtol=0, atol=0)
    off = counts[~torch.eye(6, dtype=torch.bool)]
    assert (off - 200).abs().max() < 4 * 12.7


@pytest.mark.parametrize("noise", NOISES)
def test_lower_rates_are_part_of_higher_ones(noise) -> None:
    y = labels(500, 10)
    few, few_changed = noise(y, 10, 0.1, seeded(3))
    many, many_changed = noise(y, 10, 0.4, seeded(3))
    assert bool((many_changed | ~few_changed).all())
    torch.testing.assert_close(few[few_changed], many[few_changed], rtol=0, atol=0)


@pytest.mark.parametrize("noise", NOISES)
def test_which_samples_change_is_uniform_within_a_class(noise) -> None:
    y = torch.tensor([0] * 10 + [1] * 10)
    times = torch.stack([noise(y, 2, 0.3, seeded(seed))[1] for seed in range(1000)]).sum(0)
    assert (times - 300).abs().max() < 4 * 14.5


@pytest.mark.parametrize("noise", NOISES)
def test_ignored_samples_stay_and_seeds_repeat(noise) -> None:
    y = labels(200, 5)
    y[::7] = -100
    wrong, changed = noise(y, 5, 0.5, seeded(1))
    assert bool((wrong[::7] == -100).all())
    assert not bool(changed[::7].any())
    torch.manual_seed(5)
    torch.testing.assert_close(noise(y, 5, 0.5, seeded(1)), (wrong, changed), rtol=0, atol=0)
    assert not torch.equal(noise(y, 5, 0.5, seeded(2))[0], wrong)


@pytest.mark.parametrize(("rate", "count", "expected"), [(0.7, 15, 11), (0.15, 10, 2), (0.1, 4, 0), (0.1, 5, 1)])
def test_rounding_is_to_the_nearest_with_halves_up(rate: float, count: int, expected: int) -> None:
    _, changed = symmetric(torch.zeros(count, dtype=torch.int64), 3, rate, seeded())
    assert int(changed.sum()) == expected


@pytest.mark.parametrize("noise", NOISES)
def test_bad_input_is_refused(noise) -> None:
    name, y = noise.__name__, torch.tensor([0, 1])
    with pytest.raises(ValueError, match=rf"`rate` of {name} must be a number in \[0, 1\]. Got 1.5"):
        noise(y, 2, 1.5, seeded())
    with pytest.raises(ValueError, match=f"`classes` of {name} must be a whole number of at least 2. Got 1"):
        noise(y, 1, 0.5, seeded())
    with pytest.raises(ValueError, match=f"`y` of {name} must be class indices from 0 to 1 .* Got 2"):
        noise(torch.tensor([0, 2]), 2, 0.5, seeded())
    with pytest.raises(TypeError, match="Got torch.float32. Add noise before mixing labels"):
        noise(torch.eye(2), 2, 0.5, seeded())
    with pytest.raises(ValueError, match=r"`y` of .* must be class indices of shape \(N,\)"):
        noise(y[None], 2, 0.5, seeded())
    with pytest.raises(TypeError, match=f"`generator` of {name}"):
        noise(y, 2, 0.5, 0)


def test_noise_by_name() -> None:
    y = labels(100, 10)
    noise = label_noise(" symmetric:0.40 ")
    assert noise == LabelNoise("symmetric", 0.4)
    assert noise.spec == "symmetric:0.4"
    assert label_noise("pairwise:1").spec == label_noise("pairwise:1.0").spec
    expected = symmetric(y, 10, 0.4, seeded(1))
    torch.testing.assert_close(noise(y, 10, generator=seeded(1)), expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pairwse:0.2", "`name` of label_noise must be one of 'pairwise', 'symmetric'. Got 'pairwse'. Did you mean"),
        ("pairwise", r"`rate` of label_noise 'pairwise' must be a number in \[0, 1\]. Got ''. Write it as"),
        ("pairwise:lots", "Got 'lots'. Write it as 'pairwise:0.2'"),
        ("pairwise:0.2:3", "Got '0.2:3'"),
        ("symmetric:1.2", r"`rate` of label_noise 'symmetric:1.2' must be a number in \[0, 1\]. Got 1.2"),
        ("symmetric:nan", "must be a number in .* Got nan"),
    ],
)
def test_bad_texts_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        label_noise(spec)


def test_a_number_is_not_a_text() -> None:
    with pytest.raises(TypeError, match="`spec` of label_noise must be text"):
        label_noise(0.2)
