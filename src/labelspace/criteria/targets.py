"""What methods are written with: one way to read labels, terms of a loss, the strength that is tuned, common options.

Inside a criterion ``y`` is either ``(n,)`` int64 with −1 for an ignored sample, or ``(n, K)`` probabilities with a row
of zeros for an ignored sample. The functions here hide which of the two it is.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypedDict

import torch
from jaxtyping import Float, Int
from torch import Tensor

from labelspace import _lazy_rows
from labelspace._devices import IN_CACHE
from labelspace.space import LabelSpace

IGNORED = -100  # the class of samples that do not count, where nothing else is said: torch's
KEPT = 2**20  # entries of rows of all classes that are kept


def is_soft(y: Tensor) -> bool:
    """Return whether ``y`` holds probabilities."""
    return y.is_floating_point()


def rows(matrix: Float[Tensor, "k d"], y: Tensor) -> Float[Tensor, "n d"]:
    """Return each sample's row of the matrix; probabilities mix rows."""
    if is_soft(y):
        return y @ matrix.to(y.dtype)
    if isinstance(matrix, _lazy_rows.LazyRows):
        return _lazy_rows.read(matrix, y.clamp_min(0))
    # F.embedding rather than indexing: its gradient is a dense sum, many times faster than index_put on a CPU
    return torch.nn.functional.embedding(y.clamp_min(0), matrix)


def pick(values: Float[Tensor, "n k"], y: Tensor) -> Float[Tensor, " n"]:
    """Return each sample's value at its class; probabilities average, and skip classes without mass."""
    if is_soft(y):
        return torch.where(y == 0, 0, y * torch.where(y == 0, 0, values)).sum(dim=-1)
    return values.gather(-1, y.clamp_min(0).unsqueeze(-1)).squeeze(-1)


def hard(y: Tensor) -> Int[Tensor, " n"]:
    """Return one class index per sample: the likeliest, −1 where the sample is ignored."""
    if is_soft(y):
        return torch.where(y.sum(dim=-1) > 0, y.argmax(dim=-1), -1)
    return y


def membership(y: Tensor, classes: int, dtype: torch.dtype) -> Float[Tensor, "n k"]:
    """Return probabilities: one-hot rows for indices, zeros for ignored samples."""
    if is_soft(y):
        return y.to(dtype)
    # a comparison, unlike one_hot, runs under vmap and compile, and leaves −1 without a class
    return (y.unsqueeze(-1) == torch.arange(classes, device=y.device)).to(dtype)


def smoothed(relations: Float[Tensor, "k k"], y: Tensor, smoothing: Tensor) -> Float[Tensor, "n k"]:
    """Return ``(1−σ)·y + σ·relations[y]`` without building the ``(K, K)`` matrix."""
    spread = rows(relations, y)
    return smoothing * spread + (1 - smoothing) * membership(y, relations.shape[0], spread.dtype)


def row_maker(matrix: Float[Tensor, "k d"], y: Tensor, dtype: torch.dtype) -> Callable[[slice], Tensor]:
    """Return a function that makes rows of a constant matrix for some samples; a label that is no class is an error."""
    return lambda part: torch.embedding(matrix, y[part]).to(dtype)


class TargetRows:
    """Rows ``own·δ_y + spread·A[y]`` for class indices, on the CPU.

    Asked a second time for the same, it makes the rows of all classes and keeps them, a million numbers at the most,
    until A or one of its own numbers is another.
    """

    def __init__(self) -> None:
        """Start with nothing kept."""
        self._kept = _Kept()

    def __reduce__(self) -> tuple[type["TargetRows"], tuple[()]]:
        """Leave out of copies what was kept: versions of copied relations are counted from another start."""
        return TargetRows, ()

    def __call__(self, y: Tensor, own: float, spread: float, relations: Tensor | None, like: Tensor) -> Tensor:
        """Return the rows; a label that is no class is an IndexError.

        Args:
            y: class indices.
            own: what a class gives itself.
            spread: factor of the relations.
            relations: A; None where every entry of it is 1.
            like: has as many classes, and the dtype of the rows.
        """
        made_of, version, *numbers, matrix = self._kept  # read once: another thread may write it
        now = _version(relations, like)
        if made_of is not relations or version != now or numbers != [own, spread, like.dtype]:
            # even rows are filled faster than they are read from further away than the nearest cache
            if now is not None and like.shape[1] ** 2 <= (IN_CACHE if relations is None else KEPT):
                self._kept = _Kept(relations, now, own, spread, like.dtype, None)
            return _mixed_rows(y, own, spread, relations, like)
        if matrix is None:
            matrix = _mixed_rows(torch.arange(like.shape[1]), own, spread, relations, like)
            self._kept = _Kept(relations, now, own, spread, like.dtype, matrix)
        return torch.embedding(matrix, y)


class _Kept(NamedTuple):
    """Rows of all classes, None before they are asked for again, and what they are of."""

    relations: Tensor | None = None
    version: int | None = None
    own: float = 0.0
    spread: float = 0.0
    dtype: torch.dtype | None = None
    matrix: Tensor | None = None


def _version(relations: Tensor | None, like: Tensor) -> int | None:
    """Return how often relations were written to; None of those made in inference mode, where nobody counts."""
    if relations is None:
        return like.shape[1]
    return None if relations.is_inference() else relations._version


def _mixed_rows(y: Tensor, own: float, spread: float, relations: Tensor | None, like: Tensor) -> Tensor:
    if relations is None:
        found = like.new_full((y.shape[0], like.shape[1]), spread)
    else:
        found = torch.embedding(relations, y).to(like.dtype).mul_(spread)
    return found.scatter_add_(1, y.unsqueeze(1), like.new_full((y.shape[0], 1), own))


def log_mixed(log_rows: Callable[[Tensor], Tensor], y: Float[Tensor, "n k"], dense: bool) -> Float[Tensor, "n k"]:
    """Return ``log(y @ exp(L))`` for rows L given by a function, without leaving log space where it matters.

    A matrix product of probabilities underflows long before their logarithms do. The classes that carry the most mass
    (all of them up to 32 classes, else eight: mixup and CutMix have two) are summed exactly in log space; a remainder
    goes through a matrix product.

    Args:
        log_rows: gives rows ``log T[c]`` for class indices c.
        y: probabilities; zeros for an ignored sample, whose row is then any finite one.
        dense: whether all rows may be built for the remainder; without it, only the heaviest classes count, scaled to
            the whole mass.
    """
    classes = y.shape[-1]
    heavy = classes if classes <= 32 else 8
    mass, chosen = y.topk(heavy, dim=-1)
    if not dense:
        mass = mass / mass.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(y.dtype).tiny)
    present = mass > 0
    # an ignored sample takes its first class as it is, since a sum of nothing has no gradient
    first = torch.arange(heavy, device=y.device) == 0
    log_mass = torch.where(present, torch.where(present, mass, 1).log(), -torch.inf)
    log_mass = torch.where(first & ~present.any(dim=-1, keepdim=True), 0, log_mass)
    rows_of = log_rows(chosen.reshape(-1)).reshape(*chosen.shape, classes)
    mixed = torch.logsumexp(log_mass.unsqueeze(-1) + rows_of, dim=-2)
    if not dense or heavy == classes:
        return mixed
    rest = y.scatter(-1, chosen, 0) @ log_rows(torch.arange(classes, device=y.device)).exp()
    log_rest = torch.where(rest > 0, torch.where(rest > 0, rest, 1).log(), -torch.inf)
    return torch.logaddexp(mixed, log_rest)


Labels = int | Sequence[str] | LabelSpace
Reduction = Literal["mean", "sum", "none"]
Share = Tensor | float  # what a sample's value counts in a loss: one number for all, or one each


class Term(NamedTuple):
    """One summand of a loss: ``Σ w·v / Σ w`` over the batch, times the number of samples where ``total``.

    That is its mean. A sum adds up ``w·v``, but for a term that counts ``once``: what does not belong to samples, such
    as a penalty on parameters, stays ``Σ w·v / Σ w`` under any reduction, ``"none"`` spreading it over the samples.
    """

    values: Tensor  # (n,)
    weights: Tensor | None = None  # (n,), all ones if left out; class weights and ignored samples come on top
    total: bool = False
    once: bool = False


class Tuned(NamedTuple):
    """The one number that says how much of a method there is, and the values that a comparison tries."""

    option: str  # the keyword argument
    symbol: str
    values: tuple[float, ...]  # from weak to strong, five where there is a choice: every method gets the same trials
    idle_with: tuple[str, ...] = ()  # options beside which it changes nothing
    words: tuple[str, ...] = ()  # what the option may be instead of a number


def first_seen(same: Tensor | bool) -> dict[str, object]:
    """Return what the source of learned labels says while nothing has been learned of them.

    Args:
        same: whether they are, in every entry, as they were made.
    """
    return {"as_initialised": True} if bool(torch.as_tensor(same).all()) else {}


class Common(TypedDict, total=False):
    """What every criterion takes beside its own options; ``Criterion`` says what they are and their defaults."""

    weight: Tensor | Sequence[float] | Mapping[str, float] | None
    ignore_index: int
    reduction: Reduction
    class_dim: int
    preset: str | None
    global_mean: bool
    process_group: object
    validate: bool
    classes: Sequence[str] | None


def with_common(own: Callable[..., None], common: Callable[..., None]) -> inspect.Signature:
    """Return a constructor's signature with the common options written out where it takes them as ``**common``.

    Args:
        own: of a method.
        common: of the base class, which has their defaults.
    """
    mine, shared = inspect.signature(own).parameters, inspect.signature(common).parameters
    kept = [each for name, each in mine.items() if name != "self" and each.kind is not each.VAR_KEYWORD]
    if any(each.kind is each.VAR_KEYWORD for each in mine.values()):
        kept += [shared[name] for name in Common.__annotations__]
    return inspect.Signature(kept)
