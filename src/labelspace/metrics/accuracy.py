"""How often a model is right: overall, per class, per level of a taxonomy, and by how far it misses.

Letters: N samples, K classes, y the true class indices. Predictions are ``(N,)`` class indices, or ``(N, K)`` scores
of which the largest is taken (the first of equals).
"""

import warnings
from collections.abc import Mapping
from typing import Literal, overload

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.sources.tree import ROOT
from labelspace.space import LabelSpace


@overload
def accuracy(
    scores_or_predictions: Numbers, y: Numbers, top: int = 1, *, per_sample: Literal[False] = False
) -> float: ...
@overload
def accuracy(scores_or_predictions: Numbers, y: Numbers, top: int = 1, *, per_sample: Literal[True]) -> Tensor: ...
def accuracy(scores_or_predictions: Numbers, y: Numbers, top: int = 1, *, per_sample: bool = False) -> float | Tensor:
    """Return the share of samples whose true class is among the ``top`` best guesses.

    Equal scores count in the order of the indices, so that a model that says the same of all classes is not
    right about all samples.

    Args:
        scores_or_predictions: scores, larger is likelier; or class indices, for ``top=1``.
        y: true class indices.
        top: how many guesses a sample has.
        per_sample: return 1 or 0 for each sample instead of their mean.

    Shape:
        ``scores (N, K)`` or ``predictions (N,)``, ``y (N,)``; per sample ``(N,)``.

    Example:
        >>> accuracy([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]], [0, 1])
        0.5
        >>> accuracy([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]], [0, 1], top=2)
        1.0
    """
    guesses = _checks.whole("accuracy", "top", top, low=1)
    given = _inputs.tensor("accuracy", "scores_or_predictions", scores_or_predictions)
    if given.ndim != 2 and guesses > 1:
        raise _checks.fail("accuracy", "top", "1 for predictions", guesses, "Give (N, K) scores for more guesses.")
    predicted, classes = _inputs.predictions("accuracy", "scores_or_predictions", given)
    labels = _inputs.class_indices("accuracy", "y", y, samples=len(predicted), classes=classes)
    if classes is not None and guesses > classes:
        raise _checks.fail("accuracy", "top", f"at most {classes}, the number of classes", guesses)
    best = best_guesses(given, guesses) if guesses > 1 else predicted[:, None]
    right = (best == labels[:, None]).any(dim=1).double()
    return right if per_sample else right.mean().item()


def best_guesses(scores: Tensor, k: int) -> Tensor:
    """Return the ``k`` likeliest classes of each sample, likeliest first, equals in the order of the indices."""
    return scores.cpu().double().argsort(dim=1, descending=True, stable=True)[:, :k]


def balanced_accuracy(predictions: Numbers, y: Numbers, classes: int | None = None) -> float:
    """Return the mean over classes of the share of their samples that is found, so that rare classes count alike.

    A class without samples in ``y`` is named in a warning, and the mean is over the others.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        classes: K; by default the columns of the scores, else one more than the largest index seen.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``.

    Example:
        >>> balanced_accuracy([0, 0, 0, 0], [0, 0, 0, 1])
        0.5
    """
    predicted, labels, number = _inputs.pair("balanced_accuracy", predictions, y, classes)
    present = _inputs.warn_absent("balanced_accuracy", labels, number, "the mean is over the other classes")
    found, samples = (torch.bincount(some, minlength=number) for some in (labels[predicted == labels], labels))
    return (found[present] / samples[present].double()).mean().item()


def confusion_counts(
    predictions: Numbers, y: Numbers, classes: int | None = None, *, normalize: bool = False
) -> Tensor:
    """Return how often a true ``i`` was called a ``j``: the confusion matrix.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        classes: K; by default the columns of the scores, else one more than the largest index seen.
        normalize: divide each row by the samples of its class; a class without any is named in a warning and
            keeps a row of zeros.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``; the result is ``(K, K)``, int64, or float64 if normalized.

    Example:
        >>> confusion_counts([0, 1, 1, 2], [0, 0, 1, 2])
        tensor([[1, 1, 0],
                [0, 1, 0],
                [0, 0, 1]])
    """
    predicted, labels, number = _inputs.pair("confusion_counts", predictions, y, classes)
    _inputs.table_of("confusion_counts", "classes", number)
    # one bincount; scikit-learn's function would sort and search the labels first
    counts = torch.bincount(labels * number + predicted, minlength=number**2).reshape(number, number)
    if not normalize:
        return counts
    _inputs.warn_absent("confusion_counts", labels, number, "its row is zero")
    return counts.double() / counts.sum(dim=1, keepdim=True).clamp_min(1)


def quadratic_kappa(predictions: Numbers, y: Numbers, classes: int | None = None) -> float:
    """Return Cohen's kappa with quadratic weights, for ordered classes: 1 is agreement, 0 is chance.

    ``1 − Σ_ij (i−j)² O_ij / Σ_ij (i−j)² E_ij``, O the confusion matrix and E the one expected of independent
    predictions with the same totals. Where both sides know one and the same class only, it is 0/0: that is said in
    a warning and taken as 1, agreement.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        classes: K; it changes nothing but what is accepted.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``.

    Example:
        >>> quadratic_kappa([0, 1, 2, 2], [0, 1, 2, 0])
        0.3846153846153846
    """
    predicted, labels, _ = _inputs.pair("quadratic_kappa", predictions, y, classes)
    if bool((torch.stack([predicted, labels]) == labels[0]).all()):
        warnings.warn(f"quadratic_kappa: only class {int(labels[0])} occurs; agreement is taken as 1.", stacklevel=2)
        return 1.0
    # No table is needed: Σ (i−j)² O_ij is the sum of squared errors, and two independent indices with the same totals
    # differ by N·(var y + var p + (mean y − mean p)²).
    first, second = labels.double(), predicted.double()
    chance = first.var(correction=0) + second.var(correction=0) + (first.mean() - second.mean()).square()
    return 1 - ((first - second).square().mean() / chance).item()


def level_accuracy(predictions: Numbers, y: Numbers, tree_space: LabelSpace, *, per_sample: bool = False) -> Tensor:
    """Return the accuracy at each level of a taxonomy, or of groups, from the coarsest to the classes themselves.

    At a level a prediction is right if it has the same ancestor there as the true class; a class that ends above a
    level stands for itself. A level at which all classes are one is left out: nobody can be wrong there.

    Args:
        predictions: class indices, or scores.
        y: true class indices.
        tree_space: a space built by ``labelspace.tree``, ``groups`` or ``wordnet``, or a subset of one.
        per_sample: return 1 or 0 for each sample and level instead of their means over samples.

    Shape:
        ``predictions (N,)`` or ``(N, K)``, ``y (N,)``; the result is ``(levels,)``, per sample ``(N, levels)``.

    Example:
        >>> from labelspace import tree
        >>> animals = tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]})
        >>> level_accuracy([0, 0, 3, 0], [0, 1, 2, 3], animals)
        tensor([0.7500, 0.2500], dtype=torch.float64)
    """
    levels = level_groups(tree_space)
    numbers = [{node: place for place, node in enumerate(dict.fromkeys(level))} for level in levels]
    nodes = torch.tensor([[number[node] for node in level] for number, level in zip(numbers, levels, strict=True)])
    predicted, labels, _ = _inputs.pair("level_accuracy", predictions, y, nodes.shape[1], source="tree_space")
    right = (nodes[:, predicted] == nodes[:, labels]).double().T
    return right if per_sample else right.mean(dim=0)


def level_groups(space: object) -> list[list[str]]:
    """Return the group in which each class is at each level, coarsest first; the last level is the classes themselves.

    A class that ends above a level stands for itself there, and a level at which all classes are one is left out.

    Args:
        space: built by ``labelspace.tree``, ``groups`` or ``wordnet``, or a subset of one.

    Example:
        >>> from labelspace import tree
        >>> level_groups(tree({"pet": ["cat", "dog"], "vehicle": {"road": ["car"]}}).subset(["dog", "car"]))
        [['pet', 'vehicle'], ['dog', 'road'], ['dog', 'car']]
    """
    if isinstance(space, LabelSpace) and space.source.get("builder") == "groups":
        paths = _group_paths(space)
    else:
        paths = _tree_paths(space)
    levels = [[path[min(level, len(path) - 1)] for path in paths] for level in range(max(map(len, paths)))]
    return [level for level in levels[:-1] if len(set(level)) > 1] + levels[-1:]


def _tree_paths(space: object) -> list[list[str]]:
    parents = space.source.get("parents") if isinstance(space, LabelSpace) else None
    sound = isinstance(parents, Mapping) and all(isinstance(parent, str) for parent in parents.values())
    if not isinstance(space, LabelSpace) or not isinstance(parents, Mapping) or not sound:
        expected = "a space built by labelspace.tree or labelspace.groups"
        raise _checks.fail("level_accuracy", "tree_space", expected, repr(space))
    _checks.known_names("level_accuracy", "tree_space", space.names, list(parents))
    return [_path(parents, name) for name in space.names]


def _group_paths(space: LabelSpace) -> list[list[str]]:
    groups = space.source.get("groups")
    parts = groups.items() if isinstance(groups, Mapping) else ()
    group = {name: str(title) for title, members in parts for name in members}
    _checks.known_names("level_accuracy", "tree_space", space.names, list(group))
    return [[group[name], name] for name in space.names]


def _path(parents: Mapping[str, str], name: str) -> list[str]:
    """Return the nodes from the top down to a class."""
    path = [name]
    while parents.get(path[-1], ROOT) != ROOT:
        path.append(parents[path[-1]])
        # a file may say anything, and a cycle would never end
        if len(path) > len(parents) + 1:
            raise _checks.fail("level_accuracy", "tree_space", "a taxonomy without cycles", f"one through {name!r}")
    return path[::-1]
