"""Every method declares its facts and can be built the usual ways."""

import inspect

import pytest
import torch

import labelspace
from contract.harness import METHODS, plain, required_arguments
from labelspace import LabelSpace, ordinal
from labelspace.criteria import Criterion, criterion_class

COMMON = {"weight", "ignore_index", "reduction", "class_dim", "preset", "global_mean", "process_group", "validate"}


@pytest.mark.parametrize("method", METHODS)
def test_facts_are_declared(method: str) -> None:
    kind = criterion_class(method)
    assert {"name", "scope", "class_axes"} <= set(vars(kind))
    assert kind.scope in ("sample", "batch")
    assert "paper" in kind.presets
    assert kind.__doc__
    for words in ("aper says", "Args:", "Shape:", "Example:"):
        assert words in kind.__doc__


@pytest.mark.parametrize("method", METHODS)
def test_constructor_is_explicit(method: str) -> None:
    parameters = inspect.signature(criterion_class(method)).parameters
    assert set(parameters) >= COMMON | {"labels"}
    kinds = [parameter.kind for name, parameter in parameters.items() if name != "labels"]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds)


@pytest.mark.parametrize("method", METHODS)
def test_needs_equal_the_keyword_only_signature(method: str) -> None:
    criterion = plain(method).criterion
    parameters = inspect.signature(criterion.terms).parameters.values()
    keyword_only = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    optional = {p.name for p in parameters if p.default is not inspect.Parameter.empty}
    assert keyword_only - optional <= set(criterion.needs) <= keyword_only


@pytest.mark.parametrize("method", METHODS)
def test_every_state_with_class_axes_is_declared(method: str) -> None:
    """A tensor whose axes have the size of K is a class tensor, or the method forgot to say so."""
    inputs = plain(method)
    count = len(inputs.criterion.names)
    declared = criterion_class(method).class_axes
    for name, tensor in inputs.criterion.state_dict().items():
        if name != "weight" and count in tensor.shape:
            assert name in declared, f"{name} of shape {tuple(tensor.shape)} is not in class_axes"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["int", "names", "space"])
def test_built_from_int_names_or_space(method: str, form: str) -> None:
    names = ["low", "mid", "high"]
    labels = {"int": 3, "names": names, "space": ordinal(names)}[form]
    options = required_arguments(method)
    needs_a_space = criterion_class(method).requires_space
    if form != "space" and needs_a_space:
        with pytest.raises(TypeError, match="must be a LabelSpace"):
            labelspace.make_criterion(method, labels, **options)
        return
    criterion = labelspace.make_criterion(method, labels, **options)
    assert criterion.names == (("0", "1", "2") if form == "int" else tuple(names))
    space = criterion.label_space()
    assert isinstance(space, LabelSpace)
    assert space.names == criterion.names


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("reduction", "average", "`reduction` of .* must be one of"),
        ("weight", [1.0, -1.0, 1.0], "`weight` of .* must be finite and not negative"),
        ("weight", [1.0], r"`weight` of .* must be of shape \(3,\)"),
        ("preset", "papr", "`preset` of .* must be one of .*Did you mean 'paper'"),
    ],
)
def test_bad_common_options(method: str, option: str, value: object, text: str) -> None:
    options = {**required_arguments(method), option: value}
    with pytest.raises(ValueError, match=text):
        criterion_class(method)(ordinal(["low", "mid", "high"]), **options)


@pytest.mark.parametrize("method", METHODS)
def test_presets_build_and_train(method: str) -> None:
    kind = criterion_class(method)
    for preset in kind.presets:
        inputs = plain(method)
        criterion = kind(ordinal(len(inputs.criterion.names)), preset=preset, **required_arguments(method)).double()
        output = torch.randn(len(inputs.y), criterion.output_dim, dtype=torch.float64, requires_grad=True)
        criterion(output, inputs.y, **inputs.extras).backward()
        assert bool(torch.isfinite(output.grad).all())


@pytest.mark.parametrize("method", METHODS)
def test_bad_inputs(method: str) -> None:
    inputs = plain(method)
    count = len(inputs.criterion.names)
    too_large = inputs.y.clone()
    too_large[0] = count
    with pytest.raises(ValueError, match=f"`y` of .* must be class indices from 0 to {count - 1}.* Got {count}"):
        inputs.loss(y=too_large)
    with pytest.raises(ValueError, match="`y` of .* must be class indices"):
        inputs.loss(y=torch.full_like(inputs.y, -1))
    with pytest.raises(ValueError, match="`output` of .* must be of size"):
        inputs.loss(output=torch.cat([inputs.output, inputs.output[:, :1]], dim=1))
    with pytest.raises(ValueError, match="`y` of .* must be class indices"):
        inputs.loss(y=inputs.y[:-1])
    for name in inputs.criterion.needs:
        with pytest.raises(ValueError, match=f"`{name}` of .* must be given"):
            inputs.loss(extras={key: value for key, value in inputs.extras.items() if key != name})
    if inputs.criterion.soft_targets:
        with pytest.raises(ValueError, match="rows summing to at most 1"):
            inputs.loss(y=torch.full((len(inputs.y), count), 0.9))
    else:
        with pytest.raises(ValueError, match="cannot use probabilities"):
            inputs.soft().loss()


def test_abstract_base_cannot_be_built() -> None:
    with pytest.raises(TypeError):
        Criterion(3)  # type: ignore[abstract,call-arg]
