"""Geometry of classes: how far apart they lie, which trees they form, and how well two pictures of them agree."""

from labelspace.analysis.centers import center_distances, target_distances
from labelspace.analysis.hierarchy import Tree, tree
from labelspace.analysis.naa import naa_distances
from labelspace.analysis.pairing import Agreement, agreement
from labelspace.analysis.project import projection
from labelspace.analysis.ranks import RankCorrelation, kendall
from labelspace.analysis.relatives import neighbours, row_entropy

__all__ = [
    "Agreement",
    "RankCorrelation",
    "Tree",
    "agreement",
    "center_distances",
    "kendall",
    "naa_distances",
    "neighbours",
    "projection",
    "row_entropy",
    "target_distances",
    "tree",
]
