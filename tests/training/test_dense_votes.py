"""Zipf's dense votes in the engine: a network with a feature map gives them, others are refused in words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace.data.given import as_dataset
from labelspace.sweeps.members import train_together
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from labelspace.training.run import Run, train
from reference.case import Case
from reference.zipf import loss as reference_loss

SHORT: dict[str, Any] = {"method": "zipf", "method_options": {"preset": "paper"}, "batch_size": 16, "epochs": 2}


def pictures(count: int = 60, classes: int = 3) -> tuple[torch.Tensor, list[str]]:
    """Return grey pictures with a bright block whose place is the class."""
    y = np.arange(count) % classes
    x = np.random.default_rng(0).integers(0, 60, (count, 1, 16, 16)).astype(np.uint8)
    for picture, label in zip(x, y, strict=True):
        picture[0, 4 * label : 4 * label + 4, 2:14] += 150
    return torch.from_numpy(x), [f"row {label}" for label in y]


@pytest.mark.parametrize("model", ["bottleneck-3-0", "alexnet-small"])
def test_it_trains(model: str, tmp_path: Path) -> None:
    run = train(pictures(), model=model, out=tmp_path, **SHORT)
    assert all(np.isfinite(line["train_loss"]) for line in run.epochs)
    x = as_dataset(pictures()).test.x
    torch.testing.assert_close(Run.load(run.folder).scores_of(x), run.scores["test_scores"])
    logits = train(pictures(), model=model, **{**SHORT, "method_options": {}})
    assert run.epochs[0]["train_loss"] != logits.epochs[0]["train_loss"], "votes rank otherwise than logits"


def test_the_votes_are_those_of_the_last_map() -> None:
    job = prepare(make_config(**SHORT, model="bottleneck-3-0", precision="float64"), as_dataset(pictures()))
    learner = Loop(job).learner.eval()
    x = job.dataset.normalize(job.dataset.train.x[:6]).double()
    *front, _, _ = learner.model.body  # without pooling and flattening
    maps = torch.nn.Sequential(*front)(x).detach().numpy()
    head = learner.model.head
    weight, bias = head.weight.detach().numpy(), head.bias.detach().numpy()
    votes = np.einsum("kc,nchw->nkhw", weight, maps) + bias[:, None, None]
    output = maps.mean(axis=(2, 3)) @ weight.T + bias
    y = job.dataset.train.y[:6]
    case = Case(
        output=output,
        y=np.eye(3)[y.numpy()],
        weight=np.ones(6),
        extras={"features": votes},
        state={"strength": np.array(0.1)},
        attributes={"votes": "dense"},
    )
    torch.testing.assert_close(learner(x, y).item(), reference_loss(case, case))


@pytest.mark.parametrize("model", ["mlp-8", "linear", "lenet", "cnn-3-layer-2"])
def test_networks_without_a_map_are_refused_in_words(model: str) -> None:
    with pytest.raises(
        ValueError,
        match=rf"`model` of train must be a network with a last feature map.*Got '{model}'.*one of .*resnet8-small",
    ):
        train(pictures(), model=model, **SHORT)


def test_sweeps_refuse_them_too() -> None:
    job = prepare(make_config(**SHORT, model="mlp-8"), as_dataset(pictures()))
    (outcome,) = train_together([job])
    assert isinstance(outcome, ValueError)
    assert "a network with a last feature map" in str(outcome)
