"""Writing sequences with a trained network, and telling how good they are."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.sequences.quality import (
    Measure,
    measures,
    quality_interval,
)
from labelspace.sequences.search import translate

__all__ = [
    "Measure",
    "measures",
    "quality_interval",
    "translate",
]
