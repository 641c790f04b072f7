"""Value, gradient and running state against numpy in float64, written from the equations."""

import importlib

import numpy as np
import pytest
import torch

from contract.harness import (
    METHODS,
    as_case,
    assert_gradients_check,
    assert_matches_reference,
    differentiable,
    each_variant,
    finite_differences,
    plain,
    state_of,
    variants,
)
from labelspace.criteria import Criterion, criterion_class


@pytest.mark.parametrize(("method", "variant"), each_variant())
def test_value_and_gradient(method: str, variant: str) -> None:
    assert_matches_reference(variants(method)[variant])


@pytest.mark.parametrize(("method", "variant"), each_variant())
def test_terms_where_a_kernel_has_their_place(method: str, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if criterion_class(method).summed is Criterion.summed:
        pytest.skip("has no kernel")
    monkeypatch.setattr(criterion_class(method), "summed", lambda *tensors, **extras: None)
    assert_matches_reference(variants(method)[variant])


@pytest.mark.parametrize(("method", "variant"), each_variant())
def test_running_state(method: str, variant: str) -> None:
    inputs = variants(method)[variant]
    if not inputs.criterion.statistics:
        pytest.skip("keeps no running state")
    reference = importlib.import_module(f"reference.{method}")
    expected = reference.after(as_case(inputs))
    assert expected, "a running method's reference says what it holds after an epoch"
    inputs.loss(output=inputs.output.requires_grad_()).backward()
    inputs.criterion.end_epoch()
    state = state_of(inputs.criterion)
    for name, value in expected.items():
        torch.testing.assert_close(
            state[name].double(), torch.from_numpy(np.asarray(value, dtype=float)), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("method", METHODS)
def test_gradcheck_or_a_declared_stop(method: str) -> None:
    inputs = plain(method)
    if inputs.criterion.stops_gradient:
        pytest.skip("stops gradients: compared with a frozen reference above")
    assert_gradients_check(inputs)


@pytest.mark.parametrize("method", METHODS)
def test_stopping_is_declared(method: str) -> None:
    """A method that says it stops gradients says so for a reason: something must differ from plain differentiation."""
    if not criterion_class(method).stops_gradient:
        pytest.skip("stops nothing")
    reference = importlib.import_module(f"reference.{method}")
    inputs = plain(method)
    case = as_case(inputs)
    differs = False
    for place, _ in differentiable(inputs):
        point = case.output if place[0] == "output" else getattr(case, place[0])[place[1]]

        def moving(value: object, place: tuple[str, str] = place) -> float:
            moved = case.with_value(place, value)  # type: ignore[arg-type]
            return float(reference.loss(moved, moved))

        def frozen(value: object, place: tuple[str, str] = place) -> float:
            return float(reference.loss(case.with_value(place, value), case))  # type: ignore[arg-type]

        differs |= not np.allclose(finite_differences(moving, point), finite_differences(frozen, point), atol=1e-6)
    assert differs
