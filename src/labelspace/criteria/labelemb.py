"""Label embedding network: a second head learns which classes look alike."""

from collections.abc import Mapping
from typing import Literal, Unpack, final

import torch
from torch import Tensor, nn

from labelspace import _checks, _room
from labelspace.compressed import LowRank, fits
from labelspace.criteria import divergences, kernels, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.criteria.embedding_kernel import Weights, embedded, share_of_right
from labelspace.criteria.inputs import Layer, Product, Table, may_be_read, table
from labelspace.criteria.known import is_small
from labelspace.space import LabelSpace


@final
class LabelEmbedding(Criterion):
    """Five terms: ``H(y,p1) + H(ê,p1) + H(y,p2) + max(0, p2_y − cap) + m·H(softmax(z2/τ), ê)``.

    ``z1`` is the model's output, ``z2 = second_head(sg features)``, ``ê = softmax(E[y])``; m keeps the samples that the
    second head gets right. Prediction uses z1. ``pretrained`` fixes ê and drops the second head: the first two terms.

    Paper says: the first two terms weigh 1 and 1, only features are stopped, hinge per sample. Code does: they weigh β
    and 1−β with β = ½, ê and softmax(z2/τ) are stopped too, hinge summed over the batch. We do: the paper's weights and
    hinge, the code's stops (E learns only from the last term). ``preset="paper"`` and ``"reference"`` are the two. The
    code for sequences, where E is compressed, is another: it leaves out the second term for 20,000 updates and takes
    ``|p2_y − cap|`` for the hinge, which ``"reference"`` does with ``rank``; and it forgets to mask padding, which
    nothing here does.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used: see
            ``pretrained``.
        in_features: the width of ``features``; left out with ``pretrained``.
        temperature: τ > 0, softens the second head for the embedding.
        cap: α in [0, 1], where the hinge on the second head's confidence begins.
        init_scale: E starts at this times the identity. At 1 softmax(E) puts only 0.23 on the class at K=10.
        rank: ``E[y] = ReLU(A_y·B)`` with h = rank columns, for many classes.
        head_rank: ``z2 = V·(U·features) + b`` with so many numbers between. Left out it is ``rank``, if that is given
            and less than ``in_features``: of many classes the second head is otherwise another layer as large as the
            model's last. The paper has such a layer, and so have its presets; 0 asks for it.
        beta: β in [0, 1], weighs the first two terms by β and 1−β; left out they weigh 1 each (½ in ``"reference"``).
        hinge: ``"linear"``, ``"squared"``, or ``"absolute"`` for ``|p2_y − cap|``.
        delay: so many training calls go by before the second term, H(ê,p1), has a weight.
        hinge_total: sum the hinge over the batch while other terms are means.
        stop_targets: keep gradients from ê in the second term and from softmax(z2/τ) in the last.
        pretrained: relations whose rows are ê (``label_space()`` of a trained one, not logits E), eq. (17); found by
            name among its classes. Vectors and costs become relations first. A low-rank space stays compressed.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; features ``(N, F)`` or ``(N, F, d…)``; y class indices or probabilities.

    Example:
        >>> criterion = LabelEmbedding(3, in_features=8)
        >>> criterion(torch.zeros(2, 3), torch.tensor([0, 2]), features=torch.zeros(2, 8)).item() > 0
        True

    Reference:
        "Label embedding network: learning label representation for soft training of deep networks",
        eq. (7)–(17).
    """

    name = "labelemb"
    display = "embedding"
    engine_supplies = ("in_features",)
    space_options = ("pretrained",)
    tuned = Tuned("temperature", "τ", (1.0, 1.5, 2.0, 3.0, 5.0), idle_with=("pretrained",))
    scope = "sample"
    needs: tuple[str, ...] = ("features",)
    stops_gradient = True
    piecewise = True
    class_axes = {
        "output": (1,),
        "embedding": (0, 1),
        "factor": (0,),
        "basis": (1,),
        "fixed": (0, 1),
        "second_head.weight": (0,),
        "second_head.bias": (0,),
    }
    label_parameters = ("embedding", "factor", "basis")
    row_parameters = ("embedding", "factor")
    presets = {
        "paper": {"stop_targets": False},
        "reference": {"beta": 0.5, "hinge_total": True},
    }
    same_on_ranks = True
    temperature: Tensor
    cap: Tensor
    beta: Tensor
    first_total: Tensor
    fixed: Tensor
    calls_seen: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        in_features: int | None = None,
        temperature: float = 2.0,
        cap: float = 0.9,
        init_scale: float = 1.0,
        rank: int | None = None,
        head_rank: int | None = None,
        beta: float | None = None,
        hinge: Literal["linear", "squared", "absolute"] | None = None,
        delay: int | None = None,
        hinge_total: bool | None = None,
        stop_targets: bool | None = None,
        pretrained: LabelSpace | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Make the second head and the embedding, or take a fixed one."""
        of_sequences = common.get("preset") == "reference" and rank is not None
        delay = _checks.whole(type(self).__name__, "delay", (20_000 if of_sequences else 0) if delay is None else delay)
        super().__init__(labels, **common, commit_every=1 if delay else None, sums={"calls": ()} if delay else None)
        given = {"beta": beta, "hinge_total": hinge_total, "stop_targets": stop_targets}
        chosen = self.resolved(common.get("preset"), {"beta": None, "hinge_total": False, "stop_targets": True}, given)
        self.delay = delay
        if delay:
            self.register_buffer("calls_seen", torch.zeros((), dtype=torch.int64))
        hinge = ("absolute" if of_sequences else "linear") if hinge is None else hinge
        self.in_features, self.rank, self.relu = in_features, rank, True
        self.head_rank = head_rank
        # how many numbers lie between features and second head, 0 for none; of what is left out the presets have none
        self.between = 0 if head_rank is None and common.get("preset") else head_rank
        self.init_scale = _checks.number(type(self).__name__, "init_scale", init_scale)
        if rank is not None and self.init_scale != 1:
            remedy = "A compressed embedding has no diagonal to scale."
            raise _checks.fail(type(self).__name__, "init_scale", "left out with `rank`", init_scale, remedy)
        self.hinge = self.choose("hinge", hinge, ["linear", "squared", "absolute"])
        self.hinge_total, self.stop_targets = bool(chosen["hinge_total"]), bool(chosen["stop_targets"])
        self.option("temperature", temperature, low=0, open_low=True)
        self.option("cap", cap, low=0, high=1)
        self.shared = chosen["beta"] is not None
        # 2·(½, ½) are the paper's weights; the total is a tensor, so that members of a sweep may differ in it too
        self.option("beta", chosen["beta"] if self.shared else 0.5, low=0, high=1)
        self.constant("first_total", torch.tensor(1.0 if self.shared else 2.0), persistent=False)
        self.pretrained = pretrained is not None
        if pretrained is not None:
            self._take(pretrained)
        else:
            self._make_parameters()

    def _take(self, pretrained: LabelSpace) -> None:
        owner = type(self).__name__
        if not isinstance(pretrained, LabelSpace):
            remedy = "Read a label file with LabelSpace.load(path)."
            raise _checks.fail_type(owner, "pretrained", "a LabelSpace", repr(pretrained), remedy)
        _checks.known_names(owner, "pretrained", self.names, pretrained.names)
        self.needs, self.stops_gradient, self.rank = (), False, None
        space = pretrained.relations()
        space = space if space.names == self.names else space.subset(self.names)
        if isinstance(space.rule, LowRank):
            self.rank, self.relu = space.rule.left.shape[1], space.rule.relu
            self.constant("factor", space.rule.left.clone())
            self.constant("basis", space.rule.right.clone())
        else:
            self.constant("fixed", space.matrix.clone())
            self._rows = targets.TargetRows()

    def _make_parameters(self) -> None:
        owner, count = type(self).__name__, len(self.names)
        if self.in_features is None:
            remedy = "It is the width of the features that the second head reads."
            raise _checks.fail(owner, "in_features", "given unless `pretrained` is", None, remedy)
        width = _checks.whole(owner, "in_features", self.in_features, low=1)
        rank = None if self.rank is None else _checks.whole(owner, "rank", self.rank, low=1)
        if self.between is None:
            self.between = rank if rank is not None and rank < width else 0
        between = _checks.whole(owner, "head_rank", self.between)
        if between:
            self.narrow = nn.Linear(width, between, bias=False)
        self.second_head = nn.Linear(between or width, count)
        if rank is None:
            _room.check_state(owner, count, tables=2)
            self.embedding = nn.Parameter(self.init_scale * torch.eye(count))
        else:
            self.factor = nn.Parameter(torch.randn(count, rank))
            self.basis = nn.Parameter((2 * torch.rand(rank, count) - 1) / rank**0.5)

    def terms(self, output: Tensor, y: Tensor, *, features: Tensor | None = None) -> list[Term]:
        """Return the five terms: the first two and the next two share a pass each."""
        if self.pretrained:
            # eq. (17)
            dense = self.rank is None
            soft = targets.rows(self.fixed.to(output.dtype), y) if dense else self._log_rows(y, output.dtype).exp()
            return [Term(_first(output, y, soft, *self._two()))]
        second, log_soft = self._second(features, output.dtype), self._log_rows(y, output.dtype)
        return self._five(output, y, second, log_soft, *self._two())

    def summed(self, output: Tensor, y: Tensor, share: Share, *, features: Tensor | None = None) -> Tensor | None:
        """Return the same by a kernel; mixed labels, and fixed ones that are compressed, have none."""
        if targets.is_soft(y) or (self.pretrained and self.rank is not None):
            return None
        made = None if self.pretrained else self._made(output)
        weights = self._weights(len(y), isinstance(made, Product) and self.relu)
        if self.pretrained:
            two = weights.own, weights.spread
            return kernels.smoothed_cross_entropy(output, y, *two, self.fixed, self._rows, share)
        mean, y = self.reduction == "mean", y.clone()  # gradients go to the rows that were read, whatever becomes of y
        if self.hinge_total and mean and isinstance(share, Tensor):
            return None  # a sum of samples, of which shares do not tell the number

        def careful(output: Tensor, second: Tensor, logits: Tensor) -> Tensor:
            logits = logits.relu() if weights.positive else logits
            # weights of the time of the loss: by now another call may have been counted
            two = output.new_tensor([weights.own, weights.spread], dtype=torch.float64).unbind()
            terms = self._five(output, y, second, torch.log_softmax(logits, dim=-1), *two)
            first, surprise, hinge, last = (term.values for term in terms)
            assert terms[-1].weights is not None
            counted = share_of_right(terms[-1].weights, share, mean)
            return first + surprise + weights.hinge * hinge + counted * last

        logits = self._logits(y).to(output.dtype) if made is None else made
        return embedded(output, self._second_made(features, output), logits, y, weights, share, careful)

    def _made(self, output: Tensor) -> Table | Product | None:
        """Return what a kernel makes the logits of ê from itself, where it may."""
        if self.rank is None:
            return table(self.embedding, output)
        if is_small(output):
            return None  # autograd costs less than a function in Python
        return Product(self.factor, self.basis) if may_be_read(output, self.factor, self.basis) else None

    def _second_made(self, features: Tensor | None, output: Tensor) -> Tensor | Layer:
        """Return what a kernel makes z2 from itself, where it may; else z2."""
        head = self.second_head
        if is_small(output) or not may_be_read(output, head.weight, head.bias):
            return self._second(features, output.dtype)
        return Layer(self._seen(features, output.dtype), head.weight, head.bias)

    def _weights(self, samples: int, positive: bool) -> Weights:
        beta, total = self.value("beta"), self.value("first_total")
        begun = not self.delay or int(self.calls_seen) >= self.delay
        own, spread = total * beta, total * ((1 - beta) * begun)
        hinge = float(samples) if self.hinge_total and self.reduction == "mean" else 1.0
        options = self.value("temperature"), self.value("cap"), self.hinge, positive, self.stop_targets
        return Weights(own, spread, hinge, *options, self.reduction == "mean")

    def _second(self, features: Tensor | None, dtype: torch.dtype) -> Tensor:
        """Return z2."""
        head, seen = self.second_head, self._seen(features, dtype)
        return nn.functional.linear(seen, head.weight.to(dtype), head.bias.to(dtype))

    def _seen(self, features: Tensor | None, dtype: torch.dtype) -> Tensor:
        """Return what the second head sees; nothing behind the features learns from it."""
        assert features is not None
        if features.ndim != 2 or features.shape[1] != self.in_features:
            expected = f"of width in_features={self.in_features}"
            raise _checks.fail(type(self).__name__, "features", expected, f"shape {tuple(features.shape)}")
        seen = features.detach()
        return nn.functional.linear(seen, self.narrow.weight.to(dtype)) if self.between else seen

    def _two(self) -> tuple[Tensor, Tensor]:
        """Return what the first two terms weigh."""
        spread = 1 - self.beta
        if self.delay:
            spread = spread * (self.calls_seen >= self.delay)
        return self.first_total * self.beta, self.first_total * spread

    def _five(
        self, output: Tensor, y: Tensor, second: Tensor, log_soft: Tensor, own: Tensor, spread: Tensor
    ) -> list[Term]:
        """Return the terms from both heads' logits, ``log ê``, and what the first two weigh."""
        soft = (log_soft.detach() if self.stop_targets else log_soft).exp()
        learnt = torch.softmax((second.detach() if self.stop_targets else second) / self.temperature, dim=-1)
        surprise = _cross_entropy(second, y)
        right = (second.argmax(dim=-1) == targets.hard(y)).to(output.dtype)
        return [
            Term(_first(output, y, soft, own, spread)),
            Term(surprise),
            Term(self._hinge(second, y, surprise), total=self.hinge_total),
            Term(-(learnt * log_soft).sum(dim=-1), right),
        ]

    def observe(self, output: Tensor, y: Tensor, *, features: Tensor | None = None) -> dict[str, Tensor]:
        """Return one call."""
        return {"calls": output.new_ones(())}

    def commit(self, gathered: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return how many calls have gone by."""
        return {"calls_seen": self.calls_seen + gathered["calls"].long()}

    def _hinge(self, second: Tensor, y: Tensor, surprise: Tensor) -> Tensor:
        sure = (torch.softmax(second, dim=-1) * y).sum(dim=-1) if targets.is_soft(y) else torch.exp(-surprise)
        if self.hinge == "absolute":
            return (sure - self.cap).abs()
        excess = (sure - self.cap).clamp_min(0)
        return excess.square() if self.hinge == "squared" else excess

    def _log_rows(self, y: Tensor, dtype: torch.dtype) -> Tensor:
        """Return ``log ê``; probabilities mix rows of softmax(E)."""
        if not targets.is_soft(y):
            return torch.log_softmax(self._logits(y).to(dtype), dim=-1)
        rank = self.rank
        return targets.log_mixed(lambda c: torch.log_softmax(self._logits(c).to(dtype), dim=-1), y, rank is None)

    def _logits(self, y: Tensor) -> Tensor:
        if self.rank is None:
            return targets.rows(self.embedding, y)
        products = targets.rows(self.factor, y) @ self.basis
        return torch.relu(products) if self.relu else products

    def label_space(self) -> LabelSpace:
        """Return softmax(E), or the fixed rows, as relations, compressed where E is.

        ``analysis.spectral_vectors`` makes vectors of them.
        """
        with torch.no_grad():
            learned = {"fixed": True} if self.pretrained else self._untouched()
            source = {"builder": "labelemb", **learned}
            if self.rank is not None:
                return LabelSpace(self.names, LowRank(self.factor, self.basis, relu=self.relu), "relations", source)
        return LabelSpace(self.names, self._all_rows().cpu(), "relations", source)

    def _untouched(self) -> dict[str, object]:
        """Return whether E is the identity it starts with; a compressed one starts at random."""
        if self.rank is not None:
            return {}
        start = self.init_scale * torch.eye(len(self.names), device=self.embedding.device)
        return targets.first_seen(self.embedding == start)

    @torch.no_grad()
    def _all_rows(self) -> Tensor:
        """Return softmax(E) of all classes, or the fixed rows."""
        if self.pretrained and self.rank is None:
            return self.fixed
        everyone = torch.arange(len(self.names), device=self.beta.device)
        return torch.softmax(self._logits(everyone).cpu().double(), dim=1)  # some devices have no float64

    def target_matrix(self) -> Tensor | None:
        """Return ``β·I + (1−β)·ê``, ê = softmax(E), which the first head learns; None for too many classes."""
        if self.rank is not None and not fits(len(self.names)):
            return None
        return self.smoothed_identity(1 - self.beta, self._all_rows())

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes and eight samples; the second head is right for some and sure of one."""
        generator = torch.Generator().manual_seed(0)
        criterion = cls(["a", "b", "c", "d"], in_features=5, cap=0.4)
        criterion.embedding.data = torch.randn(4, 4, generator=generator)
        criterion.second_head.weight.data = torch.randn(4, 5, generator=generator)
        criterion.second_head.bias.data = torch.randn(4, generator=generator)
        output, features = torch.randn(8, 4, generator=generator), torch.randn(8, 5, generator=generator)
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2, 0, 3]), {"features": features})


def _first(output: Tensor, y: Tensor, soft: Tensor, own: Tensor, spread: Tensor) -> Tensor:
    """Return the first two terms, weighed."""
    of_class = _times(own, _cross_entropy(output, y))
    return of_class + _times(spread, divergences.soft_cross_entropy(output, soft))


def _times(weight: Tensor, values: Tensor) -> Tensor:
    """Return weighed values; what weighs nothing costs nothing, even where it is infinite."""
    return torch.where(weight == 0, 0, weight * torch.where(weight == 0, 0, values))


def _cross_entropy(output: Tensor, y: Tensor) -> Tensor:
    """Return ``H(y, p)`` per sample; zero for an ignored one."""
    if targets.is_soft(y):
        return divergences.soft_cross_entropy(output, y)
    return nn.functional.cross_entropy(output, y, ignore_index=-1, reduction="none")
