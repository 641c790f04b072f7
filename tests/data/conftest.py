"""Small datasets in the formats of the large ones, and a cache folder that is nobody's."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LABELSPACE_CACHE", str(folder))
    monkeypatch.delenv("LABELSPACE_DATA", raising=False)
    return folder


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two classes of ten colour pictures, 6 wide and 5 high, all different."""
    from PIL import Image

    generator = np.random.default_rng(0)
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(10):
            array = generator.integers(0, 256, (5, 6, 3), dtype=np.uint8)
            Image.fromarray(array).save(tmp_path / "photos" / name / f"patient{number // 2}_{number}.png")
    return tmp_path / "photos"
