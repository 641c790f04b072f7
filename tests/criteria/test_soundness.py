"""Samples whose numbers are not finite become ignored ones; all others stay as they are."""

import pytest
import torch
from torch import Tensor

from labelspace import AdaptiveLabels
from labelspace.criteria import soundness
from labelspace.criteria.soundness import Rows, only_sound

NAN, INF = torch.nan, torch.inf


def made(**changes: Tensor | None) -> Rows:
    features = torch.ones(3, 2, 2)
    given = {"output": torch.arange(6.0).reshape(3, 2), "y": torch.tensor([0, 1, -1]), "valid": None, **changes}
    return Rows(**{"extras": {"features": features, "index": torch.tensor([4, 5, 6])}, **given})


def test_what_is_finite_is_handed_on_untouched() -> None:
    rows = made()
    assert only_sound(rows, logits=True) is rows
    # the sum of these is infinite, none of them is
    large = made(output=torch.full((3, 2), 3e38))
    assert only_sound(large, logits=True) is large


@pytest.mark.parametrize("looking", [True, False])
@pytest.mark.parametrize(
    ("bad", "logits"), [(NAN, True), (INF, True), (NAN, False), (INF, False), (-INF, False), (3e38, False)]
)
def test_a_bad_row_has_no_label_and_no_numbers(
    bad: float, logits: bool, looking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not looking:
        monkeypatch.setattr(soundness, "may_look_at", lambda tensor: False)
    output = torch.tensor([[1.0, 2.0], [bad, 3.0], [4.0, 5.0]])
    found = only_sound(made(output=output, valid=torch.tensor([True, True, False])), logits)
    assert found.output.tolist() == [[1, 2], [0, 0], [4, 5]]
    assert found.y.tolist() == [0, -1, -1]
    assert found.valid is not None
    assert found.valid.tolist() == [True, False, False]
    assert found.extras["features"].flatten(1).sum(dim=1).tolist() == [4, 0, 4]
    assert found.extras["index"].tolist() == [4, 5, 6]


def test_a_class_may_be_ruled_out_but_not_all() -> None:
    found = only_sound(made(output=torch.tensor([[-INF, 2.0], [-INF, -INF], [4.0, 5.0]])), logits=True)
    assert found.y.tolist() == [0, -1, -1]
    assert found.output.tolist() == [[-INF, 2], [0, 0], [4, 5]]


def test_labels_and_features_are_looked_at_too() -> None:
    features = torch.ones(3, 2, 2)
    features[0, 1, 0] = INF
    soft = torch.tensor([[1.0, 0.0], [NAN, 0.5], [0.5, 0.5]])
    found = only_sound(made(y=soft)._replace(extras={"features": features}), logits=True)
    assert found.y.tolist() == [[0, 0], [0, 0], [0.5, 0.5]]
    assert found.valid is not None
    assert found.valid.tolist() == [False, False, True]


def test_labels_for_prediction_are_means_of_sound_samples() -> None:
    criterion = AdaptiveLabels(2, dim=1, test_labels="full")
    output = torch.tensor([[1.0], [INF], [3.0], [NAN], [8.0]])
    criterion.fit_labels([(output, torch.tensor([0, 0, 0, 1, 1]))])
    assert criterion.fitted_mean.tolist() == [[2], [8]]
    assert criterion.fitted_count.tolist() == [2, 1]
