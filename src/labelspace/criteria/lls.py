"""Learnable label smoothing: the smoothing mass of each class is a learned distribution."""

import math
from collections.abc import Mapping, Sequence
from typing import Unpack, final

import torch
from torch import Tensor, nn

from labelspace import _checks, _room
from labelspace.compressed import LowRank, TopRows, chunks, fits
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.criteria.inputs import Product, Table, may_be_read, table
from labelspace.criteria.learnt_kernel import learnt_terms
from labelspace.space import LabelSpace

LEAST = 1e-6  # of a mass at the start: none at all could never grow
TERMS = ("-H(t)", "H(t,p)", "-H(p)", "H(p,t)")


@final
class LearnableSmoothing(Criterion):
    """Symmetric divergence between p and ``t = (1−α)·δ_y + α·softmax(Q[y])``, Q learned with the model.

    ``L = ½·(KL(t‖p) + KL(p‖t))``; gradients flow into p and Q alike. The learned rows are a substitute teacher:
    ``SemanticSmoothing(criterion.label_space(), smoothing=α)`` trains another model on them, and
    ``label_space().subset(names)`` keeps some of the classes.

    Paper says: the sum of both divergences, eq. (5). Code does (its pseudo-code): half of that, and weight decay on
    Q. We do: half, without decay. ``preset="paper"`` does not halve, ``"pseudocode"`` decays.

    Args:
        labels: a number of classes, their names, or a LabelSpace, from whose relations Q starts (entries of 0 from
            1e-6; with ``top`` alone it says who is near, and ``rank`` starts from none).
        smoothing: α in (0, 1].
        terms: which of the four entropies ``-H(t)``, ``H(t,p)``, ``-H(p)``, ``H(p,t)`` make up the loss.
        halve: whether the loss is halved.
        decay_labels: whether weight decay reaches Q through ``Learner.parameter_groups``.
        rank: write Q as a product of ``(K, rank)`` and ``(rank, K)``, for many classes.
        top: learn a logit for each class itself, for this many near classes, and one for all others together, which
            share its mass evenly. A LabelSpace says who is near; without one, ``prune_after`` finds out.
        prune_after: with ``top``, learn all of Q for so many epochs first (calls of ``end_epoch()``), then keep each
            row's own entry and its ``top`` largest others; all others merge into one logit that starts with their mass.
            ``label_logits`` stays the same ``(K, K)`` parameter, so that an optimiser goes on with it; only the kept
            entries and one more of each row are used from then on.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)`` or probabilities like output.

    Example:
        >>> criterion = LearnableSmoothing(["cat", "dog", "car"], smoothing=0.1)
        >>> criterion.label_logits.shape
        torch.Size([3, 3])
        >>> criterion(torch.zeros(1, 3), torch.tensor([0])).item() > 0
        True

    Reference:
        "LLS: regulating neural network training via learnable label smoothing",
        eq. (3)–(5), appendices A and B.
    """

    name = "lls"
    display = "LLS"
    smooths = "learning"
    tuned = Tuned("smoothing", "σ", (0.05, 0.1, 0.2, 0.3, 0.5))
    scope = "sample"
    class_axes = {
        "output": (1,),
        "label_logits": (0, 1),
        "label_factor": (0,),
        "label_basis": (1,),
        "top_logits": (0,),
    }
    label_parameters = ("label_logits", "label_factor", "label_basis", "top_logits")
    row_parameters = ("label_logits", "label_factor", "top_logits")
    presets = {
        "paper": {"halve": False},
        "pseudocode": {"halve": True, "decay_labels": True},
    }
    end_epoch_options = ("prune_after",)
    smoothing: Tensor
    coefficients: Tensor
    near: Tensor
    kept: Tensor
    epoch: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        smoothing: float = 0.1,
        terms: Sequence[str] = TERMS,
        halve: bool | None = None,
        decay_labels: bool | None = None,
        rank: int | None = None,
        top: int | None = None,
        prune_after: int | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Start Q at zero, every class spreading its mass evenly, or where a LabelSpace says that mass goes."""
        super().__init__(labels, **common)
        given = {"halve": halve, "decay_labels": decay_labels}
        chosen = self.resolved(common.get("preset"), {"halve": True, "decay_labels": False}, given)
        self.halve, self.decay_labels = bool(chosen["halve"]), bool(chosen["decay_labels"])
        self.loss_terms = tuple(self.choose("terms", term, TERMS) for term in terms)
        if not self.loss_terms:
            raise _checks.fail(type(self).__name__, "terms", f"some of {', '.join(TERMS)}", "none")
        self.option("smoothing", smoothing, low=0, high=1, open_low=True)
        switches = torch.tensor([float(term in self.loss_terms) for term in TERMS], dtype=torch.float32)
        self.constant("coefficients", switches * (0.5 if self.halve else 1.0), persistent=False)
        self.rank, self.top, self.prune_after = rank, top, prune_after
        self._make_logits(labels)

    def _make_logits(self, labels: Labels) -> None:
        owner, count = type(self).__name__, len(self.names)
        if self.rank is not None and self.top is not None:
            raise _checks.fail(owner, "rank and top", "given one at a time", f"{self.rank} and {self.top}")
        if self.prune_after is not None:
            return self._start_dense(labels, count)
        if self.rank is not None:
            size = _checks.whole(owner, "rank", self.rank, low=1)
            if isinstance(labels, LabelSpace):
                remedy = "Its factors start even, whatever a space says: give labels=space.names, or leave rank out."
                raise _checks.fail_type(owner, "labels", "names or a number with `rank`", repr(labels), remedy)
            # one factor at zero starts Q at zero, the other away from zero lets the gradient through
            self.label_factor = nn.Parameter(torch.zeros(count, size))
            self.label_basis = nn.Parameter(torch.randn(size, count))
        elif self.top is not None and not isinstance(labels, LabelSpace):
            remedy = "It says who is near. Or give prune_after=1, to keep what the first epoch of a full matrix finds."
            raise _checks.fail_type(owner, "labels", "a LabelSpace for `top` alone", repr(labels), remedy)
        elif self.top is not None:
            size = min(_checks.whole(owner, "top", self.top, low=1), count - 1)
            near = _nearest(self.needs_space(labels).relations(), size)
            self.constant("near", torch.cat([torch.arange(count)[:, None], near], dim=1))
            # own class, the near ones, and one logit for all the rest: it starts where their mass is even
            start = torch.zeros(count, size + 2)
            start[:, -1] = math.log(max(count - size - 1, 1))
            self.top_logits = nn.Parameter(start)
        else:
            _room.check_state(owner, count, tables=2)
            self.label_logits = nn.Parameter(_start(labels, count))
        return None

    def _start_dense(self, labels: Labels, count: int) -> None:
        owner = type(self).__name__
        _checks.whole(owner, "prune_after", self.prune_after, low=1)
        if self.top is None:
            remedy = "It says how many classes of each row are kept."
            raise _checks.fail(owner, "top", "given with `prune_after`", None, remedy)
        size = min(_checks.whole(owner, "top", self.top, low=1), count - 1)
        _room.check_state(owner, count, tables=2)
        self.label_logits = nn.Parameter(_start(labels, count))
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))
        # places in a row of Q: its own class, the near ones, and where the logit of all the rest lies
        self.register_buffer("kept", torch.zeros(count, min(size + 2, count), dtype=torch.int64))

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return the chosen entropies of t and p."""
        if targets.is_soft(y):
            return [Term(divergences.entropy_terms(output, self._log_target(y, output.dtype), self.coefficients))]
        logits = self._logits(y).to(output.dtype)
        return [Term(divergences.learnt_terms(output, logits, y, self.smoothing, self.coefficients))]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | None:
        """Return the same by a kernel that makes the gradients with the loss, unless 1/α is no number."""
        if targets.is_soft(y) or self.value("smoothing") < torch.finfo(output.dtype).tiny ** 0.5:
            return None
        given = self._made(output)
        logits = self._logits(y).to(output.dtype) if given is None else given
        return learnt_terms(output, logits, y, self.smoothing, self.coefficients, share)

    def _made(self, output: Tensor) -> Table | Product | None:
        """Return what a kernel makes rows of Q from itself, where it may."""
        if self.rank is not None:
            factors = self.label_factor, self.label_basis
            return Product(*factors) if may_be_read(output, *factors) else None
        return table(self.label_logits, output) if self.top is None else None

    def _log_target(self, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return ``log((1−α)·y + α·y@softmax(Q))`` of probabilities y, in log space."""
        own, spread = torch.log1p(-self.smoothing), torch.log(self.smoothing)
        dense = self.rank is None and (self.top is None or self.prune_after is not None)
        log_mixed = targets.log_mixed(lambda c: torch.log_softmax(self._logits(c).to(dtype), dim=-1), y, dense)
        log_y = torch.where(y > 0, y, 1).log()
        return torch.where(y > 0, torch.logaddexp(own + log_y, spread + log_mixed), spread + log_mixed)

    def _logits(self, y: Tensor) -> Tensor:
        """Return rows of Q for class indices."""
        if self.rank is not None:
            return targets.rows(self.label_factor, y) @ self.label_basis
        if self.top is None:
            return targets.rows(self.label_logits, y)
        if self.prune_after is not None:
            rows = targets.rows(self.label_logits, y)
            # a tensor decides, not Python: a compiled step must not be compiled anew when the time has come
            return torch.where(self.epoch >= self.prune_after, self._merged(rows, self.kept[y.clamp_min(0)]), rows)
        return self._shared(targets.rows(self.top_logits, y), self.near[y.clamp_min(0)])

    def _shared(self, chosen: Tensor, near: Tensor) -> Tensor:
        """Return rows of Q from the logits of near classes and, in the last column, of the rest, who share its mass."""
        rest = len(self.names) - near.shape[1]
        spread = chosen[:, -1:].expand(-1, len(self.names)) - math.log(max(rest, 1))
        return spread.scatter(1, near, chosen[:, :-1])

    def _merged(self, rows: Tensor, kept: Tensor) -> Tensor:
        if kept.shape[1] == len(self.names):
            return rows  # at most one class is left over: nothing to merge
        return self._shared(rows.gather(1, kept), kept[:, :-1])

    def renew(self) -> dict[str, Tensor]:
        """Count epochs, and prune Q when it is time."""
        if self.prune_after is None:
            return {}
        counted = {"epoch": self.epoch + 1}
        if int(self.epoch) + 1 != self.prune_after or self.kept.shape[1] == len(self.names):
            return counted
        q, size = self.label_logits.detach(), self.kept.shape[1] - 2
        order = q.clone().fill_diagonal_(torch.inf).argsort(dim=1, descending=True, stable=True)
        # the logit of the rest lies where the largest of them was; cloned, or all of the order would stay in memory
        kept, last = order[:, : size + 2].clone(), order[:, size + 1 :]
        mass = q.gather(1, last).logsumexp(dim=1, keepdim=True)
        return {**counted, "kept": kept, "label_logits": q.scatter(1, kept[:, -1:], mass)}

    def label_space(self) -> LabelSpace:
        """Return softmax(Q) as relations, compressed where Q is; ``targets(α)`` is the T of this loss."""
        source = {"builder": "lls", "smoothing": float(self.smoothing), **targets.first_seen(self._even())}
        with torch.no_grad():
            if self.rank is not None:
                return LabelSpace(self.names, LowRank(self.label_factor, self.label_basis), "relations", source)
            if self.top is not None and self.prune_after is None:
                return LabelSpace(self.names, self._top_rows(), "relations", source)
        return LabelSpace(self.names, self._spread(), "relations", source)

    def _even(self) -> Tensor:
        """Return where Q is as it starts without a space: at zero, the logit of the rest being what it is."""
        if self.rank is not None:
            return self.label_factor == 0
        return (
            self.label_logits == 0 if self.top is None or self.prune_after is not None else self.top_logits[:, :-1] == 0
        )

    def _spread(self) -> Tensor:
        """Return softmax(Q) of all classes."""
        with torch.no_grad():
            everyone = torch.arange(len(self.names), device=self.smoothing.device)
            return torch.softmax(self._logits(everyone).cpu().double(), dim=1)

    def _top_rows(self) -> TopRows:
        """Return the own class, the near ones and the rest as shares of 1."""
        named = self.near.shape[1]
        # where every class is named, nobody is left to share the last logit
        logits = self.top_logits.cpu().double()[:, : named + (len(self.names) > named)]
        shares = torch.softmax(logits, dim=1)
        rest = shares[:, named] if shares.shape[1] > named else torch.zeros(len(shares))
        return TopRows(self.near.cpu(), shares[:, :named], rest)

    def target_matrix(self) -> Tensor | None:
        """Return ``(1−α)·I + α·softmax(Q)``; None for compressed forms of many classes."""
        compressed = self.rank is not None or (self.top is not None and self.prune_after is None)
        if compressed and not fits(len(self.names)):
            return None
        return self.smoothed_identity(self.smoothing, self._spread())

    @classmethod
    def looks_at_space(cls, options: Mapping[str, object]) -> bool:
        """Return whether a space must say which classes are near."""
        return options.get("top") is not None and options.get("prune_after") is None

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes with labels away from their start, and six samples."""
        generator = torch.Generator().manual_seed(0)
        criterion = cls(["a", "b", "c", "d"], smoothing=0.3)
        criterion.label_logits.data = torch.randn(4, 4, generator=generator)
        output = torch.randn(6, 4, generator=generator)
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {})


def _start(labels: Labels, count: int) -> Tensor:
    """Return logits whose softmax are the relations of a space; even ones without a space."""
    if not isinstance(labels, LabelSpace):
        return torch.zeros(count, count)
    return labels.relations().rows(torch.arange(count)).clamp_min_(LEAST).log_()


def _nearest(relations: LabelSpace, size: int) -> Tensor:
    """Return the classes to which each class gives most, ``(K, size)``, looking at few rows at a time."""
    if relations.rule is not None:
        return relations.rule.heaviest(size)
    found = []
    for places in chunks(len(relations)):
        rows = relations.rows(places).clone()
        rows[torch.arange(len(places)), places] = -1
        found.append(rows.topk(size, dim=1).indices)
    return torch.cat(found)
