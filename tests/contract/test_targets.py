"""The targets that a loss saw: those of the numpy reference, and where its gradient vanishes."""

import importlib

import pytest
import torch

from contract.harness import METHODS, as_case, plain, required_arguments
from labelspace import LabelSpace, compressed, ordinal
from labelspace.analysis import target_distances
from labelspace.criteria import criterion_class, make_criterion


def reference_of(method: str):  # type: ignore[no-untyped-def]
    return getattr(importlib.import_module(f"reference.{method}"), "target", None)


@pytest.mark.parametrize("method", METHODS)
def test_targets_are_those_of_the_equations(method: str) -> None:
    inputs, reference = plain(method), reference_of(method)
    found = inputs.criterion.target_matrix()
    if reference is None:
        assert found is None
        with pytest.raises(ValueError, match="a criterion with one target per class"):
            target_distances(inputs.criterion)
        return
    expected = torch.from_numpy(reference(as_case(inputs)))
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)
    assert not found.requires_grad
    assert target_distances(inputs.criterion).shape == (len(inputs.criterion.names),) * 2


@pytest.mark.parametrize("method", METHODS)
def test_presets_have_their_own_targets(method: str) -> None:
    kind, reference = criterion_class(method), reference_of(method)
    for preset in kind.presets:
        inputs = plain(method)
        labels = ordinal(len(inputs.criterion.names))
        criterion = kind(labels, preset=preset, **required_arguments(method)).double()
        found = criterion.target_matrix()
        if found is None:
            assert reference is None
            continue
        case = as_case(type(inputs)(criterion, inputs.output, inputs.y, inputs.extras))
        torch.testing.assert_close(found, torch.from_numpy(reference(case)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_an_output_that_is_the_target_has_nothing_to_learn(method: str) -> None:
    inputs = plain(method)
    found = inputs.criterion.target_matrix()
    if found is None or inputs.criterion.random or inputs.criterion.scope == "batch":
        pytest.skip("no target, or only on average")
    rows = found[inputs.y]
    output = (
        rows if inputs.criterion.label_space().kind == "vectors" else rows.clamp_min(1e-30).log()
    ).requires_grad_()
    (gradient,) = torch.autograd.grad(inputs.loss(output=output), output)
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("method", "options"),
    [("lls", {"rank": 2}), ("lls", {"top": 2}), ("labelemb", {"rank": 2, "in_features": 3})],
)
def test_compressed_forms_have_targets_where_they_are_small(
    method: str, options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    criterion = make_criterion(method, 6 if "rank" in options else ordinal(6), **options)
    generator = torch.Generator().manual_seed(0)
    for parameter in criterion.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    share = float(criterion.smoothing) if method == "lls" else float(1 - criterion.beta)
    expected = (1 - share) * torch.eye(6, dtype=torch.float64) + share * criterion.label_space().matrix.double()
    torch.testing.assert_close(criterion.target_matrix(), expected, rtol=1e-5, atol=1e-6)
    assert target_distances(criterion).shape == (6, 6)
    monkeypatch.setattr(compressed.rows, "LIMIT", 5 * 5 * 4)
    assert criterion.target_matrix() is None


def test_pretrained_label_embedding_has_targets() -> None:
    space = LabelSpace(tuple("abc"), [[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0, 1]], "relations")
    found = make_criterion("labelemb", space.names, pretrained=space).target_matrix()
    expected = torch.tensor([[0.75, 0.25, 0], [0.125, 0.75, 0.125], [0, 0, 1]]).double()
    torch.testing.assert_close(found, expected)


def test_relations_alone_are_no_targets() -> None:
    with pytest.raises(ValueError, match=r"`smoothing` of target_distances must be given for a space of relations"):
        target_distances(ordinal(4))
