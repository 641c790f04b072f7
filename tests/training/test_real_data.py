"""Real datasets, where they are: read, counted and trained on for a few steps."""

import warnings
from pathlib import Path

import pytest

from labelspace import data
from labelspace.training.run import train
from realdata import data_folder

FOLDER = data_folder()
pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(FOLDER is None, reason="the real datasets are not on this machine"),
]
EXPECTED = {
    "mnist": (60_000, 10_000, 10),
    "fashion-mnist": (60_000, 10_000, 10),
    "cifar-10": (10_000, 10_000, 10),
    "tiny-imagenet": (16_000, 4_000, 200),
    "imdb": (25_000, 25_000, 2),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_read_counted_and_trained_on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))
    with warnings.catch_warnings():
        # IMDB and Tiny-ImageNet have test samples that are in the training data too: real, and reported
        warnings.filterwarnings("ignore", message=".*content.*")
        dataset = data.load(name, data_dir=str(FOLDER))
        # a larger network would spend the time on the 4,000 to 25,000 samples that nothing here asks about
        model = "auto" if dataset.vocabulary else "linear"
        run = train(dataset, method="lls", model=model, limit=max(400, 2 * len(dataset.names)), epochs=1)
    train_count, test_count, classes = EXPECTED[name]
    # a published training set may hold a few identical rows that a split keeps together
    assert len(dataset.train) + len(dataset.validation) == train_count
    assert len(dataset.test) == test_count
    assert len(dataset.names) == classes
    assert run.epochs[0]["train_loss"] > 0
