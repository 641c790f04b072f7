"""Linear probes and students."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from labelspace.metrics import linear_probe, student_accuracy


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
