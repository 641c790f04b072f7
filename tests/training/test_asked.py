"""What people give to train, as one configuration."""

from pathlib import Path

import pytest
import torch
from torch import nn

from labelspace import InputError, ordinal
from labelspace.training.asked import asked, named_parts


def test_names_stay_names() -> None:
    config, dataset, spaces = asked("digits", Path("order.txt"), 0.2, {"method": "semantic", "label": "grade"})
    assert (config.data, config.space, config.method_options) == ("digits", "order.txt", {"smoothing": 0.2})
    assert (config.data_options, dataset, spaces) == ({"label": "grade"}, None, {})


def test_objects_are_kept_beside_it() -> None:
    space = ordinal(["a", "b"])
    options = {"method": "labelemb", "method_options": {"pretrained": space}, "model": nn.Linear(2, 2)}
    config, dataset, spaces = asked((torch.rand(20, 2), ["a", "b"] * 10), space, None, options)
    assert dataset is not None
    assert dataset.names == ("a", "b")
    assert spaces == {"pretrained": space}
    assert config.method_options == {"pretrained": "given in Python"}
    assert config.space is None
    assert config.model.startswith("given-Linear")
    assert named_parts({"model": "linear"}) == {}


def test_what_is_filled_in_is_not_for_people() -> None:
    with pytest.raises(InputError, match="`data_key` of train must be left out: it is filled in"):
        asked("digits", None, None, {"data_key": "x"})
