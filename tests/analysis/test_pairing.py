"""Agreement of two label spaces: scipy's correlations and Procrustes analysis, and what moving a space changes."""

import itertools

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform

from labelspace import LabelSpace, cost, groups, ordinal, permuted
from labelspace.analysis import agreement


def points(classes, width, seed=0):
    return np.random.default_rng(seed).normal(size=(classes, width))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(("correlation", "theirs"), [("spearman", stats.spearmanr), ("pearson", stats.pearsonr)])
def test_correlations_are_scipys(metric, correlation, theirs):
    first, second = points(8, 4), points(8, 6, seed=1)
    expected = theirs(pdist(first, metric), pdist(second, metric)).statistic
    result = agreement(first, second, metric=metric, correlation=correlation)
    assert result.value == pytest.approx(expected, abs=1e-9)
    distances = [squareform(pdist(rows, metric)) for rows in (first, second)]
    again = agreement(*distances, metric="precomputed", correlation=correlation)
    assert again.value == pytest.approx(expected, abs=1e-9)


def test_the_p_value_is_that_of_all_permutations():
    first, second = points(5, 3), points(5, 3, seed=4)
    observed, values = None, []
    table = squareform(pdist(second, "cosine"))
    for order in itertools.permutations(range(5)):
        moved = squareform(table[np.ix_(order, order)], checks=False)
        values.append(stats.spearmanr(pdist(first, "cosine"), moved).statistic)
        observed = values[0] if observed is None else observed
    expected = np.mean(np.array(values) >= observed - 1e-12)
    assert agreement(first, second, permutations=5000).p_value == pytest.approx(expected, abs=0.03)


def test_three_classes_by_hand():
    # pairs (01, 02, 12): distances 1, 4, 6 and 2, 9, 3, ranks 1, 2, 3 and 1, 3, 2: Spearman 1 − 6·2/(3·8) = 0.5
    first = [[0, 1, 4], [1, 0, 6], [4, 6, 0]]
    second = [[0, 2, 9], [2, 0, 3], [9, 3, 0]]
    assert agreement(first, second, metric="precomputed").value == pytest.approx(0.5)


@pytest.mark.parametrize("width", [3, 7, 20])
def test_disparities_are_scipys(width):
    first, second = points(9, 7), points(9, width, seed=1)
    wide = max(7, width)
    padded = [np.pad(rows, ((0, 0), (0, wide - rows.shape[1]))) for rows in (first, second)]
    result = agreement(first, second, method="procrustes", permutations=99)
    assert result.value == pytest.approx(procrustes(*padded)[2], abs=1e-9)
    assert result.p_value > 0.01


def test_a_turned_and_scaled_space_is_the_same():
    rows = points(6, 4)
    turn = np.linalg.qr(points(4, 4, seed=2))[0]
    result = agreement(rows, 3 * rows @ turn + 5, method="procrustes")
    assert result.value == pytest.approx(0, abs=1e-9)
    assert result.p_value <= 0.01
    assert agreement(rows, 3 * rows @ turn + 5, metric="euclidean").value == pytest.approx(1)


def test_spaces_are_matched_by_name():
    space = ordinal(list("abcdefg"))
    shuffled = space.subset(list("gbdface"))
    assert agreement(space, shuffled).value == pytest.approx(1)
    assert agreement(space, shuffled, method="procrustes").value > 0  # its columns are still in another order
    assert agreement(space, shuffled).p_value <= 0.01


def test_relations_and_costs_are_read_as_they_are():
    names = list("abcdef")
    relations = groups([["a", "b", "c"], ["d", "e", "f"]])
    inside = torch.block_diag(torch.ones(3, 3), torch.ones(3, 3))
    prices = cost(1 - inside, names)
    assert agreement(relations, prices).value == pytest.approx(1)
    vectors = LabelSpace(tuple(names), inside + 0.1, "vectors")
    assert agreement(relations, vectors).value == pytest.approx(1)
    assert agreement(prices, vectors).p_value == pytest.approx(0.1, abs=0.04)  # 72 of 720 orders keep the groups


def test_a_permuted_space_no_longer_agrees():
    space = ordinal(12)
    result = agreement(space, permuted(space, seed=0))
    assert result.value < 0.4
    assert result.p_value > 0.01


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (points(4, 2), points(5, 2), {}, r"same classes as `space_a`, at least 3\. Got 4 and 5 classes"),
        (points(2, 2), points(2, 2), {}, r"at least 3\. Got 2 and 2 classes"),
        (np.eye(4), points(4, 2), {}, r"`space_a` of agreement must be of distances that differ\. Got all equal"),
        (
            points(4, 2),
            np.ones((4, 2)),
            {"method": "procrustes"},
            r"`space_b` of agreement must be of rows that differ",
        ),
        (points(4, 2) * np.nan, points(4, 2), {}, r"`space_a` of agreement must be finite"),
        (points(4, 4), points(4, 4), {"metric": "precomputed"}, r"`space_a` of agreement must be symmetric"),
        (ordinal(list("abcd")), ordinal(list("abcx")), {}, r"names of classes\. Got 'x', which is none"),
        (ordinal(list("abcd")), ordinal(list("abc")), {}, r"of the same classes\. Got no 'd'\. Compare subsets"),
        (points(4, 2), points(4, 2), {"method": "cka"}, r"`method` of agreement"),
        (points(4, 2), points(4, 2), {"correlation": "kendall"}, r"`correlation` of agreement"),
        (points(4, 2), points(4, 2), {"permutations": 0}, r"`permutations` of agreement"),
    ],
)
def test_bad_input_says_what_is_wrong(first, second, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        agreement(first, second, **options)
