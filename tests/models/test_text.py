"""Networks for texts: padding changes nothing, and only one of them sees the order."""

import pytest
import torch
from torch import nn

from small_networks import batch, seeded

TEXT = {
    "text-tfidf": {"vocabulary": 30, "width": 8},
    "text-bag": {"vocabulary": 30, "width": 8},
    "text-transformer": {"vocabulary": 30, "width": 8, "layers": 1},
}


@pytest.mark.parametrize("name", list(TEXT))
def test_text_in_double_precision(name: str) -> None:
    output, features = seeded(name, (12,), **TEXT[name]).double()(batch((12,), name))
    assert output.dtype == features.dtype == torch.float64


def test_layers_of_the_text_transformer_start_differently() -> None:
    layers = seeded("text-transformer", (12,), vocabulary=30, layers=2).body.layers
    assert isinstance(layers, nn.ModuleList)
    assert not torch.equal(layers[0].linear1.weight, layers[1].linear1.weight)  # type: ignore[arg-type, union-attr]


@pytest.mark.parametrize("name", list(TEXT))
@pytest.mark.parametrize("training", [True, False])
def test_padding_changes_nothing(name: str, training: bool) -> None:
    options = TEXT[name] | ({"dropout": 0.0} if name == "text-transformer" else {})
    model = seeded(name, (12,), **options).train(training)
    tokens = torch.tensor([[4, 7, 9], [5, 6, 0], [0, 0, 0]])
    padded = torch.cat([tokens, torch.zeros(3, 9, dtype=torch.long)], dim=1)
    short, long = model(tokens), model(padded)
    torch.testing.assert_close(short, long)
    assert torch.isfinite(short[0]).all()
    with torch.no_grad():  # torch takes another path without gradients
        torch.testing.assert_close(model(padded), long)


@pytest.mark.parametrize("name", ["text-bag", "text-tfidf"])
def test_a_bag_does_not_see_the_order(name: str) -> None:
    model = seeded(name, (4,), vocabulary=9)
    torch.testing.assert_close(model(torch.tensor([[1, 2, 3, 0]])), model(torch.tensor([[3, 0, 1, 2]])))


def test_the_transformer_sees_the_order() -> None:
    model = seeded("text-transformer", (4,), vocabulary=9, dropout=0.0)
    one, other = model(torch.tensor([[1, 2, 3, 0]]))[0], model(torch.tensor([[3, 2, 1, 0]]))[0]
    assert (one - other).abs().max() > 1e-4
