"""A run of another folder is taken over whole, or not at all, and the other folder stays as it is."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace import Run, train
from labelspace.sweeps import taken
from labelspace.sweeps.taken import take_over

OTHER_DIGITS = bytes.maketrans(b"0123456789", b"1234567890")  # whatever the numbers are, they become others


@pytest.fixture
def source(tmp_path: Path) -> Path:
    run = train("digits", model="linear", epochs=1, limit=100, record="test-curve", out=tmp_path / "other")
    assert run.folder is not None
    return run.folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def test_files_are_shared(source: Path, tmp_path: Path) -> None:
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in source.iterdir()}
    run = take_over(source, tmp_path / "mine")
    assert run is not None
    assert run.folder == tmp_path / "mine" / source.name
    assert contents(run.folder) == contents(source)
    assert os.path.samefile(run.folder / "model.safetensors", source / "model.safetensors")
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in source.iterdir()} == before
    shutil.rmtree(source)
    torch.testing.assert_close(Run.load(run.folder).weights, run.weights, rtol=0, atol=0)
    assert len(run.times) == 1


def test_a_run_that_is_computed_again_leaves_the_other_alone(source: Path, tmp_path: Path) -> None:
    run = take_over(source, tmp_path / "mine")
    assert run is not None
    assert run.folder is not None
    before = contents(source)
    (run.folder / "model.safetensors").unlink()
    (run.folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="is damaged; the run is computed again"):
        train("digits", model="linear", epochs=1, limit=100, record="test-curve", out=tmp_path / "mine")
    assert contents(source) == before
    assert (run.folder / "model.safetensors").read_bytes() == before["model.safetensors"]


def test_files_are_copied_where_they_cannot_be_shared(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(taken.os, "link", refused)
    run = take_over(source, tmp_path / "mine")
    assert run is not None
    assert run.folder is not None
    assert contents(run.folder) == contents(source)
    assert not os.path.samefile(run.folder / "model.safetensors", source / "model.safetensors")


@pytest.mark.parametrize("name", ["config.json", "scores.safetensors", "times.jsonl"])
def test_a_damaged_run_is_not_taken(source: Path, tmp_path: Path, name: str) -> None:
    path = source / name
    path.write_bytes(path.read_bytes().translate(OTHER_DIGITS))
    with pytest.warns(UserWarning, match=f"{name} is damaged; the run is computed again"):
        assert take_over(source, tmp_path / "mine") is None
    assert not (tmp_path / "mine").exists()


def test_a_folder_under_the_name_of_another_is_not_taken(source: Path, tmp_path: Path) -> None:
    other = source.with_name(source.name.replace("seed0", "seed1"))
    source.rename(other)
    assert take_over(other, tmp_path / "mine") is None
    assert take_over(source, tmp_path / "mine") is None  # which is no longer there


@pytest.mark.parametrize("moves", [0, 4, 8])
def test_what_was_begun_is_no_finished_run(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    """Killed between any two files: the folder holds no result, and the next one takes it over."""
    left, real = [moves], os.replace

    def killed(*given: Any) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(taken.os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            take_over(source, tmp_path / "mine")
    assert not (tmp_path / "mine" / source.name / "result.json").exists()
    run = take_over(source, tmp_path / "mine")
    assert run is not None
    assert run.folder is not None
    assert contents(run.folder) == contents(source)


def test_a_damaged_run_is_replaced_by_a_sound_one(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source, tmp_path / "mine" / source.name)
    (tmp_path / "mine" / source.name / "scores.safetensors").write_bytes(b"")
    run = take_over(source, tmp_path / "mine")
    assert run is not None
    assert run.folder is not None
    assert contents(run.folder) == contents(source)


def test_many_take_it_at_once(source: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: take_over(source, tmp_path / "mine"), range(16)))
    assert all(run is not None and run.result == Run.load(source).result for run in runs)
    assert contents(tmp_path / "mine" / source.name) == contents(source)
