"""Layouts of what a criterion is given, and what it will not take."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from labelspace import Distillation, LabelEmbedding, Learner, OneHot, Retrospection, ZipfSmoothing
from labelspace.criteria import criterion_class, methods
from labelspace.criteria.layout import likeliest


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_teacher_is_in_the_layout_of_the_output() -> None:
    """As many samples as classes: nothing but the layout tells them apart."""
    output, teacher, y = numbers(3, 3), numbers(3, 3, seed=1), torch.tensor([2, 0, 1])
    log_p = torch.log_softmax(output, dim=0).numpy()
    soft = torch.softmax(teacher, dim=0).numpy()
    expected = torch.tensor(-(soft * log_p).sum(axis=0).mean())
    for class_dim in (0, -2):
        torch.testing.assert_close(Distillation(3, class_dim=class_dim)(output, y, teacher=teacher), expected)


def test_features_are_in_the_layout_of_the_output() -> None:
    torch.manual_seed(0)
    plain = LabelEmbedding(4, in_features=4)
    turned = LabelEmbedding(4, in_features=4, class_dim=0)
    turned.load_state_dict(plain.state_dict())
    output, features, y = numbers(4, 4), numbers(4, 4, seed=1), torch.tensor([0, 1, 2, 3])
    torch.testing.assert_close(turned(output.T, y, features=features.T), plain(output, y, features=features))
    votes = numbers(4, 4, 2, 3, seed=2)
    plain_votes, turned_votes = (ZipfSmoothing(4, votes="dense", class_dim=dim) for dim in (1, 0))
    loss = plain_votes(output, y, features=votes)
    torch.testing.assert_close(turned_votes(output.T, y, features=votes.transpose(0, 1)), loss)


@pytest.mark.parametrize("shape", [(3, 2, 4), (2, 3), (6, 4), (2, 3, 4, 1), (4,), ()])
def test_extras_for_other_samples_are_refused(shape: tuple[int, ...]) -> None:
    """Six samples either way: only their order differs in the first."""
    criterion = Distillation(4, class_dim=-1)
    with pytest.raises(ValueError, match="`teacher` of Distillation must be (for the same 6 samples|in the layout of)"):
        criterion(numbers(2, 3, 4), torch.zeros(2, 3, dtype=torch.int64), teacher=numbers(*shape))


def test_an_index_is_in_the_layout_of_the_samples() -> None:
    criterion = Retrospection(4, samples=6, epochs=2, class_dim=-1)
    with pytest.raises(ValueError, match="`index` of Retrospection must be for the same 6 samples"):
        criterion(numbers(2, 3, 4), torch.zeros(2, 3, dtype=torch.int64), index=torch.arange(6).reshape(3, 2))


def spoilt(kind: str, tensor: Tensor) -> Any:
    return {"coo": tensor.to_sparse, "meta": lambda: tensor.to("meta"), "list": tensor.tolist}[kind]()


@pytest.mark.parametrize("kind", ["coo", "meta", "list"])
@pytest.mark.parametrize("argument", ["output", "y", "extra"])
@pytest.mark.parametrize("method", methods())
def test_what_is_no_dense_tensor_is_refused(method: str, argument: str, kind: str) -> None:
    example = criterion_class(method).example()
    inputs: dict[str, Any] = {"output": example.output, "y": example.y, **example.extras}
    if argument == "extra":
        argument = next((name for name in example.criterion.needs), "")
    if not argument:
        return
    with pytest.raises((TypeError, ValueError), match="must be (a dense|on the device|a floating|a tensor)"):
        example.criterion(**{**inputs, argument: spoilt(kind, inputs[argument])})


def test_a_criterion_elsewhere_says_where() -> None:
    criterion = OneHot(3, weight=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"`output` of OneHot must be on the device of the criterion, cpu. Got meta."):
        criterion(numbers(2, 3).to("meta"), torch.zeros(2, dtype=torch.int64, device="meta"))
    assert OneHot(3)(numbers(2, 3).to("meta"), torch.zeros(2, dtype=torch.int64, device="meta")).is_meta


@pytest.mark.parametrize("label", [2**64 - 100, 2**64 - 1, 2**63])
@pytest.mark.parametrize("ignored", [-100, -1, -(2**63)])
def test_labels_do_not_become_negative(label: int, ignored: int) -> None:
    y = torch.from_numpy(np.array([0, label], dtype=np.uint64))
    with pytest.raises(ValueError, match="`y` of OneHot must be class indices from 0 to 2"):
        OneHot(3, ignore_index=ignored)(numbers(2, 3), y)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.uint16, torch.uint32, torch.uint64])
def test_labels_of_any_whole_type(dtype: torch.dtype) -> None:
    output, y = numbers(3, 3), torch.tensor([2, 0, 1])
    torch.testing.assert_close(OneHot(3)(output, y.to(dtype)), torch.nn.functional.cross_entropy(output, y))


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_eight_bits(dtype: torch.dtype) -> None:
    output = numbers(3, 3).to(dtype)
    torch.testing.assert_close(OneHot(3)(output, torch.arange(3)), OneHot(3)(output.float(), torch.arange(3)))


SPOILT = [[0.0, torch.nan, 1.0], [torch.inf, 0.0, 1.0], [-torch.inf] * 3]


@pytest.mark.parametrize("row", SPOILT)
def test_what_is_not_finite_names_no_class(row: list[float]) -> None:
    output = numbers(5, 3)
    output[3] = torch.tensor(row)
    for predict in (OneHot(3).predict, Learner(torch.nn.Identity(), OneHot(3)).predict):
        with pytest.raises(ValueError, match=r"must be finite to name a class. Got (nan|inf|-inf) for sample 3\. "):
            predict(output)
    with pytest.raises(ValueError, match=r"for sample \(0, 3\)\. "):
        OneHot(3, class_dim=-1).predict(output[None])


def test_a_class_may_be_ruled_out() -> None:
    assert OneHot(3).predict(torch.tensor([[-torch.inf, 0.0, -1.0]])).tolist() == [1]
    assert OneHot(3).predict(torch.zeros(0, 3)).tolist() == []


def test_where_nobody_looks_the_class_is_none() -> None:
    scores = torch.tensor([[0.0, 2.0, 1.0], *SPOILT])
    assert torch.vmap(lambda row: likeliest("x", row, 0))(scores).tolist() == [1, -1, -1, -1]
    compiled = torch.compile(OneHot(3).predict, backend="eager", fullgraph=True)
    assert compiled(scores).tolist() == [1, -1, -1, -1]


def by_hand(output: Tensor, y: Tensor, factors: list[float]) -> Tensor:
    """Return ``Σ f·H(y, p) / Σ f`` in numpy."""
    rows = y.numpy()
    shifted = output.numpy() - output.numpy().max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    each = -(rows * log_p).sum(axis=1) / rows.sum(axis=1)
    return torch.tensor((np.array(factors) * each).sum() / np.sum(factors))


def test_rows_count_as_much_as_they_sum_to() -> None:
    """Scaling targets weighs samples; a mean divides by what they count together, as with class weights."""
    output, y = numbers(4, 3), torch.tensor([[1.0, 0, 0], [0.2, 0.3, 0], [0, 0, 0.25], [0.33, 0.33, 0.33]])
    expected = by_hand(output, y.double(), [1, 0.5, 0.25, 1])  # the last is 1 but for rounding
    torch.testing.assert_close(OneHot(3)(output, y), expected)
    total = OneHot(3, reduction="sum")(output[:3], y[:3].double())
    torch.testing.assert_close(total, torch.nn.functional.cross_entropy(output[:3], y[:3].double(), reduction="sum"))
    unseen = torch.vmap(OneHot(3))(output[None], y.double()[None])  # nobody looks at values
    torch.testing.assert_close(unseen, expected[None])
    weighed = OneHot(3, weight=[1.0, 4.0, 2.0]).double()(output, y.double())
    torch.testing.assert_close(weighed, by_hand(output, y.double(), [1, 0.2 + 1.2, 0.5, 7 / 3]))


def test_a_sample_mixed_with_an_ignored_one_is_its_share_of_itself() -> None:
    output = numbers(2, 4)
    mixed = torch.tensor([[0.6, 0, 0, 0], [0, 0.7, 0.3, 0]]).double()
    first, second = OneHot(4)(output[:1], torch.tensor([0])), OneHot(4)(output[1:], mixed[1:])
    torch.testing.assert_close(OneHot(4)(output, mixed), (0.6 * first + second) / 1.6)
    mixed[0, 3] = 0.4  # the same where class 3 is the ignored one
    torch.testing.assert_close(OneHot(4, ignore_index=3)(output, mixed), (0.6 * first + second) / 1.6)


def test_one_factor_per_sample() -> None:
    output, y = numbers(5, 3), torch.tensor([0, 1, 2, -100, 1])
    factors = torch.tensor([2.0, 0.5, 0.0, 3.0, 1.0]).double()
    each = torch.nn.functional.cross_entropy(output, y, reduction="none")
    expected = (factors * each).sum() / 3.5  # the ignored sample counts nothing
    torch.testing.assert_close(OneHot(3)(output, y, sample_weight=factors), expected)
    broken = output.clone()
    broken[2:4] = torch.nan
    torch.testing.assert_close(OneHot(3)(broken, y, sample_weight=factors), expected)
    kept = factors.bool()
    plain = torch.nn.functional.cross_entropy(output[kept], y[kept])
    torch.testing.assert_close(OneHot(3)(broken, y, sample_weight=kept), plain)  # a mask
    by_class = torch.tensor([1.0, 2.0, 4.0]).double()
    both = factors * torch.nn.functional.cross_entropy(output, y, by_class, reduction="none")
    criterion = OneHot(3, weight=by_class).double()
    torch.testing.assert_close(criterion(output, y, sample_weight=factors), both.sum() / (2 + 1 + 2))
    losses = OneHot(3, reduction="none")(output[None].mT, y[None], sample_weight=factors[None])
    torch.testing.assert_close(losses, (factors * each)[None])


def test_factors_may_be_learned() -> None:
    """As in learning to reweight examples: the loss has a gradient of what samples count."""
    output, y = numbers(4, 3), torch.tensor([0, 1, 2, 1])
    factors = torch.tensor([1.0, 2.0, 0.5, 1.0], dtype=torch.float64, requires_grad=True)
    each = torch.nn.functional.cross_entropy(output, y, reduction="none")
    wanted = torch.autograd.grad((factors * each).sum() / factors.sum(), factors)
    torch.testing.assert_close(torch.autograd.grad(OneHot(3)(output, y, sample_weight=factors), factors), wanted)


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (torch.ones(3), r"one factor per sample, of shape \(2,\). Got shape \(3,\)"),
        (torch.tensor([1.0, -1.0]), "finite and not negative. Got -1.0"),
        (torch.tensor([1.0, torch.nan]), "finite and not negative. Got nan"),
        (torch.tensor([1.0, torch.inf]), "finite and not negative. Got inf"),
        ([1.0, 1.0], "a tensor"),
    ],
)
def test_factors_that_are_none(weight: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"`sample_weight` of OneHot must be {text}"):
        OneHot(3)(numbers(2, 3), torch.tensor([0, 1]), sample_weight=weight)


@pytest.mark.parametrize("class_dim", [0, 1, -1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_single_sample_as_torch_takes_it(reduction: str, class_dim: int) -> None:
    output, soft = numbers(3), torch.tensor([0.2, 0.8, 0.0]).double()
    criterion = OneHot(3, reduction=reduction, class_dim=class_dim)
    for y in (torch.tensor(1), soft):
        wanted = torch.nn.functional.cross_entropy(output, y, reduction=reduction)
        torch.testing.assert_close(criterion(output, y), wanted)
    torch.testing.assert_close(criterion.scores(output), output)
    assert criterion.predict(output).tolist() == int(output.argmax())
    teacher = numbers(3, seed=1)
    taught = -(teacher.softmax(0) * output.log_softmax(0)).sum()
    torch.testing.assert_close(Distillation(3, class_dim=class_dim)(output, y, teacher=teacher), taught)


def test_a_single_sample_has_a_single_label() -> None:
    with pytest.raises(ValueError, match=r"`y` of OneHot must be class indices of shape \(1,\)"):
        OneHot(3)(numbers(3), torch.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="`output` of OneHot must be of one or more dimensions"):
        OneHot(3)(numbers(), torch.tensor(0))


@pytest.mark.parametrize("y", [[[1, 1, 0], [0, 0, 1]], [[1.0, 1, 0], [0, 0, 1]], [[True, True, False]] * 2])
def test_several_classes_at_once_are_another_question(y: list[Any]) -> None:
    with pytest.raises(
        (ValueError, TypeError), match=r"several classes are true at once.*BCEWithLogitsLoss.*by its sum"
    ):
        OneHot(3)(numbers(2, 3), torch.tensor(y))
    with pytest.raises(ValueError, match="what a sample counts is sample_weight="):
        OneHot(3)(numbers(1, 3), torch.tensor([[0.9, 0.9, 0.0]]))


def test_what_is_no_tensor_is_named_as_what_it_is() -> None:
    y = torch.tensor([0, 1])
    with pytest.raises(TypeError, match="`output` of OneHot must be a floating point tensor. Got numpy.ndarray"):
        OneHot(3)(np.zeros((2, 3)), y)
    returned = SimpleNamespace(logits=torch.zeros(2, 3))
    with pytest.raises(TypeError, match=r"Got types.SimpleNamespace. Give its .logits"):
        OneHot(3)(returned, y)
    with pytest.raises(ValueError, match="smallest entry -1. If these are logits, give their softmax"):
        OneHot(3)(torch.zeros(1, 3), torch.tensor([[-1.0, 1, 1]]))
