"""A run to take home, or a decision without one: everything it left, how it decides, and a card, in one folder."""

import os
import re
import shutil
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from labelspace import _checks, _files
from labelspace.decisions.decision import Decision
from labelspace.records import CONFIG, ENVIRONMENT, FILES, RESULT, TIMES, TRANSLATIONS, RunFolder, option_file
from labelspace.results import Result
from labelspace.serving.alone import SCORES, Alone
from labelspace.serving.card import card
from labelspace.serving.text_card import text_card
from labelspace.training.decided import FILE, FOLDER, MEMBERS, about, write_members
from labelspace.training.run import Run, keep

CARD = "README.md"
# the result first: without it a folder is not taken for a run
WRITTEN = (RESULT, CONFIG, ENVIRONMENT, *FILES, TIMES, TRANSLATIONS, FILE, MEMBERS, SCORES, CARD)
# of every run, and of a decision without one; the card comes last
OF_RUN, OF_DECISION = (RESULT, CONFIG, ENVIRONMENT, *FILES, CARD), (FILE, SCORES, CARD)
HALF = re.compile(r"\.(.+)\.[0-9a-f]{32}\.part")  # as ``_files.beside`` names them


def take_home(run: Run, decision: Decision | None, folder: str | Path, comparison: Result | None = None) -> Path:
    """Write a folder that ``Run.load``, ``labelspace predict`` and ``labelspace export`` take, and return its path.

    It holds all files of the run, ``README.md``, the model card, and ``decision.json``, where there is one. It is made
    beside its place and takes the place of the one that is there as a whole, so that nobody reads parts of two; what
    others put into that one goes along.

    Args:
        run: a finished run.
        decision: temperature, prices and rule; about the classes of the run. None of a run of sequences, which writes
            texts and decides nothing.
        folder: where it goes, for example ``best`` in a comparison's folder.
        comparison: what the comparison found that chose it, for the card.
    """
    if decision is not None:
        about(decision, run.names)
    text = text_card(run, comparison) if decision is None else card(run, decision, comparison)

    def fill(building: Path) -> None:
        stored = _copied(run, building)
        if decision is not None:
            decision.save(building / FILE, stored.seal())
            _with_members(run, building)
            stored.require(FILE, *([MEMBERS] if run.members else []))

    return _written(folder, fill, text)


def take_decision(alone: Alone, folder: str | Path, text: str) -> Path:
    """Write a folder with a decision and no model, which ``labelspace predict`` takes for new scores; return its path.

    Args:
        alone: the decision, and what it was fitted on.
        folder: where it goes; as for ``take_home``.
        text: its card.
    """

    def fill(building: Path) -> None:
        building.mkdir()
        alone.write(building)

    return _written(folder, fill, text)


def _written(folder: str | Path, fill: Callable[[Path], None], text: str) -> Path:
    place = Path(os.path.realpath(folder))
    building = _files.beside(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _files.sharing(place.parent, lambda: tidy(place)):
            fill(building)
            _files.write_bytes(building / CARD, text.encode())
            _move(building, place)
    except OSError as error:
        remedy = "Choose another folder, or make this one writable."
        expected = "a folder that can be written"
        raise _checks.fail("take_home", "folder", expected, f"{place} ({error.strerror or error})", remedy) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return Path(folder)


def tidy(place: Path) -> None:
    """Remove what killed processes left beside a folder that was being replaced; call it while nobody else is there.

    Args:
        place: the folder, which need not be there.
    """
    for stale in sorted(place.parent.glob(f".{place.name}.*.part")):
        if not stale.is_dir():
            stale.unlink(missing_ok=True)
        elif not place.exists() and _is_whole(stale):
            os.rename(stale, place)  # a whole one, on its way in or out
        else:
            if place.is_dir():
                _keep_others(stale, place)
            shutil.rmtree(stale, ignore_errors=True)


def _is_whole(folder: Path) -> bool:
    return any(all((folder / name).is_file() for name in files) for files in (OF_RUN, OF_DECISION))


def _copied(run: Run, building: Path) -> RunFolder:
    """Write the run's files, each checked on the way."""
    copy = RunFolder(building)
    source = None if run.folder is None else RunFolder(run.folder)
    if source is None or source.mark() is None:
        copy.create(run.config.model_dump(mode="json"))
        keep(run, copy)
        return copy
    building.mkdir()
    some = [name for name in (TIMES, TRANSLATIONS) if (source.path / name).is_file()]
    for name in (CONFIG, ENVIRONMENT, *FILES, *map(option_file, run.option_spaces), *some, RESULT):
        _files.write_bytes(building / name, source.content(name))
    return copy


def _with_members(run: Run, building: Path) -> None:
    """Write the members of a run that is several, each with how it becomes honest."""
    seals = []
    for number, member in enumerate(run.members):
        (building / FOLDER).mkdir(exist_ok=True)
        stored = _copied(member, building / FOLDER / str(number))
        if member.decision is not None:
            member.decision.save(stored.path / FILE, stored.seal())
            stored.require(FILE)
        seals.append(stored.seal())
    if seals:
        write_members(building, seals, run.shares)


def _move(building: Path, place: Path) -> None:
    if not place.exists():
        os.rename(building, place)
        return
    if not place.is_dir():
        raise NotADirectoryError("a file is there")
    _keep_others(place, building)
    _files.exchange(building, place)
    _keep_others(building, place)  # what came in the meantime


def _keep_others(old: Path, new: Path) -> None:
    """Put what is not ours into the new folder too; the old one keeps it until it goes."""
    for path in old.iterdir():
        if _ours(path.name) or os.path.lexists(new / path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, new / path.name, symlinks=True, copy_function=_linked)
        else:
            _linked(path, new / path.name)


def _ours(name: str) -> bool:
    """Return whether a file is one of a run that was taken home, also one that a killed process did not finish."""
    half = HALF.fullmatch(name)
    name = half[1] if half else name
    return name in (*WRITTEN, FOLDER) or fnmatchcase(name, option_file("*"))


def _linked(source: str | Path, target: str | Path) -> None:
    """Give a file a second name: nothing is copied where the file system can do that."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
