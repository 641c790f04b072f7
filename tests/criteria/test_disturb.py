"""DisturbLabel: the quality of its draws, and that they depend on nothing but seed and place."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace.criteria.disturb import DisturbLabel, _draws
from reference.disturb import draw

RANDOM = torch.Generator().manual_seed(0)
CLASSES = 10


def drawn(criterion: DisturbLabel, count: int) -> Tensor:
    """Return the labels a batch of class 0 is trained with, read off a loss that names them."""
    output = torch.arange(CLASSES).float().expand(count, -1).clone().requires_grad_()
    losses = criterion(output, torch.zeros(count).long())
    return (torch.logsumexp(output[0].detach(), dim=0) - losses.detach()).round().long()


def test_draws_equal_the_reference() -> None:
    places = torch.tensor([0, 1, 2, 63, 64, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**45 + 3])
    for seed in (0, 1, 2**31, 2**32 + 7):
        for stream, got in enumerate(_draws(places, seed), start=1):
            assert got.tolist() == [draw(place, seed, stream) for place in places.tolist()]


def deviation(cells: Tensor, count: int) -> float:
    """Return chi-square against equal cells, in standard deviations from what chance gives."""
    expected = len(cells) / count
    statistic = ((torch.bincount(cells, minlength=count) - expected) ** 2 / expected).sum().item()
    return (statistic - (count - 1)) / (2 * (count - 1)) ** 0.5


@pytest.mark.parametrize("start", [0, 2**32 - 2**16, 2**40])
@pytest.mark.parametrize("seed", [0, 1, 12345678901])
def test_draws_are_uniform_and_independent(start: int, seed: int) -> None:
    place = torch.arange(2**18) + start
    whether, which = (word >> 28 for word in _draws(place, seed))  # the top four bits, those that decide
    other_seed = _draws(place, seed + 1)[0] >> 28
    assert deviation(whether, 16) < 4.5
    assert deviation(which, 16) < 4.5
    assert deviation(whether * 16 + which, 256) < 4.5
    assert deviation(whether[:-1] * 16 + whether[1:], 256) < 4.5
    assert deviation(whether * 16 + other_seed, 256) < 4.5


def test_rate_and_classes_are_as_asked() -> None:
    labels = drawn(DisturbLabel(CLASSES, rate=0.3, reduction="none"), 20000)
    share = torch.bincount(labels, minlength=CLASSES) / 20000
    # 0.3/10 for every other class, 0.7 + 0.03 for the true one; four standard deviations are 0.005 and 0.0126
    torch.testing.assert_close(share[1:], torch.full((9,), 0.03), rtol=0, atol=0.005)
    torch.testing.assert_close(share[0], torch.tensor(0.73), rtol=0, atol=0.0126)


def test_rate_zero_is_cross_entropy_and_rate_one_always_draws() -> None:
    output, y = torch.randn(50, 5, generator=RANDOM), torch.arange(50) % 5
    torch.testing.assert_close(DisturbLabel(5, rate=0.0)(output, y), cross_entropy(output, y))
    criterion = DisturbLabel(5, rate=1.0)
    which = (_draws(torch.arange(50), 0)[1] * 5) >> 32
    torch.testing.assert_close(criterion(output, y), cross_entropy(output, which))


def test_eval_disturbs_nothing() -> None:
    output, y = torch.randn(50, 5, generator=RANDOM), torch.arange(50) % 5
    torch.testing.assert_close(DisturbLabel(5, rate=1.0).eval()(output, y), cross_entropy(output, y))


def test_draws_depend_on_the_place_alone() -> None:
    whole = DisturbLabel(CLASSES, rate=0.5, reduction="none")
    split = DisturbLabel(CLASSES, rate=0.5, reduction="none")
    pieces = [drawn(split, count) for count in (1, 30, 33)]
    torch.testing.assert_close(drawn(whole, 64), torch.cat(pieces))
    assert int(whole.position) == int(split.position) == 64


def test_the_next_batch_and_another_seed_draw_anew() -> None:
    criterion = DisturbLabel(CLASSES, rate=0.5, reduction="none")
    first, second = drawn(criterion, 64), drawn(criterion, 64)
    other = drawn(DisturbLabel(CLASSES, rate=0.5, seed=1, reduction="none"), 64)
    assert not torch.equal(first, second)
    assert not torch.equal(first, other)


def test_a_checkpoint_goes_on_where_it_stopped() -> None:
    criterion, resumed = (DisturbLabel(CLASSES, rate=0.5, reduction="none") for _ in range(2))
    drawn(criterion, 40)
    resumed.load_state_dict(criterion.state_dict())
    torch.testing.assert_close(drawn(criterion, 40), drawn(resumed, 40))


def test_without_gradient_the_stream_stands_still() -> None:
    criterion = DisturbLabel(CLASSES)
    with torch.no_grad():
        criterion(torch.randn(4, CLASSES, generator=RANDOM), torch.zeros(4).long())
    assert int(criterion.position) == 0


def test_ignored_samples_take_a_place_but_stay_ignored() -> None:
    criterion = DisturbLabel(CLASSES, rate=1.0, reduction="none")
    losses = criterion(torch.randn(3, CLASSES, requires_grad=True, generator=RANDOM), torch.tensor([1, -100, 2]))
    assert losses[1] == 0
    assert int(criterion.position) == 3


def test_a_soft_row_becomes_the_drawn_one_hot() -> None:
    output, y = torch.randn(50, 5, generator=RANDOM), torch.softmax(torch.randn(50, 5, generator=RANDOM), dim=1)
    which = (_draws(torch.arange(50), 0)[1] * 5) >> 32
    torch.testing.assert_close(DisturbLabel(5, rate=1.0)(output, y), cross_entropy(output, which))


def test_positions_are_whole_numbers_of_any_size() -> None:
    criterion = DisturbLabel(CLASSES)
    criterion.position = torch.tensor(2**40 + 1)
    criterion(torch.randn(3, CLASSES, requires_grad=True, generator=RANDOM), torch.zeros(3).long())
    assert criterion.position.dtype == torch.int64
    assert int(criterion.position) == 2**40 + 4


def test_label_space_is_that_of_uniform_smoothing() -> None:
    torch.testing.assert_close(DisturbLabel(4).label_space().matrix, torch.full((4, 4), 0.25))


def test_bad_options() -> None:
    with pytest.raises(ValueError, match=r"`rate` of DisturbLabel must be a number in \[0, 1\]. Got 1.5"):
        DisturbLabel(3, rate=1.5)
    with pytest.raises(ValueError, match="`seed` of DisturbLabel must be a whole number of at least 0. Got -1"):
        DisturbLabel(3, seed=-1)
    with pytest.raises(TypeError, match="`seed` of DisturbLabel must be a whole number"):
        DisturbLabel(3, seed=0.5)  # type: ignore[arg-type]
