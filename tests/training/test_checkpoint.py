"""Checkpoints: atomic, checked, with one to fall back on."""

import errno
import os
from pathlib import Path

import pytest
import torch

from labelspace import _files
from labelspace.training import checkpoint


def state(number: int) -> dict[str, object]:
    return {"number": number, "weights": torch.full((3,), float(number)), "history": [{"epoch": number}]}


def test_the_newest_comes_back(tmp_path: Path) -> None:
    assert checkpoint.load(tmp_path) is None
    for number in range(3):
        checkpoint.save(tmp_path, state(number))
    found = checkpoint.load(tmp_path)
    assert found is not None
    assert found["number"] == 2
    torch.testing.assert_close(found["weights"], torch.full((3,), 2.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-previous.pt", "checkpoint.pt"]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty"])
def test_a_damaged_one_falls_back_and_says_so(tmp_path: Path, damage: str) -> None:
    checkpoint.save(tmp_path, state(1))
    checkpoint.save(tmp_path, state(2))
    path = tmp_path / "checkpoint.pt"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes({"truncate": bytes(content[:-7]), "flip": bytes(content), "empty": b""}[damage])
    with pytest.warns(UserWarning, match=r"checkpoint.pt is damaged; going on from the one before it"):
        found = checkpoint.load(tmp_path)
    assert found is not None
    assert found["number"] == 1


def test_killed_between_the_two_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.save(tmp_path, state(1))
    checkpoint.save(tmp_path, state(2))
    moves = []

    def dying(source: Path, target: Path) -> None:
        moves.append(target)
        if len(moves) == 2:
            raise KeyboardInterrupt
        os.rename(source, target)

    monkeypatch.setattr(checkpoint.os, "replace", dying)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(tmp_path, state(3))
    found = checkpoint.load(tmp_path)
    assert found is not None
    assert found["number"] == 3, "the new file is whole, only its last move is missing"


def test_a_full_disk_keeps_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.save(tmp_path, state(1))

    def full(path: Path, content: bytes) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_files, "write_bytes", full)
    with pytest.raises(checkpoint.CheckpointError, match="The disk is full.*Nothing is lost.*goes on from the last"):
        checkpoint.save(tmp_path, state(2))
    found = checkpoint.load(tmp_path)
    assert found is not None
    assert found["number"] == 1


def test_a_malicious_file_is_not_executed(tmp_path: Path) -> None:
    import hashlib
    import pickle

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {tmp_path / 'executed'}",)

    payload = pickle.dumps(Bomb(), protocol=2)
    (tmp_path / "checkpoint.pt").write_bytes(hashlib.blake2b(payload, digest_size=32).digest() + payload)
    with pytest.warns(UserWarning, match="going on from the one before it"):
        assert checkpoint.load(tmp_path) is None
    assert not (tmp_path / "executed").exists()
