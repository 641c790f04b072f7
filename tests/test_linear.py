"""Linear layer and loss in one, against the criterion on scores: values and gradients of every method it takes."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from labelspace import (
    InputError,
    LabelEmbedding,
    LabelSpace,
    LearnableSmoothing,
    OneHot,
    SemanticSmoothing,
    UniformSmoothing,
    _linear_pass,
    criterion_class,
    groups,
    linear_loss,
    methods,
    optim,
    ordinal,
)
from labelspace.compressed import LowRank

REFUSED = {"lwal", "ols", "lwr", "disturb"}


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_linear_pass, "AT_ONCE", 20)  # scores of a few samples
    monkeypatch.setattr(_linear_pass, "IN_LOSS", 10)


def made(count: int, width: int, classes: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    sizes = ((count, width), (classes, width), (classes,))
    x, weight, bias = (torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes)
    return x, weight, bias


def compare(criterion, y: Tensor, width: int = 5, scale: float = 1.0, **extras: Tensor) -> None:
    criterion = criterion.double()
    count = len(y)
    results = []
    for whole in (True, False):
        criterion.zero_grad()
        x, weight, bias = (tensor.requires_grad_() for tensor in made(count, width, criterion.output_dim))
        if whole:
            given = {"features": x, **extras} if "features" in criterion.needs else extras
            loss = criterion(nn.functional.linear(x, weight, bias), y, **given)
        else:
            loss = linear_loss(criterion, x, weight, bias, y, **extras)
        weights = torch.arange(1.0, 1 + loss.numel(), dtype=torch.float64).reshape(loss.shape)
        (scale * (loss * weights).sum()).backward()
        own = [parameter.grad for parameter in criterion.parameters()]
        results.append([loss.detach(), x.grad, weight.grad, bias.grad, *own])
    for one, other in zip(*results, strict=True):
        if one is not None or other is not None:
            assert_close(other, one, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", [name for name in methods() if name not in REFUSED])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_every_method_is_as_on_scores(name: str, reduction: str) -> None:
    example = criterion_class(name).example()
    criterion = example.criterion
    criterion.reduction = reduction
    extras = {key: value.double() for key, value in example.extras.items() if key != "features"}
    width = example.extras["features"].shape[1] if "features" in example.extras else 5
    compare(criterion, example.y, width, **extras)
    criterion.weight = torch.tensor([0.5, 2.0, 1.25, 0.75], dtype=torch.float64)
    y = torch.where(torch.arange(len(example.y)) == 1, -100, example.y)
    compare(criterion, y, width, scale=3.0, **extras)
    if criterion.soft_targets:
        soft = torch.rand(len(y), 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        soft = soft / soft.sum(1, keepdim=True)
        soft[2] = 0
        compare(criterion, soft, width, sample_weight=torch.arange(len(y)) / 2, **extras)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_methods_that_need_the_whole_batch_say_so(name: str) -> None:
    example = criterion_class(name).example()
    x, weight, bias = made(len(example.y), 5, example.criterion.output_dim)
    with pytest.raises(InputError, match="`criterion` of linear_loss must be a method that looks at one sample"):
        linear_loss(example.criterion, x, weight, bias, example.y)


def spaces() -> dict[str, LabelSpace]:
    generator = torch.Generator().manual_seed(0)
    low = LowRank(torch.randn(7, 2, generator=generator), torch.randn(2, 7, generator=generator))
    return {
        "order": ordinal(7),
        "groups": groups([[0, 3, 4], [1, 2], [5, 6]]),
        "low rank": LabelSpace([str(place) for place in range(7)], low, "relations"),
    }


@pytest.mark.parametrize("kind", spaces())
@pytest.mark.parametrize("ruled", [False, True])
def test_semantic_labels_of_every_form(kind: str, ruled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if ruled:
        monkeypatch.setattr("labelspace.compressed.rows.LIMIT", 100)
    space = spaces()[kind]
    assert (space.rule is not None) == (ruled or kind == "low rank")
    compare(SemanticSmoothing(space, smoothing=0.3), torch.tensor([0, 6, 3, -100, 2]))


@pytest.mark.parametrize("options", [{"rank": 2}, {"top": 2}, {}])
def test_learned_labels_of_every_form(options: dict[str, int]) -> None:
    criterion = LearnableSmoothing(7 if "rank" in options else ordinal(7), smoothing=0.3, **options)
    generator = torch.Generator().manual_seed(0)
    for parameter in criterion.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    compare(criterion, torch.tensor([0, 6, 3, -100, 2, 2, 1]))


@pytest.mark.parametrize("head_rank", [0, 2])
def test_compressed_embeddings(head_rank: int) -> None:
    torch.manual_seed(0)
    criterion = LabelEmbedding(7, in_features=5, rank=2, head_rank=head_rank, hinge_total=True)
    compare(criterion, torch.tensor([0, 6, 3, -100, 2, 2, 1]))


def test_rows_stay_sparse_and_learn_as_on_scores() -> None:
    trained = []
    for whole in (True, False):
        criterion = LearnableSmoothing(6, smoothing=0.3).double()
        optimizer = optim.SGD([{"params": list(criterion.parameters()), "rows": True}], lr=0.5, momentum=0.9)
        x, weight, bias = (tensor.requires_grad_() for tensor in made(4, 5, 6))
        for step in range(6):
            y = torch.tensor([0, 1, step, -100])
            optimizer.zero_grad()
            scores = nn.functional.linear(x, weight, bias)
            loss = criterion(scores, y) if whole else linear_loss(criterion, x, weight, bias, y)
            loss.backward()
            assert criterion.label_logits.grad.is_sparse
            optimizer.step()
        trained.append(criterion.label_logits.detach().clone())
    assert_close(trained[1], trained[0])


def test_positions_and_no_bias_and_nothing_to_learn() -> None:
    criterion = UniformSmoothing(7, class_dim=-1, reduction="none").double()
    x, weight, _ = made(6, 5, 7)
    y = torch.tensor([[0, 6, 3], [-100, 2, 1]])
    x = x.reshape(2, 3, 5)
    found = linear_loss(criterion, x, weight, None, y)
    assert_close(found, criterion(x @ weight.T, y))
    with torch.no_grad():
        assert not linear_loss(OneHot(7).double(), x[0], weight, None, y[0]).requires_grad
    assert linear_loss(OneHot(7).double(), x[0, :0], weight, None, y[0, :0]) == 0


def test_half_precision_adds_up_in_single() -> None:
    x, weight, bias = (tensor.bfloat16().requires_grad_() for tensor in made(6, 5, 7))
    y = torch.tensor([0, 6, 3, 2, 2, 1])
    loss = linear_loss(OneHot(7), x, weight, bias, y)
    loss.backward()
    assert (loss.dtype, weight.grad.dtype) == (torch.float32, torch.bfloat16)
    wide, own = made(6, 5, 7), weight.grad
    scores = nn.functional.linear(wide[0], wide[1].requires_grad_(), wide[2])
    nn.functional.cross_entropy(scores, y).backward()
    assert_close(own.double(), wide[1].grad, rtol=0.1, atol=0.02)


def test_second_derivatives_and_second_passes_are_refused() -> None:
    x, weight, bias = (tensor.requires_grad_() for tensor in made(3, 5, 7))
    y = torch.tensor([0, 1, 2])
    loss = linear_loss(OneHot(7), x, weight, bias, y)
    with pytest.raises(InputError, match="`create_graph` of linear_loss must be left out"):
        torch.autograd.grad(loss, weight, create_graph=True)
    loss = linear_loss(OneHot(7), x, weight, bias, y)
    torch.autograd.grad(loss, weight, retain_graph=True)
    with pytest.raises(InputError, match="`retain_graph` of linear_loss must be left out"):
        torch.autograd.grad(loss, weight)


@pytest.mark.parametrize(
    ("x", "weight", "text"),
    [
        (torch.zeros(2, 5), torch.zeros(3, 5), r"`weight` of linear_loss must be of shape \(7, 5\)"),
        (torch.zeros(2, 4), torch.zeros(7, 5), r"`weight` of linear_loss must be of shape \(7, 4\)"),
        (torch.zeros(2, 3, 5), torch.zeros(7, 5), r"`features` of linear_loss must be of shape \(N, F\)"),
    ],
)
def test_wrong_shapes(x: Tensor, weight: Tensor, text: str) -> None:
    with pytest.raises(InputError, match=text):
        linear_loss(OneHot(7), x, weight, None, torch.tensor([0, 1]))
