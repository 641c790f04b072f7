"""Memory between passes: used again, by one at a time, never more than a bound, and never where torch forbids it."""

import threading

import torch
from torch import Tensor

from labelspace.criteria import scratch
from labelspace.criteria.scratch import Scratch

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
