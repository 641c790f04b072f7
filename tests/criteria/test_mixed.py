"""Mixed cross-entropy: all variants against the reference, and the constraints they promise."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from contract.harness import assert_gradients_check, assert_matches_reference, mixed_up, plain, weighted
from labelspace import MixedCrossEntropy, infogain_loss, ordinal

VARIANTS = [
    {"learn": None},
    {"learn": "class"},
    {"learn": "entry"},
    {"learn": "class", "preset": "paper"},
    {"learn": "entry", "preset": "paper"},
    {"learn": "class", "bounded": False, "exponent": 3.0, "high_penalty": 0.5, "low_penalty": 2.0},
    {"learn": "entry", "bounded": False, "exponent": 1.5, "margin": 0.3, "margin_penalty": 0.2, "row_penalty": 3.0},
]


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_every_variant_matches_the_reference(options, batch) -> None:  # type: ignore[no-untyped-def]
    inputs = batch("mixed")
    space = plain("mixed").criterion.label_space()
    criterion = MixedCrossEntropy(space, smoothing=0.3, **options).double()
    criterion.weight = inputs.criterion.weight
    with torch.no_grad():
        for parameter in criterion.parameters():  # away from the start, where some penalties are flat
            parameter += 0.05 * torch.arange(parameter.numel()).reshape(parameter.shape) / parameter.numel()
    inputs = replace(inputs, criterion=criterion)
    assert_matches_reference(inputs)
    if batch is plain:
        assert_gradients_check(replace(inputs, output=inputs.output.detach()))


@pytest.mark.parametrize("learn", ["class", "entry"])
@pytest.mark.parametrize("preset", [None, "paper"])
def test_learning_starts_at_the_fixed_mixture(learn, preset) -> None:  # type: ignore[no-untyped-def]
    space = ordinal(4)
    criterion = MixedCrossEntropy(space, smoothing=0.3, learn=learn, preset=preset)
    torch.testing.assert_close(criterion.matrix().detach(), space.targets(0.3), rtol=1e-4, atol=1e-4)


def test_bounded_mixtures_keep_their_constraints_whatever_is_learned() -> None:
    generator = torch.Generator().manual_seed(0)
    for learn in ("class", "entry"):
        criterion = MixedCrossEntropy(ordinal(5), learn=learn, margin=0.2)
        for scale in (1, 10, 100):
            for parameter in criterion.parameters():
                parameter.data = scale * torch.randn(parameter.shape, generator=generator)
            matrix = criterion.matrix().detach()
            torch.testing.assert_close(matrix.sum(1), torch.ones(5))
            assert bool((matrix >= 0).all())
            assert bool(((criterion.mixing() >= 0) & (criterion.mixing() <= 0.5)).all())
            if learn == "entry":
                others = matrix - 2 * torch.eye(5)
                assert bool((matrix.diagonal() - others.amax(1) >= 0.2 - 1e-6).all())


def test_row_penalty_vanishes_inside_the_unit_interval() -> None:
    # with A row-stochastic |1−ε| + |ε| = 1 for ε in [0, 1]: only the box terms remain, 0.2²+0.3² for each of 3 classes
    criterion = MixedCrossEntropy(ordinal(3), smoothing=0.2, learn="class", preset="paper")
    output, y = torch.zeros(2, 3), torch.tensor([0, 1])
    penalty = criterion(output, y) - MixedCrossEntropy(ordinal(3), smoothing=0.2)(output, y)
    torch.testing.assert_close(penalty, torch.tensor(3 * (0.3**2 + 0.2**2)))
    criterion.mixing_free.data.fill_(-0.5)  # |1.5| + |−0.5| = 2: a row penalty of 1 each, a box of 1 + 0.25 each
    criterion.row_penalty.fill_(7.0)
    with torch.no_grad():
        torch.testing.assert_close(criterion._penalty().float(), torch.tensor(3 * (7.0 + 1.0 + 0.25)))


def test_infogain_reads_its_matrix_by_columns() -> None:
    output, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 1])
    torch.testing.assert_close(infogain_loss(output, y, torch.eye(3)), cross_entropy(output, y, reduction="none"))
    matrix = torch.rand(3, 3)
    expected = torch.stack(
        [-(matrix[:, label] * row.log_softmax(0)).sum() for row, label in zip(output, y, strict=True)]
    )
    torch.testing.assert_close(infogain_loss(output, y, matrix), expected)


def test_bad_options() -> None:
    with pytest.raises(ValueError, match=r"`smoothing` of MixedCrossEntropy must be a number in \[0, 0.5\). Got 0.5"):
        MixedCrossEntropy(ordinal(3), smoothing=0.5)
    with pytest.raises(ValueError, match="`learn` of MixedCrossEntropy must be one of"):
        MixedCrossEntropy(ordinal(3), learn="row")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`exponent`"):
        MixedCrossEntropy(ordinal(3), exponent=0.5)
