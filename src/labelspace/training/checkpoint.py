"""Checkpoints that survive a kill at any moment: a digest in front, the previous one kept, written beside and moved."""

import errno
import hashlib
import io
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from labelspace import _files

DIGEST = 32
CURRENT, PREVIOUS = "checkpoint.pt", "checkpoint-previous.pt"


class CheckpointError(OSError):
    """A checkpoint that could not be written; the one before it is still there."""


def save(folder: Path, state: dict[str, Any]) -> None:
    """Write the state; what was the current checkpoint becomes the previous one."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    content = buffer.getvalue()
    new = folder / "checkpoint-new.pt"
    try:
        _files.write_bytes(new, hashlib.blake2b(content, digest_size=DIGEST).digest() + content)
        if (folder / CURRENT).exists():
            os.replace(folder / CURRENT, folder / PREVIOUS)
        os.replace(new, folder / CURRENT)
    except OSError as error:
        what = "The disk is full" if error.errno == errno.ENOSPC else f"Writing failed ({error.strerror})"
        remedy = "Make room and run the same command again: it goes on from the last checkpoint."
        raise CheckpointError(error.errno, f"{what} at {folder}. Nothing is lost. {remedy}") from error


def load(folder: Path, check: Callable[[Any], None] = lambda state: None) -> dict[str, Any] | None:
    """Return the newest sound state, or None; what cannot be used is passed over, with a warning that says so.

    Args:
        folder: of the run.
        check: raises ``ValueError`` for a state of something else.
    """
    # between the two moves of a save the newest state is under its new name
    for name in ("checkpoint-new.pt", CURRENT, PREVIOUS):
        path = folder / name
        if not path.is_file():
            continue
        try:
            state = _read(path)
            check(state)
        except (OSError, ValueError) as error:
            warnings.warn(f"{path} is damaged; going on from the one before it ({error}).", stacklevel=2)
            continue
        return state
    return None


def _read(path: Path) -> dict[str, Any]:
    content = _files.read_bytes(path)
    digest, payload = content[:DIGEST], content[DIGEST:]
    if hashlib.blake2b(payload, digest_size=DIGEST).digest() != digest:
        raise ValueError("its digest is another")
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            # torch packs nothing, so that a small file cannot become a large one
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise ValueError("it is packed")
        state = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises all sorts for what it did not write
        raise ValueError(f"not what was written: {type(error).__name__}") from error
    if not isinstance(state, dict):
        raise ValueError(f"it holds {type(state).__name__}")
    return {"optimizer" if part == "optimiser" else part: content for part, content in state.items()}  # as it was called
