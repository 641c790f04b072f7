"""The label file: one safetensors file whose only metadata key is canonical JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from labelspace._checks import LabelFileError, fail
from labelspace._files import write_bytes

VERSION = 1  # of files with a matrix
COMPRESSED = 2  # of files with the parts of a rule, which releases before it cannot read
KEY = "labelspace"


def plain(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``source`` as plain JSON data, exactly what a file gives back."""
    try:
        copy = json.loads(json.dumps(dict(source), allow_nan=False))
    except (TypeError, ValueError) as error:
        remedy = "Use text, numbers, lists and dicts."
        raise fail("LabelSpace", "source", "plain JSON data", f"{error}", remedy) from error
    assert isinstance(copy, dict)
    return copy


def write(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> Path:
    """Write the file, whole or not at all."""
    # safetensors orders several metadata keys at random: one key keeps equal spaces equal byte for byte
    version = COMPRESSED if "form" in header else VERSION
    text = json.dumps({"version": version, **header}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    content = to_bytes({name: tensor.contiguous() for name, tensor in tensors.items()}, {KEY: text})
    return write_bytes(path, content)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the header of a label file."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no label file at {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        remedy = "It may be truncated or be another kind of file; write it again with LabelSpace.save()."
        raise LabelFileError(f"{path} cannot be read as a label file: {error}. {remedy}") from error
    return tensors, _header(path, metadata)


def _header(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    if KEY not in metadata:
        remedy = "Build one with labelspace.cost(), confusion() or LabelSpace(...) and save it."
        raise LabelFileError(f"{path} is a safetensors file, but not a label file. {remedy}")
    try:
        header = json.loads(metadata[KEY])
    except (ValueError, RecursionError) as error:
        raise LabelFileError(f"{path} has a header that is not JSON: {error}.") from error
    if not isinstance(header, dict) or header.get("version") not in (VERSION, COMPRESSED):
        version = header.get("version") if isinstance(header, dict) else None
        remedy = "Read it with the labelspace release that wrote it."
        known = f"versions {VERSION} and {COMPRESSED}"
        raise LabelFileError(f"{path} is of version {version!r}; this labelspace reads {known}. {remedy}")
    return header
