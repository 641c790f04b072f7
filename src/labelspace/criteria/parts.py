"""What methods are written with: terms of a loss, the strength that is tuned, and the options that all have."""

import inspect
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypedDict

from torch import Tensor

from labelspace.space import LabelSpace

Labels = int | Sequence[str] | LabelSpace
Reduction = Literal["mean", "sum", "none"]


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


class Common(TypedDict, total=False):
    """What every criterion takes beside its own options; ``Criterion`` says what they are and their defaults."""

    weight: Tensor | Sequence[float] | None
    ignore_index: int
    reduction: Reduction
    class_dim: int
    preset: str | None
    global_mean: bool


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
