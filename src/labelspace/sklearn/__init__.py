"""Estimators of scikit-learn: label methods, minimum-cost decisions and soft labels in pipelines and searches."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.sklearn.cost_sensitive import CostSensitiveClassifier
from labelspace.sklearn.network import LabelSpaceClassifier
from labelspace.sklearn.scoring import cost_scorer
from labelspace.sklearn.soft_label import SoftLabelClassifier

__all__ = ["CostSensitiveClassifier", "LabelSpaceClassifier", "SoftLabelClassifier", "cost_scorer"]
