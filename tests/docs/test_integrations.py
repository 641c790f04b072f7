"""The code of the page runs as it stands, section by section."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
import torch

from integrations.torchvision_stand_in import stand_in

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
NEEDED = {
    "Hugging Face Trainer": ("transformers", "accelerate"),
    "Lightning": ("lightning",),
    "Accelerate": ("accelerate",),
    "skorch": ("skorch",),
    "timm": ("timm",),
    "torchmetrics": ("torchmetrics",),
    "TensorBoard, W&B, Trackio": ("tensorboard",),
    "Several processes, shards, checkpoints": (),
}


def test_every_section_with_code_is_known() -> None:
    found = {
        title: code for part in PAGE.split("\n## ")[1:] if "```python" in part for title, code in [part.split("\n", 1)]
    }
    assert found.keys() == NEEDED.keys()


@pytest.fixture
def alone() -> None:
    """Leave nothing of timm and of a torchvision that is none behind."""
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("timm", "torchvision")]:
        del sys.modules[name]
    sys.modules.pop("labelspace.integrations.timm", None)


@pytest.mark.filterwarnings("ignore:.*does not have many workers", "ignore:.*number of training batches")
@pytest.mark.filterwarnings(
    "ignore:.*pin_memory", "ignore::DeprecationWarning:lightning", "ignore::FutureWarning:lightning"
)
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("title", NEEDED)
def test_it_runs(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = [library for library in NEEDED[title] if importlib.util.find_spec(library) is None]
    if absent:
        pytest.skip(f"{absent[0]} is not installed")
    if title == "timm":
        stand_in()
    (part,) = [part for part in PAGE.split("\n## ") if part.startswith(f"{title}\n")]
    code = "\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    found: dict[str, object] = {"__name__": "page"}
    exec(compile(code, f"{title}.py", "exec"), found)
    if title == "torchmetrics":
        assert capsys.readouterr().out == "tensor(1.3333) tensor([0.6667, 0.3333])\n"
    if title == "skorch":
        assert len(found["search"].cv_results_["params"]) == 4  # type: ignore[attr-defined]


def test_a_loop_of_your_own_is_twelve_lines() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"## In your own loop\n\n```python\n(.*?)```", readme, re.DOTALL)
    assert len(code.splitlines()) <= 12
    assert all(f"`{name}`" in readme for name in ("labels", "logits", "hidden_states", "output=", "features="))
