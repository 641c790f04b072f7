"""One small and one large comparison for all tests of the report, and one browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from report.browser import CHROMIUM, DRIVER, Browser
from report.folders import write_comparison


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparison(tmp_path_factory.mktemp("small") / "comparison")


@pytest.fixture(scope="session")
def large_comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparison(tmp_path_factory.mktemp("large") / "comparison", classes=200, seeds=2, samples=1000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    with Browser() as opened:
        yield opened
