"""Where a comparison lives: one folder per question, so that the same command goes on where it was."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from labelspace import _checks, _files, results
from labelspace.records import option_file
from labelspace.serving.take_home import WRITTEN as TAKEN_HOME
from labelspace.serving.take_home import tidy

BEST = "best"
OWN = ("plan.toml", results.NAME, "report.html", *results.DRAWN_FROM, "given-*")


def folder_of(out: str | Path, data: str, request: dict[str, Any]) -> Path:
    """Return the folder of a comparison: its name holds the data's name and a digest of what was asked."""
    text = json.dumps(request, sort_keys=True, default=repr)
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(data).name).strip("-.") or "data"
    return Path(out) / f"{slug}-{digest}"


@contextmanager
def opened(folder: Path, fresh: bool) -> Iterator[None]:
    """Make the folder, see that it can be written to, and work in it; what killed processes left there goes first.

    Args:
        folder: of the comparison.
        fresh: remove what a comparison left there (and nothing else).
    """
    with ExitStack() as stack:
        try:
            (folder / "runs").mkdir(parents=True, exist_ok=True)
            stack.enter_context(_files.sharing(folder, lambda: _sweep(folder)))
            if fresh:
                _remove_own(folder)
                (folder / "runs").mkdir(exist_ok=True)
            mark = _files.beside(folder / "writable")
            _files.write_bytes(mark, b"")
            mark.unlink(missing_ok=True)
        except OSError as error:
            remedy = "Choose another folder with out=… (--out), or make this one writable."
            expected = "a folder that can be written to"
            raise _checks.fail("compare", "out", expected, f"{folder} ({error.strerror})", remedy) from error
        yield


def _sweep(folder: Path) -> None:
    """Remove what killed processes left in the folder of a comparison; runs see to their own folders."""
    tidy(folder / BEST)
    for inside in (folder, folder / "spaces"):
        for stale in inside.glob(".*.part"):
            stale.unlink(missing_ok=True)


def _remove_own(folder: Path) -> None:
    for name in ("runs", "spaces"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for pattern in OWN:
        for path in folder.glob(pattern):
            path.unlink()
    best = folder / BEST
    for path in (*(best / name for name in TAKEN_HOME), *best.glob(option_file("*"))):
        path.unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps something there, or it is not there
        best.rmdir()
