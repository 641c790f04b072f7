"""Writing sequences with a trained network, and telling how good they are."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.sequences.quality import (
    Measure,
    measures,
    perplexity,
    quality_interval,
    token_accuracy,
    token_statistics,
)
from labelspace.sequences.search import translate

__all__ = [
    "Measure",
    "measures",
    "perplexity",
    "quality_interval",
    "token_accuracy",
    "token_statistics",
    "translate",
]
