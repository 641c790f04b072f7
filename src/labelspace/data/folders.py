"""Where datasets lie on this machine, and where decoded images are kept."""

import os
import sys
from pathlib import Path

from labelspace import _checks


def cache_folder() -> Path:
    """Return the folder of decoded images: ``$LABELSPACE_CACHE``, else the platform's cache folder."""
    if os.environ.get("LABELSPACE_CACHE"):
        return Path(os.environ["LABELSPACE_CACHE"]).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "labelspace" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "labelspace"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "labelspace"


def data_folder(data_dir: str | Path | None = None) -> Path:
    """Return the folder of datasets: ``data_dir``, else ``$LABELSPACE_DATA``, else ``data`` in the cache folder.

    Example:
        >>> data_folder("downloads").name
        'downloads'
    """
    if data_dir is not None:
        return Path(data_dir).expanduser()
    if os.environ.get("LABELSPACE_DATA"):
        return Path(os.environ["LABELSPACE_DATA"]).expanduser()
    return cache_folder() / "data"


def find(name: str, folders: tuple[str, ...], contents: str, data_dir: str | Path | None) -> Path:
    """Return the folder of a dataset known by name, or say where it was looked for and what belongs there."""
    root = data_folder(data_dir)
    for folder in folders:
        if (root / folder).is_dir():
            return root / folder
    looked = " or ".join(str(root / folder) for folder in folders)
    expected = f"a dataset that is on this machine (looked for {looked})"
    place = _checks.Setting("data_dir")
    remedy = (f"Put {contents} there, or say where it is with ", place, " or $LABELSPACE_DATA; nothing is downloaded.")
    raise _checks.fail("data.load", "name_or_path", expected, repr(name), remedy)
