"""Every random number of augmentation and label noise: drawn from the given generator, whatever the threads.

A draw happens on the generator's own device and then moves to where the batch is, so a CPU generator gives the same
numbers for a batch on any device (in float32 where a device knows no float64).
"""

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks, _devices


def generator_of(owner: str, generator: torch.Generator) -> torch.Generator:
    """Return the generator; refuse None, because torch's global state would make a run depend on other code."""
    if not isinstance(generator, torch.Generator):
        remedy = "Make one with torch.Generator().manual_seed(seed)."
        raise _checks.fail_type(owner, "generator", "a torch.Generator", repr(generator), remedy)
    return generator


def uniform(count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """Return ``count`` float64 numbers in [0, 1)."""
    drawn = torch.rand(count, generator=generator, device=generator.device, dtype=_devices.wide(generator.device))
    return _devices.widest(drawn, device)


def integers(high: int, count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """Return ``count`` whole numbers from 0 to ``high`` − 1."""
    return _devices.moved(torch.randint(high, (count,), generator=generator, device=generator.device), device)


def permutation(count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """Return the numbers from 0 to ``count`` − 1 in random order."""
    return _devices.moved(torch.randperm(count, generator=generator, device=generator.device), device)


def beta(alpha: float, count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """Return ``count`` float64 draws of the Beta(α, α) distribution."""
    # torch.distributions draws from the global state only; numpy's stream is started from our generator instead
    seed = int(torch.randint(2**62, (1,), generator=generator, device=generator.device))
    return _devices.widest(torch.from_numpy(np.random.default_rng(seed).beta(alpha, alpha, size=count)), device)
