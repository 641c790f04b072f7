"""Arrays in files: read when they are asked for, if they are what their heads announce."""

import io
import zipfile

import numpy as np
import pytest

from labelspace import compare_scores, data
from labelspace.data import npy
from memory_peak import peak_of

MEGABYTE = 1 << 20


X = np.random.default_rng(0).normal(size=(40, 3))


Y = np.tile([0, 1], 20)


def archive(path, arrays, junk=b""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            file.writestr(f"{name}.npy", content.getvalue())
        file.writestr("junk.npy", junk)
    return path


def announced(shape, descr="<f8"):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    return head.getvalue()


def test_arrays_that_nobody_asked_for_are_not_read(tmp_path):
    junk = announced((50 * MEGABYTE,), "|u1") + bytes(50 * MEGABYTE)
    path = archive(tmp_path / "a.npz", {"x": X, "y": Y}, junk)
    dataset, peak = peak_of(lambda: data.load(path))
    assert len(dataset.train) + len(dataset.validation) + len(dataset.test) == 40
    assert peak < 20 * MEGABYTE
    scores = archive(tmp_path / "s.npz", {"scores": X, "y": np.arange(len(X)) % X.shape[1]}, junk)
    result, peak = peak_of(lambda: compare_scores([scores, scores]))
    assert result.verdict
    assert peak < 20 * MEGABYTE
    del junk


def test_a_packed_array_may_unpack_to_so_much(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("x.npy", "w", force_zip64=True) as packed:
        packed.write(announced((70 * MEGABYTE,), "|u1"))
        for _ in range(70):
            packed.write(bytes(MEGABYTE))
    said, peak = peak_of(lambda: npy.Stored(path)["x"])
    assert "an array 'x' that unpacks to at most 67,108,864 bytes. Got 73,400,448" in said
    assert peak < MEGABYTE
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "100M")
    assert npy.Stored(path)["x"].nbytes == 70 * MEGABYTE


@pytest.mark.parametrize("shape", [(1 << 40, 2), (1 << 62, 1 << 62), (-1, -800), (3,)])
def test_an_array_that_announces_what_it_does_not_hold(tmp_path, shape):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.npy").write_bytes(announced(shape) + bytes(800))
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.write(tmp_path / "folder" / "x.npy", "x.npy")
    for place in (path, tmp_path / "folder"):
        with pytest.raises(ValueError, match=r"bytes where an array of shape .* takes"):
            npy.Stored(place)["x"]


def test_what_is_not_packed_may_be_of_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr("labelspace._opening.MOST", 1000)
    np.savez(tmp_path / "plain.npz", x=X, y=Y, groups=np.arange(40) % 8)
    np.savez_compressed(tmp_path / "packed.npz", x=np.ones((40, 300)), y=Y)
    assert data.load(tmp_path / "plain.npz").input_shape == (3,)
    with pytest.raises(ValueError, match="an array 'x' that unpacks to at most 1,000 bytes"):
        data.load(tmp_path / "packed.npz")


def test_to_ask_whether_an_array_is_there_reads_nothing(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, junk=np.array([{}, None], dtype=object))
    stored = npy.Stored(tmp_path / "a.npz")
    assert "junk" in stored
    assert "z" not in stored
    assert sorted(stored) == ["junk", "x"]
    with pytest.raises(ValueError, match="an array of Python objects"):
        stored["junk"]
