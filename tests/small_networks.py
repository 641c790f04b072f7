"""Networks and batches that repeat."""

import torch
from torch import Tensor

from labelspace.models import build
from labelspace.models.network import Network


def batch(shape: tuple[int, ...], name: str, count: int = 4) -> Tensor:
    """Return samples of this shape: token ids for texts, else numbers."""
    generator = torch.Generator().manual_seed(0)
    if name.startswith("text"):
        return torch.randint(0, 30, (count, *shape), generator=generator)
    return torch.randn(count, *shape, generator=generator)


def seeded(name: str, shape: tuple[int, ...], seed: int = 0, **options: object) -> Network:
    """Return a network of five outputs."""
    torch.manual_seed(seed)
    return build(name, shape, 5, **options)
