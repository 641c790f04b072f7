"""Names of devices, and how tensors and random streams get there."""

import json
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from labelspace import _devices, _distributed


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that pretends a machine with so many GPUs."""

    def pretend(cuda: int = 0, mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
        monkeypatch.delenv("LOCAL_RANK", raising=False)

    return pretend


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"), [(0, False, "cpu"), (2, False, "cuda"), (0, True, "mps"), (1, True, "cuda")]
)
def test_auto_is_the_best_that_is_there(machine: Callable[..., None], cuda: int, mps: bool, chosen: str) -> None:
    machine(cuda, mps)
    assert _devices.resolved("train", "auto") == chosen


def test_one_name_for_each_device(machine: Callable[..., None]) -> None:
    machine(cuda=2, mps=True)
    assert _devices.available() == ["cpu", "cuda", "cuda:0", "cuda:1", "mps"]
    names = ("cpu", "cuda", "cuda:0", "cuda:1", "mps", torch.device("cuda", 1))
    assert [_devices.resolved("train", name) for name in names] == ["cpu", "cuda", "cuda", "cuda:1", "mps", "cuda:1"]


def test_a_device_that_is_not_there(machine: Callable[..., None]) -> None:
    machine(cuda=1)
    said = "`device` of predict must be one of the devices of this machine: cpu, cuda, cuda:0. Got 'cuda:1'."
    with pytest.raises(ValueError, match=re.escape(said)):
        _devices.resolved("predict", "cuda:1")


def test_more_ranks_than_devices(machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    machine(cuda=2)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert _devices.resolved("train", "auto") == "cuda"
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(ValueError, match="`device` of train must be one for every process. Got 2 for a process that"):
        _devices.resolved("train", "auto")


@pytest.mark.parametrize(
    ("precision", "device", "fits"),
    [
        ("float16", "cpu", False),
        ("float16", "mps", False),
        ("float16", "cuda:1", True),
        ("float64", "mps", False),
        ("float64", "cuda", True),
        ("bfloat16", "mps", True),
    ],
)
def test_precisions(precision: str, device: str, fits: bool) -> None:
    if fits:
        return _devices.check_precision("train", precision, device)
    with pytest.raises(ValueError, match=f"`precision` of train must be 'float32' or 'bfloat16' on {device}. Got"):
        _devices.check_precision("train", precision, device)
    return None


def test_each_rank_has_its_own_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert _devices.placed("cuda") == torch.device("cuda", 3)
    assert _devices.placed("cuda:1") == torch.device("cuda", 1)
    assert _devices.placed("cpu") == torch.device("cpu")


def test_what_goes_to_cuda_is_pinned_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr(Tensor, "pin_memory", lambda tensor: done.append("pinned") or tensor)
    monkeypatch.setattr(Tensor, "to", lambda tensor, *place, **how: done.append((*place, how)) or tensor)
    _devices.moved(torch.ones(2), torch.device("cuda", 0))
    assert done == ["pinned", (torch.device("cuda", 0), {"non_blocking": True})]


def test_widest() -> None:
    value = torch.tensor(0.1, dtype=torch.float64)
    assert _devices.widest(value, torch.device("cpu")) is value
    assert _devices.widest(value.float(), torch.device("cpu")).dtype == torch.float64
    assert _devices.wide(torch.device("mps")) == torch.float32


@pytest.mark.parametrize("name", ["cpu", "auto", "cuda", "mps"])
def test_the_callers_stream_stays(name: str) -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with _devices.own_draws(name):
        _devices.seed(torch.device("cpu"), 7)
        first = torch.rand(1)
        _devices.seed(torch.device("cpu"), 7)
        assert torch.equal(torch.rand(1), first)
    assert torch.equal(torch.rand(2), expected)


def test_the_stream_of_a_gpu_starts_where_that_of_the_cpu_does(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = (torch.Generator(), torch.Generator())
    monkeypatch.setattr(torch.cuda, "default_generators", streams)
    with _devices.own_draws("cpu"):
        _devices.seed(torch.device("cuda", 1), 11)
        assert streams[1].initial_seed() == torch.initial_seed() == 11


@pytest.mark.parametrize(("device", "backend"), [("cpu", "gloo"), ("cuda:1", "cpu:gloo,cuda:nccl"), ("mps", "gloo")])
def test_nccl_only_where_the_learner_is_on_cuda(monkeypatch: pytest.MonkeyPatch, device: str, backend: str) -> None:
    joined: list[str] = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", lambda place: joined.append(str(place)))
    monkeypatch.setattr(_distributed.dist, "init_process_group", joined.append)
    assert _distributed.join(torch.device(device))
    assert joined == ([device] if device.startswith("cuda") else []) + [backend]


def test_the_environment_names_nobody() -> None:
    text = json.dumps(_devices.environment())
    assert set(_devices.environment()) == {"python", "torch", "system", "machine", "cores"}
    assert "/" not in text
