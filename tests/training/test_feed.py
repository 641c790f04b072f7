"""Frozen backbones: features once, cached by content, and heads on them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from labelspace import data
from labelspace.models.backbones import Backbone
from labelspace.training.feed import extract
from labelspace.training.run import train


class Corners(Backbone):
    """Averages of the four quarters of an image; counts how often it is asked."""

    kind = "images"
    feature_dim = 4

    def __init__(self, key: str = "corners/1") -> None:
        self.key, self.calls = key, 0

    def prepare(self, samples: Any) -> Tensor:
        return torch.as_tensor(samples).float()

    def extract(self, batch: Tensor) -> Tensor:
        self.calls += 1
        return torch.nn.functional.adaptive_avg_pool2d(batch, 2).flatten(1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))


def test_extracted_once_and_kept_by_content() -> None:
    digits = data.load("digits")
    first, second, other = Corners(), Corners(), Corners("corners/2")
    features = extract(digits, first)
    assert features.kind == "features"
    assert first.calls > 0
    expected = torch.nn.functional.adaptive_avg_pool2d(digits.test.x.float(), 2).flatten(1)
    torch.testing.assert_close(features.test.x, expected)
    torch.testing.assert_close(features.test.y, digits.test.y)
    again = extract(digits, second)
    assert second.calls == 0, "the cache should have answered"
    assert again.key == features.key
    assert extract(digits, other).key != features.key
    assert other.calls > 0, "other weights are other features"


def test_extraction_that_was_stopped_goes_on() -> None:
    digits, told = data.load("digits"), []
    stopped, whole, again = Corners(), Corners("corners/2"), Corners()
    expected = extract(digits, whole)

    def stop(done: int, of: int) -> None:
        told.append(done)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract(digits, stopped, stop)
    found = extract(digits, again, lambda done, of: told.append(of - done))
    assert again.calls == whole.calls - stopped.calls
    assert stopped.calls == 2
    assert told[:2] == [64, 128]
    assert told[-1] == 0
    for part, split in found.parts.items():
        torch.testing.assert_close(split.x, expected.parts[part].x, rtol=0, atol=0)


def test_heads_train_on_features() -> None:
    run = train(extract(data.load("digits"), Corners()), method="lls", epochs=3)
    assert run.config.model == "mlp-128"
    assert run.result["test"]["accuracy"] > 0.2


def test_the_wrong_kind_of_data() -> None:
    with pytest.raises(ValueError, match="`dataset` of extract must be of kind 'images'"):
        extract(replace(data.load("digits"), kind="table"), Corners())


@pytest.mark.slow
def test_efficientnet_features_of_digits() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    run = train(
        "digits", backbone="efficientnet-lite0", limit=20, epochs=1, data_options={"validation": 0.02, "test": 0.02}
    )
    assert run.preprocessing["input_shape"] == [1280]
