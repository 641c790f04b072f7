"""Reading bytes, plain or gzipped, with an error that names the file."""

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path

from labelspace import _checks

OWNER = "data.load"


def contents(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if its name says that it is gzipped."""
    try:
        if path.suffix in (".gz", ".tgz"):
            with gzip.open(path) as file:
                return file.read()
        return path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, why: str) -> ValueError:
    """Return the error for a file that cannot be read as what it should be."""
    return _checks.fail(OWNER, "name_or_path", f"a readable {path.name}", why, f"Fetch it again: {path}")


def present(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the first of these files that the folder holds, plain or gzipped."""
    for name in names:
        for candidate in (folder / name, folder / f"{name}.gz"):
            if candidate.is_file():
                return candidate
    return None


def lines(path: Path) -> list[str]:
    """Return the non-empty lines of a small text file."""
    text = contents(path).decode("utf-8", errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
