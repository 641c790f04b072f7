"""What a criterion says of itself in one line."""

import pytest
import torch

from labelspace import AdaptiveLabels, LabelEmbedding, LearnableSmoothing, OneHot, OnlineSmoothing, Retrospection


@pytest.mark.parametrize(
    ("criterion", "wanted"),
    [
        (LearnableSmoothing(3, rank=2), "3 classes, rank=2, smoothing=0.1"),
        (LearnableSmoothing(list("abcde"), smoothing=0.3), "5 classes 'a', 'b', 'c' and 2 more, smoothing=0.3"),
        (OneHot(["cat", "dog"], weight=[1, 2], reduction="sum"), "2 classes 'cat', 'dog', reduction='sum', weight=…"),
        (AdaptiveLabels(4, dim=2), "4 classes, dim=2, repel=0.0, predicts by the nearest label"),
        (OnlineSmoothing(3, classes=["a", "b", "c"]), "3 classes 'a', 'b', 'c', smoothing=0.5"),
    ],
)
def test_classes_and_options(criterion, wanted: str) -> None:
    assert criterion.extra_repr() == wanted
    assert wanted in repr(criterion)


@pytest.mark.parametrize(
    "criterion",
    [
        LearnableSmoothing(3),
        LearnableSmoothing(3, rank=2),
        LearnableSmoothing(3, top=1, prune_after=1),
        LabelEmbedding(3, in_features=3, init_scale=2.0),
        OnlineSmoothing(3),
        OnlineSmoothing(3, start="uniform"),
        AdaptiveLabels(3),
        Retrospection(3, samples=6, epochs=2, every=1),
    ],
)
def test_labels_that_nothing_has_taught_say_so(criterion) -> None:
    assert criterion.label_space().source["as_initialised"] is True
    assert repr(criterion.label_space()).endswith("as initialised)")
    optimizer = torch.optim.SGD(criterion.parameters(), lr=1.0) if list(criterion.parameters()) else None
    output = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = criterion(output, torch.tensor([0, 1, 2, 0, 1, 2]), features=output, index=torch.arange(6))
    loss.backward()
    if optimizer is not None:
        optimizer.step()
    criterion.end_epoch()
    assert "as_initialised" not in criterion.label_space().source
