"""Learner: one module for optimizer, device moves and checkpoints."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from labelspace import (
    LabelEmbedding,
    LearnableSmoothing,
    Learner,
    OneHot,
    Retrospection,
    SemanticSmoothing,
    ZipfSmoothing,
    ordinal,
)


class WithFeatures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.body(x).relu()
        return self.head(features), features


def test_scores_without_labels_and_loss_with_them() -> None:
    learner = Learner(nn.Linear(4, 3), OneHot(3))
    x, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    torch.testing.assert_close(learner(x), learner.model(x))
    torch.testing.assert_close(learner(x, y), nn.functional.cross_entropy(learner.model(x), y))
    torch.testing.assert_close(learner.predict(x), learner.model(x).argmax(1))


def test_features_and_extras_are_passed_on() -> None:
    learner = Learner(WithFeatures(), LabelEmbedding(3, in_features=6))
    learner(torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])).backward()
    assert learner.criterion.second_head.weight.grad is not None
    remembering = Learner(nn.Linear(4, 3), Retrospection(3, samples=10, epochs=5))
    remembering(torch.randn(2, 4), torch.tensor([0, 1]), index=torch.tensor([3, 4])).backward()
    with pytest.raises(ValueError, match="`features` of LabelEmbedding must be given with every call"):
        Learner(nn.Linear(4, 3), LabelEmbedding(3, in_features=6))(torch.randn(1, 4), torch.tensor([0]))


class WithMap(nn.Module):
    """Five positions of two numbers each; the head reads their mean."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(2, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.head(x.mean(dim=2)), x.mean(dim=2)

    def at_positions(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self(x)[0], self.head(x.mT).mT


def test_scores_at_positions_are_passed_on_where_a_method_votes() -> None:
    model, criterion = WithMap(), ZipfSmoothing(3, votes="dense", strength=1.0)
    x, y = torch.randn(4, 2, 5), torch.tensor([0, 1, 2, 0])
    learner = Learner(model, criterion)
    votes = torch.stack([model.head(x[:, :, place]) for place in range(5)], dim=2)
    torch.testing.assert_close(learner(x, y), criterion(model(x)[0], y, features=votes))
    torch.testing.assert_close(learner(x), model(x)[0])
    plain = Learner(model, ZipfSmoothing(3, strength=1.0))
    torch.testing.assert_close(plain(x, y), plain.criterion(model(x)[0], y))


def test_label_parameters_are_free_of_decay() -> None:
    learner = Learner(nn.Linear(4, 3), LearnableSmoothing(3))
    groups = learner.parameter_groups(weight_decay=0.1)
    assert [group["weight_decay"] for group in groups] == [0.1, 0.0]
    assert groups[1]["params"] == [learner.criterion.label_logits]
    embedded = Learner(WithFeatures(), LabelEmbedding(3, in_features=6))
    kept = embedded.parameter_groups(0.1)[1]["params"]
    assert kept == [embedded.criterion.embedding], "the second head is part of the network and decays"
    decayed = Learner(nn.Linear(4, 3), LearnableSmoothing(3, preset="pseudocode")).parameter_groups(0.1)
    assert [group["weight_decay"] for group in decayed] == [0.1]
    assert len(Learner(nn.Linear(4, 3), OneHot(3)).parameter_groups()) == 1
    with pytest.raises(ValueError, match="`weight_decay` of Learner.parameter_groups"):
        learner.parameter_groups(-1)


def test_every_parameter_is_in_one_group_and_one_checkpoint() -> None:
    learner = Learner(WithFeatures(), LabelEmbedding(3, in_features=6))
    grouped = [parameter for group in learner.parameter_groups(0.1) for parameter in group["params"]]
    assert {id(p) for p in grouped} == {id(p) for p in learner.parameters()}
    twin = Learner(WithFeatures(), LabelEmbedding(3, in_features=6))
    twin.load_state_dict(learner.state_dict())
    x, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    torch.testing.assert_close(twin(x, y), learner(x, y), rtol=0, atol=0)


def test_half_precision_model() -> None:
    learner = Learner(WithFeatures(), LabelEmbedding(3, in_features=6)).bfloat16()
    loss = learner(torch.randn(5, 4, dtype=torch.bfloat16), torch.tensor([0, 1, 2, 0, 1]))
    assert loss.dtype == torch.float32
    loss.backward()
    assert learner.criterion.embedding.dtype == torch.float32


@pytest.mark.parametrize(
    ("model", "criterion", "text"), [(3, OneHot(3), "model"), (nn.Linear(1, 3), nn.Linear(1, 1), "criterion")]
)
def test_wrong_parts(model: nn.Module, criterion: OneHot, text: str) -> None:
    with pytest.raises(TypeError, match=f"`{text}` of Learner must be"):
        Learner(model, criterion)


class OfTwo(nn.Module):
    """A model of two inputs and an option."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.calls = nn.Linear(4, 3), 0

    def forward(self, a: Tensor, b: Tensor, *, times: float = 1.0) -> Tensor:
        self.calls += 1
        return times * self.head(a + b)


def test_any_inputs_of_the_model() -> None:
    model, y = OfTwo(), torch.tensor([0, 1, 2, 0, 1])
    learner, a, b = Learner(model, OneHot(3)), torch.randn(5, 4), torch.randn(5, 4)
    scores, doubled = model(a, b), model(a, b, times=2.0)
    wanted, more = (nn.functional.cross_entropy(output, y) for output in (scores, doubled))
    torch.testing.assert_close(learner(a, b, y=y), wanted)
    torch.testing.assert_close(learner(a, b=b, labels=y, times=2.0), more)
    torch.testing.assert_close(learner(**{"a": a, "b": b, "y": y}), wanted)
    torch.testing.assert_close(learner(a, b, y=None), scores)
    torch.testing.assert_close(learner(a, b=b, times=2.0), doubled)
    torch.testing.assert_close(learner.predict(a, b), scores.argmax(1))
    with pytest.raises(ValueError, match=r"Got 3. Give labels by name: learner\(a, b, c, y=y\)"):
        learner(a, b, y)
    with pytest.raises(ValueError, match="`labels` of Learner must be left out where y= is given"):
        learner(a, b, y=y, labels=y)


def test_loss_and_scores_from_one_forward_pass() -> None:
    model, y = OfTwo(), torch.tensor([0, 1, 2, 0, 1])
    learner, a, b = Learner(model, OneHot(3)), torch.randn(5, 4), torch.randn(5, 4)
    loss, scores = learner(a, b, y=y, scores=True)
    assert model.calls == 1
    assert loss.requires_grad
    assert not scores.requires_grad
    torch.testing.assert_close((loss, scores), (learner(a, b, y=y), learner(a, b, y=None).detach()))


def test_samples_may_weigh() -> None:
    learner, x, y = Learner(nn.Linear(4, 3), OneHot(3)), torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    factors = torch.tensor([1.0, 0.0, 2.0, 0.5, 1.0])
    each = nn.functional.cross_entropy(learner.model(x), y, reduction="none")
    torch.testing.assert_close(learner(x, y, sample_weight=factors), (factors * each).sum() / factors.sum())


def test_it_says_what_it_holds() -> None:
    shown = repr(Learner(nn.Linear(4, 3), LearnableSmoothing(["cat", "dog", "car"])))
    assert "lls: 3 classes, 'cat', 'dog', 'car'\n  24 parameters, 9 of them the criterion's" in shown
    remembering = repr(Learner(nn.Linear(4, 3), Retrospection(3, samples=10, epochs=5)))
    assert "learner(x, y, index=) is the loss, learner(x) scores" in remembering


def test_getters_are_functions() -> None:
    with pytest.raises(TypeError, match="`features` of Learner must be a function of what the model returns. Got str"):
        Learner(nn.Linear(1, 3), OneHot(3), features="hidden_states")  # type: ignore[arg-type]


def test_the_order_of_classes_is_checked() -> None:
    model, names = nn.Linear(2, 3), ["high", "low", "mid"]
    space = ordinal(["low", "mid", "high"])
    Learner(model, SemanticSmoothing(space, classes=names), classes=np.array(names))
    Learner(model, OneHot(3), classes=names)
    remedy = r"Got 'low', 'mid', 'high'. Build it .*classes=classes"
    with pytest.raises(ValueError, match=f"in their order, 'high', 'low', 'mid'. {remedy}"):
        Learner(model, SemanticSmoothing(space), classes=names)
    with pytest.raises(ValueError, match="`criterion` of Learner .* in their order, 'a', 'b'. Got '0'"):
        Learner(model, OneHot(3), classes=["a", "b"])
    with pytest.raises(ValueError, match="Got '0', '1', '2'"):
        Learner(model, SemanticSmoothing(ordinal(3)), classes=names)
