"""Everything that training does, once on the CPU and once on the pretended device: the same numbers, nobody waits.

Run as a script (a pretended device cannot be taken back) with the first words of cases, it prints one JSON object:
case -> "" or what went wrong.
"""

import json
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from contract.harness import METHODS, Inputs, variants
from devices.pretended import NAME, Pretence, pretence, tell_torch, without_waiting
from labelspace.augment.named import ENTRIES, Augment
from labelspace.criteria import Criterion, criterion_class
from labelspace.training import loop
from labelspace.training.run import Run, train

EXACT: dict[str, Any] = {"rtol": 0.0, "atol": 0.0, "equal_nan": True}
NEAR: dict[str, Any] = {
    "rtol": 1e-4,
    "atol": 1e-5,
    "equal_nan": True,
}  # where options and draws have lost their last digits
IMAGES = ("crop:1:reflect", "flip", "rotate", "resized-crop", "cutout", "randaugment:3")
SMALL: dict[str, Any] = {"model": "mlp-16", "epochs": 2, "limit": 90, "batch_size": 32}
OTHERS: dict[str, dict[str, Any]] = {
    "images": {"model": "cnn-3-layer-0", "augment": [*IMAGES, "cutmix:1.0:sample"], "optimizer": "sgd"},
    "mixup": {"augment": ["mixup"], "head_l2": 0.01, "clip": 1.0, "optimizer": "adamw", "weight_decay": 0.1},
    "best epoch": {"best_by": "nll", "label_noise": "pairwise:0.2", "record": "test-curve"},
    "float64": {"precision": "float64", "method": "ols"},
    "channels last": {"model": "resnet8-small", "channels_last": True, "epochs": 1},
}


def of_pretence() -> None:
    """What it is for: two devices in one operation, float64 and waiting are noticed."""
    wrong: dict[str, Callable[[Tensor], Any]] = {
        "two devices": lambda x: x + torch.ones(3),
        "makes the CPU wait": lambda x: float(x.sum()),
        "aten.nonzero": lambda x: (x > 0).nonzero(),
        "aten.index": lambda x: x[x > 0],
        "aten.copy": lambda x: x.copy_(torch.ones(3)),
        "aten._to_copy": lambda x: x.cpu(),
        "aten._to_copy.default makes": lambda x: torch.tensor([1.0], device=x.device),
        "float64": lambda x: x.double(),
    }
    with pretence(narrow=True) as mode:
        x = torch.ones(3).to(NAME)
        with without_waiting(mode):
            for said, function in wrong.items():
                with pytest.raises((AssertionError, TypeError), match=said):
                    function(x)


def of_criterion(method: str, variant: str, narrow: bool) -> None:
    """Compare loss, gradients, state and scores of one batch."""
    cpu, other = (_cast(variants(method)[variant], narrow) for _ in range(2))
    cpu.output.requires_grad_()
    with by_terms():
        expected = cpu.loss()
        expected.backward()
        cpu.criterion.end_epoch()
    tolerance = NEAR if narrow else EXACT
    with pretence(narrow) as mode:
        criterion = other.criterion.to(NAME)
        output, y = other.output.to(NAME).requires_grad_(), other.y.to(NAME)
        extras = {name: value.to(NAME) for name, value in other.extras.items()}
        if other.sample_weight is not None:
            extras["sample_weight"] = other.sample_weight.to(NAME)
        with without_waiting(mode):
            loss = criterion(output, y, **extras)
            loss.backward()
        criterion.end_epoch()
        scores, gradient = criterion.scores(output).detach().cpu(), output.grad.cpu()
        space, targets = criterion.label_space(), criterion.target_matrix()
        again = _cast(variants(method)[variant], narrow).criterion.to(NAME)
        again.load_state_dict(criterion.state_dict())
        for each in (criterion, again):
            each.half().bfloat16().cpu()
        assert_close(again.state_dict(), criterion.state_dict(), **EXACT)
        options = {name: value.cpu().double() for name, value in cpu.criterion.named_buffers() if not value.ndim}
        for name in criterion.float_options:
            assert_close(criterion.get_buffer(name), options[name], **EXACT)
        assert_close(loss.detach().cpu(), expected.detach(), **tolerance)
        assert_close(gradient, cpu.output.grad, **tolerance)
    assert_close(scores, cpu.criterion.scores(cpu.output.detach()), **tolerance)
    for name, value in cpu.criterion.state_dict().items():
        assert_close(criterion.state_dict()[name], value, **tolerance)
    for name, parameter in cpu.criterion.named_parameters():
        assert_close(criterion.get_parameter(name).detach(), parameter.detach(), **tolerance)
    for name, value in cpu.criterion.label_space().tensors.items():
        assert_close(space.tensors[name], value, **tolerance)
    if targets is not None:
        assert_close(targets, cpu.criterion.target_matrix(), **tolerance)


def _cast(inputs: Inputs, narrow: bool) -> Inputs:
    if not narrow:
        return inputs
    one = {"output": inputs.output, "y": inputs.y, **inputs.extras}
    cast = {name: value.float() if value.is_floating_point() else value for name, value in one.items()}
    extras = {name: cast[name] for name in inputs.extras}
    weight = None if inputs.sample_weight is None else inputs.sample_weight.float()
    return Inputs(inputs.criterion.float(), cast["output"], cast["y"], extras, weight)


def of_augmentation(spec: str, narrow: bool) -> None:
    """Compare what an augmentation makes of images: draws come from a generator on the CPU."""
    augment = Augment.parse([spec])
    images = torch.rand(16, 3, 8, 8, generator=torch.Generator().manual_seed(0)) - 0.5
    labels = torch.arange(16) % 5
    expected = augment(images, labels, 5, torch.Generator().manual_seed(1))
    with pretence(narrow) as mode:
        x, y = images.to(NAME), labels.to(NAME)
        with without_waiting(mode):
            x, y = augment(x, y, 5, torch.Generator().manual_seed(1))
        found = x.cpu(), y.cpu()
    for result, wanted in zip(found, expected, strict=True):
        assert_close(result, wanted, **(NEAR if narrow else EXACT))


def of_training(options: dict[str, Any], narrow: bool) -> None:
    """Compare a whole run, and what it says of samples."""
    expected = on_cpu(json.dumps(options))
    with pretence(narrow) as mode, steps_do_not_wait(mode):
        run = train("digits", device=NAME, **options)
        again = run.scores_of(torch.zeros(3, 1, 8, 8, dtype=torch.uint8), device=NAME)
        features = run.features(torch.zeros(3, 1, 8, 8, dtype=torch.uint8), device=NAME)
    assert run.config.device == NAME
    assert run.config.key() != expected.config.key()
    same(run, expected, **({**NEAR, "rtol": 0.01, "atol": 0.01} if narrow else EXACT))
    assert again.device.type == features.device.type == "cpu"
    if not narrow:
        assert_close(again, expected.scores_of(torch.zeros(3, 1, 8, 8, dtype=torch.uint8)), **EXACT)


@cache
def on_cpu(options: str) -> Run:
    """Train on the CPU, once for both kinds of the device."""
    with by_terms():
        return train("digits", **json.loads(options))


@contextmanager
def by_terms() -> Iterator[None]:
    """Compute losses as other devices do: the kernels of the CPU round in another order, the contract compares them."""
    with pytest.MonkeyPatch.context() as patch:
        for method in METHODS:
            patch.setattr(criterion_class(method), "summed", Criterion.summed)
        yield


def of_resuming() -> None:
    """A run that was stopped on the device goes on there from its checkpoint, to the same end."""
    options = {**SMALL, "method": "lwr", "epochs": 4}
    expected = train("digits", **options)
    with tempfile.TemporaryDirectory() as out:
        with pretence():
            step, count = loop.Loop._step, [0]

            def stopped(self: loop.Loop, *arguments: Any) -> None:
                count[0] += 1
                if count[0] == 8:
                    raise KeyboardInterrupt
                step(self, *arguments)

            loop.Loop._step = stopped
            try:
                train("digits", device=NAME, out=out, checkpoint_seconds=0, **options)
            except KeyboardInterrupt:
                assert list(Path(out).glob("*/checkpoint.pt"))
            finally:
                loop.Loop._step = step
            run = train("digits", device=NAME, out=out, **options)
            loaded = Run.load(run.folder)
        same(run, expected, **EXACT)
        same(loaded, expected, **EXACT)


def of_infinity() -> None:
    """A loss that is no number is told at the end of the epoch, and no checkpoint holds it."""
    with tempfile.TemporaryDirectory() as out, pretence() as mode, steps_do_not_wait(mode):
        options = {**SMALL, "learning_rate": 1e30, "optimizer": "sgd"}
        with pytest.raises(loop.TrainingError, match="The loss became"):
            train("digits", device=NAME, out=out, checkpoint_seconds=0, **options)
        assert not list(Path(out).glob("*/result.json"))


def same(run: Run, expected: Run, **tolerance: Any) -> None:
    """Compare two runs in all of their numbers."""
    for name, value in expected.scores.items():
        assert run.scores[name].device.type == "cpu"
        assert_close(run.scores[name], value, **tolerance)
    if tolerance["rtol"] == 0:
        assert run.epochs == expected.epochs
        assert run.weights.keys() == expected.weights.keys()
        for name, value in expected.weights.items():
            assert_close(run.weights[name], value, **tolerance)
        for name, value in expected.space.tensors.items():
            assert_close(run.space.tensors[name], value, **tolerance)


@contextmanager
def steps_do_not_wait(mode: Pretence) -> Iterator[None]:
    """Let everything fail that would wait for the device within a training step."""
    step = loop.Loop._step

    def watched(self: loop.Loop, *arguments: Any) -> None:
        with without_waiting(mode):
            step(self, *arguments)

    loop.Loop._step = watched
    try:
        yield
    finally:
        loop.Loop._step = step


def training_options(method: str, teacher: str) -> dict[str, Any]:
    """Return options with which a method can be trained on digits."""
    needed = {"space": "ordinal"} if criterion_class(method).looks_at_space({}) else {}
    needed |= {"teacher": teacher} if "teacher" in criterion_class(method).example().criterion.needs else {}
    return {**SMALL, "method": method, **needed}


def cases(teacher: str) -> dict[str, Callable[[], None]]:
    """Return everything that is tried, by name."""
    found: dict[str, Callable[[], None]] = {
        "pretence itself": of_pretence,
        "training that resumes": of_resuming,
        "training without end": of_infinity,
    }
    for narrow in (False, True):
        note = " without float64" if narrow else ""
        for method in METHODS:
            for variant in variants(method):
                found[f"criterion {method} {variant}{note}"] = partial(of_criterion, method, variant, narrow)
            found[f"training {method}{note}"] = partial(of_training, training_options(method, teacher), narrow)
        for name in ENTRIES:
            found[f"augmentation {name}{note}"] = partial(of_augmentation, name, narrow)
    for name, options in OTHERS.items():
        found[f"training {name}"] = partial(of_training, {**SMALL, **options}, False)
    return found


def main(words: tuple[str, ...]) -> None:
    """Try everything whose name begins with one of the words."""
    tell_torch()
    torch.set_num_threads(1)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        teacher = train("digits", **SMALL, out=folder)
        for name, case in cases(str(teacher.folder)).items():
            if not name.startswith(words):
                continue
            try:
                case()
                results[name] = ""
            except Exception:
                results[name] = traceback.format_exc()[-3000:]
    print(json.dumps(results))


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
