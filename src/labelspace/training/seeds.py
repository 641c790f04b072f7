"""Named streams of randomness: what one of them draws can never shift another.

Every draw is a function of (seed, stream, numbers such as epoch and step), so a resumed run needs no generator state.
"""

import hashlib

import torch

STREAMS = ("initialisation", "order", "augmentation", "noise", "model")


def stream_seed(seed: int, stream: str, *numbers: int) -> int:
    """Return the seed of a stream at a place in it.

    Example:
        >>> stream_seed(0, "order", 3) == stream_seed(0, "order", 3) != stream_seed(0, "order", 4)
        True
    """
    assert stream in STREAMS
    text = "/".join([str(seed), stream, *map(str, numbers)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def generator(seed: int, stream: str, *numbers: int) -> torch.Generator:
    """Return a generator at a place of a stream."""
    return torch.Generator().manual_seed(stream_seed(seed, stream, *numbers))
