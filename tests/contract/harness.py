"""Everything the contract tests need to know about a method they have never heard of."""

import copy
import importlib
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labelspace.criteria import Criterion, criterion_class, methods
from reference.case import Case

# one method can be tested alone, in the subprocesses too
METHODS = tuple(filter(None, os.environ.get("LABELSPACE_CONTRACT_METHODS", "").split(","))) or methods()
CLASS_WEIGHTS = (0.5, 2.0, 1.25, 0.75, 1.5)
IGNORED = -100


@dataclass(frozen=True)
class Inputs:
    """A criterion in float64 and one batch for it."""

    criterion: Criterion
    output: Tensor
    y: Tensor
    extras: dict[str, Tensor]
    sample_weight: Tensor | None = None

    def loss(self, **changes: Any) -> Tensor:
        """Return the loss of this batch, with some inputs replaced."""
        here = replace(self, **changes)
        return here.criterion(here.output, here.y, sample_weight=here.sample_weight, **here.extras)

    def fresh(self) -> "Inputs":
        """Return a copy that shares nothing."""
        return copy.deepcopy(self)

    def rows(self, places: list[int] | slice) -> "Inputs":
        """Return some of the samples with the same criterion."""
        extras = {name: value[places] for name, value in self.extras.items()}
        weight = None if self.sample_weight is None else self.sample_weight[places]
        return replace(self, output=self.output[places], y=self.y[places], extras=extras, sample_weight=weight)

    def soft(self) -> "Inputs":
        """Return the batch with its labels written as one-hot probabilities (zeros where ignored)."""
        return replace(self, y=probabilities(self.y, len(self.criterion.names)).to(self.output.dtype))


def plain(method: str) -> Inputs:
    """Return the method's own example, in float64."""
    example = criterion_class(method).example()
    extras = {name: value.double() if value.is_floating_point() else value for name, value in example.extras.items()}
    return Inputs(example.criterion.double().train(), example.output.double(), example.y, extras)


def weighted(method: str) -> Inputs:
    """Return the example with class weights and an ignored sample that holds NaN."""
    inputs = plain(method)
    set_weight(inputs.criterion)
    y = inputs.y.clone()
    y[2] = IGNORED
    output = inputs.output.clone()
    output[2] = torch.nan
    return replace(inputs, y=y, output=output)


def mixed_up(method: str) -> Inputs:
    """Return the example with mixup targets, class weights and an ignored sample in the mix."""
    inputs = weighted(method)
    output = inputs.output.nan_to_num()
    one_hot = probabilities(inputs.y, len(inputs.criterion.names)).double()
    # sample 2 is ignored: its neighbour in the mix keeps a mass of 0.6 and counts as much, its own row stays 0
    mixed = 0.6 * one_hot + 0.4 * one_hot.roll(1, dims=0)
    mixed[2] = 0
    return replace(inputs, y=mixed, output=output)


def weighed(method: str) -> Inputs:
    """Return the example with class weights, an ignored sample, and samples that do not count alike."""
    inputs = weighted(method)
    factors = torch.linspace(0.25, 2, len(inputs.y), dtype=torch.float64)
    factors[1] = 0
    return replace(inputs, sample_weight=factors)


def set_weight(criterion: Criterion) -> None:
    """Give a criterion class weights, as its constructor would."""
    criterion.weight = torch.tensor(CLASS_WEIGHTS[: len(criterion.names)], dtype=torch.float64)


def variants(method: str) -> dict[str, Inputs]:
    """Return the batches every promise is tested on."""
    found = {"plain": plain(method), "weighted": weighted(method), "weighed": weighed(method)}
    if criterion_class(method).soft_targets:
        found["mixed up"] = mixed_up(method)
    return found


def each_variant() -> list[tuple[str, str]]:
    """Return (method, variant) pairs for parametrisation."""
    return [(method, variant) for method in METHODS for variant in variants(method)]


def probabilities(y: Tensor, classes: int) -> Tensor:
    """Return one-hot rows, zeros where ignored."""
    return (y.unsqueeze(-1) == torch.arange(classes)).float()


def as_case(inputs: Inputs) -> Case:
    """Return what the numpy reference is given."""
    criterion = inputs.criterion
    y = (
        inputs.y.numpy()
        if inputs.y.is_floating_point()
        else probabilities(inputs.y, len(criterion.names)).double().numpy()
    )
    mass = y.sum(axis=1, keepdims=True)
    y = y / np.where(mass > 0, mass, 1)
    # a row counts as much as it sums to, where that is not 1 but for rounding
    counts = np.where(np.abs(mass[:, 0] - 1) <= 0.011, 1, mass[:, 0])
    counts = counts if inputs.sample_weight is None else counts * inputs.sample_weight.double().numpy()
    valid = counts > 0
    y = np.where(valid[:, None], y, 0)
    weight = counts if criterion.weight is None else counts * (y @ criterion.weight.double().numpy())
    clean = np.where(valid[:, None], inputs.output.detach().numpy(), 0.0)
    tensors = {**dict(criterion.named_parameters()), **dict(criterion.named_buffers())}
    tensors |= {f"statistics.{name}": value for name, value in criterion.statistics.state().items()}
    attributes = {k: v for k, v in vars(criterion).items() if isinstance(v, (str, int, float, bool, tuple, type(None)))}
    return Case(
        output=clean,
        y=y,
        weight=weight,
        extras={name: value.detach().numpy().astype(float) for name, value in inputs.extras.items()},
        state={name: value.detach().double().numpy() for name, value in tensors.items()},
        attributes=attributes,
    )


def differentiable(inputs: Inputs) -> Iterator[tuple[tuple[str, str], Tensor]]:
    """Yield the place and the tensor of everything a gradient reaches: output, float extras, parameters."""
    yield ("output", ""), inputs.output
    for name, value in inputs.extras.items():
        if value.is_floating_point():
            yield ("extras", name), value
    for name, value in inputs.criterion.named_parameters():
        yield ("state", name), value


def finite_differences(function: Callable[[Any], float], point: Any, step: float = 1e-6) -> Any:
    """Return the gradient of a numpy function by central differences."""
    gradient = np.zeros_like(point)
    for place in np.ndindex(point.shape):
        up, down = point.copy(), point.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (function(up) - function(down)) / (2 * step)
    return gradient


def required_arguments(method: str) -> dict[str, Any]:
    """Return constructor arguments that have no default, read from the example (they are kept under their names)."""
    kind = criterion_class(method)
    example = kind.example().criterion
    parameters = list(inspect.signature(kind).parameters.values())[1:]
    needed = [p.name for p in parameters if p.default is inspect.Parameter.empty or p.name == "in_features"]
    return {name: getattr(example, name) for name in needed}


def state_of(criterion: Criterion) -> dict[str, Tensor]:
    """Return everything a criterion holds, copied."""
    return {name: value.detach().clone() for name, value in criterion.state_dict().items()}


def assert_matches_reference(inputs: Inputs) -> None:
    """Compare value and gradient with the method's numpy reference."""
    reference = importlib.import_module(f"reference.{inputs.criterion.name}")
    case = as_case(inputs)
    tensors = {place: tensor.requires_grad_() for place, tensor in differentiable(inputs)}
    loss = inputs.loss()
    torch.testing.assert_close(loss.detach(), torch.tensor(reference.loss(case, case), dtype=torch.float64))
    gradients = torch.autograd.grad(loss, list(tensors.values()), allow_unused=True)
    for (place, tensor), gradient in zip(tensors.items(), gradients, strict=True):
        point = case.output if place[0] == "output" else getattr(case, place[0])[place[1]]

        def varied(value: Any, place: tuple[str, str] = place) -> float:
            return float(reference.loss(case.with_value(place, value), case))

        expected = torch.from_numpy(finite_differences(varied, point))
        got = torch.zeros_like(tensor) if gradient is None else gradient
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-7, msg=lambda m, p=place: f"{p}: {m}")


def assert_gradients_check(inputs: Inputs) -> None:
    """Run gradcheck and gradgradcheck over output, float extras and parameters."""
    names = [name for name, _ in inputs.criterion.named_parameters()]
    extras = [name for name, value in inputs.extras.items() if value.is_floating_point()]

    def function(output: Tensor, *rest: Tensor) -> Any:
        here = inputs.fresh()
        parameters = dict(zip(names, rest[: len(names)], strict=True))
        given = {**here.extras, **dict(zip(extras, rest[len(names) :], strict=True))}
        given = {**given, "sample_weight": here.sample_weight}
        return torch.func.functional_call(here.criterion, parameters, (output, here.y), given)

    arguments = [inputs.output, *(p.detach().clone() for p in inputs.criterion.parameters())]
    arguments += [inputs.extras[name] for name in extras]
    arguments = [argument.requires_grad_() for argument in arguments]
    assert torch.autograd.gradcheck(function, arguments)
    assert torch.autograd.gradgradcheck(function, arguments)
