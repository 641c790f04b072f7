"""Memory between passes: used again, by one at a time, never more than a bound, and never where torch forbids it."""

import gc
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from labelspace.criteria import scratch
from labelspace.criteria.scratch import Lent, Scratch

SHAPE = torch.Size((4, 3))


def taken(room: Scratch, *shape: int) -> Tensor:
    return room.take(torch.Size(shape or SHAPE), torch.float32)


def test_what_was_given_back_is_taken_again_and_nothing_else() -> None:
    room = Scratch()
    first, second = taken(room), taken(room)
    assert first.data_ptr() != second.data_ptr()
    room.give([first])
    assert taken(room, 3, 4) is not first
    assert room.take(SHAPE, torch.float64).dtype is torch.float64
    assert taken(room) is first
    assert taken(room) is not first, "it is somebody's again"


def test_another_size_drives_out_what_is_too_much() -> None:
    room, half = Scratch(), scratch.KEPT // 2
    first, second = taken(room, half), taken(room, half)
    room.give([first, second])
    small = taken(room)
    room.give([small])
    assert taken(room) is small
    assert all(taken(room, half) is not each for each in (first, second))
    large = taken(room, scratch.KEPT + 1)
    room.give([large])
    assert taken(room, scratch.KEPT + 1) is not large


def test_threads_share_nothing() -> None:
    room, seen = Scratch(), []
    first = taken(room)
    room.give([first])
    thread = threading.Thread(target=lambda: seen.append(taken(room)))
    thread.start()
    thread.join()
    assert seen[0] is not first
    assert taken(room) is first


def test_tensors_of_inference_mode_are_not_kept() -> None:
    room = Scratch()
    with torch.inference_mode():
        inside = taken(room)
        room.give([inside])
    assert inside.is_inference()
    assert taken(room) is not inside


def test_what_is_lent_is_used_again_when_its_last_owner_has_let_go() -> None:
    room = Lent()
    first = room.take(SHAPE, torch.float32)
    place, second = first.data_ptr(), room.take(SHAPE, torch.float32)
    assert second.data_ptr() != place
    del first
    assert room.take(SHAPE, torch.float64).data_ptr() != place
    assert room.take(torch.Size((3, 4)), torch.float32).data_ptr() != place
    assert room.take(SHAPE, torch.float32).data_ptr() == place


@pytest.mark.parametrize(
    "kept",
    [
        lambda tensor: tensor.detach(),
        lambda tensor: tensor[1:],
        lambda tensor: tensor.numpy(),
        lambda tensor: tensor.untyped_storage(),
        lambda tensor: torch.utils.dlpack.to_dlpack(tensor),
        lambda tensor: torch.nn.Parameter(tensor),
        lambda tensor: memoryview(tensor.numpy()),
    ],
    ids=["detached", "a part", "as an array", "its storage", "exported", "a parameter", "a view of bytes"],
)
def test_what_anybody_still_sees_is_not_used_again(kept: Callable[[Tensor], object]) -> None:
    room = Lent()
    tensor = room.take(SHAPE, torch.float32)
    place, seen = tensor.data_ptr(), kept(tensor)
    del tensor
    second = room.take(SHAPE, torch.float32)
    assert second.data_ptr() != place
    del seen
    gc.collect()
    assert room.take(SHAPE, torch.float32).data_ptr() == place


def test_gradients_that_are_kept_stay_as_they_are() -> None:
    weight = torch.zeros(4, 3, requires_grad=True)
    room, found = Lent(), []
    for value in range(4):
        weight.grad = None
        given = room.take(SHAPE, torch.float32).fill_(value)
        weight.backward(given)
        del given
        assert weight.grad is not None
        found.append(weight.grad)
    assert [each[0, 0].item() for each in found] == [0, 1, 2, 3]


def test_only_so_much_is_lent_that_it_can_be_kept() -> None:
    room = Lent()
    for size in range(6):
        room.take(torch.Size((scratch.KEPT - size,)), torch.float32)
    assert sum(each.size for each in room._arrays) <= 2 * scratch.KEPT
    held = [room.take(SHAPE, torch.float32) for _ in range(100)]
    assert len({each.data_ptr() for each in held}) == 100
    assert len(room._arrays) == scratch.MOST
    place = room.take(torch.Size((scratch.KEPT + 1,)), torch.float32).data_ptr()
    assert all(each.ctypes.data != place for each in room._arrays)
