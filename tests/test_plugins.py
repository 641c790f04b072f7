"""What installed packages offer is imported when it is asked for, and a broken one stands in nobody's way."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import labelspace
from labelspace import InputError, _plugins
from labelspace.cli.main import app
from labelspace.cli.train import _check_space

ENTRIES = "[labelspace.methods]\nbroken = no_such_place:Method\n[labelspace.models]\nbroken = breaking:network\n"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package whose method and model cannot be imported."""
    info = tmp_path / "labelspace_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: labelspace-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "breaking.py").write_text("raise RuntimeError('no such card\\nand more')\n")
    monkeypatch.syspath_prepend(tmp_path)
    _plugins._offered.cache_clear()
    yield
    monkeypatch.undo()
    _plugins._offered.cache_clear()


@pytest.mark.usefixtures("broken")
def test_a_broken_package_is_one_line_when_it_is_asked_for() -> None:
    assert "broken" in labelspace.methods()
    assert "broken" in labelspace.models.names()
    assert labelspace.make_criterion("uniform", 3).output_dim == 3
    with pytest.raises(
        InputError, match="of the package 'labelspace-broken', which fails: ModuleNotFoundError"
    ) as caught:
        labelspace.make_criterion("broken", 3)
    assert "\n" not in str(caught.value)
    with pytest.raises(
        InputError, match="of the package 'labelspace-broken', which fails: RuntimeError: no such card. R"
    ):
        labelspace.models.build("broken", (4,), 3)


@pytest.mark.usefixtures("broken")
def test_hints_and_lists_do_without_it() -> None:
    hint = _check_space("ordinal", "onehot", {})
    assert "semantic" in hint
    assert "broken" not in hint
    listed = CliRunner().invoke(app, ["methods"])
    assert listed.exit_code == 0
    lines = {line.split()[0]: line for line in listed.stdout.splitlines()}
    assert "the package 'labelspace-broken', which fails" in lines["broken"]
    assert "uniform" in lines


def test_a_key_follows_what_a_thing_does() -> None:
    assert _plugins.content_key(labelspace.UniformSmoothing) == _plugins.content_key(labelspace.UniformSmoothing)
    assert _plugins.content_key(labelspace.UniformSmoothing) != _plugins.content_key(labelspace.Focal)
    assert _plugins.code_key({"labelspace.methods": "lls", "labelspace.models": "linear"}) == ""


SCALE = 1.0  # a global, as in somebody's script


def scaled(input_shape: object, output_dim: int) -> nn.Module:
    return nn.Linear(output_dim, round(output_dim * SCALE))


def through_another(input_shape: object, output_dim: int) -> nn.Module:
    return scaled(input_shape, output_dim)


@pytest.mark.parametrize("factory", [scaled, through_another])
def test_a_global_that_a_function_uses_is_part_of_its_key(
    factory: Callable[..., nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_plugins, "BEGAN", time.time())
    before = _plugins.content_key(factory)
    assert _plugins.content_key(factory) == before
    monkeypatch.setitem(factory.__globals__, "SCALE", 2.0)
    assert _plugins.content_key(factory) != before
    monkeypatch.setitem(factory.__globals__, "SCALE", object())
    assert _plugins.content_key(factory) != _plugins.content_key(factory)


class Hidden(nn.Module):
    def __init__(self, factor: float, offset: float) -> None:
        super().__init__()
        self._factor = factor
        self.register_buffer("offset", torch.tensor(offset), persistent=False)


def test_what_a_module_hides_is_part_of_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plugins, "BEGAN", time.time())
    keys = [_plugins.content_key(Hidden(*values)) for values in ((1.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 3.0))]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_a_file_that_was_edited_since_has_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plugins, "BEGAN", 0.0)
    assert _plugins.content_key(scaled) != _plugins.content_key(scaled)


def test_recurrent_layers_have_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plugins, "BEGAN", time.time())
    layer = nn.LSTM(3, 4)
    assert _plugins.content_key(layer) == _plugins.content_key(layer)
