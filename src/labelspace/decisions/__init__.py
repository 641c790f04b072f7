"""From scores to decisions: calibration, rules, and both together in a Decision that is saved beside a model."""

from labelspace.decisions.calibration import Temperature, invert_smoothing, inverted_logits
from labelspace.decisions.calibrators import Calibrator
from labelspace.decisions.decided import Decided, Judged
from labelspace.decisions.decision import Decision
from labelspace.decisions.isotonic import Isotonic
from labelspace.decisions.realised import ActionCost, realised_costs
from labelspace.decisions.rules import abstain, expected_cost_of, min_cost
from labelspace.decisions.scaling import MatrixScaling, VectorScaling
from labelspace.decisions.shifted import estimate_prior

__all__ = [
    "ActionCost",
    "Calibrator",
    "Decided",
    "Decision",
    "Isotonic",
    "Judged",
    "MatrixScaling",
    "Temperature",
    "VectorScaling",
    "abstain",
    "estimate_prior",
    "expected_cost_of",
    "invert_smoothing",
    "inverted_logits",
    "min_cost",
    "realised_costs",
]
