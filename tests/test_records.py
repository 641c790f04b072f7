"""The run folder and its index."""

import json
import multiprocessing
from pathlib import Path

import pytest
import torch

from labelspace import ordinal
from labelspace.records import Index, RunFolder, environment


def finished(folder: Path, seed: int) -> RunFolder:
    run = RunFolder(folder / f"onehot-key-seed{seed}")
    run.create({"seed": seed, "method": "onehot"})
    run.finish(
        epochs=[{"epoch": 0, "train_loss": 1.0}],
        weights={"w": torch.ones(2)},
        scores={"test_scores": torch.eye(3), "test_y": torch.arange(3)},
        space=ordinal(3),
        preprocessing={"names": ["a"]},
        result={"key": "key", "test": {"accuracy": 0.5}},
    )
    return run


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    run = finished(tmp_path, 1)
    assert run.finished
    assert run.epochs() == [{"epoch": 0, "train_loss": 1.0}]
    torch.testing.assert_close(run.scores()["test_scores"], torch.eye(3))
    torch.testing.assert_close(run.weights()["w"], torch.ones(2))
    assert run.label_space().names == ("0", "1", "2")
    assert run.config()["seed"] == 1
    with pytest.raises(ValueError, match="a run with result.json"):
        RunFolder(tmp_path / "none").result()


def test_the_index_is_rebuilt_from_the_folders(tmp_path: Path) -> None:
    index = Index(tmp_path)
    for seed in range(3):
        index.record(finished(tmp_path, seed), "key")
        index.record(RunFolder(tmp_path / f"onehot-key-seed{seed}"), "key")
    rows = list(index.rows())
    assert [row["seed"] for row in rows] == [0, 1, 2]
    (tmp_path / "index.sqlite").unlink()
    for extra in tmp_path.glob("index.sqlite-*"):
        extra.unlink()
    again = Index(tmp_path)
    assert again.rebuild() == 3
    assert list(again.rows()) == rows


def record_many(folder: str, start: int) -> None:
    index = Index(folder)
    for seed in range(start, start + 10):
        index.record(RunFolder(Path(folder) / f"onehot-key-seed{seed}"), "key")


def test_several_writers_wait_for_each_other(tmp_path: Path) -> None:
    for seed in range(40):
        finished(tmp_path, seed)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=record_many, args=(str(tmp_path), 10 * number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(list(Index(tmp_path).rows())) == 40


def test_the_environment_names_nobody() -> None:
    text = json.dumps(environment())
    assert set(environment()) == {"python", "torch", "system", "machine", "cores"}
    assert "/" not in text


def test_a_damaged_index_or_run_does_not_stop_the_rest(tmp_path: Path) -> None:
    for seed in range(3):
        finished(tmp_path, seed)
    (tmp_path / "onehot-key-seed1" / "result.json").write_text("")
    (tmp_path / "index.sqlite").write_bytes(b"this is not a database, and long enough to be looked at" * 40)
    with pytest.warns(UserWarning, match="is damaged"):
        index = Index(tmp_path)
    assert [row["seed"] for row in index.rows()] == [0, 2]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
@pytest.mark.parametrize("name", ["epochs.jsonl", "model.safetensors", "scores.safetensors"])
def test_a_link_to_a_device_without_an_end_is_no_record(tmp_path: Path, name: str) -> None:
    run = finished(tmp_path / "run", 0)
    (run.path / name).unlink()
    (run.path / name).symlink_to("/dev/zero")
    readers = {"epochs.jsonl": run.epochs, "model.safetensors": run.weights, "scores.safetensors": run.scores}
    with pytest.raises(ValueError, match=rf"`folder` of Run.load must be a run with .*{name}"):
        readers[name]()
    with pytest.warns(UserWarning, match="is damaged"):
        assert not run.finished
