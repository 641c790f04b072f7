"""Geometry of classes: how far apart they lie, which trees they form, and how well two pictures of them agree."""

from labelspace.analysis.centers import center_distances, class_means, spectral_vectors, target_distances
from labelspace.analysis.features import layer_features, layer_names, projection
from labelspace.analysis.hierarchy import Tree, dendrogram
from labelspace.analysis.naa import naa_distances
from labelspace.analysis.pairing import Agreement, agreement
from labelspace.analysis.ranks import RankCorrelation, kendall
from labelspace.analysis.relatives import neighbours, row_entropy

__all__ = [
    "Agreement",
    "RankCorrelation",
    "Tree",
    "agreement",
    "center_distances",
    "class_means",
    "dendrogram",
    "kendall",
    "layer_features",
    "layer_names",
    "naa_distances",
    "neighbours",
    "projection",
    "row_entropy",
    "spectral_vectors",
    "target_distances",
]

tree = dendrogram  # its older name; labelspace.tree builds a label space
