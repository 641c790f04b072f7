"""Trees: scipy's linkage, and trees that come back from their own path lengths."""

import numpy as np
import pytest
import torch
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.cluster.hierarchy import dendrogram as drawn
from scipy.spatial.distance import squareform
from torch.testing import assert_close

from labelspace import analysis
from labelspace import tree as taxonomy
from labelspace.analysis import center_distances, dendrogram


def points(classes, seed=0):
    rows = np.random.default_rng(seed).normal(size=(classes, 3))
    return torch.cdist(torch.from_numpy(rows), torch.from_numpy(rows)).fill_diagonal_(0)


@pytest.mark.parametrize("method", ["average", "complete", "single", "ward"])
def test_the_merges_are_scipys(method):
    distances = points(12)
    built = dendrogram(distances, method=method)
    theirs = linkage(squareform(distances.numpy(), checks=False), method=method, optimal_ordering=True)
    assert_close(built.linkage, torch.from_numpy(theirs))
    assert sorted(built.order) == list(range(12))
    assert drawn(built.linkage, no_plot=True)["leaves"] == list(built.order)


def test_three_classes_by_hand():
    # cat and dog merge at 1; car joins them at (4 + 6)/2 = 5
    built = dendrogram(torch.tensor([[0, 1, 4], [1, 0, 6], [4, 6, 0]]), ["cat", "dog", "car"])
    assert_close(built.linkage, torch.tensor([[0, 1, 1, 2], [2, 3, 5, 3]], dtype=torch.float64))
    assert built.nested() == ("car", ("cat", "dog"))
    assert [built.names[leaf] for leaf in built.order] == ["car", "cat", "dog"]


def test_a_taxonomy_comes_back_from_its_path_lengths():
    space = taxonomy({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]})
    built = dendrogram(space.hops, space.names)
    assert {frozenset(pair) for pair in built.nested()} == {frozenset({"cat", "dog"}), frozenset({"car", "bus"})}
    assert_close(torch.from_numpy(squareform(cophenet(built.linkage.numpy()))), space.hops.double())


def leaves(node):
    return [node] if isinstance(node, str) else [leaf for part in node for leaf in leaves(part)]


def test_nested_names_stand_in_the_order_of_the_leaves():
    built = dendrogram(points(9), list("abcdefghi"))
    assert leaves(built.nested()) == [built.names[leaf] for leaf in built.order]


def test_hundreds_of_classes():
    assert len(dendrogram(points(300)).order) == 300


D = points(3)


@pytest.mark.parametrize(
    ("distances", "names", "message"),
    [
        (
            D + torch.triu(torch.ones(3, 3), 1),
            None,
            r"`distances` of dendrogram must be symmetric\. Got .*Average both ways",
        ),
        (1 - D.clamp(0, 1), None, r"non-negative with a zero diagonal\. Got .*distances, not similarities"),
        (-D, None, r"non-negative with a zero diagonal"),
        (D[:2], None, r"a square array"),
        (D[:1, :1], None, r"between at least 2 classes"),
        (D, ["a", "b"], r"`names` of dendrogram must be 3 names, one per class\. Got 2"),
        (D, ["a", "b", "a"], r"`names` of dendrogram must be unique"),
        (D, "abc", r"`names` of dendrogram must be a number of classes or a list of names\. Got 'abc'"),
        (D, True, r"`names` of dendrogram must be a number of classes"),
        (D, ["a", 1, "b"], r"`names` of dendrogram must be non-empty strings\. Got 1"),
        (D.where(torch.tensor([True, False, True]), torch.nan), None, r"`distances` of dendrogram must be finite"),
    ],
)
def test_bad_input_says_what_is_wrong(distances, names, message):
    with pytest.raises((ValueError, TypeError), match=message):
        dendrogram(distances, names)


def test_rounding_is_forgiven_and_no_more():
    # three classes: cat and dog at −1e-9 (the same point, after rounding), car at 2 from both; diagonal not quite zero
    rounded = torch.tensor([[1e-8, -1e-9, 2], [-1e-9, 0, 2 + 1e-8], [2, 2, -1e-8]], dtype=torch.float64)
    built = dendrogram(rounded, ["cat", "dog", "car"])
    assert_close(built.linkage[:, 2], torch.tensor([0, 2], dtype=torch.float64), atol=1e-7, rtol=0)
    assert {frozenset(leaves(part)) for part in built.nested()} == {frozenset({"cat", "dog"}), frozenset({"car"})}
    for bad in (torch.eye(3) * 3e-6, torch.tensor([[0, -3e-6, 0], [-3e-6, 0, 0], [0, 0, 0]])):
        with pytest.raises(ValueError, match="non-negative with a zero diagonal"):
            dendrogram(rounded + bad)


def test_a_class_without_samples_is_named():
    with pytest.warns(UserWarning, match="no sample of class 1"):
        distances = center_distances(torch.rand(4, 2), torch.tensor([0, 0, 2, 3]), normalize=False)
    with pytest.raises(ValueError, match=r"finite\. Got NaN for all of class 1\. Leave classes without samples out"):
        dendrogram(distances)
    with pytest.raises(ValueError, match=r"`method` of dendrogram must be one of 'average'"):
        dendrogram(D, method="mean")


def test_the_older_name_is_the_same_function() -> None:
    assert analysis.tree is dendrogram
