"""A run to take home: everything it left, how it decides, and a model card, in one folder."""

import os
import shutil
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelspace import _checks, _files
from labelspace.decision import Decision
from labelspace.engine.card import card
from labelspace.engine.predictions import FILE, check_names
from labelspace.engine.run import Run, keep
from labelspace.records import FILES, TIMES, RunFolder, option_file

ABANDONED = 3600  # seconds
COPIED = ("config.json", "environment.json", *FILES, "result.json")
CARD = "README.md"
WRITTEN = (*COPIED, FILE, CARD)


def take_home(run: Run, decision: Decision, folder: str | Path, comparison: Mapping[str, Any] | None = None) -> Path:
    """Write a folder that ``Run.load``, ``labelspace predict`` and ``labelspace export`` take, and return its path.

    It holds all files of the run, ``decision.json`` and ``README.md``, the model card. It is made beside its place and
    moved there; in one that is there already these files are replaced, and everything else in it stays.

    Args:
        run: a finished run.
        decision: temperature, prices and rule; about the classes of the run.
        folder: where it goes, for example ``best`` in a comparison's folder.
        comparison: the numbers of the comparison that chose it, for the card.
    """
    check_names(decision, run)
    place = Path(folder)
    text = card(run, decision, comparison)
    building = place.with_name(f".{place.name}.{uuid.uuid4().hex}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        for stale in place.parent.glob(f".{place.name}.*.part"):  # of a process that was killed here long ago
            if time.time() - stale.stat().st_mtime > ABANDONED:
                shutil.rmtree(stale, ignore_errors=True)
        _copy(run, building)
        decision.save(building / FILE)
        _files.write_bytes(building / CARD, text.encode())
        _move(building, place)
    except OSError as error:
        remedy = "Choose another folder, or make this one writable."
        expected = "a folder that can be written"
        raise _checks.fail("take_home", "folder", expected, f"{place} ({error.strerror or error})", remedy) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return place


def _copy(run: Run, building: Path) -> None:
    if run.folder is None or not (run.folder / "result.json").is_file():
        stored = RunFolder(building)
        stored.create(run.config.model_dump(mode="json"))
        keep(run, stored)
        return
    building.mkdir()
    for name in (*COPIED, *map(option_file, run.option_spaces)):
        shutil.copyfile(run.folder / name, building / name)
    if (run.folder / TIMES).is_file():
        shutil.copyfile(run.folder / TIMES, building / TIMES)


def _move(building: Path, place: Path) -> None:
    """Put the folder in its place; in one that is there already, our files are replaced and others stay."""
    if not place.exists():
        os.rename(building, place)
        return
    # the result is written last, as in every run: without it the folder does not count as finished
    for path in sorted(building.iterdir(), key=lambda path: path.name == "result.json"):
        os.replace(path, place / path.name)
