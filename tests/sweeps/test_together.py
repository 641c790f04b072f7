"""Members in step: the same history as one after the other."""

import pytest
import torch

from labelspace.sweeps.together import Member, Together
from labelspace.training.build import Outline, make_learner, prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop


@pytest.mark.parametrize("method", ["onehot", "uniform", "lls", "maxent", "labelemb"])
@pytest.mark.parametrize("augment", [((), ()), (("mixup:0.4",), ("mixup:0.4",)), (("mixup:0.1",), ("mixup:1.0",))])
def test_a_member_learns_what_it_learns_alone(method: str, augment: tuple[tuple[str, ...], ...]) -> None:
    fixed = {"data": "digits", "model": "mlp-8", "epochs": 2, "limit": 80, "method": method}
    configs = [make_config(**fixed, seed=seed, augment=mixed) for seed, mixed in zip((0, 1), augment, strict=True)]
    jobs = [prepare(config) for config in configs]
    members = [Member(job, make_learner(job.config, Outline.of(job.dataset), None), None) for job in jobs]
    together = Together(members)
    together.run()
    for number, job in enumerate(jobs):
        loop = Loop(job)
        alone = loop.run()
        for mine, theirs in zip(together.history[number], loop.progress.history, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-5)
        for name, value in alone.state_dict().items():
            torch.testing.assert_close(members[number].learner.state_dict()[name], value, rtol=1e-4, atol=1e-5)
