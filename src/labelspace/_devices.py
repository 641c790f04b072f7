"""Where tensors are: the devices of this machine, and how batches and random streams get to them."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from labelspace import _checks

NARROW = {"mps"}  # kinds of device that know no float64


def available() -> list[str]:
    """Return the names of the devices of this machine.

    Example:
        >>> available()[0]
        'cpu'
    """
    cuda = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    mps = ["mps"] if torch.backends.mps.is_available() else []
    return ["cpu", *(["cuda", *cuda] if cuda else []), *mps]


def resolved(owner: str, device: object) -> str:
    """Return the one name of a device that is here; ``"auto"`` is cuda, else mps, else cpu.

    Args:
        owner: whose argument it is, for the message.
        device: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"`` or a ``torch.device``.
    """
    name, here = str(device), available()
    if name == "auto":
        name = next(kind for kind in ("cuda", "mps", "cpu") if kind in here)
    if name not in here:
        remedy = "'auto' takes the best one that is there."
        if name.startswith("cuda") and torch.version.cuda is None and torch.version.hip is None:
            remedy = f"This torch was built without CUDA. {remedy}"
        expected = f"one of the devices of this machine: {', '.join(here)}"
        raise _checks.fail(owner, "device", expected, repr(name), remedy)
    if name == "cuda" and str(placed(name)) not in here:
        got = f"{torch.cuda.device_count()} for a process that is number {placed(name).index}, counted from 0"
        raise _checks.fail(owner, "device", "one for every process", got, "Start fewer processes, or use the CPU.")
    return "cuda" if name == "cuda:0" else name


def check_precision(owner: str, precision: str, device: str) -> None:
    """Refuse a precision that a device, by its one name, cannot train in."""
    kind = device.partition(":")[0]
    if precision == "float16" and kind != "cuda":
        remedy = "Its gradients must be scaled, which torch does on cuda; bfloat16 needs no scaling."
        raise _checks.fail(owner, "precision", f"'float32' or 'bfloat16' on {device}", "'float16'", remedy)
    if precision == "float64" and kind in NARROW:
        raise _checks.fail(owner, "precision", f"'float32' or 'bfloat16' on {device}", "'float64'", "It has none.")


def placed(name: str) -> torch.device:
    """Return the device of this process: of several ranks on cuda, each has its own."""
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if name == "cuda" else torch.device(name)


def wide(device: torch.device) -> torch.dtype:
    """Return the widest floating point type of a device."""
    return torch.float32 if device.type in NARROW else torch.float64


def widest(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor of floats on a device, in its widest floating point type."""
    dtype = wide(device)
    there = moved(tensor.to(dtype) if dtype == torch.float32 else tensor, device)
    return there.to(dtype)


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor on a device; from pinned memory to cuda, so that nobody waits for the copy."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def free_memory(device: torch.device) -> int:
    """Return the bytes that a device has left; none where it does not say."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory())
    return 0


def seed(device: torch.device, value: int) -> None:
    """Start the global streams of the CPU and of a device, from which layers such as dropout draw."""
    torch.default_generator.manual_seed(value)
    if device.type == "cuda":
        torch.cuda.default_generators[device.index].manual_seed(value)
    elif device.type == "mps":
        torch.mps.manual_seed(value)


@contextmanager
def own_draws(name: str) -> Iterator[None]:
    """Leave the global streams of the CPU and of a device as they were.

    Args:
        name: of a device; one that is not here is passed over, somebody else says so.
    """
    device = placed(name) if name != "auto" and name in available() else torch.device("cpu")
    kept = torch.mps.get_rng_state() if device.type == "mps" else None
    try:
        with torch.random.fork_rng(devices=[device.index] if device.type == "cuda" else []):
            yield
    finally:
        if kept is not None:
            torch.mps.set_rng_state(kept)


def may_look_at(tensor: Tensor) -> bool:
    """Return whether values can be read without stopping a device, a compiler or a transform."""
    # inside vmap a tensor may have no single value; torch offers no public question for that
    return tensor.is_cpu and not torch.compiler.is_compiling() and torch._C._functorch.peek_interpreter_stack() is None


def in_vmap(tensor: Tensor) -> bool:
    """Return whether a tensor is one of many that ``torch.func.vmap`` runs at once."""
    if torch.compiler.is_compiling():
        return False
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        if torch._C._functorch.is_batchedtensor(tensor):
            return True
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return False


IN_CACHE = 2**16  # entries of an array that stays in a CPU's cache: a quarter of a megabyte in single precision


def environment() -> dict[str, str | int | None]:
    """Return what a run depended on: versions and the machine's kind, nothing that names its user or host."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
