"""Examples in docstrings train in this process: starting workers would take most of their time."""

import pytest

from labelspace.sweeps.executors import InProcess


@pytest.fixture(autouse=True)
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the default be this process; tests start workers for real."""
    for place in ("labelspace.comparison.run", "labelspace.sweeps.grid"):
        monkeypatch.setattr(f"{place}.Processes", InProcess)
