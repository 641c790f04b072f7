"""One pass over a batch whose scores are made, turned into gradients and forgotten a few samples at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace.criteria import reducing
from labelspace.criteria.base import Criterion
from labelspace.criteria.layout import Batch
from labelspace.criteria.products import product
from labelspace.criteria.targets import Term
from labelspace.top_targets import TopTargets

AT_ONCE = 2**22  # scores that are in memory at once: 16 MiB in single precision
IN_LOSS = 2**19  # those that the loss looks at together, so that what it makes of them stays near the processor

Places = Sequence[Tensor | None]


class Call(NamedTuple):
    """What a loss is asked for, beside the tensors that learn."""

    criterion: Criterion
    y: Tensor | TopTargets
    extras: Mapping[str, Tensor | TopTargets]
    parameters: Sequence[Tensor]  # of the criterion, those that learn
    sample_weight: Tensor | None = None  # (n,)

    def batch(self, output: Tensor, part: slice) -> Batch:
        """Return checked rows of some samples."""
        layout = self.criterion._layout()._replace(class_dim=1)
        y, classes = self.y[part], len(self.criterion.names)
        extras = {name: value[part] for name, value in self.extras.items()}
        dense = {name: v.logits(classes) if isinstance(v, TopTargets) else v.detach() for name, v in extras.items()}
        weight = None if self.sample_weight is None else self.sample_weight[part]
        return layout.batch(output, y.dense(classes) if isinstance(y, TopTargets) else y, dense, weight)

    def sample_weights(self, count: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return what each sample weighs, and how many count, without any scores."""
        found, valid, width = [like.new_zeros(0)], like.new_zeros(()), self.criterion.output_dim
        for part in parts(count, max(1, AT_ONCE // width)):
            nothing = like.new_zeros(()).expand(part.stop - part.start, width)
            labels = self._replace(extras={}).batch(nothing, part)
            valid = valid + (len(labels.output) if labels.valid is None else labels.valid.sum())
            found.append(reducing.sample_weights(labels, self.criterion.weight))
        return torch.cat(found), valid


def parts(count: int, size: int, start: int = 0) -> Iterator[slice]:
    """Yield slices of so many at most."""
    for first in range(start, start + count, size):
        yield slice(first, min(first + size, start + count))


class Sums:
    """Gradients of features, weight, bias and the parameters of the criterion, added up over samples."""

    def __init__(self, tensors: Places, wanted: Sequence[bool]) -> None:
        """Start where nothing was added."""
        self.tensors, self.wanted = tensors, wanted
        self.found: list[Tensor | None] = [None] * len(tensors)

    def add(self, place: int, gradient: Tensor) -> None:
        """Add what some samples give to a parameter of the criterion."""
        held = self.found[place]
        self.found[place] = gradient if held is None else held + gradient if gradient.is_sparse else held.add_(gradient)

    def add_outer(self, part: slice, gradient: Tensor) -> None:
        """Add what the scores of some samples give to features, weight and bias."""
        features, weight = self.tensors[0], self.tensors[1]
        assert features is not None
        assert weight is not None
        wide = torch.float64 if gradient.dtype == torch.float64 else torch.float32  # sums lose digits in half precision
        if self.wanted[0]:
            rows = self.found[0] if self.found[0] is not None else torch.zeros_like(features, dtype=wide)
            rows[part] = product(gradient, weight)
            self.found[0] = rows
        if self.wanted[1]:
            mine, held = features[part].to(gradient.dtype), self.found[1]
            if held is not None and gradient.dtype == wide:
                held.addmm_(gradient.T, mine)
            else:
                self.add(1, (gradient.T @ mine).to(wide))
        if self.wanted[2] and self.tensors[2] is not None:
            self.add(2, gradient.sum(dim=0, dtype=wide))

    def add_scaled(self, other: "Sums", scale: Tensor) -> None:
        """Add other sums, times a number."""
        for place, gradient in enumerate(other.found):
            if gradient is not None:
                self.add(place, gradient.mul_(float(scale)))


KNOWN = -1  # the group of terms whose divisors are known before they are


class Seen:
    """What is known of a term so far.

    Args:
        values: ``(n,)``, ``w·v`` of each sample.
        weight: ``Σ w``.
        divided: whether it is divided by that sum.
        late: whether that sum is known at the end only.
        total: whether it is multiplied by the number of samples.
    """

    def __init__(self, values: Tensor, weight: Tensor, divided: bool, late: bool, total: bool) -> None:
        """Keep the facts."""
        self.values, self.weight, self.divided, self.late, self.total = values, weight, divided, late, total

    def add(self, term: Term, weights: Tensor, part: slice) -> Tensor:
        """Add some samples; return ``w·v`` of each."""
        weights = weights if term.weights is None else weights * term.weights
        values = torch.where(weights > 0, term.values, 0) * weights
        self.values[part] = values.detach()
        self.weight = self.weight + weights.detach().sum()
        return values


class Pass:
    """The loss of a batch and, where they are wanted, its gradients.

    A term that weighs samples by what it sees of them divides by a sum that is known at the end only: its gradients are
    added up apart from those of the others.

    Args:
        call: what is asked for.
        tensors: features, weight, bias or None, and the parameters of the criterion.
        wanted: which of them learn.
        upstream: ``(n,)`` gradients of the losses of samples, where these are what was asked for.
    """

    def __init__(self, call: Call, tensors: Places, wanted: Sequence[bool], upstream: Tensor | None) -> None:
        """Find out what each sample weighs."""
        self.call, self.tensors, self.wanted, self.upstream = call, tensors, wanted, upstream
        features, weight = tensors[0], tensors[1]
        assert features is not None
        assert weight is not None
        self.features, self.weight, self.bias = features, weight, tensors[2]
        like = weight.new_zeros((), dtype=torch.float64 if weight.dtype == torch.float64 else torch.float32)
        self.weights, valid = call.sample_weights(len(features), like)
        together = call.criterion.reduction == "mean" and call.criterion._synchronised()
        # the number of ranks cancels the average that DistributedDataParallel takes over gradients
        self.ranks = call.criterion.ranks.size() if together else 1
        self.totals = torch.stack([self.weights.sum(), valid])
        if self.ranks > 1:
            (self.totals,) = call.criterion.ranks.sum(self.totals)
        self.sums: dict[int, Sums] = {}
        self.seen: dict[int, Seen] = {}

    def run(self) -> tuple[Tensor, list[Tensor | None]]:
        """Return the loss and the gradients."""
        width = len(self.weight)
        count = len(self.features)
        for part in parts(count, max(1, AT_ONCE // width)):
            self._scores(part)
        return self._finished()

    def _scores(self, part: slice) -> None:
        rows = self.features[part].to(self.weight.dtype)
        scores = product(rows, self.weight.T, None if self.bias is None else self.bias.to(rows.dtype))
        # parameters that are no rows get a gradient as large as they are from every part: better from few
        large = sum(own.numel() for own in self.call.parameters if not self._by_row(own))
        # what has a head of its own holds several times as much as there are scores
        parted = 4 if "features" in self.call.criterion.needs and large < 4 * AT_ONCE else 1
        few = -(-len(scores) // parted) if large else max(1, IN_LOSS // scores.shape[1])
        apart: dict[int, Tensor] = {}
        for inner in parts(len(scores), few):
            here = slice(part.start + inner.start, part.start + inner.stop)
            found = self._loss(scores[inner], here)
            # the scores are not needed any more
            scores[inner] = found.pop(KNOWN, 0)
            for group, gradient in found.items():
                apart.setdefault(group, torch.zeros_like(scores))[inner] = gradient
        if any(self.wanted[:3]):
            for group, kept in {KNOWN: scores, **apart}.items():
                self._sums(group).add_outer(part, kept)

    def _by_row(self, parameter: Tensor) -> bool:
        names = self.call.criterion.row_parameters
        return any(own is parameter for name, own in self.call.criterion.named_parameters() if name in names)

    def _loss(self, scores: Tensor, part: slice) -> dict[int, Tensor]:
        """Add up the loss of some samples; return the gradients of their scores by group."""
        learning = any(self.wanted)
        with torch.set_grad_enabled(learning):
            output = scores.detach().requires_grad_(any(self.wanted[:3]))
            batch = self.call.batch(output, part)
            terms = self.call.criterion.terms(batch.output, batch.y, **batch.extras)
            groups: dict[int, Tensor] = {}
            for number, term in enumerate(terms):
                seen = self.seen.setdefault(number, self._met(term))
                values = seen.add(term, self.weights[part], part)
                values = values if self.upstream is None else values * self.upstream[part]
                value = values.sum() if seen.late else values.sum() * self._factor(seen, self.totals[0])
                group = number if seen.late else KNOWN
                groups[group] = groups[group] + value if group in groups else value
        return self._gradients(output, groups) if learning else {}

    def _met(self, term: Term) -> "Seen":
        divided = self.call.criterion.reduction == "mean" or term.once
        late = divided and term.weights is not None
        return Seen(torch.zeros_like(self.weights), torch.zeros_like(self.totals[0]), divided, late, term.total)

    def _factor(self, seen: "Seen", total: Tensor) -> Tensor:
        """Return what a term is multiplied by, given the sum of its weights."""
        one = torch.ones_like(total)
        divisor = torch.where(total > 0, total, one) if seen.divided else one
        counted = self.totals[1] if seen.total and self.call.criterion.reduction == "mean" else one
        return self.ranks * counted / divisor

    def _sums(self, group: int) -> Sums:
        return self.sums.setdefault(group, Sums(self.tensors, self.wanted))

    def _gradients(self, output: Tensor, groups: Mapping[int, Tensor]) -> dict[int, Tensor]:
        found = {}
        places = [place for place in range(3, len(self.tensors)) if self.wanted[place]]
        learning = [output] if output.requires_grad else []
        inputs = [*learning, *(self.call.parameters[place - 3] for place in places)]
        for number, (group, value) in enumerate(groups.items()):
            if not value.requires_grad:
                continue
            more = number + 1 < len(groups)
            gradients = list(torch.autograd.grad(value, inputs, retain_graph=more, allow_unused=True))
            if learning and (to_output := gradients.pop(0)) is not None:
                found[group] = to_output
            for place, gradient in zip(places, gradients, strict=True):
                if gradient is not None:
                    self._sums(group).add(place, gradient)
        return found

    def _finished(self) -> tuple[Tensor, list[Tensor | None]]:
        """Put together what was added up."""
        each, sums = torch.zeros_like(self.weights), self._sums(KNOWN)
        for number, seen in self.seen.items():
            total = self.totals[0]
            if seen.late:
                total = self.call.criterion.ranks.sum(seen.weight)[0] if self.ranks > 1 else seen.weight
            factor = self._factor(seen, total)
            each += factor * seen.values
            if seen.late and number in self.sums:
                sums.add_scaled(self.sums[number], factor)
        return (each if self.call.criterion.reduction == "none" else each.sum()), sums.found
