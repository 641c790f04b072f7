"""The penalty on the last layer: equal to a term in the loss, for every optimizer, alone and together."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from labelspace import data
from labelspace.sweeps.members import groups, train_together
from labelspace.training.build import Job, Outline, make_learner, prepare
from labelspace.training.config import make_config
from labelspace.training.feed import Feed
from labelspace.training.run import Run, train, train_job

# one batch is the whole of the data: the order of samples plays no part
WHOLE: dict[str, Any] = {"data": "digits", "limit": 100, "batch_size": 200, "model": "mlp-8", "precision": "float64"}


def job_of(**options: Any) -> Job:
    return prepare(make_config(**{**WHOLE, **options}))


def test_one_step_by_hand() -> None:
    # SGD without momentum: w ← w − η·(g + 2λw), so the penalty alone makes a difference of −2ηλ·w
    options = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 0.5, "epochs": 1}
    job = job_of(**options, head_l2=0.1)
    with_it, without = train_job(job), train_job(job_of(**options))
    start = make_learner(job.config, Outline.of(job.dataset), None).state_dict()
    change = with_it.weights["model.head.weight"].numpy() - without.weights["model.head.weight"].numpy()
    np.testing.assert_allclose(change, -2 * 0.5 * 0.1 * start["model.head.weight"].numpy(), rtol=1e-9, atol=1e-12)
    for name in with_it.weights:
        if name != "model.head.weight":
            torch.testing.assert_close(with_it.weights[name], without.weights[name], rtol=0, atol=0)
    assert with_it.epochs[0]["train_loss"] == without.epochs[0]["train_loss"], "the method's own loss is recorded"


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_it_is_a_term_of_the_loss(optimizer: str) -> None:
    decay = {"weight_decay": 0.01, "learning_rate": 0.01}
    job = job_of(optimizer=optimizer, epochs=4, head_l2=0.1, **decay)
    learner = make_learner(job.config, Outline.of(job.dataset), None)
    feed = Feed(job.dataset.train, job.dataset, job.config)
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    more = {"momentum": 0.9} if optimizer == "sgd" else {}
    updates = kinds[optimizer](learner.parameters(), lr=0.01, weight_decay=0.01, **more)
    for _ in range(4):
        updates.zero_grad()
        output, _ = learner.model(feed.take(torch.arange(len(feed))))
        (cross_entropy(output, feed.y) + 0.1 * learner.model.head.weight.square().sum()).backward()
        updates.step()
    torch.testing.assert_close(train_job(job).weights, dict(learner.state_dict()), rtol=1e-9, atol=1e-10)


def test_clipping_sees_it() -> None:
    options = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 1.0, "epochs": 1, "clip": 0.01}
    job = job_of(**options, head_l2=100.0)
    start = make_learner(job.config, Outline.of(job.dataset), None).state_dict()
    moved = [(value - start[name]).square().sum() for name, value in train_job(job).weights.items()]
    torch.testing.assert_close(torch.stack(moved).sum().sqrt().item(), 0.01, rtol=1e-3, atol=0)


@pytest.mark.parametrize("method", ["onehot", "lls"])
def test_runs_together_have_it_too(method: str) -> None:
    digits = data.load("digits")
    shared = {
        "data": "digits",
        "limit": 200,
        "model": "mlp-16-2",
        "epochs": 3,
        "precision": "float64",
        "method": method,
    }
    jobs = [prepare(make_config(**shared, head_l2=0.05, seed=seed), digits) for seed in range(2)]
    other = prepare(make_config(**shared), digits)
    assert groups([job.config for job in (*jobs, other)]) == [[0, 1], [2]]
    for job, run in zip(jobs, train_together(jobs), strict=True):
        assert isinstance(run, Run), run
        torch.testing.assert_close(run.weights, train_job(job).weights, rtol=1e-9, atol=1e-9)
    assert not torch.equal(
        train_job(other).weights["model.head.weight"], train_job(jobs[0]).weights["model.head.weight"]
    )


def test_bad_values() -> None:
    with pytest.raises(ValueError, match="`head_l2` of train must be greater than or equal to 0"):
        train("digits", head_l2=-1.0)
