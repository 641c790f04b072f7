"""What every method does alike: modes, splits, layouts, reductions, copies."""

import copy
import io
import pickle
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from contract.harness import (
    IGNORED,
    METHODS,
    Inputs,
    each_variant,
    mixed_up,
    plain,
    state_of,
    variants,
    weighted,
)
from labelspace.criteria import criterion_class


def assert_same_state(left: dict[str, Tensor], right: dict[str, Tensor], **tolerance: float) -> None:
    assert left.keys() == right.keys()
    for name in left:
        torch.testing.assert_close(
            left[name], right[name], equal_nan=True, msg=lambda m, n=name: f"{n}: {m}", **tolerance
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", ["eval", "no_grad"])
def test_nothing_is_observed_in_eval_or_without_grad(method: str, mode: str) -> None:
    inputs = plain(method)
    before = state_of(inputs.criterion)
    inputs.criterion.train(mode == "no_grad")
    with torch.set_grad_enabled(mode != "no_grad"):
        inputs.loss()
        inputs.criterion.predict(inputs.output)
    assert_same_state(before, state_of(inputs.criterion), rtol=0, atol=0)


@pytest.mark.parametrize(("method", "variant"), each_variant())
def test_split_independence_or_order_invariance(method: str, variant: str) -> None:
    whole = variants(method)[variant]
    whole = replace(whole, output=whole.output.requires_grad_())
    whole.criterion.reduction = "sum"
    if whole.criterion.scope == "batch":
        other = whole.fresh()
        order = torch.randperm(len(whole.y), generator=torch.Generator().manual_seed(1)).tolist()
        torch.testing.assert_close(whole.loss(), other.rows(order).loss(), rtol=1e-10, atol=1e-10)
        assert_same_state(state_of(whole.criterion), state_of(other.criterion), rtol=1e-10, atol=1e-10)
        return
    parts = whole.fresh()
    half = len(whole.y) // 2
    pieces = [slice(0, 1), slice(1, half), slice(half, None)]
    torch.testing.assert_close(whole.loss(), sum(parts.rows(piece).loss() for piece in pieces))
    whole.criterion.end_epoch()
    parts.criterion.end_epoch()
    assert_same_state(state_of(whole.criterion), state_of(parts.criterion))


@pytest.mark.parametrize("method", METHODS)
def test_integer_labels_equal_one_hot_probabilities_exactly(method: str) -> None:
    if not criterion_class(method).soft_targets:
        pytest.skip("takes class indices only")
    hard, soft = weighted(method), weighted(method).soft()
    results = []
    for inputs in (hard, soft):
        output = inputs.output.requires_grad_()
        loss = inputs.loss(output=output)
        (gradient,) = torch.autograd.grad(loss, output)
        inputs.criterion.end_epoch()
        results.append((loss.detach(), gradient, state_of(inputs.criterion)))
    torch.testing.assert_close(results[0][0], results[1][0], rtol=1e-14, atol=0)
    torch.testing.assert_close(results[0][1], results[1][1], rtol=1e-13, atol=1e-16)
    assert_same_state(results[0][2], results[1][2], rtol=1e-13, atol=1e-15)


def unfolded(inputs: Inputs, class_dim: int) -> Inputs:
    """Return the batch of 2m samples as (2, K, m) or (2, m, K)."""

    def shaped(tensor: Tensor) -> Tensor:
        folded = tensor.reshape(2, -1, *tensor.shape[1:])
        return folded.movedim(-1, class_dim) if tensor.ndim > 1 else folded

    criterion = copy.deepcopy(inputs.criterion)
    criterion.class_dim = class_dim
    extras = {name: shaped(value) for name, value in inputs.extras.items()}
    weight = None if inputs.sample_weight is None else shaped(inputs.sample_weight)
    return Inputs(criterion, shaped(inputs.output), shaped(inputs.y), extras, weight)


@pytest.mark.parametrize(("method", "variant"), each_variant())
@pytest.mark.parametrize("class_dim", [1, -1])
def test_layouts_equal_flat_rows(method: str, variant: str, class_dim: int) -> None:
    flat = variants(method)[variant]
    folded = unfolded(flat, class_dim)
    torch.testing.assert_close(flat.loss(), folded.loss())
    flat, folded = flat.fresh(), unfolded(flat, class_dim)
    clean = flat.output.nan_to_num()
    shaped = folded.criterion.predict(folded.output.nan_to_num())
    torch.testing.assert_close(flat.criterion.predict(clean), shaped.reshape(-1))
    scores = folded.criterion.scores(folded.output.nan_to_num())
    assert scores.shape[class_dim] == len(flat.criterion.names)


@pytest.mark.parametrize(("method", "variant"), each_variant())
def test_reductions_agree(method: str, variant: str) -> None:
    inputs = variants(method)[variant]
    losses = {}
    for reduction in ("none", "sum"):
        here = inputs.fresh()
        here.criterion.reduction = reduction
        losses[reduction] = here.loss()
    assert losses["none"].shape == inputs.y.shape[:1]
    torch.testing.assert_close(losses["none"].sum(), losses["sum"])
    ignored = inputs.y == IGNORED if inputs.y.ndim == 1 else inputs.y.sum(dim=1) == 0
    if inputs.sample_weight is not None:
        ignored |= inputs.sample_weight == 0
    assert bool((losses["none"][ignored] == 0).all())


@pytest.mark.parametrize("method", METHODS)
def test_ignored_samples_could_as_well_be_absent(method: str) -> None:
    inputs = weighted(method)
    shorter = inputs.fresh()
    rest = [place for place in range(len(inputs.y)) if place != 2]
    if inputs.criterion.random:
        # a draw belongs to a place in the stream, which must stay: what the sample holds must not matter
        rest = list(range(len(inputs.y)))
        shorter.output[2] = torch.arange(shorter.output.shape[1])
    torch.testing.assert_close(inputs.loss(output=inputs.output.requires_grad_()), shorter.rows(rest).loss())
    inputs.criterion.end_epoch()
    shorter.criterion.end_epoch()
    assert_same_state(state_of(inputs.criterion), state_of(shorter.criterion))


@pytest.mark.parametrize("method", METHODS)
def test_ignore_index_of_a_real_class_removes_its_column(method: str) -> None:
    if not criterion_class(method).soft_targets:
        pytest.skip("takes class indices only")
    hard, soft = plain(method), plain(method).soft()
    for inputs in (hard, soft):
        inputs.criterion.ignore_index = 1
    torch.testing.assert_close(hard.loss(), soft.loss())


def trained_a_little(method: str) -> Inputs:
    inputs = mixed_up(method) if criterion_class(method).soft_targets else weighted(method)
    inputs = replace(inputs, output=inputs.output.nan_to_num().requires_grad_())
    inputs.loss().backward()
    inputs.criterion.end_epoch()
    inputs.rows(slice(0, 5)).loss().backward()  # leaves statistics pending
    return replace(inputs, output=inputs.output.detach())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", ["deepcopy", "pickle", "torch.save", "state_dict"])
def test_a_copy_goes_on_as_the_original(method: str, way: str) -> None:
    inputs = trained_a_little(method)
    criterion = inputs.criterion
    if way == "deepcopy":
        twin = copy.deepcopy(criterion)
    elif way == "pickle":
        twin = pickle.loads(pickle.dumps(criterion))
    else:
        file = io.BytesIO()
        torch.save(criterion.state_dict(), file)
        file.seek(0)
        saved = torch.load(file, weights_only=True) if way == "torch.save" else criterion.state_dict()
        twin = plain(method).criterion
        twin.weight = None if criterion.weight is None else torch.zeros_like(criterion.weight)
        twin.load_state_dict(saved)
    for one in (criterion, twin):
        one(inputs.output.clone().requires_grad_(), inputs.y, **inputs.extras)
        one.end_epoch()
    torch.testing.assert_close(inputs.loss(), inputs.loss(criterion=twin), rtol=0, atol=0)
    assert_same_state(state_of(criterion), state_of(twin), rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_epochs_may_end_in_inference_mode(method: str) -> None:
    inputs, twin = (trained_a_little(method) for _ in range(2))
    inputs.criterion.end_epoch()
    with torch.inference_mode():
        twin.criterion.end_epoch()
    for one in (inputs, twin):
        one.loss(output=one.output.clone().requires_grad_()).backward()
    assert_same_state(state_of(inputs.criterion), state_of(twin.criterion), rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_half_and_back_loses_nothing(method: str) -> None:
    inputs = trained_a_little(method)
    before = state_of(inputs.criterion.float())
    options = {name: float(getattr(inputs.criterion, name)) for name in inputs.criterion.float_options}
    inputs.criterion.half()
    assert_same_state(before, state_of(inputs.criterion), rtol=0, atol=0)
    inputs.criterion.bfloat16().float()
    assert {name: float(getattr(inputs.criterion, name)) for name in options} == options
    assert all(getattr(inputs.criterion, name).dtype == torch.float64 for name in options)


@pytest.mark.parametrize(("method", "variant"), each_variant())
def test_class_permutation_commutes(method: str, variant: str) -> None:
    inputs = variants(method)[variant]
    if inputs.criterion.random:
        pytest.skip("draws class numbers: commutes in distribution only")
    count = len(inputs.criterion.names)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(3))
    place = torch.argsort(order)  # class c becomes class place[c]
    axes = criterion_class(method).class_axes

    def moved(name: str, tensor: Tensor) -> Tensor:
        for axis in axes.get(name, ()):
            tensor = tensor.index_select(axis, order)
        return tensor

    other = inputs.fresh()
    state = {name: moved(name, value) for name, value in state_of(inputs.criterion).items()}
    if "weight" in state:
        state["weight"] = state["weight"][order]
    other.criterion.load_state_dict(state)
    y = (
        inputs.y[:, order]
        if inputs.y.ndim == 2
        else torch.where(inputs.y == IGNORED, IGNORED, place[inputs.y.clamp_min(0)])
    )
    extras = {name: moved(name, value) for name, value in inputs.extras.items()}
    left, right = inputs.output.requires_grad_(), moved("output", inputs.output).detach().requires_grad_()
    here, there = inputs.loss(output=left), other.loss(output=right, y=y, extras=extras)
    torch.testing.assert_close(here, there)
    here.backward()
    there.backward()
    torch.testing.assert_close(moved("output", left.grad), right.grad)
    for one in (inputs, other):
        one.criterion.end_epoch()
    state = {name: moved(name, value) for name, value in state_of(inputs.criterion).items() if name != "weight"}
    for name, value in state.items():
        torch.testing.assert_close(value, state_of(other.criterion)[name], msg=lambda m, n=name: f"{n}: {m}")
    clean = plain(method).output
    torch.testing.assert_close(place[inputs.criterion.predict(clean)], other.criterion.predict(moved("output", clean)))
