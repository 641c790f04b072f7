"""labelspace: labels that know how classes relate.

Build a label space from what you know, or learn it while training; see it, reuse it, and find out whether it helped.
"""

import importlib
from typing import TYPE_CHECKING, Any

from labelspace._checks import InputError, LabelFileError
from labelspace.criteria.base import Criterion
from labelspace.criteria.disturb import DisturbLabel
from labelspace.criteria.focal import Focal
from labelspace.criteria.infogain import Infogain, infogain_loss
from labelspace.criteria.kd import Distillation
from labelspace.criteria.labelemb import LabelEmbedding
from labelspace.criteria.lls import LearnableSmoothing
from labelspace.criteria.lwal import AdaptiveLabels
from labelspace.criteria.lwr import Retrospection
from labelspace.criteria.maxent import ConfidencePenalty
from labelspace.criteria.mixed import MixedCrossEntropy
from labelspace.criteria.ols import OnlineSmoothing
from labelspace.criteria.onehot import OneHot
from labelspace.criteria.registry import criterion_class, make_criterion, methods, register_method
from labelspace.criteria.semantic import SemanticSmoothing
from labelspace.criteria.static import StaticLabels
from labelspace.criteria.tfkd import VirtualTeacher
from labelspace.criteria.uniform import UniformSmoothing
from labelspace.criteria.zipf import ZipfSmoothing
from labelspace.learner import Learner
from labelspace.linear import linear_loss
from labelspace.sources.groups import groups
from labelspace.sources.lda import lda
from labelspace.sources.matrices import confusion, cost, ordinal, uniform
from labelspace.sources.nulls import permuted, random_like
from labelspace.sources.text import text
from labelspace.sources.tree import tree
from labelspace.sources.wordnet import wordnet
from labelspace.space import LabelSpace
from labelspace.top_targets import TopTargets

if TYPE_CHECKING:
    from labelspace import analysis, data, decisions, metrics, models, optim, sklearn
    from labelspace.comparison import Comparison, compare, compare_scores
    from labelspace.decisions.decision import Decision
    from labelspace.models.registry import register_model
    from labelspace.training.run import Run, train

__version__ = "0.1.0"

# what needs more than torch is imported when it is asked for: a criterion in somebody's loop must cost nothing else
_LATER = {"train": "labelspace.training.run", "Run": "labelspace.training.run"}
_LATER |= dict.fromkeys(("Comparison", "compare", "compare_scores"), "labelspace.comparison")
_LATER |= {"Decision": "labelspace.decisions.decision", "register_model": "labelspace.models.registry"}
_LATER |= dict.fromkeys(("analysis", "data", "decisions", "metrics", "models", "optim", "sklearn"), "")

__all__ = [
    "AdaptiveLabels",
    "Comparison",
    "ConfidencePenalty",
    "Criterion",
    "Decision",
    "Distillation",
    "DisturbLabel",
    "Focal",
    "Infogain",
    "InputError",
    "LabelEmbedding",
    "LabelFileError",
    "LabelSpace",
    "LearnableSmoothing",
    "Learner",
    "MixedCrossEntropy",
    "OneHot",
    "OnlineSmoothing",
    "Retrospection",
    "Run",
    "SemanticSmoothing",
    "StaticLabels",
    "TopTargets",
    "UniformSmoothing",
    "VirtualTeacher",
    "ZipfSmoothing",
    "analysis",
    "compare",
    "compare_scores",
    "confusion",
    "cost",
    "criterion_class",
    "data",
    "decisions",
    "groups",
    "infogain_loss",
    "lda",
    "linear_loss",
    "make_criterion",
    "methods",
    "metrics",
    "models",
    "optim",
    "ordinal",
    "permuted",
    "random_like",
    "register_method",
    "register_model",
    "sklearn",
    "text",
    "train",
    "tree",
    "uniform",
    "wordnet",
]


def __getattr__(name: str) -> Any:
    """Import what was asked for."""
    if name not in _LATER:
        raise AttributeError(f"module 'labelspace' has no attribute {name!r}")
    module = _LATER[name]
    return getattr(importlib.import_module(module), name) if module else importlib.import_module(f"labelspace.{name}")


def __dir__() -> list[str]:
    """Show everything, also what is imported later."""
    return sorted({*globals(), *_LATER})
