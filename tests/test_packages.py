"""Packages beyond the library's own: which are declared where, and what is said of those that are missing."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest

import labelspace
from labelspace import _packages

SOURCE = Path(labelspace.__file__).parent
PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=;]", one)[0].lower() for one in requirements}


def test_the_import_names_are_those_of_the_extra() -> None:
    assert set(_packages.APPLICATION.values()) == names(EXTRAS["compare"])
    provided = importlib.metadata.packages_distributions()
    for module, package in _packages.APPLICATION.items():
        assert package in {name.lower().replace("_", "-") for name in provided[module]}


def test_all_holds_every_extra_for_users_and_dev_what_the_tests_need() -> None:
    assert EXTRAS["all"] == [f"labelspace[{','.join(sorted(EXTRAS.keys() - {'all', 'dev'}))}]"]
    assert "compare" in EXTRAS["dev"][0]


def test_whatever_is_imported_by_a_statement_is_declared() -> None:
    declared = names([one for extra, needs in EXTRAS.items() if extra != "dev" for one in needs])
    declared |= names(PROJECT["dependencies"])
    packages = _packages.APPLICATION
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - {"labelspace"}:
                assert packages.get(module, module) in declared, f"{module} in {path}"


def test_nothing_is_missing_here() -> None:
    assert _packages.missing() == ""


def test_one_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_packages.APPLICATION, "no_such_module", "no-such-package")
    text = 'need no-such-package, not installed here: pip install "labelspace[compare]"'
    assert _packages.missing().endswith(text)


def test_other_import_errors_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brokenpackage.py").write_text("raise OSError('disk')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OSError, match="disk"):
        _packages.optional("a test", "brokenpackage", "none")
