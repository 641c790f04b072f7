"""torch's own inputs of its cross-entropy through ours: every one agrees, or is on the page as a difference."""

import re
import sys
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from labelspace import OneHot, UniformSmoothing
from labelspace.criteria import Criterion

PAGE = Path(__file__).parents[2] / "docs" / "torch.md"
WEIGHED = "class weights beside probabilities or smoothing"
NOTHING = "a mean of ignored samples alone"


class Sample(NamedTuple):
    output: Tensor
    y: Tensor
    options: dict[str, Any]


def torchs_own() -> Iterator[Sample]:
    """Yield the inputs that torch tests its module and its function with."""
    if "expecttest" not in sys.modules:  # torch's helpers import it, and these need nothing of it
        sys.modules["expecttest"] = types.ModuleType("expecttest")
        sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_methods_invocations, common_modules

    about = {"device": "cpu", "dtype": torch.float64, "requires_grad": True}
    (module,) = (one for one in common_modules.module_db if one.module_cls is nn.CrossEntropyLoss)
    for one in common_modules.module_inputs_torch_nn_CrossEntropyLoss(module, training=True, **about):
        yield Sample(*one.forward_input.args, one.constructor_input.kwargs)
    (function,) = (one for one in common_methods_invocations.op_db if one.name == "nn.functional.cross_entropy")
    for one in function.sample_inputs(**about):
        yield Sample(one.input, *one.args, one.kwargs)


def sound(sample: Sample) -> Sample:
    """Return a sample with numbers that mean something: torch draws weights below zero and targets at random."""
    output, y, options = sample
    if "weight" in options:
        options = {**options, "weight": options["weight"].detach().abs()}
    if y.is_floating_point() and not bool(((y >= 0) & ((y.sum(1, keepdim=True) - 1).abs() < 1e-6)).all()):
        y = y.detach().softmax(dim=1)
    return Sample(output.detach().requires_grad_(), y, options)


def ours(sample: Sample) -> Criterion:
    options = dict(sample.options)
    smoothing, classes = options.pop("label_smoothing", None), sample.output.shape[min(1, sample.output.ndim - 1)]
    if smoothing is None:
        return OneHot(classes, **options).double()
    return UniformSmoothing(classes, smoothing=smoothing, **options).double()


def difference(sample: Sample) -> str:
    """Return why a sample may have another loss than torch's, or nothing."""
    options = sample.options
    if "weight" in options and ("label_smoothing" in options or sample.y.is_floating_point()):
        return WEIGHED
    hard = not sample.y.is_floating_point()
    if (
        hard
        and options.get("reduction", "mean") == "mean"
        and bool(sample.y.eq(options.get("ignore_index", -100)).all())
    ):
        return NOTHING
    return ""


def agree(sample: Sample) -> bool:
    """Return whether loss and gradient are torch's."""
    wanted = nn.functional.cross_entropy(sample.output, sample.y, **sample.options)
    found = ours(sample)(sample.output, sample.y)
    if found.shape != wanted.shape or not torch.allclose(found, wanted, rtol=1e-9, atol=1e-12):
        return False
    gradients = [torch.autograd.grad(loss.sum(), sample.output)[0] for loss in (found, wanted)]
    return torch.allclose(*gradients, rtol=1e-9, atol=1e-12)


def test_every_sample_agrees_or_is_a_known_difference() -> None:
    torch.manual_seed(0)
    samples = [sound(sample) for sample in torchs_own()]
    found = Counter("" if agree(sample) else difference(sample) or repr(sample) for sample in samples)
    listed = {title: int(count) for title, count in re.findall(r"^\| ([^|`]+?) \| (\d+) \|", PAGE.read_text(), re.M)}
    assert listed.keys() == {WEIGHED, NOTHING}
    assert {title: count for title, count in found.items() if title} == listed
    assert f"{found['']} of {len(samples)}" in PAGE.read_text()


def test_what_means_nothing_is_refused() -> None:
    output = torch.zeros(2, 3)
    with pytest.raises(ValueError, match="`weight` of OneHot must be finite and not negative"):
        OneHot(3, weight=[1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="`y` of OneHot must be probabilities"):
        OneHot(3)(output, torch.tensor([[0.5, -0.1, 0.6], [1.0, 0, 0]]))


def test_known_differences_are_what_the_page_says() -> None:
    output, y = torch.randn(3, 3, dtype=torch.float64), torch.full((3,), -100)
    assert OneHot(3)(output, y).item() == 0
    assert nn.functional.cross_entropy(output, y).isnan()
    soft, weight = torch.rand(3, 3).softmax(1).double(), torch.tensor([1.0, 2.0, 4.0]).double()
    each = nn.functional.cross_entropy(output, soft, reduction="none")
    of_sample = soft @ weight
    mine = OneHot(3, weight=weight).double()(output, soft)
    torch.testing.assert_close(mine, (of_sample * each).sum() / of_sample.sum())
    entries = -(weight * soft * output.log_softmax(1)).sum() / 3
    torch.testing.assert_close(nn.functional.cross_entropy(output, soft, weight), entries)
