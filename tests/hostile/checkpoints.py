"""Checkpoints with a sound digest and other content: the one before is used, and the run ends as it would have."""

import contextlib
import copy
import hashlib
import io
import pickle
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hostile.mutations import Chance, mutated_bytes, odd
from hostile.outcomes import Case, Payload, chance
from labelspace import Run, train
from labelspace.training import checkpoint

EPOCHS = 3
FILES = (checkpoint.CURRENT, checkpoint.PREVIOUS)
PLAIN = ("bytes", "packed", "code", "another object", "another part", "odd value", "another tensor", "signature")


class Place:
    """A run that was stopped, with the checkpoints that it left, and what it comes to."""

    def __init__(self, folder: Path) -> None:
        """Train it once to its end, and once until it is stopped."""
        self.folder = folder
        table = torch.arange(120, dtype=torch.float32).reshape(60, 2) / 120
        self.options: dict[str, Any] = {
            "data": ((table, [str(row % 3) for row in range(60)]),),
            "settings": {"model": "linear", "method": "ols", "epochs": EPOCHS, "optimizer": "adam", "best_by": "nll"},
        }
        self.whole = self.train(folder / "whole")
        stopped: list[Path] = []

        def stop(event: str, numbers: dict[str, Any]) -> None:
            found = next((folder / "stopped").glob("*/checkpoint-previous.pt"), None)
            if event == "epoch" and found is not None:
                stopped.append(found.parent)
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            self.train(folder / "stopped", report=stop)
        self.run = stopped[0]
        self.pristine = {path.name: path.read_bytes() for path in self.run.iterdir() if path.is_file()}

    def train(self, out: Path, **options: Any) -> Run:
        """Train, or go on."""
        (data,), settings = self.options["data"], self.options["settings"]
        return train(data, out=out, checkpoint_seconds=0, **settings, **options)

    def restore(self) -> None:
        """Stop it again."""
        for path in self.run.iterdir():
            path.unlink()
        for name, content in self.pristine.items():
            (self.run / name).write_bytes(content)


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield runs that go on from checkpoints that are not theirs."""
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name))
        for number in range(first, first + count):
            place.restore()
            yield _case(chance(seed, number), place)


def _case(draw: Chance, place: Place) -> Case:
    kind = PLAIN[int(draw.integers(len(PLAIN)))]
    spoilt = FILES[: int(draw.integers(1, 3))] if draw.integers(3) else FILES[1:]
    exact = True
    for name in spoilt:
        content, noticed = _changed(draw, kind, place.pristine[name])
        (place.run / name).write_bytes(content)
        exact &= noticed

    def run() -> Run:
        return place.train(place.folder / "stopped")

    return Case(f"{kind} in {', '.join(spoilt)}", run, lambda found: _is_right(found, place.whole, exact))


def _is_right(found: Run, whole: Run, exact: bool) -> bool:
    """Compare with the run that nobody stopped; a number of the right kind in its place cannot be noticed."""
    if not exact:
        return len(found.epochs) == EPOCHS and all(torch.isfinite(w).all() for w in found.weights.values())
    same = all(torch.equal(value, whole.weights[name]) for name, value in found.weights.items())
    return same and found.epochs == whole.epochs and found.result == whole.result


def _changed(draw: Chance, kind: str, content: bytes) -> tuple[bytes, bool]:
    """Return other content, signed, and whether it can be told from the right one."""
    payload = content[checkpoint.DIGEST :]
    if kind == "signature":
        return mutated_bytes(draw, content), True
    if kind == "bytes":
        return _signed(mutated_bytes(draw, payload)), False
    if kind == "packed":
        return _signed(_packed(payload)), True
    if kind == "code":
        return _signed(pickle.dumps(Payload()) if draw.integers(2) else _pickled(Payload())), True
    if kind == "another object":
        values = [odd(draw), [1], torch.zeros(2), {"learner": {}}, {}, {"learner": {}, "optimizer": {}, "progress": {}}]
        return _signed(_pickled(values[int(draw.integers(len(values)))])), True
    state = torch.load(io.BytesIO(payload), weights_only=True)
    changed = copy.deepcopy(state)
    noticed = _spoil(draw, kind, changed)
    return _signed(_pickled(changed)), noticed


def _spoil(draw: Chance, kind: str, state: dict[str, Any]) -> bool:
    places = list(_places(state))
    if kind == "another part":
        holders = [holder for holder, _, _ in places]
        holder = holders[int(draw.integers(len(holders)))]
        key = [*holder][int(draw.integers(len(holder)))] if isinstance(holder, dict) else -1
        if draw.integers(2):
            del holder[key]
        elif isinstance(holder, dict):
            holder[odd_key(draw)] = holder[key]
        else:
            holder.append(odd(draw))
        return False  # a fact with a default may be left out
    wanted = Tensor if kind == "another tensor" else object
    chosen = [(holder, key) for holder, key, value in places if isinstance(value, wanted)]
    holder, key = chosen[int(draw.integers(len(chosen)))]
    if kind == "odd value":
        holder[key] = odd(draw)
        return False
    value = holder[key]
    forms = [value[None], value.to_sparse(), value.cfloat(), value.to("meta"), torch.zeros(7), value.flatten()[:0], "x"]
    holder[key] = forms[int(draw.integers(len(forms)))]
    return True


def odd_key(draw: Chance) -> Any:
    """Return a name that nobody expects."""
    return ["", "x", 3, 2**70, ("a", 1), None][int(draw.integers(6))]


def _places(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(parts):
        yield value, key, part
        yield from _places(part)


def _pickled(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def _packed(payload: bytes) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(payload)) as archive,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for entry in archive.infolist():
            packed.writestr(entry.filename, archive.read(entry))
    return buffer.getvalue()


def _signed(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=checkpoint.DIGEST).digest() + payload
