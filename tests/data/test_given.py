"""Data as training is given them, and on their way to workers: the same content there, nothing left here."""

import fcntl
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import InputError, data
from labelspace.data import given
from labelspace.data.given import OF_DATA, as_dataset
from labelspace.training.config import Config
from memory_forms import Frame

X = np.random.default_rng(0).normal(size=(40, 3))


TABLE: dict[str, Any] = {
    "text": [f"{'good' if row % 2 else 'bad'} fílm number {row}" for row in range(40)],
    "who": [f"p{row // 2}" for row in range(40)],
    "label": [row % 2 for row in range(40)],
}


DATASETS = {
    "digits": lambda: data.load("digits"),
    "features, all trained on": lambda: data.load((X, np.arange(40) % 2), validation="none"),
    "features with factors": lambda: data.load((X, np.arange(40) % 2), cost_factors=np.arange(40)),
    "texts with groups": lambda: data.load(TABLE, group_by="who", text="text"),
}


@pytest.mark.parametrize("name", DATASETS)
def test_what_arrives_is_what_was_sent(tmp_path: Path, name: str) -> None:
    sent = DATASETS[name]()
    with given.on_disk(sent, tmp_path) as place:
        assert place is not None
        found = given.read(place)
        for part, own in sent.parts.items():
            other = found.parts[part]
            torch.testing.assert_close(other.x, own.x, rtol=0, atol=0)
            torch.testing.assert_close(other.y, own.y, rtol=0, atol=0)
            torch.testing.assert_close(other.groups, own.groups, rtol=0, atol=0)
            torch.testing.assert_close(other.factors, own.factors, rtol=0, atol=0)
            assert other.text == own.text
            np.testing.assert_array_equal(other.digests, own.digests)
        assert (found.names, found.kind, found.key, found.vocabulary) == (
            sent.names,
            sent.kind,
            sent.key,
            sent.vocabulary,
        )
        assert found.source == sent.source
        torch.testing.assert_close(found.normalize(found.test.x), sent.normalize(sent.test.x), rtol=0, atol=0)
        found.train.x[0] = 1  # a worker's own copy: the next one reads what was written
        torch.testing.assert_close(given.read(place).train.x, sent.train.x, rtol=0, atol=0)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_is_tidied_up_after_and_a_living_one_is_not(tmp_path: Path) -> None:
    left = tmp_path / f".{given.NAME}.0123.part"
    (tmp_path / "run").mkdir()
    for alive in (True, False):
        left.mkdir(exist_ok=True)
        (left / "train-x.npy").write_bytes(b"")
        held = os.open(tmp_path, os.O_RDONLY)
        if alive:
            fcntl.flock(held, fcntl.LOCK_SH)
        with given.on_disk(None, tmp_path):
            assert left.exists() == alive
        os.close(held)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with (
        pytest.raises(
            InputError, match=r"`out` of sweep must be a folder that can be written to\. Got .*No space left"
        ),
        given.on_disk(DATASETS["digits"](), tmp_path),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


Y = np.tile(["mild", "moderate", "severe", "none"], 10)


def test_a_dataset_is_cut_and_nothing_else() -> None:
    dataset = data.load((X, Y))
    assert data.load(dataset) is dataset
    assert data.load(dataset, classes="severe,mild").names == ("severe", "mild")
    with pytest.raises(InputError, match="`test` of data.load must be left out for a Dataset"):
        data.load(dataset, test=0.2)


def test_keys_are_of_the_content() -> None:
    frames = [Frame({"a": X[:, 0] + shift, "y": Y}) for shift in (0, 0, 1)]
    keys = [as_dataset(frame, {"label": "y"}).key for frame in frames]
    assert keys[0] == keys[1] != keys[2]
    dataset = as_dataset(frames[0], {"label": "y"})
    changed = replace(dataset, train=replace(dataset.train, x=dataset.train.x + 1))
    assert as_dataset(changed).key != as_dataset(dataset).key


def test_options_of_data_are_no_fields_of_a_configuration() -> None:
    assert not set(OF_DATA) & set(Config.model_fields)
