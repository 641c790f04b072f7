"""Networks of transformers."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
import torch

from labelspace.models import build


def working(name: str) -> ModuleType:
    """Return a module, or skip: it may be missing, or broken by a torchvision that does not match torch."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        pytest.skip(f"{name} cannot be imported: {error}")


def working_transformers() -> ModuleType:
    working("transformers.modeling_utils")  # transformers itself imports lazily
    return working("transformers")


BERT = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 30}


def test_text_by_architecture() -> None:
    working_transformers()
    torch.manual_seed(0)
    model = build("hf:bert", (6,), 3, **BERT).eval()
    tokens = torch.tensor([[4, 7, 9, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    output, features = model(tokens)
    assert output.shape == (2, 3)
    assert features.shape == (2, 16)
    assert torch.isfinite(output).all()
    torch.testing.assert_close(model(tokens[:1, :3]), (output[:1], features[:1]))
    output.sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_text_from_a_folder(tmp_path: Path) -> None:
    transformers = working_transformers()
    saved = transformers.AutoModel.from_config(transformers.AutoConfig.for_model("bert", **BERT))
    saved.save_pretrained(tmp_path)
    model = build(f"hf:{tmp_path}", (6,), 3)
    weight = model.body.model.embeddings.word_embeddings.weight  # type: ignore[union-attr]
    torch.testing.assert_close(weight, saved.embeddings.word_embeddings.weight)
    assert model.training
    fresh = build(f"hf:{tmp_path}", (6,), 3, pretrained=False)
    assert not torch.equal(fresh.body.model.embeddings.word_embeddings.weight, weight)  # type: ignore[union-attr, arg-type]


def test_images_by_architecture() -> None:
    working_transformers()
    vit = build("hf:vit", (3, 32, 32), 3, **{key: BERT[key] for key in BERT if key != "vocab_size"}, patch_size=8)
    assert vit(torch.zeros(2, 3, 32, 32))[1].shape == (2, 16)
    convnet = build("hf:resnet", (1, 32, 32), 3, hidden_sizes=[8, 8], depths=[1, 1], embedding_size=8)
    assert convnet(torch.zeros(2, 1, 32, 32))[1].shape == (2, 8)


def test_transformers_unknown_name() -> None:
    working_transformers()
    with pytest.raises(ValueError, match="Models are not downloaded: save one to a folder first"):
        build("hf:some/model", (6,), 3)
