"""Examples in docstrings train in this process: starting workers would take most of their time."""

import importlib.util

import pytest

from labelspace.sweeps.executors import InProcess

# adapters whose libraries are not installed here: timm asks for torchvision too, which its tests stand in for
LIBRARIES = {
    "huggingface": ("transformers", "accelerate"),
    "lightning": ("lightning",),
    "skorch": ("skorch",),
    "timm": ("timm", "torchvision"),
    "torchmetrics": ("torchmetrics",),
}
collect_ignore = [
    f"labelspace/integrations/{adapter}.py"
    for adapter, needed in LIBRARIES.items()
    if any(importlib.util.find_spec(name) is None for name in needed)
]


@pytest.fixture(autouse=True)
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default be this process; tests start workers for real."""
    for place in ("labelspace.comparison.run", "labelspace.sweeps.grid"):
        monkeypatch.setattr(f"{place}.Processes", InProcess)
