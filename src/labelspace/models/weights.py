"""Weights from files: loaded without executing anything, named by their content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from labelspace import _checks


def read_weights(owner: str, path: str | Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file or of a torch file that holds only tensors.

    Args:
        owner: what asked for them, for the message.
        path: the file; ``.safetensors``, or anything ``torch.load(weights_only=True)`` reads.
    """
    file = Path(path)
    if not file.is_file():
        raise _checks.fail(owner, "weights", "the path of a file of weights", repr(str(path)))
    try:
        if file.suffix == ".safetensors":
            return load_file(file)
        # weights_only: a file that wants to execute something is refused
        state = torch.load(file, map_location="cpu", weights_only=True)
    except (SafetensorError, UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        remedy = "Save the tensors with safetensors, or with torch.save(model.state_dict(), path)."
        raise _checks.fail(owner, "weights", "a file of tensors and nothing else", repr(file.name), remedy) from error
    if isinstance(state, Mapping) and isinstance(state.get("state_dict"), Mapping):
        state = state["state_dict"]
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
        raise _checks.fail(owner, "weights", "a file of named tensors", repr(file.name))
    return dict(state)


def load_weights(owner: str, module: nn.Module, path: str | Path) -> None:
    """Load a file of weights; tensors the module does not have (an old head) are passed over, missing ones refused."""
    state = read_weights(owner, path)
    own = module.state_dict()
    missing = [name for name in own if name not in state and not name.endswith("num_batches_tracked")]
    wrong = [name for name in own if name in state and own[name].shape != state[name].shape]
    if missing or wrong:
        name = (missing or wrong)[0]
        got = f"none named {name!r}" if missing else f"{name!r} of shape {tuple(state[name].shape)}"
        more = len(missing) + len(wrong) - 1
        got += f" and {more} more that do not fit" if more else ""
        raise _checks.fail(owner, "weights", "a file with every tensor of the model", got)
    module.load_state_dict(state, strict=False)


def content_hash(paths: list[Path]) -> str:
    """Return 16 hexadecimal digits that change with the content of the files, and with nothing else."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
