"""Where the real datasets are, if they are on this machine."""

import os
from pathlib import Path


def data_folder() -> Path | None:
    """Return the folder of real datasets: $LABELSPACE_DATA, else ../shared/data beside the checkout, else None."""
    if "LABELSPACE_DATA" in os.environ:
        return Path(os.environ["LABELSPACE_DATA"])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return beside if beside.is_dir() else None
