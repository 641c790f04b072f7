"""Every file of the package has a test that is found by its name."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "labelspace"
# why a file needs no test of its name
EXCEPTIONS = {
    "__main__.py": "test_install and test_packages start it, in environments with and without the extra",
}


def place_of(module: Path) -> Path:
    """Return where the test of a file is: ``a/_b.py`` is tested in ``tests/a/test_b.py``."""
    return ROOT / "tests" / module.parent / f"test_{module.name.lstrip('_')}"


def test_every_file_has_a_test_of_its_name() -> None:
    modules = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    missing = sorted(str(module) for module in modules if not place_of(module).is_file())
    assert missing == sorted(EXCEPTIONS)
