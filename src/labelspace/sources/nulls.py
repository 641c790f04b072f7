"""Controls: spaces that smooth as much as another one and know nothing.

A method that beats one-hot but not these gained from smoothing, not from what its label space says.
"""

import math

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.compressed.rows import chunks
from labelspace.space import LabelSpace

TRIES = 100
RELATIVE, ABSOLUTE = 1e-4, 1e-7  # entries that differ by less differ by rounding
FLAT = 1e-8  # of an entropy: a row this near to the flattest is that row


def permuted(space: LabelSpace, seed: int) -> LabelSpace:
    """Return the space with its classes in shuffled order: the same entries under the wrong names.

    A shuffle that changes nothing is drawn again. Where every shuffle changes nothing, as of a uniform space, there is
    no such control; ``source["same"]`` is then true.

    Args:
        space: any label space.
        seed: the same seed gives the same shuffle.

    Example:
        >>> from labelspace import ordinal
        >>> bool((permuted(ordinal(5), seed=0).matrix.sum(1) - 1).abs().max() < 1e-6)
        True
    """
    if not isinstance(space, LabelSpace):
        raise _checks.fail_type("permuted", "space", "a LabelSpace", repr(space))
    generator = torch.Generator().manual_seed(_checks.whole("permuted", "seed", seed))
    # of vectors only what lies between them counts: a square that is turned is the same square
    table = space.distances() if space.kind == "vectors" else space.matrix
    for _ in range(TRIES):
        order = torch.randperm(len(space), generator=generator)
        parts = chunks(len(table))
        same = all(_alike(table[order[part, None], order], table[part]) for part in parts)  # ends where one is not
        if not same:
            break
    matrix = space.matrix[order] if space.kind == "vectors" else space.matrix[order[:, None], order]
    hops = None if space.hops is None else space.hops[order[:, None], order]
    source = {"builder": "permuted", "seed": int(seed), "order": order.tolist(), "of": dict(space.source)}
    # the shuffled space turns into relations, and compares its vectors, as the space does
    source |= {name: space.source[name] for name in ("temperature", "metric") if name in space.source}
    return LabelSpace(space.names, matrix, space.kind, {**source, **_said(same)}, hops)


def shuffled_forms(space: LabelSpace, count: int) -> list[LabelSpace]:
    """Return shuffled forms of a space that all differ; fewer where there are no more, as of few classes.

    Args:
        space: any label space.
        count: how many, at most.

    Example:
        >>> from labelspace import ordinal
        >>> len(shuffled_forms(ordinal(5), 19)), len(shuffled_forms(ordinal(3), 19))  # one of three is in the middle
        (19, 2)
    """
    found: list[LabelSpace] = []
    tables: list[Tensor] = []
    for seed in range(count + TRIES):
        form = permuted(space, seed)
        table = form.distances() if form.kind == "vectors" else form.matrix
        if "same" not in form.source and not any(_alike(table, other) for other in tables):
            found.append(form)
            tables.append(table)
        if len(found) == count:
            break
    return found


def random_like(space: LabelSpace, seed: int) -> LabelSpace:
    """Return random relations whose rows have the same entropies, diagonal entries kept.

    Each row is a softmax of random numbers over the other classes, sharpened until its entropy is the row's. Rows that
    are all those of the space, as happens with three classes, are drawn again. Where no others have these entropies,
    as of two classes or a uniform space, there is no such control; ``source["same"]`` is then true.

    Args:
        space: any label space; vectors and costs are turned into relations first.
        seed: the same seed gives the same rows.

    Example:
        >>> from labelspace import groups
        >>> random_like(groups([["a", "b"], ["c", "d"]]), seed=0).matrix.sum(1)
        tensor([1., 1., 1., 1.])
    """
    if not isinstance(space, LabelSpace):
        raise _checks.fail_type("random_like", "space", "a LabelSpace", repr(space))
    generator = torch.Generator().manual_seed(_checks.whole("random_like", "seed", seed))
    rows = space.relations().matrix.double()
    own = rows.diagonal().clone()
    known = [_of_others(rows[part], int(part[0])) for part in chunks(len(rows))]
    wanted, mass = (torch.cat(each) for each in zip(*known, strict=True))
    others_exist = bool(((wanted < math.log(max(len(rows) - 1, 1)) - FLAT) & (mass > 0)).any())
    for _ in range(TRIES):
        matrix = _drawn(wanted, generator).mul_((1 - own)[:, None])
        matrix.diagonal().add_(own)
        same = _alike(matrix, rows)
        if not (same and others_exist):
            break
    source = {"builder": "random_like", "seed": seed, "of": dict(space.source), **_said(same)}
    return LabelSpace(space.names, matrix, "relations", source)


def _of_others(rows: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """Return the entropy of what rows give to other classes, and how much that is; the first row is of this class."""
    others = rows.clone()
    others.diagonal(first).fill_(0)
    mass = others.sum(1, keepdim=True)
    return _entropy(others / torch.where(mass > 0, mass, 1)), mass[:, 0]


def _alike(one: Tensor, other: Tensor) -> bool:
    parts = chunks(len(one))
    return all(torch.allclose(one[part], other[part], rtol=RELATIVE, atol=ABSOLUTE) for part in parts)


def _said(same: bool) -> dict[str, bool]:
    return {"same": True} if same else {}


def _drawn(entropies: Tensor, generator: torch.Generator) -> Tensor:
    """Return random rows of these entropies, zero on the diagonal."""
    count = len(entropies)
    logits = torch.randn(count, count, dtype=torch.float64, generator=generator).fill_diagonal_(-math.inf)
    if count == 1:
        return torch.zeros_like(logits)
    for part in chunks(count):
        logits[part] = _sharpened(logits[part], entropies[part])
    return logits


def _entropy(rows: Tensor) -> Tensor:
    return -torch.where(rows > 0, rows * rows.clamp_min(1e-300).log(), 0).sum(dim=1)


def _sharpened(logits: Tensor, wanted: Tensor) -> Tensor:
    """Bisect a sharpness per row: entropy falls from log(K−1) to 0 as it grows."""
    low, high = torch.full_like(wanted, -30.0), torch.full_like(wanted, 30.0)
    for _ in range(100):
        middle = (low + high) / 2
        too_flat = _entropy(torch.softmax(logits * middle.exp()[:, None], dim=1)) > wanted
        low, high = torch.where(too_flat, middle, low), torch.where(too_flat, high, middle)
    return torch.softmax(logits * high.exp()[:, None], dim=1)
