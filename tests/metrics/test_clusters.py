"""Groups found by k-means in the outputs."""

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from labelspace.metrics import superclass_accuracy

GROUP_OF_CLASS = torch.tensor([0, 0, 1, 1, 2])


def outputs(samples, seed, share):
    """Return outputs that put ``share`` of their mass on the true class's group, and the groups."""
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(5), random.integers(0, 5, samples - 5)])
    groups = GROUP_OF_CLASS[torch.tensor(y)]
    inside = (GROUP_OF_CLASS[None, :] == groups[:, None]).double()
    noise = torch.tensor(random.dirichlet(np.ones(5), samples))
    return share * inside / inside.sum(dim=1, keepdim=True) + (1 - share) * noise, groups


def test_three_classes_by_hand():
    # Training outputs lie at two places: (½, ½, 0) for classes 0 and 1 and (0, 0, 1) for class 2, groups 0, 0, 1.
    # The test sample (0.3, 0.3, 0.4) is nearer to the first (0.24 against 0.54, squared), the other to the second.
    train = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    test = [[0.3, 0.3, 0.4], [0.1, 0.1, 0.8]]
    assert superclass_accuracy(train, [0, 0, 1], test, [0, 1]) == 1.0
    assert superclass_accuracy(train, [0, 0, 1], test, [1, 1]) == 0.5
    assert superclass_accuracy(train, [0, 0, 1], test, [1, 1], per_sample=True).tolist() == [0, 1]


def test_equals_the_best_one_to_one_naming_of_the_clusters():
    from itertools import permutations

    train, train_groups = outputs(200, 0, 0.3)
    test, groups = outputs(100, 1, 0.3)
    means = KMeans(3, n_init=10, random_state=4).fit(train.numpy())
    best = max(permutations(range(3)), key=lambda names: (np.array(names)[means.labels_] == train_groups.numpy()).sum())
    expected = (np.array(best)[means.predict(test.numpy())] == groups.numpy()).mean()
    assert superclass_accuracy(train, train_groups, test, groups, seed=4) == pytest.approx(expected)


def test_groups_that_are_there_are_found():
    train, train_groups = outputs(200, 2, 0.9)
    test, groups = outputs(100, 3, 0.9)
    assert superclass_accuracy(train, train_groups, test, groups) == 1.0
    # a group absent from the test set changes nothing
    kept = groups != 2
    assert superclass_accuracy(train, train_groups, test[kept], groups[kept]) == 1.0


def test_bad_input_is_refused():
    p = torch.full((4, 2), 0.5)
    with pytest.raises(ValueError, match="must be samples of every group. Got none of group 1. Number the groups"):
        superclass_accuracy(p, [0, 0, 2, 2], p, [0, 0, 2, 2])
    with pytest.raises(ValueError, match="`groups` of superclass_accuracy must be class indices from 0 to 1. Got 2"):
        superclass_accuracy(p, [0, 0, 1, 1], p, [0, 0, 2, 1])
    with pytest.raises(ValueError, match="`probabilities` of superclass_accuracy must be of 2 columns"):
        superclass_accuracy(p, [0, 0, 1, 1], torch.full((4, 4), 0.25), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="`train_probabilities` of superclass_accuracy must be .* sum to 1"):
        superclass_accuracy(p * 2, [0, 0, 1, 1], p, [0, 0, 1, 1])
