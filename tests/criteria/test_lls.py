"""Learnable label smoothing: ablation, large-K forms, substitute teacher, the paper's own gradients."""

from dataclasses import replace
from itertools import combinations

import pytest
import torch
from torch import nn

from contract.harness import Inputs, assert_gradients_check, assert_matches_reference, plain
from labelspace import LabelSpace, LearnableSmoothing, SemanticSmoothing, ordinal
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


def test_symmetric_divergence_is_zero_only_at_the_target() -> None:
    criterion = LearnableSmoothing(3, smoothing=0.3)
    target = criterion.label_space().targets(0.3)
    torch.testing.assert_close(criterion(target.log(), torch.arange(3)), torch.tensor(0.0), rtol=0, atol=1e-6)


@pytest.mark.parametrize("options", [{"rank": 2}, {"top": 1}, {"top": 2}, {"top": 9}])
def test_forms_for_many_classes(options: dict[str, int]) -> None:
    criterion = LearnableSmoothing(ordinal(4), smoothing=0.3, **options).double()
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
    rule = LearnableSmoothing(ordinal(6), **options).label_space().rule
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
    with pytest.raises(TypeError, match="must be a LabelSpace"):
        LearnableSmoothing(3, top=1)
    with pytest.raises(ValueError, match="given one at a time"):
        LearnableSmoothing(ordinal(3), top=1, rank=1)
