"""Networks of other libraries: where they are installed and work, and what is said where they are not."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from labelspace.models import build
from labelspace.models.network import content_hash, load_weights, read_weights


def working(name: str) -> ModuleType:
    """Return a module, or skip: it may be missing, or broken by a torchvision that does not match torch."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        pytest.skip(f"{name} cannot be imported: {error}")


@pytest.mark.parametrize("channels", [1, 3])
def test_timm(channels: int) -> None:
    working("timm")
    torch.manual_seed(0)
    model = build("timm:resnet18", (channels, 32, 32), 4)
    output, features = model(torch.randn(2, channels, 32, 32))
    assert output.shape == (2, 4)
    assert features.shape == (2, 512)
    assert model.training
    torch.manual_seed(0)
    again = build("timm:resnet18", (channels, 32, 32), 4).state_dict()
    for key, value in model.state_dict().items():
        if "running" not in key and "batches" not in key:  # the call above moved them
            torch.testing.assert_close(again[key], value, rtol=0, atol=0)


def test_timm_with_a_fixed_size_of_image() -> None:
    working("timm")
    model = build("timm:vit_tiny_patch16_224", (3, 32, 32), 4, depth=1)
    assert model(torch.zeros(2, 3, 32, 32))[1].shape == (2, 192)


def test_timm_weights_from_a_file(tmp_path: Path) -> None:
    timm = working("timm")
    source = timm.create_model("resnet18", num_classes=7)
    save_file(source.state_dict(), tmp_path / "weights.safetensors")
    model = build("timm:resnet18", (3, 32, 32), 4, weights=tmp_path / "weights.safetensors")
    torch.testing.assert_close(model.body.conv1.weight, source.conv1.weight)  # type: ignore[union-attr]


def test_timm_unknown_name() -> None:
    working("timm")
    with pytest.raises(ValueError, match=re.escape("Did you mean 'resnet18'")):
        build("timm:resnet-18", (3, 32, 32), 4)


@pytest.mark.parametrize(
    ("name", "width"), [("resnet18", 512), ("squeezenet1_0", None), ("mobilenet_v3_small", 1024), ("googlenet", 1024)]
)
def test_torchvision(name: str, width: int | None) -> None:
    working("torchvision")
    if width is None:
        with pytest.raises(ValueError, match="must be a network with a linear classifier"):
            build(f"torchvision:{name}", (3, 64, 64), 4)
        return
    model = build(f"torchvision:{name}", (1, 64, 64), 4)
    output, features = model(torch.zeros(2, 1, 64, 64))
    assert output.shape == (2, 4)
    assert features.shape == (2, width)


def test_torchvision_unknown_name() -> None:
    working("torchvision")
    with pytest.raises(ValueError, match="Did you mean 'resnet18'"):
        build("torchvision:resnet18x", (3, 64, 64), 4)


def working_transformers() -> ModuleType:
    working("transformers.modeling_utils")  # transformers itself imports lazily
    return working("transformers")


BERT = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 30}


def fake(folder: Path, name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package in front of the installed one for the time of a test."""
    (folder / f"{name}.py").write_text(code)
    for loaded in [key for key in sys.modules if key.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_a_torchvision_that_does_not_match_is_explained(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, library, "raise RuntimeError('operator torchvision::nms does not exist')", monkeypatch)
    with pytest.raises(ImportError, match="the installed torchvision does not match the installed torch") as caught:
        build(f"{library}:resnet18", (3, 32, 32), 4)
    assert "operator torchvision::nms does not exist" in str(caught.value)
    assert "labelspace doctor" in str(caught.value)


def test_a_wrapped_torchvision_error_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "try:\n    raise RuntimeError('operator torchvision::nms does not exist')\n"
        "except RuntimeError as error:\n    raise ModuleNotFoundError('Could not import module') from error\n"
    )
    fake(tmp_path, "transformers", code, monkeypatch)
    with pytest.raises(ImportError, match="does not match the installed torch"):
        build("hf:bert", (6,), 3)


@pytest.mark.parametrize(
    ("library", "extra"), [("timm", "timm"), ("torchvision", "torchvision"), ("transformers", "hf")]
)
def test_a_missing_package_names_the_extra(
    library: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, library, f"raise ModuleNotFoundError('no', name={library!r})", monkeypatch)
    name = "hf:bert" if library == "transformers" else f"{library}:resnet18"
    with pytest.raises(ImportError, match=re.escape(f'pip install "labelspace[{extra}]"')):
        build(name, (3, 32, 32), 4)


def test_weights_from_files(tmp_path: Path) -> None:
    source, target = nn.Linear(3, 2), nn.Linear(3, 2)
    torch.save({"state_dict": {**source.state_dict(), "old_head": torch.ones(1)}}, tmp_path / "weights.pt")
    load_weights("a test", target, tmp_path / "weights.pt")
    torch.testing.assert_close(target.weight, source.weight)


def test_weights_that_do_not_fit(tmp_path: Path) -> None:
    save_file({"weight": torch.ones(2, 3)}, tmp_path / "missing.safetensors")
    with pytest.raises(ValueError, match="must be a file with every tensor of the model. Got none named 'bias'"):
        load_weights("a test", nn.Linear(3, 2), tmp_path / "missing.safetensors")
    save_file({"weight": torch.ones(2, 4), "bias": torch.ones(2)}, tmp_path / "wide.safetensors")
    with pytest.raises(ValueError, match=re.escape("Got 'weight' of shape (2, 4)")):
        load_weights("a test", nn.Linear(3, 2), tmp_path / "wide.safetensors")


def test_weights_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be the path of a file of weights"):
        read_weights("a test", tmp_path / "absent.pt")
    (tmp_path / "text.safetensors").write_text("not weights")
    (tmp_path / "text.pt").write_text("not weights")
    torch.save(nn.Linear(2, 2), tmp_path / "module.pt")  # a pickle that names code
    torch.save([1, 2], tmp_path / "list.pt")
    for name in ("text.safetensors", "text.pt", "module.pt", "list.pt"):
        with pytest.raises(ValueError, match=f"`weights` of a test must be a file of .*{name}"):
            read_weights("a test", tmp_path / name)


def test_the_hash_follows_the_content(tmp_path: Path) -> None:
    for name, content in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).write_text(content)
    one, same, other = (content_hash([tmp_path / name]) for name in "abc")
    assert one == same != other
    assert len(one) == 16
