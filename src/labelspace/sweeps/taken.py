"""Take over a finished run from another folder: the same name is the same run, so nothing is computed twice."""

import os
import shutil
import warnings
from contextlib import suppress
from pathlib import Path

from labelspace import _files
from labelspace._checks import DamagedError
from labelspace.records import RECORDS, RESULT, RunFolder, whole
from labelspace.training.run import Run, finished_run


def take_over(source: Path, folder: Path) -> Run | None:
    """Return the run of another folder as one of this folder, or None where it cannot be had; the other stays as it is.

    Files are shared where the file system can: nobody writes into a file of a run, new ones take their places. The
    result comes last, so that what was begun and not ended is no finished run.

    Args:
        source: the folder of a run whose result is there.
        folder: where it is to be, under the same name.
    """
    target = RunFolder(folder / source.name)
    try:
        found = whole(source, Run.of_folder)
    except DamagedError as error:
        warnings.warn(f"{error.path} is damaged; the run is computed again.", stacklevel=2)
        return None
    except (OSError, ValueError):  # somebody is just replacing it
        return None
    if found.config.run_name() != source.name:
        return None  # a folder under another's name
    try:
        target.make()
        with target.locked():
            if not _is_sound(target):
                (target.path / RESULT).unlink(missing_ok=True)  # first: what it says is not true of other files
                for name in _files_of(RunFolder(source)):
                    _put(source / name, target.path / name)
    except (OSError, ValueError):  # the other has gone meanwhile, or there is no room: a worker will see
        return None
    return finished_run(target)


def _is_sound(target: RunFolder) -> bool:
    """Return whether somebody else has finished the run meanwhile."""
    try:
        return target.mark() is not None and bool(whole(target.path, Run.of_folder))
    except (OSError, ValueError):
        return False


def _files_of(stored: RunFolder) -> list[str]:
    """Return the names of a run's files, its result last."""
    return [*sorted(stored.digests()), *(name for name in reversed(RECORDS) if (stored.path / name).is_file())]


def _put(source: Path, target: Path) -> None:
    """Let a file be in two places, or copy it; a reader never meets half of it."""
    temporary = _files.beside(target)
    try:
        _shared_or_copied(source, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)  # also where both names were one file already, which a move leaves alone


def _shared_or_copied(source: Path, target: Path) -> None:
    if not source.is_symlink():
        with suppress(OSError):  # another file system, or one without links
            os.link(source, target)
            return
    shutil.copyfile(source, target)
