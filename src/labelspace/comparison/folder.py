"""Where a comparison lives: one folder per question, so that the same command goes on where it was."""

import hashlib
import json
import re
import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from labelspace import _checks, _files
from labelspace.engine.take_home import WRITTEN as TAKEN_HOME
from labelspace.report import stored

NAME = "comparison.json"
OWN = ("plan.toml", NAME, "report.html", "cost.safetensors", "space.safetensors", "geometry.safetensors", "given-*")


def folder_of(out: str | Path, data: str, request: dict[str, Any]) -> Path:
    """Return the folder of a comparison: its name holds the data's name and a digest of what was asked."""
    text = json.dumps(request, sort_keys=True, default=repr)
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(data).name).strip("-.") or "data"
    return Path(out) / f"{slug}-{digest}"


def open_folder(folder: Path, fresh: bool) -> None:
    """Make the folder, or remove what a comparison left there (and nothing else); see that it can be written to."""
    try:
        if fresh:
            _remove_own(folder)
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        mark = folder / f".writable-{uuid.uuid4().hex}"
        _files.write_bytes(mark, b"")
        mark.unlink(missing_ok=True)
    except OSError as error:
        remedy = "Choose another folder with out=… (--out), or make this one writable."
        expected = "a folder that can be written to"
        raise _checks.fail("compare", "out", expected, f"{folder} ({error.strerror})", remedy) from error


def _remove_own(folder: Path) -> None:
    for name in ("runs", "spaces"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for pattern in OWN:
        for path in folder.glob(pattern):
            path.unlink()
    for name in TAKEN_HOME:
        (folder / "best" / name).unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps something there, or it is not there
        (folder / "best").rmdir()


def read_comparison(folder: str | Path) -> dict[str, Any]:
    """Return the numbers of a finished comparison."""
    path = Path(folder) / NAME
    if not path.is_file():
        remedy = "Give the folder that `labelspace compare` names, and let it finish first."
        raise _checks.fail("Comparison.load", "folder", f"a folder with {NAME}", repr(str(folder)), remedy)
    try:
        content = _files.read_json(path)
    except (ValueError, RecursionError) as error:
        raise _checks.fail("Comparison.load", "folder", f"a {NAME} of format 1", f"{folder} ({error})") from error
    if not isinstance(content, dict) or content.get("format") != 1:
        raise _checks.fail("Comparison.load", "folder", f"a {NAME} of format 1", repr(str(folder)))
    wrong = stored.fault(content)
    if wrong is not None:
        remedy = "The same compare command writes it again."
        raise _checks.fail("Comparison.load", "folder", f"a {NAME} of format 1", f"{path} {wrong}", remedy)
    return content


def write_comparison(folder: Path, content: dict[str, Any]) -> None:
    """Write the numbers, whole or not at all."""
    _files.write_json(folder / NAME, content)
