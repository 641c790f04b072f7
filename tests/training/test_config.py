"""Config: what is part of a run's key, what goes together, what is plain data, and seeds that know their place."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import ordinal
from labelspace.training.config import STREAMS, Config, generator, make_config, recorded_config, stream_seed

# a value of every field that is neither its default nor a place
OTHERS: dict[str, Any] = {
    "beam": 3,
    "data_options": {"label": "grade"},
    "data_key": "1",
    "limit": 7,
    "method": "lls",
    "method_options": {"smoothing": 0.2},
    "space_key": "2",
    "option_keys": {"teacher_space": "3"},
    "model": "linear",
    "model_options": {"hidden": 3},
    "backbone": "efficientnet-lite0",
    "teacher_key": "4",
    "code_key": "5",
    "epochs": 3,
    "batch_size": 3,
    "optimizer": "sgd",
    "learning_rate": 0.5,
    "momentum": 0.5,
    "weight_decay": 0.5,
    "head_l2": 0.5,
    "schedule": "linear",
    "milestones": [2],
    "gamma": 0.5,
    "warmup_epochs": 1,
    "clip": 1.0,
    "augment": ["flip"],
    "label_noise": "pairwise:0.1",
    "precision": "float64",
    "channels_last": True,
    "best_by": "nll",
    "record": ["test-curve"],
    "threads": 2,
    "device": "cuda",
    "path": "vectorised",
    "world": 2,
}
PLACES = {"data", "space", "teacher"}  # part of the key only while what lies there has no digest


def test_every_choice_but_the_seed_is_part_of_the_key() -> None:
    usual = make_config().key()
    assert make_config(seed=5).key() == usual
    together = {"patience": {"patience": 2, "best_by": "error"}}
    given = {name: {name: value} for name, value in OTHERS.items()} | together
    keys = {name: make_config(**options).key() for name, options in given.items()}
    assert len({usual, *keys.values()}) == len(keys) + 1
    assert set(keys) | PLACES | {"seed"} == set(Config.model_fields)


def test_contents_count_and_not_where_they_lie() -> None:
    for place, digests in (("data", "data_key"), ("space", "space_key"), ("teacher", "data_key")):
        one, other = ({place: name} for name in ("here", "there"))
        assert make_config(**one).key() != make_config(**other).key()
        assert make_config(**one, **{digests: "1"}).key() == make_config(**other, **{digests: "1"}).key()
    assert make_config(data_options={"data_dir": "here"}).key() == make_config().key()


def test_a_record_says_what_it_was_made_with() -> None:
    config = make_config(**{**OTHERS, "patience": 2}, seed=3)
    recorded = json.loads(json.dumps(config.model_dump(mode="json")))
    assert recorded_config(recorded) == config
    assert recorded_config({**recorded, "optimiser": recorded.pop("optimizer")}).key() == config.key()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"schedule": "step"}, "`milestones` of train must be given for schedule='step'.*Got nothing"),
        ({"schedule": "exponential"}, "`gamma` of train must be given for schedule='exponential'"),
        (
            {"patience": 2, "best_by": "last"},
            "`best_by` of train must be 'nll', 'calibrated' or 'error' with patience.*Got 'last'",
        ),
        ({"epoch": 2}, "Did you mean 'epochs'"),
        ({"device": "gpu"}, "`device` of train must be auto, cpu, cuda, cuda:1 or mps. Got 'gpu'"),
        ({"learning_rate": 0}, "`learning_rate` of train must be greater than 0. Got 0"),
        ({"space": ordinal(3)}, "`space` of train must be plain data.*Got LabelSpace. Save it"),
        ({"model_options": {"norm": object()}}, "`model_options.norm` of train must be plain data"),
    ],
)
def test_what_does_not_go(options: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        make_config(**options)


def test_numbers_of_numpy_and_torch_and_paths_are_plain() -> None:
    given = {"epochs": np.int64(3), "learning_rate": torch.tensor(0.25), "device": torch.device("cuda", 1)}
    config = make_config(**given, data=Path("here"), milestones=np.array([1, 2]), patience=2)
    assert (config.epochs, config.learning_rate, config.device, config.data) == (3, 0.25, "cuda:1", "here")
    assert (config.milestones, config.best_by) == ((1, 2), "nll")
    json.dumps(config.model_dump())


def test_every_place_of_every_stream_has_a_seed_of_its_own() -> None:
    places = [(seed, stream, epoch) for seed in range(3) for stream in STREAMS for epoch in range(3)]
    assert len({stream_seed(*place) for place in places}) == len(places)
    digest = hashlib.blake2b(b"2/order/7", digest_size=8).digest()
    assert stream_seed(2, "order", 7) == int.from_bytes(digest, "little") // 2
    drawn = torch.rand(3, generator=generator(2, "order", 7))
    alone = torch.rand(3, generator=torch.Generator().manual_seed(stream_seed(2, "order", 7)))
    torch.testing.assert_close(drawn, alone, rtol=0, atol=0)
