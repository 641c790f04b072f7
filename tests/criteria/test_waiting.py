"""Batches that wait: sums are those of batches added one by one, whoever asks for them and whenever."""

import copy
import pickle
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace import OnlineSmoothing
from labelspace.criteria import waiting
from labelspace.criteria.waiting import Waiting

Batches = list[tuple[Tensor, Tensor]]


def batches(*kinds: torch.dtype, sizes: tuple[int, ...] = (6,)) -> Batches:
    generator, found = torch.Generator().manual_seed(0), []
    for number in range(12):
        y = torch.randint(4, (sizes[number % len(sizes)],), generator=generator)
        output = torch.randn(len(y), 4, generator=generator) + 2 * torch.nn.functional.one_hot(y, 4)
        found.append((output.to(kinds[number % len(kinds)]), y))
    return found


def trained(given: Batches, after: Callable[[OnlineSmoothing], object] = lambda criterion: None) -> OnlineSmoothing:
    criterion = OnlineSmoothing(4)
    for output, y in given:
        criterion(output.clone().requires_grad_(), y)
        after(criterion)
    return criterion


def assert_alike(left: OnlineSmoothing, right: OnlineSmoothing) -> None:
    assert_close(dict(left.state_dict()), dict(right.state_dict()), rtol=0, atol=0)


@pytest.mark.parametrize("kinds", [(torch.float32,), (torch.float32, torch.float64)])
@pytest.mark.parametrize("sizes", [(6,), (6, 1, 300), (6, 20_000)])
def test_the_same_as_one_by_one(
    monkeypatch: pytest.MonkeyPatch, kinds: tuple[torch.dtype, ...], sizes: tuple[int, ...]
) -> None:
    given = batches(*kinds, sizes=sizes)
    together = trained(given)
    asked = trained(given, lambda criterion: criterion.statistics.sums)
    monkeypatch.setattr(OnlineSmoothing, "additive", False)
    assert_alike(together, trained(given))
    assert_alike(asked, together)
    for criterion in (asked, together):
        criterion.end_epoch()
    assert_alike(asked, together)


def test_soft_and_ignored_labels_between_do_not_overtake() -> None:
    criterion, expected = OnlineSmoothing(2), torch.zeros(2)
    output = torch.tensor([[3.0, 0.0], [0.0, 3.0]], requires_grad=True)
    for y in (torch.tensor([0, 1]), torch.eye(2), torch.tensor([0, -100]), torch.tensor([0, 0])):
        criterion(output, y)
    expected += torch.tensor([4.0, 2.0])
    assert_close(criterion.statistics.sums["count"], expected)
    assert criterion.statistics.sums["seen"].item() == 7


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda criterion: pickle.loads(pickle.dumps(criterion))])
def test_copies_have_everything_and_go_on_alone(copied: Callable[[OnlineSmoothing], OnlineSmoothing]) -> None:
    given = batches(torch.float32)
    criterion = trained(given)
    assert criterion.statistics.waiting.count
    other = copied(criterion)
    assert_alike(other, criterion)
    assert other.statistics.waiting is not criterion.statistics.waiting
    before = {name: value.clone() for name, value in criterion.state_dict().items()}
    other(given[0][0].requires_grad_(), given[0][1])
    assert_close(dict(criterion.state_dict()), before, rtol=0, atol=0)


def test_what_becomes_of_outputs_and_labels_does_not_matter() -> None:
    given = batches(torch.float32)
    expected, criterion = trained(given), OnlineSmoothing(4)
    for output, y in given:
        criterion(output.requires_grad_(), y)
        with torch.no_grad():
            output.zero_()
            y.zero_()
    assert_alike(criterion, expected)


def test_who_asks_in_inference_mode_leaves_sums_that_go_on() -> None:
    given = batches(torch.float32)
    criterion = trained(given[:6])
    with torch.inference_mode():
        criterion.state_dict()
    for output, y in given[6:]:
        criterion(output.requires_grad_(), y)
    assert_alike(criterion, trained(given))


def test_nothing_waits_when_an_epoch_starts() -> None:
    criterion = trained(batches(torch.float32))
    criterion.statistics.clear()
    assert not criterion.statistics.alone
    assert criterion.statistics.sums["seen"].item() == 0


def test_room_is_bounded() -> None:
    kept, small = Waiting(), torch.zeros(8, 4)
    assert not kept.room(torch.zeros(waiting.MOST // 32 + 1, 4))
    assert not kept.room(torch.zeros(0, 4))
    assert kept.room(small)
    times = 0
    while kept.fits(small):
        kept.put(small, torch.zeros(8, dtype=torch.int64))
        times += 1
    assert times == waiting.BATCHES
    assert not kept.fits(torch.zeros(1, 5))
    output, y = kept.taken()
    assert output.shape == (8 * times, 4)
    assert len(y) == len(output)
    assert kept.fits(small)
    assert not kept.fits(small.double())


def test_sums_that_are_set_are_not_added_to() -> None:
    criterion = trained(batches(torch.float32)[:3])
    criterion.statistics.sums = {name: torch.zeros_like(each) for name, each in criterion.statistics.local().items()}
    trained_on = batches(torch.float32)[0]
    assert criterion.statistics.sums["seen"] == 0
    criterion(trained_on[0].requires_grad_(), trained_on[1])
    criterion.statistics.sums = {
        name: torch.zeros_like(each) for name, each in criterion.statistics.__dict__["sums"].items()
    }
    assert criterion.statistics.sums["seen"] == 0


def test_threads_lose_nothing_that_waits() -> None:
    criterion, given = OnlineSmoothing(4), batches(torch.float32, sizes=(6, 12, 3))

    def train() -> None:
        for _ in range(20):
            for output, y in given:
                criterion(output.clone().requires_grad_(), y)

    threads = [threading.Thread(target=train) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert criterion.statistics.sums["seen"] == 3 * 20 * sum(len(y) for _, y in given)
