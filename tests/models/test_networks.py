"""Every own network: shapes, gradients, repeatability, copies, number formats."""

import copy
import io
import pickle

import pytest
import torch
from torch import Tensor, nn

from labelspace.models import WITH_MAP, build, names
from labelspace.models.network import Network

IMAGE_NAMES = [name for name in names() if name.startswith(("cnn", "lenet", "alexnet", "resnet", "wrn", "bottleneck"))]
DEEP = [name for name in IMAGE_NAMES if name.startswith(("resnet", "wrn")) and name != "resnet8-small"]
SMALL = [name for name in IMAGE_NAMES if name not in (*DEEP, "bottleneck-18")]
TEXT = {"text-bag": {"vocabulary": 30, "width": 8}, "text-transformer": {"vocabulary": 30, "width": 8, "layers": 1}}
CASES = [
    *((name, (1, 28, 28), {}) for name in SMALL),
    *((name, shape, {"width": 2}) for name in DEEP for shape in ((1, 28, 28), (1, 8, 8))),
    *((name, (3, 64, 64), {"width": 4}) for name in ("resnet8", "resnet18", "resnet50", "wrn-28-12")),
    *((name, (3, 32, 32), {}) for name in SMALL),
    *((name, (3, 64, 64), {}) for name in SMALL),
    *((name, (1, 8, 8), {}) for name in (*SMALL, "bottleneck-18", "resnet18")),
    ("resnet18", (3, 32, 32), {"width": 4}),
    ("resnet18", (3, 65, 72), {"width": 4}),
    ("resnet50", (3, 33, 31), {"width": 4, "shortcut": "pad"}),
    ("resnet8-small", (3, 33, 31), {"shortcut": "projection"}),
    ("resnet8-small", (3, 33, 31), {}),
    ("lenet", (3, 40, 20), {}),
    ("cnn-5x5", (1, 28, 28), {"hidden": 7}),
    *((name, shape, {}) for name in ("linear", "mlp", "mlp-32-2") for shape in ((13,), (1, 8, 8))),
    *((name, (12,), options) for name, options in TEXT.items()),
]


def batch(shape: tuple[int, ...], name: str, count: int = 4) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    if name.startswith("text"):
        return torch.randint(0, 30, (count, *shape), generator=generator)
    return torch.randn(count, *shape, generator=generator)


def seeded(name: str, shape: tuple[int, ...], seed: int = 0, **options: object) -> Network:
    torch.manual_seed(seed)
    return build(name, shape, 5, **options)


@pytest.mark.parametrize(("name", "shape", "options"), CASES)
def test_output_and_features(name: str, shape: tuple[int, ...], options: dict[str, object]) -> None:
    model = seeded(name, shape, **options)
    output, features = model(batch(shape, name))
    assert output.shape == (4, 5)
    assert features.shape == (4, model.feature_dim)
    assert features.dtype == torch.float32
    assert torch.isfinite(output).all()
    torch.testing.assert_close(output, model.head(features))


@pytest.mark.parametrize(("name", "shape", "options"), CASES)
def test_every_parameter_gets_a_gradient(name: str, shape: tuple[int, ...], options: dict[str, object]) -> None:
    # a ReLU can be dead from the start, hence the second and third seed
    for seed in range(3):
        model = seeded(name, shape, seed, **options)
        output, _ = model(batch(shape, name, 8))
        (output * torch.randn(output.shape)).sum().backward()
        gradients = {key: parameter.grad for key, parameter in model.named_parameters()}
        assert all(gradient is not None for gradient in gradients.values())
        still = [key for key, gradient in gradients.items() if gradient is not None and not gradient.any()]
        if not still:
            return
    pytest.fail(f"no gradient reaches {still}")


@pytest.mark.parametrize("name", [*SMALL, "mlp-32-2", "text-bag", "text-transformer"])
def test_weights_depend_on_the_global_seed_only(name: str) -> None:
    shape = (12,) if name.startswith("text") else (1, 8, 8)
    one, same, other = (seeded(name, shape, seed, **TEXT.get(name, {})).state_dict() for seed in (1, 1, 2))
    for key in one:
        torch.testing.assert_close(one[key], same[key], rtol=0, atol=0)
    assert any(not torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("name", [*SMALL, "mlp-32-2", "text-bag", "text-transformer"])
def test_copies_are_equal(name: str) -> None:
    shape = (12,) if name.startswith("text") else (1, 8, 8)
    model = seeded(name, shape, **TEXT.get(name, {})).eval()
    x = batch(shape, name)
    expected = model(x)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        torch.testing.assert_close(twin(x), expected, rtol=0, atol=0)
        assert twin.feature_dim == model.feature_dim
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    fresh = seeded(name, shape, 9, **TEXT.get(name, {})).eval()
    fresh.load_state_dict(torch.load(file, weights_only=True))
    torch.testing.assert_close(fresh(x), expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", [*SMALL, "linear", "mlp-32-2"])
def test_double_precision_and_channels_last(name: str) -> None:
    model = seeded(name, (3, 32, 32)).double().eval()
    x = batch((3, 32, 32), name).double()
    output, features = model(x)
    assert output.dtype == features.dtype == torch.float64
    other = model.to(memory_format=torch.channels_last)(x.to(memory_format=torch.channels_last))
    torch.testing.assert_close(other, (output, features))


@pytest.mark.parametrize("name", list(TEXT))
def test_text_in_double_precision(name: str) -> None:
    output, features = seeded(name, (12,), **TEXT[name]).double()(batch((12,), name))
    assert output.dtype == features.dtype == torch.float64


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


def test_the_bag_does_not_see_the_order() -> None:
    model = seeded("text-bag", (4,), vocabulary=9)
    torch.testing.assert_close(model(torch.tensor([[1, 2, 3, 0]])), model(torch.tensor([[3, 0, 1, 2]])))


def test_the_transformer_sees_the_order() -> None:
    model = seeded("text-transformer", (4,), vocabulary=9, dropout=0.0)
    one, other = model(torch.tensor([[1, 2, 3, 0]]))[0], model(torch.tensor([[3, 2, 1, 0]]))[0]
    assert (one - other).abs().max() > 1e-4


def test_the_border_of_lenet_is_that_of_a_padded_convolution() -> None:
    model = seeded("lenet", (1, 28, 28))
    x = batch((1, 28, 28), "lenet")
    border, convolution = model.body[0], model.body[1]  # type: ignore[index]
    padded = nn.functional.conv2d(x, convolution.weight, convolution.bias, padding=2)
    torch.testing.assert_close(convolution(border(x)), padded)


def test_shortcuts_without_parameters() -> None:
    pad = build("resnet8-small", (3, 8, 8), 5).body[4].shortcut  # type: ignore[index]
    x = torch.arange(2 * 16 * 5 * 5, dtype=torch.float32).reshape(2, 16, 5, 5)
    y = pad(x)
    assert y.shape == (2, 32, 3, 3)
    torch.testing.assert_close(y[:, 8:24], x[:, :, ::2, ::2])
    assert not y[:, :8].any()
    assert not y[:, 24:].any()


def test_a_bottleneck_that_can_be_drawn_stays_linear() -> None:
    x = torch.randn(200, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    _, drawn = seeded("mlp-8-3", (1, 8, 8), 0)(x)
    _, wider = seeded("mlp-8-4", (1, 8, 8), 0)(x)
    assert (drawn < 0).any()
    assert (wider >= 0).all()


def test_the_last_map_is_averaged_over_windows() -> None:
    model = seeded("resnet18", (3, 64, 64), width=4).double().eval()
    x = batch((3, 64, 64), "resnet18", 2).double()
    *body, _, _ = model.body  # type: ignore[misc]
    expected = nn.functional.avg_pool2d(nn.Sequential(*body)(x), 4)
    assert expected.shape == (2, 32, 2, 2)
    torch.testing.assert_close(model(x)[1], expected.flatten(1))


def normalised(x: Tensor, convolution: nn.Conv2d, norm: nn.BatchNorm2d, stride: int = 1) -> Tensor:
    padding = convolution.kernel_size[0] // 2
    y = nn.functional.conv2d(x, convolution.weight, stride=stride, padding=padding)
    return nn.functional.batch_norm(y, norm.running_mean, norm.running_var, norm.weight, norm.bias)


def test_a_bottleneck_has_its_stride_in_the_middle() -> None:
    block = seeded("resnet50", (3, 16, 16), width=4).double().eval().body[6]  # type: ignore[index]
    x = batch((16, 8, 8), "resnet50").double()
    middle = torch.relu(normalised(x, block.convolution1, block.norm1))
    middle = torch.relu(normalised(middle, block.convolution2, block.norm2, stride=2))
    change = normalised(middle, block.convolution3, block.norm3)
    assert change.shape == (4, 32, 4, 4)
    torch.testing.assert_close(block(x), torch.relu(change + normalised(x, *block.shortcut, stride=2)))


def test_a_wide_block_is_activated_before_it_convolves() -> None:
    block = seeded("wrn-28-12", (3, 16, 16), width=1).double().eval().body[1]  # type: ignore[index]
    x = batch((1, 8, 8), "wrn").double()
    active = torch.relu(x / (1 + block.norm1.eps) ** 0.5)  # batch norm at its start
    middle = nn.functional.conv2d(active, block.convolution1.weight, padding=1)
    change = nn.functional.conv2d(
        torch.relu(middle / (1 + block.norm2.eps) ** 0.5), block.convolution2.weight, padding=1
    )
    expected = change + nn.functional.conv2d(active, block.projection.weight)
    torch.testing.assert_close(block(x), expected)


@pytest.mark.parametrize("name", [name for name in WITH_MAP if name in IMAGE_NAMES])
@pytest.mark.parametrize("side", [32, 64])
def test_the_output_is_the_mean_of_what_the_head_says_of_each_position(name: str, side: int) -> None:
    model = seeded(name, (3, side, side), **({"width": 2} if name in DEEP else {}))
    assert model.has_map((3, side, side))
    assert model.training
    x = batch((3, side, side), name, 2)
    output, scores = model.eval().at_positions(x)
    assert scores.shape[:2] == (2, 5)
    assert scores.ndim == 4
    torch.testing.assert_close(scores.mean(dim=(2, 3)), output, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(output, model(x)[0], rtol=0, atol=0)
    assert not any(module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("name", ["lenet", "cnn-5x5", "cnn-3-layer-0", "resnet8"])
def test_features_of_more_than_one_mean_are_no_map(name: str) -> None:
    assert not seeded(name, (3, 32, 32), **({"width": 2} if name in DEEP else {})).has_map((3, 32, 32))


def test_windows_that_cover_everything_are_a_map() -> None:
    assert seeded("resnet18", (3, 32, 32), width=2).has_map((3, 32, 32))
    assert not seeded("resnet18", (3, 64, 64), width=2).has_map((3, 64, 64))
    assert seeded("resnet18", (3, 64, 64), width=2, pooling="global").has_map((3, 64, 64))


def test_layers_behind_the_pooling_leave_no_map() -> None:
    pooled = [nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    assert Network(nn.Sequential(*pooled), 4, 3).has_map((1, 8, 8))
    assert not Network(nn.Sequential(*pooled, nn.Linear(4, 4)), 4, 3).has_map((1, 8, 8))
    assert not Network(nn.Sequential(*pooled, nn.Linear(4, 6)), 6, 3).has_map((1, 8, 8))
    assert not Network(nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten()), 4, 3).has_map((1, 8, 8))
