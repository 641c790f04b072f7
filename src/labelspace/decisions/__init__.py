"""From scores to decisions: calibration, rules, and both together in a Decision that is saved beside a model."""

from labelspace.decisions.calibration import Temperature, invert_smoothing, inverted_logits
from labelspace.decisions.decided import Decided, Judged
from labelspace.decisions.decision import Decision
from labelspace.decisions.rules import abstain, expected_cost_of, min_cost

__all__ = [
    "Decided",
    "Decision",
    "Judged",
    "Temperature",
    "abstain",
    "expected_cost_of",
    "invert_smoothing",
    "inverted_logits",
    "min_cost",
]
