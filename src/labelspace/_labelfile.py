"""The label file: one safetensors file whose only metadata key is canonical JSON, with a digest of all it says."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from labelspace import _files
from labelspace._checks import DamagedError, LabelFileError, damaged, fail

Header = dict[str, object]  # an object of JSON; whoever reads it checks
VERSION = 1  # of files with a matrix
COMPRESSED = 2  # of files with the parts of a rule, which releases before it cannot read
KEY = "labelspace"
# what a space is made of, and what it may be written in: other tensors in a file stay where they are
NUMBERS, PLACES = ("F32", "F64", "F16", "BF16"), ("I64", "I32")
TENSORS = {
    **dict.fromkeys(("matrix", "left", "right", "values", "rest", "vectors"), NUMBERS),
    **dict.fromkeys(("hops", "indices", "ranks", "codes"), PLACES),
}


def plain(source: Mapping[str, object]) -> Header:
    """Return ``source`` as plain JSON data, exactly what a file gives back."""
    try:
        text = json.dumps(dict(source), allow_nan=False, ensure_ascii=False)
        text.encode()  # half of a character, as names of some files have, could not be written
        copy = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        remedy = "Use text, numbers, lists and dicts."
        raise fail("LabelSpace", "source", "plain JSON data", f"{error}", remedy) from error
    assert isinstance(copy, dict)
    return copy


def write(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, object]) -> Path:
    """Write the file, whole or not at all."""
    # safetensors orders several metadata keys at random: one key keeps equal spaces equal byte for byte
    version = COMPRESSED if "form" in header else VERSION
    facts = {"version": version, **plain(header)}
    facts[_files.DIGEST] = _digest(tensors, facts)
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    content = to_bytes({name: tensor.contiguous() for name, tensor in tensors.items()}, {KEY: text})
    return _files.write_bytes(path, content)


def read(path: Path, allow_damaged: bool = False) -> tuple[dict[str, Tensor], Header]:
    """Return the tensors and the header of a label file; files of earlier versions have no digest to check."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no label file at {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            present = [name for name in TENSORS if name in file.keys()]  # noqa: SIM118 - not a dict
            tensors = {name: _tensor(file, name) for name in present}
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise _unreadable(path, error) from error
    header = _header(path, metadata)
    _check_digest(path, tensors, header, allow_damaged)
    return tensors, header


def parse(path: Path, content: bytes) -> tuple[dict[str, Tensor], Header]:
    """Return the tensors and the header of a label file that was read already, and whose digest was checked so."""
    try:
        found = from_bytes(content)
        head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        for name in [name for name in TENSORS if name in found]:
            _check_type(name, head[name]["dtype"])
    except (SafetensorError, OSError, ValueError, KeyError, RecursionError) as error:
        raise _unreadable(path, error) from error
    return {name: found[name] for name in TENSORS if name in found}, _header(path, head.get("__metadata__") or {})


def _tensor(file: Any, name: str) -> Tensor:
    _check_type(name, file.get_slice(name).get_dtype())
    tensor: Tensor = file.get_tensor(name)
    return tensor


def _check_type(name: str, dtype: str) -> None:
    if dtype not in TENSORS[name]:
        raise ValueError(f"{name} is of type {dtype}")


def _unreadable(path: Path, error: Exception) -> LabelFileError:
    remedy = "It may be truncated or be another kind of file; write it again with LabelSpace.save()."
    return LabelFileError(path, f"it cannot be read as a label file ({error})", remedy)


def _digest(tensors: Mapping[str, Tensor], header: Mapping[str, object]) -> str:
    """Return one digest of the words and of the numbers."""
    state = hashlib.blake2b(_files.canonical(header), digest_size=16)
    for name, tensor in sorted(tensors.items()):
        state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        state.update(tensor.contiguous().flatten().view(torch.uint8).numpy().data)
    return state.hexdigest()


def _check_digest(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, object], allowed: bool) -> None:
    if _files.DIGEST not in header or header[_files.DIGEST] == _digest(tensors, header):
        return
    remedy = "Build it again, or take it from where it came from."
    try:
        why = "its content is not what was written"
        damaged("LabelSpace.load", "path", "a sound label file", path, why, remedy, allowed)
    except DamagedError as error:
        raise LabelFileError(path, error.why, error.remedy) from error


def names_and_source(header: Mapping[str, object]) -> tuple[list[str], dict[str, object]]:
    """Return the names and where a space came from; refuse what is not what a label file holds."""
    names, source = header["names"], header["source"]
    if not isinstance(names, list) or not isinstance(source, dict):
        raise ValueError("its names must be a list and its source an object")
    parents = source.get("parents")
    if source.get("builder") != "tree":
        return names, source
    if not isinstance(parents, dict) or not all(isinstance(parent, str) for parent in parents.values()):
        raise ValueError("the parents of its tree must be names")
    if "" in parents:  # which ends every path, so that a circle through it would not be met below
        raise ValueError(f"the top of its tree must have no parent, not {parents['']!r}")
    sound = {""}
    for name in [*names, *parents]:
        path: set[str] = set()
        while name not in sound:
            if name in path or name not in parents:
                raise ValueError(f"the parents of its tree {'form a circle at' if name in path else 'lack'} {name!r}")
            path.add(name)
            name = parents[name]
        sound |= path
    return names, source


def _header(path: Path, metadata: Mapping[str, str]) -> Header:
    if KEY not in metadata:
        remedy = "Build one with labelspace.cost(), confusion() or LabelSpace(...) and save it."
        raise LabelFileError(path, "a safetensors file, but not a label file", remedy)
    try:
        header = json.loads(metadata[KEY])
    except (ValueError, RecursionError) as error:
        raise LabelFileError(path, f"its header is not JSON ({error})") from error
    version = header.get("version") if isinstance(header, dict) else None
    if type(version) is not int or version not in (VERSION, COMPRESSED):
        remedy = "Read it with the labelspace release that wrote it."
        known = f"versions {VERSION} and {COMPRESSED}"
        raise LabelFileError(path, f"it is of version {version!r}; this labelspace reads {known}", remedy)
    assert isinstance(header, dict)
    return header
