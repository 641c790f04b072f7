"""Mixed cross-entropy: all variants against the reference, and the constraints they promise."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import torch
from torch import Tensor

import labelspace
from contract.harness import as_case, assert_gradients_check, assert_matches_reference, mixed_up, plain, weighted
from labelspace import MixedCrossEntropy, groups, ordinal, uniform
from reference import mixed as reference
from reference.case import Array, Case

VARIANTS = [
    {"learn": None},
    {"learn": "class"},
    {"learn": "entry"},
    {"learn": "class", "objective": "cross-entropy", "pull": 0.0},
    {"learn": "entry", "objective": "cross-entropy", "pull": 2.0},
    {"learn": "class", "pull": 0.0},
    {"learn": "entry", "pull": 1.5, "margin": [0.1, 0.0, 0.3, 0.05]},
    {"learn": "entry", "preset": "paper", "margin": [0.1, 0.0, 0.3, 0.05]},
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


def settled(criterion: MixedCrossEntropy, output: Tensor, places: list[int]) -> Tensor:
    """Return ε after model and labels have learned together for long; row ``places[c]`` is what class c looks like."""
    output.requires_grad_()
    optimiser = torch.optim.LBFGS(
        [output, *criterion.parameters()], max_iter=400, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss: Tensor = criterion(output[torch.tensor(places)], torch.arange(len(places)))
        loss.backward()
        return loss

    optimiser.step(closure)  # type: ignore[arg-type]
    return criterion.mixing().detach()


@pytest.mark.parametrize("learn", ["class", "entry"])
@pytest.mark.parametrize("given", [0.05, 0.3])
def test_a_model_that_reaches_its_targets_leaves_the_given_mixture_alone(learn: str, given: float) -> None:
    """Wherever ε is put, it comes back to what was given: one optimum, inside."""
    space = groups([["a", "b", "c"], ["d", "e"]])
    for away in (-1.5, 1.5):
        criterion = MixedCrossEntropy(space, smoothing=given, learn=learn).double()  # type: ignore[arg-type]
        for parameter in criterion.parameters():
            with torch.no_grad():
                parameter += away * (torch.eye(5, dtype=torch.float64) if parameter.ndim == 2 else 1)
        mixing = settled(criterion, torch.zeros(5, 5, dtype=torch.float64), [0, 1, 2, 3, 4])
        torch.testing.assert_close(mixing, torch.full((5,), given, dtype=torch.float64), rtol=0, atol=2e-3)
        torch.testing.assert_close(criterion.matrix().detach(), space.targets(given).double(), rtol=0, atol=5e-3)


def test_cross_entropy_alone_ends_at_one_hot() -> None:
    # what the default is there for: the reward for being right takes all mass back
    criterion = MixedCrossEntropy(ordinal(4), learn="class", objective="cross-entropy", pull=0).double()
    assert settled(criterion, torch.zeros(4, 4, dtype=torch.float64), [0, 1, 2, 3]).max() < 1e-3


@pytest.mark.parametrize("learn", ["class", "entry"])
def test_mixing_grows_where_labels_contradict_each_other(learn: str) -> None:
    """Classes a and b look alike, c and d do not; the prior knows (or not) which classes are confused."""
    mixing = {}
    for name, grouping in {"knows": [["a", "b"], ["c", "d"]], "shuffled": [["a", "c"], ["b", "d"]]}.items():
        space = groups(grouping).subset(["a", "b", "c", "d"])
        criterion = MixedCrossEntropy(space, learn=learn).double()  # type: ignore[arg-type]
        mixing[name] = settled(criterion, torch.zeros(3, 4, dtype=torch.float64), [0, 0, 1, 2])
    assert bool((mixing["knows"][:2] > 0.35).all())  # towards ½, where a and b have the same labels
    torch.testing.assert_close(mixing["knows"][2:], torch.full((2,), 0.2, dtype=torch.float64), rtol=0, atol=0.01)
    assert bool((mixing["shuffled"][:2] < mixing["knows"][:2]).all())


@pytest.mark.slow
@pytest.mark.parametrize("learn", ["class", "entry"])
def test_mixing_stays_inside_on_digits(learn: str) -> None:
    # long enough: with plain cross-entropy and no pull, ε would be below 0.001 by then
    options = {"method_options": {"learn": learn}, "learning_rate": 0.03, "epochs": 150}
    run = labelspace.train("digits", method="mixed", space="ordinal", **options)
    mixing = run.learner().criterion.mixing().detach()  # type: ignore[operator]
    assert bool(((mixing > 0.1) & (mixing < 0.4)).all()), mixing
    assert mixing.std() > 1e-4


@pytest.mark.parametrize("count", [2, 3, 10, 57])
@pytest.mark.parametrize("margin", [0.1, 0.4])
@pytest.mark.parametrize("options", [{}, {"row_penalty": 0.3, "margin_penalty": 5.0}, {"exponent": 1.0}])
def test_penalty_of_entries_alone_makes_distributions(count: int, margin: float, options: dict[str, float]) -> None:
    """Minimised by scipy from the numpy reference, with the weights that the preset chooses."""
    criterion = MixedCrossEntropy(uniform(count), learn="entry", preset="paper", margin=margin, **options)  # type: ignore[arg-type]
    state = {name: np.asarray(getattr(criterion, name)) for name in criterion.float_options}
    attributes = {"learn": "entry", "bounded": False}

    def penalty(row: Array) -> float:
        # rows do not meet in the penalty: one alone is enough, put in place of the first
        case = Case(np.zeros((1, count)), np.zeros((1, count)), np.zeros(1), state={**state}, attributes=attributes)
        return reference.row_penalty(case, row, 0)

    found = scipy.optimize.minimize(
        penalty, np.full(count, 0.3), method="SLSQP", options={"ftol": 1e-15, "maxiter": 2000}
    )
    assert found.x.sum() == pytest.approx(1, abs=1e-4)
    assert found.x.min() >= -1e-6
    assert found.x[0] > found.x[1:].max()


def test_penalty_counts_once_in_a_sum() -> None:
    inputs = weighted("mixed")
    space = plain("mixed").criterion.label_space()
    for learn in ("class", "entry"):
        for batch in (inputs, mixed_up("mixed")):
            criterion = MixedCrossEntropy(space, smoothing=0.3, learn=learn, preset="paper").double()  # type: ignore[arg-type]
            criterion.weight = inputs.criterion.weight
            case = as_case(replace(batch, criterion=criterion))
            expected = (reference.samples(case) * case.weight).sum() + reference.penalty(case)
            losses = {}
            for reduction in ("sum", "none"):
                criterion.reduction = reduction
                losses[reduction] = criterion(batch.output, batch.y)
            torch.testing.assert_close(losses["sum"], torch.tensor(expected, dtype=torch.float64))
            torch.testing.assert_close(losses["none"].sum(), losses["sum"])
            assert losses["none"][2] == 0  # the ignored sample
            ignored = criterion(torch.full_like(batch.output, torch.nan), torch.full((6,), -100))
            torch.testing.assert_close(ignored, torch.zeros(6, dtype=torch.float64), rtol=0, atol=0)


def test_a_margin_for_each_class() -> None:
    # rows of the bounded form: with ε at its bound (1 − c)/2 and all of it on one class, the lead is c exactly
    criterion = MixedCrossEntropy(ordinal(3), learn="entry", margin=[0.1, 0.5, 0.9], smoothing=0.05)
    logits = torch.tensor([[50.0, 50.0, -50.0], [50.0, 50.0, -50.0], [-50.0, 50.0, 50.0]])
    criterion.entry_logits.data.copy_(logits)
    matrix = criterion.matrix().detach()
    lead = matrix.diagonal() - (matrix - 2 * torch.eye(3)).amax(1)
    torch.testing.assert_close(lead, torch.tensor([0.1, 0.5, 0.9]))
    twin = MixedCrossEntropy(ordinal(3), learn="entry", margin=torch.zeros(3), smoothing=0.05)
    twin.load_state_dict(criterion.state_dict())
    torch.testing.assert_close(twin.margin, torch.tensor([0.1, 0.5, 0.9]))


def test_half_of_the_mass_may_leave() -> None:
    # three ordered classes, class 0: ½ stays, 2/3 and 1/3 of the rest go to 1 and 2; logits 0 give log 3
    criterion = MixedCrossEntropy(ordinal(3), smoothing=0.5)
    torch.testing.assert_close(criterion.matrix()[0], torch.tensor([1 / 2, 1 / 3, 1 / 6]))
    assert 0.5 in MixedCrossEntropy.tuned.values
    output = torch.tensor([[4.0, 2.0, 2.0]]).log()  # p = ½, ¼, ¼
    expected = 0.5 * math.log(2) + 0.5 * math.log(4)
    torch.testing.assert_close(criterion(output, torch.tensor([0])), torch.tensor(expected))
    for options in ({"learn": "class"}, {"learn": "entry"}):
        free = MixedCrossEntropy(ordinal(3), smoothing=0.5, preset="paper", **options)  # type: ignore[arg-type]
        torch.testing.assert_close(free.matrix().detach(), criterion.matrix())
        # a sigmoid never reaches its end: it begins just inside of it, and can leave it
        bounded = MixedCrossEntropy(ordinal(3), smoothing=0.5, margin=0, **options)  # type: ignore[arg-type]
        torch.testing.assert_close(bounded.matrix().detach(), criterion.matrix(), rtol=0, atol=1e-4)
        bounded(output, torch.tensor([0])).backward()
        assert all(bool(part.grad.isfinite().all()) and bool(part.grad.any()) for part in bounded.parameters())


def test_bad_options() -> None:
    with pytest.raises(ValueError, match=r"`smoothing` of MixedCrossEntropy must be a number in \[0, 0.5\]. Got 0.6"):
        MixedCrossEntropy(ordinal(3), smoothing=0.6)
    with pytest.raises(ValueError, match="`smoothing` of .* must be at most .* = 0.2 where .* margin=0.6. Got 0.3"):
        MixedCrossEntropy(ordinal(3), smoothing=0.3, learn="entry", margin=[0.1, 0.6, 0.1])
    with pytest.raises(ValueError, match=r"`margin` of MixedCrossEntropy must be of shape \(3,\)"):
        MixedCrossEntropy(ordinal(3), margin=[0.1, 0.2])
    with pytest.raises(ValueError, match=r"`margin` of MixedCrossEntropy must be numbers in \[0, 1\). Got 1"):
        MixedCrossEntropy(ordinal(3), margin=[0.1, 0.2, 1.0])
    with pytest.raises(TypeError, match="`margin` of MixedCrossEntropy must be one number per class"):
        MixedCrossEntropy(ordinal(3), margin="wide")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`objective` of .* must be 'cross-entropy' in the free form.*bounded=True"):
        MixedCrossEntropy(ordinal(3), learn="class", bounded=False, objective="divergence")
    with pytest.raises(ValueError, match="`learn` of MixedCrossEntropy must be one of"):
        MixedCrossEntropy(ordinal(3), learn="row")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`exponent`"):
        MixedCrossEntropy(ordinal(3), exponent=0.5)
