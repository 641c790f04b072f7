"""splits.json: what is written is read; what is damaged is said."""

import json
from pathlib import Path

import pytest

from labelspace import InputError
from labelspace.results.splits import NAME, Splits
from split_results import summed_up


def written(folder: Path) -> Splits:
    splits = summed_up().model_copy(update={"folder": str(folder)})
    assert splits.write() == folder / NAME
    return splits


def test_written_and_read_again(tmp_path: Path) -> None:
    splits = written(tmp_path / "stones-splits")
    assert Splits.load(splits.folder) == splits


def test_what_cannot_be_read(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / NAME
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "margin": 0.5}))
    with pytest.raises(InputError, match="its content is not what was written"):
        Splits.load(tmp_path)
    with pytest.warns(UserWarning, match="not what was written"):
        assert Splits.load(tmp_path, allow_damaged=True).margin == 0.5
    path.write_text(json.dumps({**content, "places": []}))
    with pytest.raises(InputError, match="whose 'places' is wrong"):
        Splits.load(tmp_path)
    path.write_text("{")
    with pytest.raises(InputError, match="a damaged"):
        Splits.load(tmp_path)
