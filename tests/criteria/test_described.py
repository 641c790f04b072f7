"""What a criterion says of itself in one line."""

import pytest

from labelspace import AdaptiveLabels, LearnableSmoothing, OneHot, OnlineSmoothing


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
