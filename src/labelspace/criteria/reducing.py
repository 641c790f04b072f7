"""From values per sample to one loss: what every sample counts, and by what the sum is divided."""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from labelspace.criteria import targets
from labelspace.criteria.layout import Batch
from labelspace.criteria.targets import Share, Term


def shares(batch: Batch, weight: Tensor | None, reduction: str) -> Share:
    """Return what the value of every sample counts in a sum or a mean; one number where all count alike."""
    if batch.valid is None and weight is None and batch.counts is None:
        return 1.0 if reduction == "sum" else 1 / batch.output.shape[0]
    of_sample = sample_weights(batch, weight)
    total = of_sample.sum()
    return of_sample if reduction == "sum" else of_sample / torch.where(total > 0, total, 1)


def reduced(
    terms: Sequence[Term],
    batch: Batch,
    weight: Tensor | None,
    reduction: str,
    over_ranks: Callable[[Tensor], tuple[Tensor, int]] | None = None,
) -> Tensor:
    """Return the loss of a batch.

    Args:
        terms: of the method.
        batch: that they are of.
        weight: one factor per class.
        reduction: "mean", "sum" or "none".
        over_ranks: sums a tensor over the ranks that have parts of the batch, and says how many they are; None where
            this one has all of it. Only a mean asks: a sum, and one value per sample, are this rank's, as in torch.
    """
    if (
        batch.valid is None
        and weight is None
        and batch.counts is None
        and reduction == "mean"
        and over_ranks is None
        and batch.output.shape[0] > 0
    ):
        return functools.reduce(torch.add, [_mean(term) for term in terms])
    of_sample = sample_weights(batch, weight)
    weights = [of_sample if term.weights is None else of_sample * term.weights for term in terms]
    weighted = [torch.where(w > 0, term.values, 0) * w for term, w in zip(terms, weights, strict=True)]
    divided = [reduction == "mean" or term.once for term in terms]
    # one all-reduce for the denominators of all terms and the number of samples
    samples = of_sample.new_full((), batch.output.shape[0]) if batch.valid is None else batch.valid.sum()
    totals = torch.stack([*(w.sum() for w in weights), samples.to(of_sample.dtype)])
    scale = 1
    if over_ranks is not None and reduction == "mean":
        # the number of ranks cancels the average that DistributedDataParallel takes over gradients
        totals, scale = over_ranks(totals)
    one = torch.ones_like(totals[-1])
    safe = torch.where(totals[:-1] > 0, totals[:-1], 1)
    denominators = torch.stack([total if divides else one for total, divides in zip(safe, divided, strict=True)])
    if reduction == "none":
        return (torch.stack(weighted) / denominators.unsqueeze(1)).sum(dim=0).reshape(batch.shape)
    factors = torch.stack([totals[-1] if term.total and reduction == "mean" else one for term in terms])
    sums = torch.stack([values.sum() for values in weighted])
    return scale * (factors * sums / denominators).sum()


def sample_weights(batch: Batch, weight: Tensor | None) -> Tensor:
    """Return what every sample weighs: its own weight times its class's, nothing where it is ignored."""
    dtype = batch.output.dtype
    if weight is None and batch.counts is None:
        return batch.output.new_ones(batch.output.shape[0]) if batch.valid is None else batch.valid.to(dtype)
    factors = [] if batch.counts is None else [batch.counts]
    if weight is not None:
        factors.append(targets.rows(weight.to(dtype).unsqueeze(1), batch.y).squeeze(1))
    own = functools.reduce(torch.mul, factors)
    return own if batch.valid is None else torch.where(batch.valid, own, 0)


def _mean(term: Term) -> Tensor:
    """Return ``Σ w·v / Σ w`` of samples that all count alike, times their number where ``total``."""
    values, weights = term.values, term.weights
    if weights is None:
        return values.sum() if term.total else values.mean()
    total = weights.sum()
    mean = (torch.where(weights > 0, values, 0) * weights).sum() / torch.where(total > 0, total, 1)
    return mean * len(values) if term.total else mean
