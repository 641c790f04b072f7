"""Learnable label smoothing: ablation, large-K forms, substitute teacher, the paper's own gradients."""

import copy
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
import torch
from torch import nn

from contract.harness import (
    Inputs,
    assert_gradients_check,
    assert_matches_reference,
    mixed_up,
    plain,
    state_of,
    weighted,
)
from labelspace import LabelSpace, LearnableSmoothing, SemanticSmoothing, groups, make_criterion, ordinal, uniform
from labelspace.compressed import TopRows
from labelspace.criteria.lls import TERMS


@pytest.mark.parametrize("terms", [subset for size in (1, 2, 3, 4) for subset in combinations(TERMS, size)])
@pytest.mark.parametrize("preset", ["paper", "pseudocode"])
def test_each_of_the_four_terms_can_be_switched_off(terms: tuple[str, ...], preset: str) -> None:
    inputs = plain("lls")
    criterion = LearnableSmoothing(4, smoothing=0.3, terms=terms, preset=preset).double()
    criterion.label_logits.data = inputs.criterion.label_logits.data
    assert_matches_reference(replace(inputs, criterion=criterion))


def test_gradients_of_appendix_b() -> None:
    inputs = plain("lls")
    output, y = inputs.output.requires_grad_(), inputs.y
    logits = inputs.criterion.label_logits
    inputs.criterion.reduction = "sum"
    to_output, to_logits = torch.autograd.grad(inputs.loss(), (output, logits))
    alpha, q = 0.3, torch.softmax(logits.detach(), 1)[y]
    t, p = (1 - alpha) * torch.eye(4, dtype=torch.float64)[y] + alpha * q, torch.softmax(output.detach(), 1)
    reverse = (p * (p / t).log()).sum(1, keepdim=True)
    torch.testing.assert_close(to_output, 0.5 * (p - t + p * ((p / t).log() - reverse)))
    # ∂t_i/∂Q_j = α q_i (δ_ij − q_j);  ∂KL(t‖p)/∂t_i = log(t_i/p_i) + 1;  ∂KL(p‖t)/∂t_i = −p_i/t_i
    slope = (t / p).log() + 1 - p / t
    rows = 0.5 * alpha * q * (slope - (slope * q).sum(1, keepdim=True))
    torch.testing.assert_close(to_logits, torch.zeros(4, 4, dtype=torch.float64).index_add(0, y, rows))


@pytest.mark.parametrize("method", ["lls", "labelemb"])
@pytest.mark.parametrize("rows", [4, 400], ids=["small batch", "large batch"])
@pytest.mark.parametrize("far", [3.0, 50.0, 1e3, -1e4])
def test_logits_far_from_zero_lose_no_digits(method: str, rows: int, far: float) -> None:
    """What all scores of a sample have in common changes nothing; nor does a row of learned labels that has moved."""
    generator = torch.Generator().manual_seed(0)
    options = {"in_features": 5} if method == "labelemb" else {"smoothing": 0.3}
    criterion = make_criterion(method, 100, **options)
    for parameter in criterion.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    with torch.no_grad():
        next(criterion.parameters()).add_(far)  # of a second head's weights it is another head
    y, features = torch.randint(100, (rows,), generator=generator), torch.randn(rows, 5, generator=generator)
    output = (torch.randn(rows, 100, generator=generator) * 3 + far).requires_grad_()
    extras = {"features": features} if "features" in criterion.needs else {}
    found = criterion(output, y, **extras)
    gradient = torch.autograd.grad(found, output)[0]
    exact = copy.deepcopy(criterion).double()
    wide = output.detach().double().requires_grad_()
    (term, *more) = exact.terms(wide, y, **{name: each.double() for name, each in extras.items()})
    expected = sum(
        (
            each.values.mean()
            if each.weights is None
            else (each.values * each.weights).sum() / each.weights.sum().clamp_min(1)
        )
        for each in (term, *more)
    )
    torch.testing.assert_close(found.double(), expected, rtol=3e-5, atol=1e-5)
    torch.testing.assert_close(gradient.double(), torch.autograd.grad(expected, wide)[0], rtol=1e-3, atol=1e-7)


def test_symmetric_divergence_is_zero_only_at_the_target() -> None:
    criterion = LearnableSmoothing(3, smoothing=0.3)
    target = criterion.label_space().targets(0.3)
    torch.testing.assert_close(criterion(target.log(), torch.arange(3)), torch.tensor(0.0), rtol=0, atol=1e-6)


@pytest.mark.parametrize("options", [{"rank": 2}, {"top": 1}, {"top": 2}, {"top": 9}])
def test_forms_for_many_classes(options: dict[str, int]) -> None:
    labels = 4 if "rank" in options else ordinal(4)
    criterion = LearnableSmoothing(labels, smoothing=0.3, **options).double()
    uniform = torch.full((4, 4), 0.25)
    if "rank" in options:
        torch.testing.assert_close(criterion.label_space().matrix, uniform)
    for parameter in criterion.parameters():
        parameter.data = torch.randn(parameter.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    matrix = criterion.label_space().matrix.double()
    inputs = Inputs(criterion, plain("lls").output, plain("lls").y, {})
    dense = LearnableSmoothing(4, smoothing=0.3).double()
    dense.label_logits.data = matrix.log()
    torch.testing.assert_close(inputs.loss(), dense(inputs.output, inputs.y), rtol=1e-5, atol=1e-6)
    soft = inputs.soft()
    torch.testing.assert_close(soft.loss(), inputs.loss())
    assert_gradients_check(inputs)


@pytest.mark.parametrize(("options", "form"), [({"rank": 2}, "low-rank"), ({"top": 2}, "top-rows"), ({}, None)])
def test_labels_are_compressed_where_the_logits_are(options: dict[str, int], form: str | None) -> None:
    labels = 6 if "rank" in options else ordinal(6)
    rule = LearnableSmoothing(labels, **options).label_space().rule
    assert (None if rule is None else rule.form) == form


def test_the_nearest_of_a_compressed_space_are_learned() -> None:
    # each class gives most to the next but one
    rule = TopRows((torch.arange(6)[:, None] + 2) % 6, torch.full((6, 1), 0.9), torch.full((6,), 0.1))
    criterion = LearnableSmoothing(LabelSpace(tuple("abcdef"), rule, "relations"), top=1)
    assert criterion.near.tolist() == [[place, (place + 2) % 6] for place in range(6)]


def test_low_rank_reaches_every_parameter_from_its_start() -> None:
    criterion = LearnableSmoothing(4, rank=2)
    criterion(torch.randn(8, 4), torch.arange(8) % 4).backward()
    assert bool(criterion.label_factor.grad.any())


def test_top_shares_the_rest_evenly() -> None:
    # class 0 of five ordered ones: own, nearest (1) and one logit for the three others
    criterion = LearnableSmoothing(ordinal(5), top=1)
    criterion.top_logits.data[0] = torch.log(torch.tensor([5.0, 2.0, 3.0]))
    torch.testing.assert_close(criterion.label_space().matrix[0], torch.tensor([0.5, 0.2, 0.1, 0.1, 0.1]))


def pruned(batch: Callable[[str], Inputs] = plain, top: int = 1, classes: int = 4) -> Inputs:
    """Return a criterion with a learned Q of which each row has been pruned, and the example's batch."""
    inputs = batch("lls")
    criterion = LearnableSmoothing(classes, smoothing=0.3, top=top, prune_after=1).double()
    generator = torch.Generator().manual_seed(2)
    criterion.label_logits.data = torch.randn(classes, classes, dtype=torch.float64, generator=generator)
    criterion.weight = inputs.criterion.weight
    criterion.end_epoch()
    return replace(inputs, criterion=criterion)


@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_pruned_rows_against_the_reference(batch: Callable[[str], Inputs]) -> None:
    assert_matches_reference(pruned(batch))
    if batch is plain:
        assert_gradients_check(pruned())
    dense = pruned(batch)
    dense.criterion.epoch.zero_()
    assert_matches_reference(dense)


def test_dense_until_pruned_and_then_by_hand() -> None:
    # row 0 of Q, as masses: 3 on itself, 2, 1 and 4 on others; top=1 keeps itself and class 3, the rest have 2 + 1
    criterion = LearnableSmoothing(4, top=1, prune_after=2)
    logits = criterion.label_logits
    rows = torch.tensor([[3.0, 2, 1, 4], [1, 1, 6, 2], [5, 1, 3, 1], [2, 1, 1, 6]]) / 10
    logits.data = rows.log()
    criterion.end_epoch()
    torch.testing.assert_close(criterion.label_space().matrix, rows)
    criterion.end_epoch()
    assert criterion.label_logits is logits, "an optimiser goes on with the same parameter"
    expected = torch.tensor([[3.0, 1.5, 1.5, 4], [1.5, 1, 6, 1.5], [5, 1, 3, 1], [2, 1, 1, 6]]) / 10
    torch.testing.assert_close(criterion.label_space().matrix, expected)
    before = state_of(criterion)["kept"]
    logits.data += torch.randn(4, 4)
    criterion.end_epoch()
    torch.testing.assert_close(state_of(criterion)["kept"], before, msg="pruned once")


def test_after_pruning_it_learns_as_the_form_that_starts_from_a_space() -> None:
    first = pruned(classes=6, top=2).criterion
    names = first.names
    second = LearnableSmoothing(ordinal(names), smoothing=0.3, top=2).double()
    second.near = first.kept[:, :-1].clone()
    second.top_logits.data = first.label_logits.detach().gather(1, first.kept)
    output, y = torch.randn(12, 6, dtype=torch.float64), torch.arange(12) % 6
    for criterion in (first, second):
        optimiser = torch.optim.SGD(criterion.parameters(), lr=2.0)
        for _ in range(5):
            optimiser.zero_grad()
            criterion(output, y).backward()
            optimiser.step()
    torch.testing.assert_close(first.label_space().matrix, second.label_space().matrix)
    torch.testing.assert_close(first(output, y), second(output, y))


@pytest.mark.parametrize("top", [2, 3, 9])
def test_nothing_is_merged_where_at_most_one_class_is_left(top: int) -> None:
    dense = LearnableSmoothing(4, smoothing=0.3).double()
    inputs = pruned(top=top)
    dense.label_logits.data = inputs.criterion.label_logits.detach().clone()
    torch.testing.assert_close(inputs.loss(), dense(inputs.output, inputs.y))


@pytest.mark.parametrize("stop", range(1, 8))
def test_a_checkpoint_anywhere_changes_nothing(stop: int) -> None:
    def start() -> tuple[LearnableSmoothing, torch.optim.Optimizer]:
        criterion = LearnableSmoothing(5, top=1, prune_after=2)
        return criterion, torch.optim.Adam(criterion.parameters(), lr=0.3)

    def go_on(criterion: LearnableSmoothing, optimiser: torch.optim.Optimizer, steps: range) -> None:
        for step in steps:
            output = torch.randn(10, 5, generator=torch.Generator().manual_seed(step))
            optimiser.zero_grad()
            criterion(output, torch.arange(10) % 5).backward()
            optimiser.step()
            if step % 2 == 1:
                criterion.end_epoch()

    whole, resumed = start(), start()
    go_on(*whole, range(8))
    go_on(*resumed, range(stop))
    again = start()
    again[0].load_state_dict(resumed[0].state_dict())
    again[1].load_state_dict(resumed[1].state_dict())
    go_on(*again, range(stop, 8))
    for name, value in state_of(whole[0]).items():
        torch.testing.assert_close(state_of(again[0])[name], value, rtol=0, atol=0)


def test_pruned_rows_under_vmap() -> None:
    inputs = pruned()
    values = torch.tensor([0.1, 0.3, 0.9], dtype=torch.float64)

    def loss(option: torch.Tensor) -> torch.Tensor:
        state = {"smoothing": option}
        return torch.func.functional_call(inputs.criterion, state, (inputs.output, inputs.y))  # type: ignore[no-any-return]

    torch.testing.assert_close(torch.func.vmap(loss)(values), torch.stack([loss(value) for value in values]))


def test_learned_rows_teach_another_model() -> None:
    torch.manual_seed(0)
    names = ["cat", "dog", "car", "bus"]
    teacher = LearnableSmoothing(names, smoothing=0.2)
    teacher.label_logits.data = torch.randn(4, 4)
    output, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
    student = SemanticSmoothing(teacher.label_space(), smoothing=0.2)
    target = (0.8 * torch.eye(4) + 0.2 * teacher.label_logits.softmax(1))[y]
    torch.testing.assert_close(student(output, y), -(target * output.log_softmax(1)).sum(1).mean())
    # on half of the classes: slice the logits, then softmax
    half = teacher.label_space().subset(["cat", "car"])
    torch.testing.assert_close(half.matrix, teacher.label_logits.detach()[[0, 2]][:, [0, 2]].softmax(1))


def test_tiny_smoothing_in_half_precision_stays_finite() -> None:
    criterion = LearnableSmoothing(4, smoothing=1e-6)
    criterion.label_logits.data = torch.tensor([[60.0, -60, 0, 0]] * 4)
    output = torch.randn(4, 4, dtype=torch.float16, requires_grad=True)
    for y in (torch.arange(4), torch.eye(4) * 0.5 + 0.125):
        loss = criterion(output, y)
        loss.backward()
        assert bool(torch.isfinite(loss))
        assert bool(torch.isfinite(output.grad).all())


def test_it_learns_which_classes_are_confused() -> None:
    torch.manual_seed(0)
    y = torch.arange(400) % 4
    x = torch.eye(4)[y // 2 * 2] * 2 + 0.3 * torch.randn(400, 4)  # 0 and 1 look alike, 2 and 3 look alike
    model, criterion = nn.Linear(4, 4), LearnableSmoothing(4, smoothing=0.2)
    optimiser = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=0.05)
    for _ in range(200):
        optimiser.zero_grad()
        criterion(model(x), y).backward()
        optimiser.step()
    for name, friend in (("0", "1"), ("1", "0"), ("2", "3"), ("3", "2")):
        assert criterion.label_space().nearest(name, k=1)[0][0] == friend


def test_bad_options() -> None:
    with pytest.raises(ValueError, match=r"`smoothing` of LearnableSmoothing must be a number in \(0, 1\]. Got 0"):
        LearnableSmoothing(3, smoothing=0)
    with pytest.raises(ValueError, match=r"`terms` of LearnableSmoothing must be one of"):
        LearnableSmoothing(3, terms=["H(p,q)"])
    with pytest.raises(TypeError, match="must be a LabelSpace for `top` alone. Got 3.*prune_after=1"):
        LearnableSmoothing(3, top=1)
    with pytest.raises(ValueError, match="`top` of LearnableSmoothing must be given with `prune_after`"):
        LearnableSmoothing(3, prune_after=1)
    with pytest.raises(ValueError, match="`prune_after` of LearnableSmoothing must be a whole number of at least 1"):
        LearnableSmoothing(3, top=1, prune_after=0)
    with pytest.raises(ValueError, match="given one at a time"):
        LearnableSmoothing(ordinal(3), top=1, rank=1)


def test_the_labels_of_a_large_vocabulary_take_less_than_twenty_megabytes() -> None:
    criterion = LearnableSmoothing(22_439, rank=64)
    assert sum(value.numel() * value.element_size() for value in criterion.state_dict().values()) < 20e6
    assert criterion.label_space().rule is not None


def test_labels_start_where_a_space_says() -> None:
    for space in (ordinal(["low", "mid", "high"]), groups([["a", "b"], ["c", "d", "e"]]), uniform(4)):
        started = LearnableSmoothing(space, smoothing=0.3)
        torch.testing.assert_close(started.label_space().matrix, space.matrix, rtol=0, atol=1e-5)
        torch.testing.assert_close(started.target_matrix().float(), space.targets(0.3), rtol=0, atol=1e-5)
        pruned = LearnableSmoothing(space, top=1, prune_after=2)
        torch.testing.assert_close(pruned.label_logits, started.label_logits)
    output, y = torch.randn(6, 4, requires_grad=True), torch.tensor([0, 1, 2, 3, 0, 1])
    LearnableSmoothing(groups([[0, 1], [2, 3]]))(output, y).backward()
    assert bool(torch.isfinite(output.grad).all())
    torch.testing.assert_close(LearnableSmoothing(4).label_logits.detach(), torch.zeros(4, 4))
    with pytest.raises(TypeError, match="names or a number with `rank`. .*labels=space.names, or leave rank out"):
        LearnableSmoothing(ordinal(4), rank=2)
