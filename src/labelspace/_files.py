"""Writing files whole or not at all."""

import errno
import json
import os
import uuid
from pathlib import Path
from typing import Any


def write_bytes(path: Path, content: bytes) -> Path:
    """Write the file beside its place and move it there, so that a reader never meets half of it."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} into; make it first.")
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


def write_json(path: Path, content: Any) -> Path:
    """Write JSON that a person can read and a program can compare."""
    return write_bytes(
        path, (json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
    )


def read_bytes(path: Path) -> bytes:
    """Return what a file holds; a device or a pipe has no end, or waits for one, and is none."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a file")
    return path.read_bytes()


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(read_bytes(path).decode("utf-8"))
