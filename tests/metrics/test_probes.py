"""What k-means, a linear probe and a student read off a model."""

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from labelspace.metrics import linear_probe, student_accuracy, superclass_accuracy

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


def blobs(samples, seed):
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), random.integers(0, 3, samples - 3)])
    centres = np.array([[0, 0], [2, 0], [0, 2]])
    return centres[y] + random.normal(size=(samples, 2)), y


def test_probe_by_hand():
    # three classes on a line at −1, 0 and 1 (in steps of 0.1 around): the borders are near ±0.5
    train_x = [[-1.1], [-0.9], [-0.1], [0.1], [0.9], [1.1]]
    test_x, test_y = [[-1.0], [0.0], [1.0], [1.2]], [0, 1, 2, 0]
    assert linear_probe(train_x, [0, 0, 1, 1, 2, 2], test_x, test_y) == 0.75
    assert linear_probe(train_x, [0, 0, 1, 1, 2, 2], test_x, test_y, per_sample=True).tolist() == [1, 1, 1, 0]


def test_probe_equals_scikit_learn_on_scaled_features():
    train_x, train_y = blobs(200, 0)
    test_x, test_y = blobs(100, 1)
    mean, deviation = train_x.mean(axis=0), train_x.std(axis=0)
    model = LogisticRegression(C=0.5, max_iter=1000).fit((train_x - mean) / deviation, train_y)
    theirs = model.score((test_x - mean) / deviation, test_y)
    assert linear_probe(train_x, train_y, test_x, test_y, strength=2.0) == pytest.approx(theirs)
    # a probe does not see the unit of a feature
    assert linear_probe(train_x * [1, 1e4], train_y, test_x * [1, 1e4], test_y, strength=2.0) == pytest.approx(theirs)


def test_probe_names_classes_it_never_saw():
    with pytest.warns(UserWarning, match="linear_probe: `train_y` has no sample of class 2 of `test_y`"):
        assert linear_probe([[0.0], [1.0]], [0, 1], [[0.0], [1.0]], [0, 2]) == 0.5


def test_probe_refuses_bad_input():
    with pytest.raises(ValueError, match="`train_y` of linear_probe must be of at least 2 classes. Got class 1 only"):
        linear_probe([[0.0], [1.0]], [1, 1], [[0.0]], [1])
    with pytest.raises(ValueError, match="`test_x` of linear_probe must be of 1 columns, as `train_x`"):
        linear_probe([[0.0], [1.0]], [0, 1], [[0.0, 1.0]], [1])
    with pytest.raises(ValueError, match="`train_x` of linear_probe must be finite. Got nan"):
        linear_probe([[0.0], [float("nan")]], [0, 1], [[0.0]], [1])


def test_student_by_hand():
    # the student says 0 1 1, its teacher 0 1 2, the truth is 0 2 2: right once, in agreement twice
    student = torch.tensor([[3.0, 1, 0], [0, 2, 1], [0, 2, 1]])
    teacher = torch.tensor([[3.0, 1, 0], [0, 2, 1], [0, 1, 2]])
    found = student_accuracy(student, [0, 2, 2], teacher)
    assert (found.accuracy, found.agreement) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert student_accuracy(teacher, [0, 2, 2], teacher).agreement == 1.0
    each = student_accuracy(student, [0, 2, 2], teacher, per_sample=True)
    assert (each.accuracy.tolist(), each.agreement.tolist()) == ([1, 0, 0], [1, 1, 0])


def test_student_refuses_a_teacher_of_other_samples_or_classes():
    with pytest.raises(
        ValueError, match="`teacher_scores` of student_accuracy must be of the same samples and classes"
    ):
        student_accuracy(torch.randn(3, 2), [0, 1, 1], torch.randn(4, 2))
    with pytest.raises(ValueError, match="of the same samples and classes"):
        student_accuracy(torch.randn(3, 2), [0, 1, 1], torch.randn(3, 5))
