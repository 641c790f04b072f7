"""A batch that is not finite, as GradScaler skips them, leaves behind what it would with those samples ignored."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from contract.harness import (
    IGNORED,
    METHODS,
    Inputs,
    plain,
    state_of,
    variants,
)
from labelspace.criteria import base, criterion_class, lwal, soundness
from labelspace.criteria.soundness import Rows

KINDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
BAD = 1  # the sample


def spoilt(inputs: Inputs, kind: str) -> Inputs:
    """Return the batch with one sample that is not finite, in its output and in what is given with it."""
    changed = inputs.fresh()
    for value in (changed.output, *(each for each in changed.extras.values() if each.is_floating_point())):
        value[BAD] = KINDS[kind]
    return changed


def without(inputs: Inputs) -> Inputs:
    """Return the batch with the same sample ignored."""
    changed = inputs.fresh()
    changed.y[BAD] = IGNORED if changed.y.ndim == 1 else 0
    return changed


def state_after(inputs: Inputs) -> dict[str, Tensor]:
    """Train on the batch, end the epoch twice (a memory may be renewed at the second), and return the state."""
    inputs.loss(output=inputs.output.requires_grad_())
    pending = {f"pending {name}": value for name, value in state_of(inputs.criterion).items()}
    inputs.criterion.end_epoch()
    inputs.criterion.end_epoch()
    return {**pending, **state_of(inputs.criterion)}


def no_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the CPU be a device whose numbers nobody can look at."""
    for module in (base, soundness, lwal):
        monkeypatch.setattr(module, "may_look_at", lambda tensor: False)
    monkeypatch.setattr("labelspace._devices.may_look_at", lambda tensor: False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("looking", [True, False])
def test_a_bad_sample_leaves_no_trace(method: str, kind: str, looking: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not looking:
        no_looking(monkeypatch)
    for name, inputs in variants(method).items():
        sane = replace(inputs, output=inputs.output.nan_to_num())
        found, expected = state_after(spoilt(sane, kind)), state_after(without(sane))
        assert found.keys() == expected.keys()
        for part, value in found.items():
            assert bool(torch.isfinite(value).all()), f"{name}: {part}"
            torch.testing.assert_close(value, expected[part], msg=lambda m, p=part, n=name: f"{n}, {p}: {m}")


@pytest.mark.parametrize("method", METHODS)
def test_after_a_batch_of_nothing_else_labels_are_what_they_were(method: str) -> None:
    inputs = plain(method)
    before = state_of(inputs.criterion)
    bad = {name: v * torch.nan if v.is_floating_point() else v for name, v in inputs.extras.items()}
    inputs.loss(output=(inputs.output * torch.nan).requires_grad_(), extras=bad)
    inputs.criterion.end_epoch()
    after = state_of(inputs.criterion)
    for name, axes in criterion_class(method).class_axes.items():
        if axes and name in before:
            torch.testing.assert_close(after[name], before[name], rtol=0, atol=0, msg=lambda m, n=name: f"{n}: {m}")
    inputs.criterion.eval()
    assert bool(torch.isfinite(inputs.loss()))


@pytest.mark.parametrize("method", METHODS)
def test_a_stack_of_batches_is_a_loop_over_them(method: str) -> None:
    inputs = plain(method)
    outputs = torch.stack([inputs.output, spoilt(inputs, "nan").output, spoilt(inputs, "inf").output])

    def kept(output: Tensor) -> dict[str, Tensor]:
        rows = inputs.criterion.sound(Rows(output, inputs.y, None, inputs.extras))
        return {"output": rows.output, "y": rows.y, **rows.extras}

    looped = [kept(output) for output in outputs]
    stacked = torch.func.vmap(kept)(outputs)
    for name, value in stacked.items():
        torch.testing.assert_close(value, torch.stack([each[name] for each in looped]))
    assert bool(torch.isfinite(stacked["output"]).all())


@pytest.mark.parametrize("method", METHODS)
def test_where_nobody_looks_a_negative_label_is_ignored(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_looking(monkeypatch)
    found, expected = plain(method), without(plain(method))
    found.y[BAD] = -5
    torch.testing.assert_close(found.loss(), expected.loss(), rtol=0, atol=0)
    states = [state_after(found), state_after(expected)]
    for part, value in states[0].items():
        torch.testing.assert_close(value, states[1][part], rtol=0, atol=0, msg=lambda m, p=part: f"{p}: {m}")
