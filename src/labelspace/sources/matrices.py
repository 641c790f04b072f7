"""Matrices that follow at once from what is known: an order, nothing at all, prices of mistakes, or counts of them."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._entries import Frame, frame_names, slices, unframed
from labelspace._inputs import Numbers
from labelspace.compressed import OrderRows, TopRows, fits
from labelspace.space import LabelSpace, kept_mass


def ordinal(classes: int | Sequence[str], power: float = 1.0) -> LabelSpace:
    """Return relations for ordered classes, ``A_ij ∝ 1/|i−j|^power`` with a zero diagonal.

    ``.hops`` of the result holds ``|i−j|``, so that distances are those of the ranks, also after a subset. More than
    8,192 classes are compressed: a rule in place of both matrices.

    Args:
        classes: a number of classes, or their names in order.
        power: how fast mass falls with distance; 1 is the paper's, 0 is uniform.

    Example:
        >>> ordinal(["low", "mid", "high"]).matrix
        tensor([[0.0000, 0.6667, 0.3333],
                [0.5000, 0.0000, 0.5000],
                [0.3333, 0.6667, 0.0000]])

    Reference:
        "Embedding semantic relationships in hidden representations via label smoothing",
        eq. (2)–(3). # differs from eq. (3): the printed sum from j=1 runs over all j≠i.
    """
    names = _checks.class_names("ordinal", classes)
    exponent = _checks.number("ordinal", "power", power, low=0)
    # the order is kept, since a subset may put the classes in another one
    source = {"builder": "ordinal", "power": exponent, "order": list(names)}
    ranks = torch.arange(len(names))
    if not fits(len(names)):
        return LabelSpace(names, OrderRows(ranks, power=exponent), "relations", source)
    steps = (ranks[:, None] - ranks[None, :]).abs()
    weights = steps.double().fill_diagonal_(1).pow(-exponent).fill_diagonal_(0)
    return LabelSpace(names, kept_mass(weights), "relations", source, steps)


def uniform(classes: int | Sequence[str]) -> LabelSpace:
    """Return relations that spread a class's soft mass evenly over the others.

    The diagonal is zero as in every built space, so ``targets(σ)`` leaves exactly ``1−σ`` on the class. Uniform
    smoothing as torch defines it leaves ``1−ε+ε/K``: ``UniformSmoothing(K, smoothing=ε)`` equals this space at
    ``σ = ε·(K−1)/K``.

    Example:
        >>> uniform(3).matrix
        tensor([[0.0000, 0.5000, 0.5000],
                [0.5000, 0.0000, 0.5000],
                [0.5000, 0.5000, 0.0000]])
    """
    return even(_checks.class_names("uniform", classes), {"builder": "uniform"})


def even(names: Sequence[str], source: Mapping[str, object], own: float = 0.0) -> LabelSpace:
    """Return relations that keep ``own`` on each class and spread the rest evenly; compressed for many classes.

    Args:
        names: of the classes.
        source: where the space comes from.
        own: the entry of a class for itself; 1 where there is no other class.

    Example:
        >>> even(["a", "b", "c"], {"builder": "mine"}, own=0.5).matrix[0]
        tensor([0.5000, 0.2500, 0.2500])
    """
    count = len(names)
    own = own if count > 1 else 1.0
    if fits(count):
        matrix = torch.full((count, count), (1 - own) / max(count - 1, 1), dtype=torch.float64).fill_diagonal_(own)
        return LabelSpace(names, matrix, "relations", source)
    rule = TopRows(torch.arange(count)[:, None], torch.full((count, 1), own), torch.full((count,), 1 - own))
    return LabelSpace(names, rule, "relations", source)


def cost(matrix: Numbers, names: Sequence[str] | None = None) -> LabelSpace:
    """Return a cost space: ``matrix[i][j]`` is the price of calling a true ``i`` a ``j``.

    Args:
        matrix: ``(K, K)``, non-negative, zero on the diagonal; or a DataFrame whose index and columns name the classes.
        names: class names in the order of the rows; numbers if left out, or what the DataFrame names.

    Example:
        >>> prices = cost([[0, 1], [5, 0]], ["healthy", "ill"])
        >>> prices.nearest("ill")
        [('healthy', -5.0)]
    """
    classes, prices = _named("cost", matrix, names)
    try:
        return LabelSpace(classes, prices, "cost", {"builder": "cost"})
    except _checks.InputError as error:
        raise error.about(owner="cost") from None


def confusion(matrix: Numbers, names: Sequence[str] | None = None) -> LabelSpace:
    """Return relations from a confusion matrix: the mistakes of each class, scaled to sum to 1.

    Correct predictions (the diagonal) are left out. A class that was never mistaken keeps its mass.

    Args:
        matrix: ``(K, K)`` counts or rates; rows are true classes, columns predictions. Or a DataFrame of them.
        names: class names in the order of the rows; numbers if left out, or what the DataFrame names.

    Example:
        >>> confusion([[90, 8, 2], [10, 90, 0], [0, 0, 50]], ["cat", "dog", "car"]).matrix
        tensor([[0.0000, 0.8000, 0.2000],
                [1.0000, 0.0000, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """
    classes, counts = _named("confusion", matrix, names)
    held = torch.empty(counts.shape, dtype=torch.float32)
    for rows in slices(*counts.shape):
        part = counts[rows].to(torch.float64, copy=True)
        _checks.check_finite("confusion", "matrix", part, rows.start)
        if bool((part < 0).any()):
            raise _checks.fail("confusion", "matrix", "counts that are not negative", f"{part.min().item():g}")
        part.diagonal(rows.start).zero_()
        held[rows] = kept_mass(part, rows.start)
    return LabelSpace(classes, held, "relations", {"builder": "confusion"})


def _named(owner: str, matrix: Numbers, names: Sequence[str] | None) -> tuple[tuple[str, ...], Tensor]:
    """Return the names of classes and a square table in their order."""
    given: object = matrix
    if isinstance(given, Frame):
        names = frame_names(owner, given) if names is None else names
        given = unframed(owner, given, _checks.class_names(owner, names), square=True)
    table = _checks.table(owner, "matrix", given, square=True)
    classes = _checks.class_names(owner, len(table) if names is None else names)
    if len(classes) != len(table):
        raise _checks.fail(owner, "names", f"{len(table)} names, one per row of `matrix`", len(classes))
    return classes, table
