"""Where a package of the application is missing, importing it is one line."""

import importlib
import sys

import pytest

from labelspace import _packages


def test_what_is_missing_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_packages, "APPLICATION", {"no_such_module": "no-such-package"})
    monkeypatch.delitem(sys.modules, "labelspace._application", raising=False)
    with pytest.raises(
        ImportError, match=r'need no-such-package, not installed here: pip install "labelspace\[compare\]"'
    ):
        importlib.import_module("labelspace._application")
