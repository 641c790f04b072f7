"""The run folder."""

from pathlib import Path

import pytest
import torch

from labelspace import ordinal
from labelspace._checks import DamagedError
from labelspace.records import RunFolder
from signing import signed_again


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
    assert run.epochs() == [{"epoch": 0, "train_loss": 1.0}]
    torch.testing.assert_close(run.scores()["test_scores"], torch.eye(3))
    torch.testing.assert_close(run.weights()["w"], torch.ones(2))
    assert run.label_space().names == ("0", "1", "2")
    assert run.config()["seed"] == 1
    with pytest.raises(ValueError, match="a run with result.json"):
        RunFolder(tmp_path / "none").result()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
@pytest.mark.parametrize("name", ["epochs.jsonl", "model.safetensors", "scores.safetensors"])
def test_a_link_to_a_device_without_an_end_is_no_record(tmp_path: Path, name: str) -> None:
    run = finished(tmp_path / "run", 0)
    (run.path / name).unlink()
    (run.path / name).symlink_to("/dev/zero")
    readers = {"epochs.jsonl": run.epochs, "model.safetensors": run.weights, "scores.safetensors": run.scores}
    with pytest.raises(ValueError, match=rf"`folder` of Run.load must be a run with .*{name}"):
        readers[name]()


def test_a_file_that_the_folder_was_written_with_must_be_there(tmp_path: Path) -> None:
    run = finished(tmp_path, 0)
    assert not run.has("decision.json")
    run.require("decision.json")
    with pytest.raises(DamagedError, match=r"decision.json: it is missing\. .*--allow-damaged"):
        run.has("decision.json")
    with pytest.warns(UserWarning, match="it is missing"):
        assert not RunFolder(run.path, allow_damaged=True).has("decision.json")
    (run.path / "decision.json").write_text("{}")
    assert run.has("decision.json")


def test_a_label_space_that_is_none_is_damage(tmp_path: Path) -> None:
    run = finished(tmp_path, 0)
    (run.path / "label_space.safetensors").write_bytes((run.path / "model.safetensors").read_bytes())
    signed_again(run.path)
    with pytest.raises(DamagedError, match=r"label_space.safetensors: a safetensors file, but not a label file"):
        RunFolder(run.path).label_space()


@pytest.mark.parametrize("line", ["null", "3", "[]", '{"epoch": 0, "train_loss": 1' + 400 * "0" + "}"])
def test_lines_that_are_no_measures_are_damage(tmp_path: Path, line: str) -> None:
    run = finished(tmp_path, 0)
    (run.path / "epochs.jsonl").write_text(f"{line}\n")
    signed_again(run.path)
    with pytest.raises(DamagedError, match=r"epochs.jsonl: a (line with|number of 401 digits)"):
        RunFolder(run.path).epochs()
