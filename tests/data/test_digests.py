"""Fingerprints: equal for equal content, whatever holds it."""

from hashlib import blake2b
from pathlib import Path

import numpy as np

from labelspace.data import digests


def test_rows_are_told_apart_by_their_bytes() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], dtype=np.float32)
    own = [int.from_bytes(blake2b(row.tobytes(), digest_size=8).digest(), "little") for row in x]
    assert digests.of_rows(x).tolist() == own
    assert digests.of_rows(np.asfortranarray(x)).tolist() == own
    assert own[0] == own[2] != own[1]
    assert len(digests.of_rows(x[:0])) == 0


def test_texts_values_and_files(tmp_path: Path) -> None:
    assert len(set(digests.of_texts([" a", "a ", "b"]).tolist())) == 2
    assert digests.of_values({"b": 1, "a": [2]}) == digests.of_values({"a": [2], "b": 1})
    assert digests.of_values(np.zeros(2)) != digests.of_values(np.zeros((2, 1)))
    (tmp_path / "a").write_bytes(b"one")
    first = digests.of_files([tmp_path / "a"])
    (tmp_path / "a").write_bytes(b"two")
    assert digests.of_files([tmp_path / "a"]) != first
