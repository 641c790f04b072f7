"""Networks without shortcuts."""

import pytest
import torch
from torch import Tensor, nn

from small_networks import batch, seeded


@pytest.mark.parametrize("name", ["linear", "mlp-8-4"])
def test_many_at_once_by_vmap(name: str) -> None:
    models = [seeded(name, (1, 3, 3), seed) for seed in range(3)]
    parameters, buffers = torch.func.stack_module_state(models)
    x = batch((1, 3, 3), name)

    def call(parameters: dict[str, Tensor], buffers: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        result: tuple[Tensor, Tensor] = torch.func.functional_call(models[0], (parameters, buffers), (x,))
        return result

    output, features = torch.func.vmap(call)(parameters, buffers)
    for index, model in enumerate(models):
        torch.testing.assert_close((output[index], features[index]), model(x))


def test_the_border_of_lenet_is_that_of_a_padded_convolution() -> None:
    model = seeded("lenet", (1, 28, 28))
    x = batch((1, 28, 28), "lenet")
    border, convolution = model.body[0], model.body[1]  # type: ignore[index]
    padded = nn.functional.conv2d(x, convolution.weight, convolution.bias, padding=2)
    torch.testing.assert_close(convolution(border(x)), padded)


def test_a_bottleneck_that_can_be_drawn_stays_linear() -> None:
    x = torch.randn(200, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    _, drawn = seeded("mlp-8-3", (1, 8, 8), 0)(x)
    _, wider = seeded("mlp-8-4", (1, 8, 8), 0)(x)
    assert (drawn < 0).any()
    assert (wider >= 0).all()
