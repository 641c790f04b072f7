"""Names, counts of parameters, and messages for bad input."""

import re

import pytest
import torch
from torch import nn

from labelspace.models import build, count_parameters, names

TEXT_OPTIONS = {"vocabulary": 10}


@pytest.mark.parametrize(
    ("name", "published"),
    [("bottleneck-3-0", 9_718), ("bottleneck-3-1", 133_462), ("bottleneck-9", 321_622), ("bottleneck-18", 603_862)],
)
def test_bottleneck_counts_are_those_of_table_3(name: str, published: int) -> None:
    assert count_parameters(build(name, (3, 32, 32), 10), running_statistics=True) == published


@pytest.mark.parametrize(
    ("name", "shape", "known"),
    [
        ("resnet8-small", (3, 32, 32), 75_290),  # resnet32 less four of its 97,216 for one block in each stage
        ("resnet32", (3, 32, 32), 464_154),
        ("resnet110", (3, 32, 32), 464_154 + 13 * 97_216),  # thirteen more blocks in each stage
        ("resnet18", (3, 32, 32), 11_173_962),
        ("resnet34", (3, 32, 32), 21_282_122),
        # torchvision's ImageNet networks, 25,557,032 and 60,192,808, with a 3×3 stem and 10 classes instead of 1000
        ("resnet50", (3, 32, 32), 25_557_032 - (49 - 9) * 3 * 64 - 990 * 2049),
        ("resnet152", (3, 32, 32), 60_192_808 - (49 - 9) * 3 * 64 - 990 * 2049),
        ("wrn-28-10", (3, 32, 32), 36_479_194),
        ("alexnet-small", (3, 32, 32), 2_472_266),
        ("lenet", (1, 28, 28), 61_706),
        ("lenet", (3, 32, 32), 62_006),
        ("cnn-5x5", (1, 28, 28), 3_274_634),
        # by hand, 28×28 pooled to 7×7: 9·2+2, 9·2·2+2, 98·2+2, 2·10+10
        ("cnn-3-layer-0", (1, 28, 28), 20 + 38 + 198 + 30),
        # pooled to 3×3: 9·32+32, twice 9·32·32+32, 288·64+64, twice 64·64+64, 64·10+10
        ("cnn-6-layer-2", (1, 28, 28), 320 + 2 * 9_248 + 18_496 + 2 * 4_160 + 650),
        ("mlp-500-500", (784,), 785 * 500 + 501 * 500 + 501 * 10),
        ("mlp", (784,), 785 * 500 + 501 * 500 + 501 * 10),
        ("linear", (1, 8, 8), 650),
    ],
)
def test_counts(name: str, shape: tuple[int, ...], known: int) -> None:
    assert counted(name, shape, 10) == known


def counted(name: str, shape: tuple[int, ...], classes: int, **options: object) -> int:
    with torch.device("meta"):  # nothing is computed, so the largest takes no time either
        return count_parameters(build(name, shape, classes, **options))


@pytest.mark.parametrize(
    ("name", "shape", "classes", "published"),
    [
        ("resnet18", (3, 64, 64), 200, 11_578_632),  # learnable smoothing, Table 9
        ("resnet101", (3, 64, 64), 200, 44_131_080),
        ("resnet8", (3, 32, 32), 10, 4_911_754),  # label embedding, the published code with one head
        ("resnet18-128", (3, 32, 32), 100, 44_755_172),  # the same, for CIFAR-100
        ("resnet110", (3, 32, 32), 10, 1_727_962),  # mixed cross-entropy, which takes it from He et al.
        ("wrn-28-12", (3, 32, 32), 10, 52_517_850),
    ],
)
def test_residual_networks_are_those_of_the_papers(
    name: str, shape: tuple[int, ...], classes: int, published: int
) -> None:
    assert counted(name, shape, classes) == published


def convolution(before: int, after: int, size: int) -> int:
    """Return the parameters of a convolution without bias and of the batch norm after it."""
    return before * after * size * size + 2 * after


def basic_stages(width: int, blocks: tuple[int, ...]) -> int:
    """Return those of a stem and of stages of basic blocks with projections, layer by layer."""
    total, before = convolution(3, width, 3), width
    for stage, count in enumerate(blocks):
        after = width * 2**stage
        for _ in range(count):
            total += convolution(before, after, 3) + convolution(after, after, 3)
            total += convolution(before, after, 1) if before != after else 0
            before = after
    return total


def test_residual_networks_by_hand() -> None:
    # 8: stem 3,712, blocks 295,424, 919,040 and 3,673,088; a 2×2 map of 512 is 2,048 features
    assert basic_stages(128, (1, 1, 1)) == 3_712 + 295_424 + 919_040 + 3_673_088
    assert counted("resnet8", (3, 32, 32), 10) == basic_stages(128, (1, 1, 1)) + 2048 * 10 + 10
    # 18: one mean per channel at 32×32, a 2×2 map at 64×64
    assert counted("resnet18", (3, 32, 32), 200) == basic_stages(64, (2, 2, 2, 2)) + 512 * 200 + 200
    assert counted("resnet18", (3, 64, 64), 200) == 11_168_832 + 2048 * 200 + 200
    assert counted("resnet18-128", (3, 32, 32), 100) == basic_stages(128, (2, 2, 2, 2)) + 1024 * 100 + 100
    # 101: the ImageNet network of torchvision has 44,549,160 with a 7×7 stem and a head of 2048 × 1000 + 1000
    body = 44_549_160 - (49 - 9) * 3 * 64 - 2049 * 1000
    assert counted("resnet101", (3, 64, 64), 200) == body + 4 * 2048 * 200 + 200


def test_wide_residual_networks_by_hand() -> None:
    # stem without batch norm; batch norm on the input of every convolution of a block, and one at the end
    total, before = 27 * 16, 16
    for after in (192, 384, 768):
        for _ in range(4):
            total += 2 * before + 9 * before * after + 2 * after + 9 * after * after
            total += before * after if before != after else 0
            before = after
    assert counted("wrn-28-12", (3, 32, 32), 10) == total + 2 * 768 + 768 * 10 + 10 == 52_517_850
    assert counted("wrn-28-12", (3, 64, 64), 10) == 52_517_850


@pytest.mark.parametrize(
    ("name", "shape", "features"),
    [
        ("resnet18", (3, 32, 32), 512),
        ("resnet18", (3, 64, 64), 512 * 4),
        ("resnet18", (3, 8, 8), 512),
        ("resnet18", (1, 28, 28), 512),
        ("resnet18", (3, 96, 64), 512 * 3 * 2),
        ("resnet18", (3, 72, 65), 512 * 2 * 2),  # maps of 9×9: two parts each way
        ("resnet50", (3, 64, 64), 2048 * 4),
        ("resnet8", (3, 16, 16), 512),
        ("resnet8", (1, 28, 28), 512),
        ("resnet8", (3, 64, 64), 512 * 16),
        ("resnet32", (3, 64, 64), 64),
        ("wrn-28-12", (3, 64, 64), 768),
    ],
)
def test_features_are_windows_of_four_by_four(name: str, shape: tuple[int, ...], features: int) -> None:
    with torch.device("meta"):
        assert build(name, shape, 5).feature_dim == features


def test_pooling_over_everything_is_an_option() -> None:
    assert counted("resnet18", (3, 64, 64), 10, pooling="global") == 11_173_962
    assert counted("resnet8", (3, 32, 32), 10, pooling="global") == basic_stages(128, (1, 1, 1)) + 512 * 10 + 10
    assert counted("resnet32", (3, 64, 64), 10, pooling="4x4") == 464_154 + 15 * 64 * 10


def test_shared_parameters_count_once() -> None:
    layer = nn.Linear(3, 3)
    assert count_parameters(nn.Sequential(layer, layer)) == 12


@pytest.mark.parametrize("name", [name for name in names() if name.startswith("cnn") and name != "cnn-5x5"])
def test_the_number_of_layers_is_in_the_name(name: str) -> None:
    weights = [module for module in build(name, (1, 28, 28), 10).body.modules() if hasattr(module, "weight")]
    assert len(weights) == int(name.split("-")[1])


def test_small_digits_are_pooled_twice_only() -> None:
    def pools(name: str) -> int:
        return sum(isinstance(module, nn.MaxPool2d) for module in build(name, (1, 8, 8), 10).modules())

    assert pools("cnn-6-layer-0") == pools("cnn-3-layer-0") == pools("cnn-5x5") == 2


def test_names_are_buildable_or_patterns() -> None:
    listed = names()
    assert len(set(listed)) == len(listed)
    for name in listed:
        if name.endswith((":NAME", "-H", "-HxL")) or name == "efficientnet-lite0" or name.startswith("given-"):
            continue
        shape = (6,) if name.startswith(("text", "seq2seq")) else (3, 16, 16)
        options = {"text": TEXT_OPTIONS, "seq2seq": {**TEXT_OPTIONS, "targets": 2}}.get(name.partition("-")[0], {})
        with torch.device("meta"):
            build(name, shape, 2, **options)


def test_names_of_the_papers_are_listed() -> None:
    wanted = {"resnet8", "resnet18", "resnet34", "resnet50", "resnet101", "resnet18-128", "resnet110", "wrn-28-12"}
    assert wanted | {"resnet8-small", "resnet32"} <= set(names())


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("resnet8small", (3, 8, 8), "Did you mean 'resnet8-small'?"),
        ("wrn-28-11", (3, 8, 8), "Did you mean 'wrn-28-1"),
        ("resnet-18", (3, 8, 8), "Got 'resnet-18'. Did you mean 'resnet18'?"),
        ("cnn-6-layer-7", (3, 8, 8), "Did you mean 'cnn-6-layer"),
        ("zzz", (3, 8, 8), "See labelspace.models.names()."),
        ("mlp-", (3,), "must be 'mlp-W1-W2-…' with one positive whole number for each hidden layer. Got 'mlp-'"),
        ("mlp-12-0", (3,), "For example 'mlp-500-500' or 'mlp-32-2'."),
        ("mlp-12x", (3,), "'mlp-W1-W2-…'"),
        ("timm:", (3, 8, 8), "must be the name of a model. Got 'timm:'"),
        ("lenet", (64,), "must be (channels, height, width): it is a network for images. Got (64,). For tables"),
        ("lenet", (28, 28), "add the channel: (1, 28, 28)"),
        ("text-bag", (3, 8, 8), "must be (length,): it is a network for token ids. Got (3, 8, 8)."),
        ("linear", (), "must be the shape of one sample"),
        ("linear", (0,), "Leave the number of samples out"),
        ("linear", (2.5,), "must be the shape of one sample"),
        ("text-bag", (5,), "`vocabulary` of models.build('text-bag') must be the number of token ids"),
    ],
)
def test_bad_names_and_shapes(name: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        build(name, shape, 3)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("linear", {"dropout": 0.5}, "`options` of models.build('linear') must be left out: this model has none."),
        ("mlp-3", {"widths": (4,)}, "must be left out: this model has none."),
        ("resnet8", {"widht": 4}, "Did you mean 'width'?"),
        ("resnet8", {"shortcut": "none"}, "`shortcut` of models.build('resnet8') must be one of 'pad', 'projection'"),
        ("resnet8", {"pooling": "8x8"}, "`pooling` of models.build('resnet8') must be one of '4x4', 'global'"),
        ("wrn-28-12", {"width": 0}, "`width` of models.build('wrn-28-12') must be a whole number of at least 1."),
        ("resnet8", {"width": 0}, "`width` of models.build('resnet8') must be a whole number of at least 1. Got 0."),
    ],
)
def test_bad_options(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        build(name, (3, 8, 8), 3, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary": 1}, "a whole number of at least 2. Got 1."),
        ({"vocabulary": 9, "heads": 3}, "must be a multiple of `heads`, 3. Got 64."),
        ({"vocabulary": 9, "dropout": 1.0}, "`dropout` of models.build('text-transformer') must be a number in [0, 1)"),
    ],
)
def test_bad_options_of_the_transformer(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        build("text-transformer", (5,), 3, **options)


def test_bad_kinds() -> None:
    with pytest.raises(TypeError, match="`name` of models.build must be the name of a model"):
        build(3, (3,), 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`input_shape` of models.build"):
        build("linear", 3, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`output_dim` of models.build"):
        build("linear", (3,), 3.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`output_dim` of models.build"):
        build("linear", (3,), 0)


def test_texts_longer_than_the_transformer() -> None:
    model = build("text-transformer", (4,), 3, vocabulary=9)
    with pytest.raises(ValueError, match=re.escape("at most 4 tokens. Got shape (2, 5)")):
        model(torch.ones(2, 5, dtype=torch.long))


def test_a_shape_may_be_a_size() -> None:
    assert build("linear", torch.zeros(7, 4).shape[1:], 3).feature_dim == 4
