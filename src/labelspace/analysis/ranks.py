"""Whether class distances order the classes as a taxonomy does, by Kendall's τ_b per class.

Letters: K classes, d the distances under test, h the reference (edges between classes in a tree).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.space import LabelSpace

PART = 2**20  # comparisons of a permutation made at once: 1 MB stays in the cache
ROUNDING = 1e-12  # means of τ that differ by less are equal

Table = NDArray[np.float64]
Orders = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankCorrelation:
    """Kendall's τ_b averaged over classes, beside what chance would give.

    Args:
        tau: mean over the classes whose τ_b is defined.
        per_class: ``(K,)`` τ_b of each class; NaN where all its distances, or all reference ones, are equal.
        low: lower end of the interval over classes, or None for fewer than two.
        high: upper end, or None.
        null_low: lower end of the central ``level`` of the mean under permuted classes.
        null_high: upper end.
        p_value: share of permutations, this order included, with a mean at least as high.
        level: of both intervals.
        note: which classes were left out and why; empty if none.
    """

    tau: float
    per_class: Float[Tensor, " k"]
    low: float | None
    high: float | None
    null_low: float
    null_high: float
    p_value: float
    level: float
    note: str = ""


def kendall(
    distances: LabelSpace | Numbers,
    reference_hops: LabelSpace | Numbers,
    permutations: int = 999,
    seed: int = 0,
    level: float = 0.95,
    *,
    metric: str | None = None,
) -> RankCorrelation:
    """Return how well distances rank, for each class, the other classes by their place in a taxonomy.

    For each class i, ``τ_b = (concordant − discordant)/√((n₀ − ties in d)(n₀ − ties in h))`` over the n₀ pairs of
    other classes; then the mean. With ten classes each τ has nine ranks, so read it beside the null: the mean with
    the classes of the reference permuted, from which ``p_value`` (one-sided: more agreement than chance) comes.
    The interval over classes is ``mean ± t_{K−1}·s/√K``; classes share distances, so it describes how much they
    differ more than it promises coverage. Time grows with ``K³·permutations``: 4 s for 200 classes and 999.

    Args:
        distances: between classes, row by row (they need not be symmetric); of a label space ``space.distances()``,
            vectors being compared by Euclidean distance unless the space states another metric. A class whose
            distances are all NaN, as of one without samples, is left out and named in ``note``. Similarities learned
            by label embedding and the outputs of retrospection become vectors with ``spectral_vectors`` and
            ``class_means`` first, as the paper has it.
        reference_hops: path lengths between the classes, or a label space: its path lengths (tree, WordNet), else its
            distances. Below 0 means no path, farther than any; a class without any path is left out and named in
            ``note``.
        permutations: of the null; at least 1.
        seed: of the permutations.
        level: of the interval over classes and of the null's.
        metric: compare the rows of ``distances``, a label space, by ``"euclidean"``, ``"cosine"`` or ``"cos2"``.

    Shape:
        both ``(K, K)``, K ≥ 3; diagonals are not read.

    Example:
        >>> from labelspace import tree
        >>> hops = tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}).hops
        >>> result = kendall(hops, hops)
        >>> round(result.tau, 6), result.p_value > 0.3  # perfect, and 8 of 24 orders of 4 classes are
        (1.0, True)

    Reference:
        Equation (4) of learning with adaptive labels.
    """
    _checks.whole("kendall", "permutations", permutations, low=1)
    share = _checks.number("kendall", "level", level, low=0, high=1, open_low=True, open_high=True)
    _same_order(distances, reference_hops)
    reference, linked = _reference(reference_hops)
    tested, measured = _tested(_measured(distances, metric), len(reference))
    kept = _both(linked, measured)
    generator = np.random.default_rng(_inputs.seed("kendall", seed))
    orders = np.stack([np.arange(len(kept)), *(generator.permutation(len(kept)) for _ in range(permutations))])
    taus = _taus(tested[kept][:, kept].numpy(), reference[kept][:, kept].numpy(), orders)
    means = np.array([_mean(row) for row in taus])
    null_low, null_high = np.quantile(means[1:], [(1 - share) / 2, (1 + share) / 2]).tolist()
    low, high = _over_classes(taus[0][np.isfinite(taus[0])], share)
    per_class = torch.full((len(reference),), torch.nan, dtype=torch.float64)
    per_class[kept] = torch.from_numpy(taus[0])
    # this order is the first of them; without any τ every order does as well, and p is 1
    p_value = float(np.mean(~(means < means[0] - ROUNDING)))
    note = _note(per_class, linked, measured)
    return RankCorrelation(float(means[0]), per_class, low, high, null_low, null_high, p_value, share, note)


def _same_order(distances: LabelSpace | Numbers, reference: LabelSpace | Numbers) -> None:
    if not (isinstance(distances, LabelSpace) and isinstance(reference, LabelSpace)):
        return
    if distances.names != reference.names:
        remedy = "Bring them in one order first: space.subset(names)."
        raise _checks.fail(
            "kendall", "distances", "of the classes of `reference_hops`, in order", "other names", remedy
        )


def _reference(reference: LabelSpace | Numbers) -> tuple[Float[Tensor, "k k"], Bool[Tensor, " k"]]:
    """Return the reference with "no path" as farther than any, and whether a class has a path at all."""
    if isinstance(reference, LabelSpace):
        reference = _measured(reference, None) if reference.hops is None else reference.hops
    given = _without_diagonal("reference_hops", reference)
    hops = _checks.matrix("kendall", "reference_hops", given, square=True).fill_diagonal_(-1)
    linked = (hops >= 0).any(dim=1)
    if int(linked.sum()) < 3:
        remedy = "One other class cannot be ranked."
        raise _checks.fail("kendall", "reference_hops", "between at least 3 classes", int(linked.sum()), remedy)
    return torch.where(hops < 0, hops.max() + 1, hops), linked


def _measured(distances: LabelSpace | Numbers, metric: str | None) -> Numbers:
    if isinstance(distances, LabelSpace):
        # the paper compares learned labels by Euclidean distance
        stated = str(distances.source.get("metric", "euclidean")) if distances.kind == "vectors" else None
        return distances.distances(stated if metric is None else metric)
    if metric is not None:
        remedy = "Give a LabelSpace of them, or distances without a metric."
        raise _checks.fail("kendall", "metric", "left out unless `distances` is a label space", repr(metric), remedy)
    return distances


def _tested(distances: Numbers, classes: int) -> tuple[Float[Tensor, "k k"], Bool[Tensor, " k"]]:
    """Return the distances, and whether a class has any that are not NaN, to others or from them."""
    given = _without_diagonal("distances", distances)
    measured = torch.ones(classes, dtype=torch.bool)
    if given.ndim == 2 and given.shape[0] == given.shape[1]:
        others = given.isnan().fill_diagonal_(True)
        measured = ~(others.all(dim=0) & others.all(dim=1))
        given = torch.where(measured[:, None] & measured, given, 0)
    matrix = _checks.matrix("kendall", "distances", given, square=True)
    if len(matrix) != classes:
        expected = f"of shape ({classes}, {classes}) like `reference_hops`"
        raise _checks.fail("kendall", "distances", expected, f"shape {tuple(matrix.shape)}")
    return matrix, measured


def _without_diagonal(argument: str, value: object) -> Tensor:
    """Return numbers with a diagonal of zeros: it is not read, so that it may hold anything."""
    numbers = _inputs.tensor("kendall", argument, value).to("cpu", torch.float64).clone()
    return numbers.fill_diagonal_(0) if numbers.ndim == 2 else numbers


def _both(linked: Bool[Tensor, " k"], measured: Bool[Tensor, " k"]) -> Int[Tensor, " kept"]:
    kept = (linked & measured).nonzero().flatten()
    if len(kept) < 3:
        expected = "finite for at least 3 classes that have a path"
        raise _checks.fail("kendall", "distances", expected, len(kept), "One other class cannot be ranked.")
    return kept


def _taus(distances: Table, reference: Table, orders: Orders) -> Table:
    """Return τ_b of every class (columns) for each order of the reference's classes (rows).

    Each class's others are put in the order of d once, so that a permutation only has to compare its reordered h
    with itself: one byte a pair, counted eight at a time. scipy's function would sort anew for each of the
    K·permutations rows, some forty times slower.
    """
    classes = len(distances)
    others = np.nonzero(~np.eye(classes, dtype=bool))[1].reshape(classes, classes - 1)
    ranks = np.stack([np.unique(row, return_inverse=True)[1] for row in reference])
    ranks = ranks.astype(np.uint8 if classes < 256 else np.uint16)  # only their order matters
    tested = np.take_along_axis(distances, others, axis=1)
    untied_tested = _untied(tested)
    untied = _untied(np.take_along_axis(ranks, others, axis=1))
    step = max(1, PART // classes**2)
    parts = [slice(start, start + step) for start in range(0, classes, step)]
    surplus = np.concatenate([_surplus(tested[p], others[p], ranks, untied, orders, p) for p in parts], axis=1)
    scale = np.sqrt(untied_tested[None, :] * untied[orders])
    taus: Table = np.divide(surplus, scale, out=np.full(surplus.shape, np.nan), where=scale > 0)
    return taus


def _surplus(tested: Table, others: Orders, ranks: NDArray[Any], untied: Table, orders: Orders, part: slice) -> Table:
    """Return concordant minus discordant pairs for some classes.

    With C, D and E the pairs that differ in h and rise, fall or stay in d: C + D + E is known, so
    C − D = 2C + E − (C + D + E) needs one comparison of h.
    """
    count, number = tested.shape
    width = -(-number // 8) * 8
    rising = np.zeros((count, number, width), dtype=bool)
    rising[:, :, :number] = tested[:, :, None] < tested[:, None, :]
    level = np.zeros_like(rising)
    level[:, :, :number] = tested[:, :, None] == tested[:, None, :]
    tied = bool(level.sum() > count * number)
    above, both, columns = np.empty_like(rising), np.empty_like(rising), np.zeros((count, width), dtype=ranks.dtype)
    surplus = np.empty((len(orders), count))
    for row, order in enumerate(orders):
        columns[:, :number] = ranks[order[part, None], order[others]]
        np.less(columns[:, :number, None], columns[:, None, :], out=above)
        surplus[row] = 2 * _count(np.logical_and(above, rising, out=both)) - untied[order[part]]
        if tied:
            surplus[row] += _count(np.logical_and(above, level, out=both))
    return surplus


def _count(pairs: NDArray[np.bool_]) -> Table:
    """Return how many are true for each class; a byte is 0 or 1, so the bits of eight bytes are eight of them."""
    return np.asarray(np.bitwise_count(pairs.view(np.uint64)).sum(axis=(1, 2)), dtype=np.float64)


def _untied(rows: NDArray[Any]) -> Table:
    """Return the number of pairs with different values in each row."""
    ordered = np.sort(rows, axis=1)
    pairs = []
    for row in ordered:
        _, repeats = np.unique(row, return_counts=True)
        pairs.append(math.comb(len(row), 2) - sum(math.comb(int(times), 2) for times in repeats))
    return np.array(pairs, dtype=np.float64)


def _mean(taus: Table) -> float:
    defined = taus[np.isfinite(taus)]
    return float(defined.mean()) if len(defined) else math.nan


def _over_classes(taus: Table, level: float) -> tuple[float | None, float | None]:
    from scipy.special import stdtrit

    if len(taus) < 2:
        return None, None
    half = float(stdtrit(len(taus) - 1, (1 + level) / 2) * taus.std(ddof=1)) / math.sqrt(len(taus))
    return float(taus.mean()) - half, float(taus.mean()) + half


def _note(per_class: Float[Tensor, " k"], linked: Bool[Tensor, " k"], measured: Bool[Tensor, " k"]) -> str:
    reasons = {
        "no path to other classes": ~linked,
        "no distances": ~measured,
        "all distances equal, so that nothing is ranked": per_class.isnan() & linked & measured,
    }
    named = {why: who.nonzero().flatten().tolist() for why, who in reasons.items()}
    return "; ".join(f"{why}: {_inputs.some_classes(who)}" for why, who in named.items() if who)
