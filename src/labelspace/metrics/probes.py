"""What others can read off a model: groups by k-means, classes by a linear probe, and what a student learns from it."""

import warnings
from typing import Generic, Literal, NamedTuple, TypeVar, overload

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace._packages import optional


@overload
def superclass_accuracy(
    train_probabilities: Numbers,
    train_groups: Numbers,
    probabilities: Numbers,
    groups: Numbers,
    *,
    seed: int = 0,
    per_sample: Literal[False] = False,
) -> float: ...
@overload
def superclass_accuracy(
    train_probabilities: Numbers,
    train_groups: Numbers,
    probabilities: Numbers,
    groups: Numbers,
    *,
    seed: int = 0,
    per_sample: Literal[True],
) -> Tensor: ...
def superclass_accuracy(
    train_probabilities: Numbers,
    train_groups: Numbers,
    probabilities: Numbers,
    groups: Numbers,
    *,
    seed: int = 0,
    per_sample: bool = False,
) -> float | Tensor:
    """Return how often k-means on the outputs finds a sample's group of classes.

    k-means, k being the number of groups, is fitted on training outputs. Clusters become groups one to one, so that
    most training samples fit (the Hungarian method). Test samples go to the nearest cluster; they decide nothing.
    Needs scikit-learn, from ``pip install "labelspace[compare]"``.

    Args:
        train_probabilities: softmax outputs of training samples; rows that sum to 1.
        train_groups: the group of each, ``group_of_class[y]``, as indices from 0.
        probabilities: softmax outputs of test samples.
        groups: the group of each.
        seed: of the starting points of k-means.
        per_sample: return 1 or 0 for each test sample instead of their mean.

    Shape:
        ``train_probabilities (M, K)``, ``train_groups (M,)``, ``probabilities (N, K)``, ``groups (N,)``; per sample
        ``(N,)``.

    Example:
        >>> outputs = [[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]
        >>> superclass_accuracy(outputs, [0, 0, 1], outputs, [0, 1, 1])
        0.6666666666666666

    Reference:
        "Embedding semantic relationships in hidden representations via label smoothing", the k-means accuracy on
        the output layer.
    """
    owner = "superclass_accuracy"
    start = _inputs.seed(owner, seed)
    train = _inputs.probabilities(owner, "train_probabilities", train_probabilities)
    test = _inputs.probabilities(owner, "probabilities", probabilities)
    if train.shape[1] != test.shape[1]:
        expected = f"of {train.shape[1]} columns, as `train_probabilities`"
        raise _checks.fail(owner, "probabilities", expected, f"shape {tuple(test.shape)}")
    known = _inputs.class_indices(owner, "train_groups", train_groups, samples=len(train))
    number = _inputs.highest(owner, train_groups=known) + 1
    wanted = _inputs.class_indices(owner, "groups", groups, samples=len(test), classes=number)
    empty = (torch.bincount(known, minlength=number) == 0).nonzero().flatten().tolist()
    if empty:
        remedy = "Number the groups without a gap."
        raise _checks.fail(owner, "train_groups", "samples of every group", f"none of group {empty[0]}", remedy)
    right = (_assigned(train, known, test, number, start) == wanted).double()
    return right if per_sample else right.mean().item()


def _assigned(train: Tensor, known: Tensor, test: Tensor, number: int, seed: int) -> Tensor:
    """Return the group of each test sample's cluster."""
    from scipy.optimize import linear_sum_assignment

    cluster = optional("superclass_accuracy", "sklearn.cluster", "compare")
    means = cluster.KMeans(n_clusters=number, n_init=10, random_state=seed)
    found = torch.as_tensor(means.fit_predict(train.numpy())).long()
    fits = torch.bincount(found * number + known, minlength=number**2).reshape(number, number)
    group_of_cluster = torch.as_tensor(linear_sum_assignment(fits.numpy(), maximize=True)[1])
    return group_of_cluster[torch.as_tensor(means.predict(test.numpy())).long()]


Values = TypeVar("Values", float, Tensor)


@overload
def linear_probe(
    train_x: Numbers,
    train_y: Numbers,
    test_x: Numbers,
    test_y: Numbers,
    *,
    strength: float = 1.0,
    per_sample: Literal[False] = False,
) -> float: ...
@overload
def linear_probe(
    train_x: Numbers,
    train_y: Numbers,
    test_x: Numbers,
    test_y: Numbers,
    *,
    strength: float = 1.0,
    per_sample: Literal[True],
) -> Tensor: ...
def linear_probe(
    train_x: Numbers,
    train_y: Numbers,
    test_x: Numbers,
    test_y: Numbers,
    *,
    strength: float = 1.0,
    per_sample: bool = False,
) -> float | Tensor:
    """Return the test accuracy of logistic regression on fixed features.

    Features are scaled to unit variance on the training part first. A test class that training never showed is
    named in a warning; its samples count as mistakes. Needs scikit-learn, from ``pip install "labelspace[compare]"``.

    Args:
        train_x: features of training samples.
        train_y: their class indices, at least two different ones.
        test_x: features of test samples.
        test_y: their class indices.
        strength: weight of the L2 penalty, scikit-learn's ``1/C``.
        per_sample: return 1 or 0 for each test sample instead of their mean.

    Shape:
        ``train_x (M, F)``, ``train_y (M,)``, ``test_x (N, F)``, ``test_y (N,)``; per sample ``(N,)``.

    Example:
        >>> linear_probe([[0.0], [0.2], [0.8], [1.0]], [0, 0, 1, 1], [[0.1], [0.9], [0.2]], [0, 1, 1])
        0.6666666666666666
    """
    penalty = _checks.number("linear_probe", "strength", strength, low=0, open_low=True)
    x = _inputs.matrix("linear_probe", "train_x", train_x)
    y = _inputs.class_indices("linear_probe", "train_y", train_y, samples=len(x))
    unseen_x = _inputs.matrix("linear_probe", "test_x", test_x)
    if unseen_x.shape[1] != x.shape[1]:
        expected = f"of {x.shape[1]} columns, as `train_x`"
        raise _checks.fail("linear_probe", "test_x", expected, f"shape {tuple(unseen_x.shape)}")
    unseen_y = _inputs.class_indices("linear_probe", "test_y", test_y, samples=len(unseen_x))
    if int(y.min()) == int(y.max()):
        raise _checks.fail("linear_probe", "train_y", "of at least 2 classes", f"class {int(y[0])} only")
    _warn_unknown(set(unseen_y.tolist()) - set(y.tolist()))
    scaler = optional("linear_probe", "sklearn.preprocessing", "compare").StandardScaler().fit(x.numpy())
    model = optional("linear_probe", "sklearn.linear_model", "compare").LogisticRegression(C=1 / penalty, max_iter=1000)
    model.fit(scaler.transform(x.numpy()), y.numpy())
    found = torch.from_numpy(model.predict(scaler.transform(unseen_x.numpy())))
    right = (found == unseen_y).double()
    return right if per_sample else right.mean().item()


class StudentAccuracy(NamedTuple, Generic[Values]):
    """How often a student is right, and how often it says what its teacher says; or for each sample whether."""

    accuracy: Values
    agreement: Values


@overload
def student_accuracy(
    student_scores: Numbers, y: Numbers, teacher_scores: Numbers, *, per_sample: Literal[False] = False
) -> StudentAccuracy[float]: ...
@overload
def student_accuracy(
    student_scores: Numbers, y: Numbers, teacher_scores: Numbers, *, per_sample: Literal[True]
) -> StudentAccuracy[Tensor]: ...
def student_accuracy(
    student_scores: Numbers, y: Numbers, teacher_scores: Numbers, *, per_sample: bool = False
) -> StudentAccuracy[float] | StudentAccuracy[Tensor]:
    """Return a student's accuracy and its agreement with the teacher's predictions.

    A student can agree more often than it is right: then it has learned its teacher's mistakes too.

    Args:
        student_scores: scores, or class indices.
        y: true class indices.
        teacher_scores: scores of the same samples by the model it learned from, or class indices.
        per_sample: return 1 or 0 for each sample instead of their means, twice.

    Shape:
        ``student_scores (N, K)`` or ``(N,)``, ``y (N,)``, ``teacher_scores (N, K)`` or ``(N,)``; per sample two
        tensors ``(N,)``.

    Example:
        >>> student_accuracy([0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0])
        StudentAccuracy(accuracy=0.75, agreement=0.75)
    """
    student, classes = _inputs.predictions("student_accuracy", "student_scores", student_scores)
    teacher, columns = _inputs.predictions("student_accuracy", "teacher_scores", teacher_scores)
    if len(teacher) != len(student) or (None not in (classes, columns) and classes != columns):
        expected = "of the same samples and classes as `student_scores`"
        got = f"{len(teacher)} samples, {columns} classes for {len(student)} samples, {classes} classes"
        raise _checks.fail("student_accuracy", "teacher_scores", expected, got)
    labels = _inputs.class_indices("student_accuracy", "y", y, samples=len(student), classes=classes)
    right, same = (student == labels).double(), (student == teacher).double()
    return StudentAccuracy(right, same) if per_sample else StudentAccuracy(right.mean().item(), same.mean().item())


def _warn_unknown(unknown: set[int]) -> None:
    if unknown:
        listed = ", ".join(map(str, sorted(unknown)[:8]))
        warnings.warn(f"linear_probe: `train_y` has no sample of class {listed} of `test_y`.", stacklevel=3)
