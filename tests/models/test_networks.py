"""Every own network: shapes, gradients, repeatability, copies, number formats."""

import copy
import io
import pickle

import pytest
import torch
from torch import Tensor, nn

from labelspace.models import names
from small_networks import batch, seeded

IMAGE_NAMES = [name for name in names() if name.startswith(("cnn", "lenet", "alexnet", "resnet", "wrn", "bottleneck"))]
DEEP = [name for name in IMAGE_NAMES if name.startswith(("resnet", "wrn")) and name != "resnet8-small"]
SMALL = [name for name in IMAGE_NAMES if name not in (*DEEP, "bottleneck-18")]
TEXT = {
    "text-tfidf": {"vocabulary": 30, "width": 8},
    "text-bag": {"vocabulary": 30, "width": 8},
    "text-transformer": {"vocabulary": 30, "width": 8, "layers": 1},
}
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
    *((name, shape, {}) for name in ("linear", "mlp", "mlp-32-2", "table") for shape in ((13,), (1, 8, 8))),
    *((name, (12,), options) for name, options in TEXT.items()),
]


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


@pytest.mark.parametrize("name", [*SMALL, "mlp-32-2", "table", *TEXT])
def test_weights_depend_on_the_global_seed_only(name: str) -> None:
    shape = (12,) if name.startswith("text") else (1, 8, 8)
    one, same, other = (seeded(name, shape, seed, **TEXT.get(name, {})).state_dict() for seed in (1, 1, 2))
    for key in one:
        torch.testing.assert_close(one[key], same[key], rtol=0, atol=0)
    assert any(not torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("name", [*SMALL, "mlp-32-2", "table", *TEXT])
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


@pytest.mark.parametrize("name", [*SMALL, "linear", "mlp-32-2", "table"])
def test_double_precision_and_channels_last(name: str) -> None:
    model = seeded(name, (3, 32, 32)).double().eval()
    x = batch((3, 32, 32), name).double()
    output, features = model(x)
    assert output.dtype == features.dtype == torch.float64
    other = model.to(memory_format=torch.channels_last)(x.to(memory_format=torch.channels_last))
    torch.testing.assert_close(other, (output, features))


def normalised(x: Tensor, convolution: nn.Conv2d, norm: nn.BatchNorm2d, stride: int = 1) -> Tensor:
    padding = convolution.kernel_size[0] // 2
    y = nn.functional.conv2d(x, convolution.weight, stride=stride, padding=padding)
    return nn.functional.batch_norm(y, norm.running_mean, norm.running_var, norm.weight, norm.bias)
