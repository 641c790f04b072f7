"""Whether outputs fall into the groups that the classes were meant to form."""

from typing import Literal, overload

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
