"""Large batches through the loop: never all scores, the same training; everything else as it was, bit by bit."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations
from torch.testing import assert_close

from labelspace import LearnableSmoothing, Learner, OneHot, _distributed, _linear_pass, ordinal
from labelspace.models import GivenNetwork, Network, build
from labelspace.training import chunks
from labelspace.training.build import Job, prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from small_corpus import SMALL, write_corpus

SCRIPT = Path(__file__).resolve().parents[1] / "step_memory.py"
STEPS: dict[str, Any] = {"data": "digits", "model": "mlp-8", "epochs": 2, "limit": 96, "batch_size": 32}
CLASSES = 10
WEIGHT = [0.5, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 0.25, 1.0, 1.0]
TAKEN: dict[str, dict[str, Any]] = {
    "onehot": {},
    "uniform": {"smoothing": 0.2},
    "semantic": {},
    "maxent": {},
    "lls": {"rank": 2},
    "labelemb": {"rank": 2},
}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of the batches whose loss is computed in chunks from here on."""
    sizes, real = [], chunks.linear_loss

    def counted(criterion: Any, features: torch.Tensor, *rest: Any, **extras: Any) -> torch.Tensor:
        sizes.append(len(features))
        return real(criterion, features, *rest, **extras)

    monkeypatch.setattr(chunks, "linear_loss", counted)
    monkeypatch.setattr(chunks, "LARGE", 0)
    monkeypatch.setattr(_linear_pass, "AT_ONCE", 70)  # scores of seven samples
    monkeypatch.setattr(_linear_pass, "IN_LOSS", 30)
    return sizes


def job_of(method: str, **options: Any) -> Job:
    space = ordinal([str(digit) for digit in range(CLASSES)]) if method == "semantic" else None
    return prepare(make_config(**{**STEPS, "method": method, "precision": "float64", **options}), space=space)


def trained(job: Job, ignored: bool = False, **given: Any) -> dict[str, torch.Tensor]:
    """Return everything that is learned, and the losses of the epochs."""
    loop = Loop(job, **given)
    if ignored:
        loop.y = torch.where(torch.arange(len(loop.y)) % 5 == 0, -100, loop.y)
    state = dict(loop.run().state_dict())
    losses = [line["train_loss"] for line in loop.progress.history]
    return {**state, "losses": torch.tensor(losses, dtype=torch.float64)}


def ordinary(job: Job, ignored: bool = False, **given: Any) -> dict[str, torch.Tensor]:
    """Return the same of batches that all are too small for chunks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "LARGE", 2**60)
        return trained(job, ignored, **given)


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("method", TAKEN)
def test_training_is_the_same_but_for_rounding(method: str, ignored: bool, called: list[int]) -> None:
    job = job_of(method, method_options=TAKEN[method], clip=1.0, head_l2=0.01, optimizer="sgd")
    found = trained(job, ignored)
    assert called == 6 * [32]
    assert_close(found, ordinary(job, ignored), rtol=1e-9, atol=1e-11)
    assert len(called) == 6


@pytest.mark.parametrize("method", TAKEN)
def test_weights_of_classes_and_samples(method: str, called: list[int]) -> None:
    job = job_of(method, method_options={**TAKEN[method], "weight": WEIGHT})
    job = job._replace(weights=torch.arange(96) % 3 / 2)
    found = trained(job, ignored=True)
    assert len(called) == 6
    assert_close(found, ordinary(job, ignored=True), rtol=1e-9, atol=1e-11)


def test_a_teacher_mixed_samples_and_single_precision(called: list[int]) -> None:
    teacher = nn.Sequential(nn.Flatten(), nn.Linear(64, CLASSES)).double()
    job = job_of("kd", augment=["mixup:0.4"])
    assert_close(trained(job, teacher=teacher), ordinary(job, teacher=teacher), rtol=1e-9, atol=1e-11)
    job = job_of("uniform", precision="float32")
    assert_close(trained(job), ordinary(job), rtol=1e-4, atol=1e-5)
    assert len(called) == 12


def test_gradients_of_the_last_step_are_gone_before_those_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    real = chunks.loss

    def watched(learner: Learner, *rest: Any) -> torch.Tensor:
        assert all(own.grad is None for own in learner.parameters())
        return real(learner, *rest)

    monkeypatch.setattr(chunks, "LARGE", 0)
    monkeypatch.setattr(chunks, "loss", watched)
    Loop(job_of("onehot")).run()


def test_pairs_of_texts_with_the_dropout_of_every_step(tmp_path: Path, called: list[int]) -> None:
    config = make_config(data=str(write_corpus(tmp_path / "corpus")), method="uniform", precision="float64", **SMALL)
    job = prepare(config)
    found = trained(job)
    assert len(called) == 16
    assert max(called) > 16, "one row of scores for every token"
    assert_close(found, ordinary(job), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("method", ["ols", "lwal", "lwr", "disturb", "lls", "labelemb"])
def test_other_methods_go_their_way(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "LARGE", 0)
    monkeypatch.setattr(chunks, "loss", None)
    job = job_of(method)
    assert_close(trained(job), ordinary(job), rtol=0, atol=0)


def test_smaller_batches_are_bit_by_bit_what_they_were(called: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of("uniform", precision="float32", limit=80)
    monkeypatch.setattr(chunks, "LARGE", 32 * CLASSES + 1)
    found = trained(job)
    assert not called
    with monkeypatch.context() as patch:
        patch.setattr(chunks, "serve", lambda *_: False)
        assert_close(found, trained(job), rtol=0, atol=0)
    monkeypatch.setattr(chunks, "LARGE", 32 * CLASSES)
    trained(job)
    assert called == 2 * [32, 32], "the last batch of an epoch is smaller"


def test_a_run_goes_on_where_it_was(tmp_path: Path, called: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "LARGE", 32 * CLASSES)
    job = job_of("lls", method_options=TAKEN["lls"], precision="float32", limit=80)
    whole = Loop(job).run().state_dict()
    Loop(job._replace(config=job.config.model_copy(update={"epochs": 1})), tmp_path, seconds=0).run()
    called.clear()
    resumed = Loop(job, tmp_path)
    assert resumed.progress.step == 3
    assert_close(resumed.run().state_dict(), whole, rtol=0, atol=0)
    assert called == [32, 32]


@pytest.mark.parametrize("place", ["", "model", "model.head", "criterion"])
@pytest.mark.parametrize("kind", ["forward_hook", "forward_pre_hook"])
def test_who_watches_a_module_sees_it_called(place: str, kind: str, called: list[int]) -> None:
    loop, seen = Loop(job_of("onehot", epochs=1)), list[object]()
    module = loop.learner.get_submodule(place)
    getattr(module, f"register_{kind}")(lambda watched, *_: seen.append(watched))
    loop.run()
    assert not called
    assert len(seen) >= 3


def test_what_is_not_computed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("mlp-8", (4,), 3)
    learner, config = Learner(model, OneHot(3)), make_config()
    enough = chunks.LARGE // 3 + 1
    assert chunks.serve(learner, config, enough)
    assert not chunks.serve(learner, config, enough - 1)
    assert not chunks.serve(learner, make_config(precision="bfloat16"), enough)
    assert not chunks.serve(learner, make_config(precision="float16"), enough)
    assert not chunks.serve(Learner(model, OneHot(3, class_dim=0)), config, enough)
    assert not chunks.serve(Learner(GivenNetwork(nn.Linear(4, 3), (4,), 3), OneHot(3)), config, enough)
    with monkeypatch.context() as patch:
        patch.setattr(chunks, "LARGE", 0)
        learns = Learner(model, LearnableSmoothing(3, rank=1))
        assert chunks.serve(learns, config, 4)
        assert not chunks.serve(learns, config, 3), "six numbers of its own beside nine scores"
    with monkeypatch.context() as patch:
        patch.setattr(_distributed, "world_size", lambda: 2)
        assert not chunks.serve(learner, config, enough)
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    assert not chunks.serve(learner, config, enough)
    handle.remove()
    for register in (model.head.register_full_backward_hook, model.head.register_full_backward_pre_hook):
        handle = register(lambda *_: None)
        assert not chunks.serve(learner, config, enough)
        handle.remove()
    assert chunks.serve(learner, config, enough)
    with torch.device("meta"):
        assert not chunks.serve(Learner(build("mlp-8", (4,), 3), OneHot(3)), config, enough), "another device"
    parametrizations.weight_norm(model.head)
    assert isinstance(model, Network)
    assert not chunks.serve(learner, config, enough)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
def test_a_step_takes_less_memory() -> None:
    command = [sys.executable, str(SCRIPT), "20000", "1024"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    peak, whole = map(int, done.stdout.split())
    scores = 4 * 20_000 * 1024
    assert whole > 1.5 * scores
    assert peak < 0.75 * scores, f"{peak / 2**20:.0f} MiB in place of {whole / 2**20:.0f}"
