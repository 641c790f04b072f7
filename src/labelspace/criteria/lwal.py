"""Learning with adaptive labels: a class's label is the mean output of its samples."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Literal, Unpack, final

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks, _room
from labelspace._devices import IN_CACHE, may_look_at
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Share, Term, Tuned
from labelspace.criteria.maths import Array
from labelspace.criteria.nearness_few import fits, nearness_to_few
from labelspace.criteria.nearness_kernel import ClassMeans, nearness
from labelspace.criteria.scratch import LENT
from labelspace.criteria.soundness import Rows
from labelspace.criteria.statistics import Learnt, RowSum
from labelspace.space import LabelSpace


@final
class AdaptiveLabels(Criterion):
    """Cross-entropy of ``P(c|z) = softmax_c(−‖z − ŷ_c‖)``, ``ŷ_c`` the mean output of class c; predicts the nearest.

    Labels are updated every ``every`` steps after ``warmup`` steps, before the loss; a class absent from the batch
    keeps its label. The batch is the unit of this method: splitting it changes the means (two ranks together still
    form one batch). ``repel`` adds ``λ·Σ_{y_i≠y_j} cos(z_i, z_j)/N²`` on update steps, in closed form from class sums.

    Paper says: loss, then update, then with repel on the loss once more, with the new labels; steps are counted from
    the start of each epoch. Code does: update first, differentiate through the means when k=1, evaluate with the last
    batch's means. We do: as the code, but predict with running means, and count steps globally. ``preset="paper"`` is
    as printed and does not divide the repel term by N²; ``"reference"`` predicts with the last means.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        dim: the width D of the output; K by default, the paper also uses 10·K.
        every: k, steps between updates.
        warmup: w, steps before the first update.
        repel: λ, the weight of the repel term; the paper uses 10.
        grad: ``"through"`` differentiates through the class means, ``"detached"`` treats them as constants.
        order: ``"update first"`` takes the loss with this batch's labels, ``"loss first"`` with those before it,
            ``"as printed"`` with those before it unless the repel term is on.
        repel_mean: divide the repel term by N².
        restart: count steps from 0 again after each ``end_epoch()``, so that every epoch has its warm-up.
        memory: mix each batch's class sums with the running ones, so that small batches work.
        decay: of the running means, per step.
        test_labels: what predicts: ``"running"`` means, the ``"last"`` ones used in training, or those of a ``"full"``
            pass over the training data made with ``fit_labels``.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, D)`` or ``(N, D, d…)``; y class indices ``(N, d…)`` or probabilities with K in the place of D.

    Example:
        >>> criterion = AdaptiveLabels(2, dim=3)
        >>> points = torch.tensor([[1.0, 0, 0], [3.0, 0, 0], [0, 5.0, 0], [0, 7.0, 0]], requires_grad=True)
        >>> loss = criterion(points, torch.tensor([0, 0, 1, 1]))
        >>> criterion.label_matrix
        tensor([[2., 0., 0.],
                [0., 6., 0.]])

    Reference:
        Yu and Verma, "Improving model training via self-learned label representations",
        eq. (1)–(3), algorithm 1. # differs from its line 6: ``mod k = 1`` never fires at k = 1.
    """

    name = "lwal"
    display = "adaptive"
    tuned = Tuned("repel", "λ", (0.0, 1.0, 3.0, 10.0, 30.0))
    scope = "batch"
    class_axes = {
        "label_matrix": (0,),
        "running_mean": (0,),
        "running_count": (0,),
        "fitted_mean": (0,),
        "fitted_count": (0,),
        "statistics.sums": (0,),
        "statistics.counts": (0,),
    }
    presets = {
        "paper": {"grad": "detached", "order": "as printed", "repel_mean": False, "restart": True},
        "reference": {"test_labels": "last"},
    }
    engine_options = {"test_labels": "full"}
    repel: Tensor
    decay: Tensor
    step: Tensor
    label_matrix: Tensor
    running_mean: Tensor
    running_count: Tensor
    fitted_mean: Tensor
    fitted_count: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        dim: int | None = None,
        every: int = 1,
        warmup: int = 0,
        repel: float = 0.0,
        grad: Literal["through", "detached"] | None = None,
        order: Literal["update first", "loss first", "as printed"] | None = None,
        repel_mean: bool | None = None,
        restart: bool | None = None,
        memory: bool = False,
        decay: float = 0.9,
        test_labels: Literal["running", "last", "full"] | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Start labels at the identity, padded with zeros."""
        count, owner = self.count_classes(labels), type(self).__name__
        width = count if dim is None else _checks.whole(owner, "dim", dim, low=1)
        _room.check_state(owner, count, tables=4, width=width)
        super().__init__(
            labels,
            **common,
            width=width,
            commit_every=1,
            sums={"sums": (count, width), "counts": (count,)},
        )
        given = {"grad": grad, "order": order, "repel_mean": repel_mean, "restart": restart, "test_labels": test_labels}
        defaults = {"grad": "through", "order": "update first", "repel_mean": True, "restart": False}
        chosen = self.resolved(common.get("preset"), {**defaults, "test_labels": "running"}, given)
        self.dim = width
        self.every = _checks.whole(owner, "every", every, low=1)
        self.warmup = _checks.whole(owner, "warmup", warmup)
        self.grad = self.choose("grad", chosen["grad"], ["through", "detached"])
        self.order = self.choose("order", chosen["order"], ["update first", "loss first", "as printed"])
        self.stops_gradient = self.grad == "detached" and self.order != "loss first"
        self.repel_mean, self.restart, self.memory = bool(chosen["repel_mean"]), bool(chosen["restart"]), bool(memory)
        self.test_labels = self.choose("test_labels", chosen["test_labels"], ["running", "last", "full"])
        self.full_pass = self.test_labels == "full"
        self.option("repel", repel, low=0)
        self.option("decay", decay, low=0, high=1)
        self._warned = False
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))
        self.register_buffer("label_matrix", _start(count, width))
        for kind in ("running", "fitted"):
            self.register_buffer(f"{kind}_mean", torch.zeros(count, width))
            self.register_buffer(f"{kind}_count", torch.zeros(count))

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return the cross-entropy of nearness to the labels, and the repel term."""
        if not self.training:
            # a batch to be judged must not help to make the labels it is judged by
            return [self._nearness(output, y, self._test_matrix().to(output.dtype))]
        self._warn_once(len(output))
        member = targets.membership(y, len(self.names), output.dtype)
        unit = output * output.square().sum(dim=-1, keepdim=True).clamp_min(_tiny(output)).rsqrt()
        of_classes = (member.T @ output, member.sum(dim=0), member.T @ unit)
        sums, counts, units = self.over_batch(*of_classes)  # together: ranks wait for each other once
        labels = self._updated(sums.detach() if self.grad == "detached" else sums, counts)
        if self.order != "update first":
            before = self.label_matrix.to(output.dtype)
            # line 8 of the algorithm, there only where repel is on, computes the loss anew after line 7's update
            labels = torch.where(self.repel > 0, labels, before) if self.order == "as printed" else before
        return [self._nearness(output, y, labels), self._repelled(unit, member, units, counts.sum())]

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | Learnt | None:
        """Return the same by a kernel; mixed or weighed labels, memory and the repel term have none."""
        alone = self.training and self.order == "update first" and not self.memory and self.value("repel") == 0
        if not alone or isinstance(share, Tensor) or targets.is_soft(y):
            return None
        self._warn_once(len(output))
        before, update, through = self._held("label_matrix"), self._is_due(), self.grad == "through"
        y = y.clone()  # whatever becomes of the labels, gradients are those of the loss

        def careful(output: Tensor) -> Tensor:
            # from what was there at the time of the loss: by now the labels are committed and the step is another
            member = targets.membership(y, len(self.names), output.dtype)
            sums, counts = member.T @ (output if through else output.detach()), member.sum(dim=0)[:, None]
            labels = torch.where(update & (counts > 0), sums / counts.clamp_min(1), before.to(output.dtype))
            return self._nearness(output, y, labels).values

        kernel = nearness_to_few if fits(output, before) else nearness
        loss, means = kernel(output, y, before, update, through, share, careful)
        if before.dtype is not output.dtype:  # sums have more digits than these means
            return loss
        return Learnt(loss, lambda: self._committed_means(means, update))

    def _nearness(self, output: Tensor, y: Tensor, labels: Tensor) -> Term:
        log_p = torch.log_softmax(-divergences.euclidean(output, labels), dim=-1)
        return Term(-targets.pick(log_p, y))

    def _due(self) -> Tensor:
        return (self.step >= self.warmup) & ((self.step - self.warmup) % self.every == 0)

    def _is_due(self) -> bool:
        """Return the same where the step may be looked at, which takes a fraction of the time."""
        late = int(self._held("step").item()) - self.warmup
        return late >= 0 and late % self.every == 0

    def _updated(self, sums: Tensor, counts: Tensor) -> Tensor:
        """Return the labels for this step, from this batch's class sums."""
        mean, _ = self._joined(sums, counts) if self.memory else (sums / counts.clamp_min(_tiny(counts))[:, None], None)
        update = self._due() & (counts > 0)
        return torch.where(update[:, None], mean, self.label_matrix.to(sums.dtype))

    def _joined(self, sums: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Return running means and counts with a batch added: ``M ← (d·C·M + s)/(d·C + c)``, ``C ← d·C + c``."""
        old = self.decay * self.running_count.to(sums.dtype)
        total = old + counts
        mean = (old[:, None] * self.running_mean.to(sums.dtype) + sums) / total.clamp_min(_tiny(total))[:, None]
        # the mean is kept, not the sum: a class not seen for long has a count near zero and still its mean
        return torch.where((counts > 0)[:, None], mean, self.running_mean.to(sums.dtype)), total

    def _repelled(self, unit: Tensor, member: Tensor, units: Tensor, count: Tensor) -> Term:
        # Σ_j (1 − y_i·y_j) û_i·û_j = û_i·S − y_i·(C û_i) with C = Σ_j y_j û_jᵀ and S = Σ_j û_j, the sum of C's rows:
        # O(N·D), never O(N²·D).
        # A sample and itself are not a pair; that leaves something to subtract only where its label is soft.
        own = (1 - member.square().sum(dim=-1)) * unit.square().sum(dim=-1)
        pairs = unit @ units.sum(dim=0) - ((member @ units) * unit).sum(dim=-1) - own * member.sum(dim=-1)
        scaled = self.repel * torch.where(self._due(), pairs, 0)
        if not self.repel_mean:
            return Term(scaled, total=True)
        return Term(scaled / count.clamp_min(1))

    def observe(self, output: Tensor, y: Tensor) -> Mapping[str, Tensor | RowSum]:
        """Return class sums and counts of the batch."""
        if not targets.is_soft(y):
            valid = (y >= 0).to(output.dtype)
            return {"sums": RowSum(y.clamp_min(0), output * valid[:, None]), "counts": RowSum(y.clamp_min(0), valid)}
        return {"sums": y.T @ output, "counts": y.sum(dim=0)}

    def commit(self, gathered: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the labels of this step, the running means, and the next step's number."""
        sums, counts = gathered["sums"], gathered["counts"]
        if may_look_at(counts) and not self.memory and int((counts > 0).sum()) < len(counts):
            places = counts.nonzero().squeeze(1)
            added = counts[places, None]
            means = sums.index_select(0, places) / added
            return self._committed_means(ClassMeans(places.numpy(), means.numpy(), added.numpy()), self._is_due())
        mean, total = self._joined(sums, counts)
        return {
            "label_matrix": self._updated(sums, counts),
            "running_mean": mean,
            "running_count": torch.where(counts.sum() > 0, total, self.running_count.to(total.dtype)),
            "step": self.step + 1,
        }

    def _committed_means(self, batch: ClassMeans, update: bool) -> dict[str, Tensor]:
        """Return the same of a batch on the CPU, of which the classes alone are computed anew."""
        places, means, counts = batch
        mean, total = self._held("running_mean").numpy(), self._held("running_count").numpy() * self.value("decay")
        old, before = (total, mean) if places is None else (total[places], mean[places])
        old = old[:, None]
        added = old + counts
        running = old * before
        running += counts * means
        running /= added
        new = {"running_mean": _written(mean, places, running), "step": np.asarray(self._held("step").item() + 1)}
        if len(counts):
            new["running_count"] = _written(total, places, added[:, 0])
        if update:
            new["label_matrix"] = _written(self._held("label_matrix").numpy(), places, means)
        return {name: torch.from_numpy(each) for name, each in new.items()}

    def _held(self, name: str) -> Tensor:
        """Return a buffer; a module looks long for an attribute that is one."""
        found = self._buffers[name]
        assert found is not None
        return found

    def renew(self) -> dict[str, Tensor]:
        """Return the step with which the next epoch starts."""
        return {"step": torch.zeros_like(self.step)} if self.restart else {}

    def row_scores(self, output: Tensor) -> Tensor:
        """Return minus the distance to each label."""
        return -divergences.euclidean(output, self._test_matrix().to(output.dtype))

    def _test_matrix(self) -> Tensor:
        if self.test_labels == "last":
            return self.label_matrix
        running = torch.where((self.running_count > 0)[:, None], self.running_mean, self.label_matrix)
        if self.test_labels == "running":
            return running
        return torch.where((self.fitted_count > 0)[:, None], self.fitted_mean, running)

    @torch.no_grad()
    def fit_labels(self, batches: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Set the ``"full"`` test labels: class means over pairs ``(output, y)`` of the whole training set.

        In distributed training every rank calls it with its own share.
        """
        sums, counts = torch.zeros_like(self.fitted_mean), torch.zeros_like(self.fitted_count)
        for output, y in batches:
            batch = self._layout().batch(output, y, {})
            rows = self.sound(Rows(batch.output, batch.y, batch.valid, {}))
            member = targets.membership(rows.y, len(self.names), sums.dtype)
            sums, counts = sums + member.T @ rows.output.to(sums.dtype), counts + member.sum(dim=0)
        sums, counts = self.ranks.sum(sums, counts)
        self.fitted_mean, self.fitted_count = sums / counts.clamp_min(_tiny(counts))[:, None], counts

    def _warn_once(self, rows: int) -> None:
        if torch.compiler.is_compiling() or self._warned or self.memory:
            return
        if rows < 2 * len(self.names) and rows * self.ranks.size() < 2 * len(self.names):
            self._warned = True
            text = "AdaptiveLabels sees fewer than 2 samples of a class in a batch on average, so its means are noise"
            warnings.warn(
                f"{text} ({rows} samples, {len(self.names)} classes). Use larger batches or memory=True.", stacklevel=4
            )

    def label_space(self) -> LabelSpace:
        """Return the labels that predict, as vectors that are compared as they predict: by Euclidean distance."""
        matrix = self._test_matrix().detach().cpu()
        steps = {} if self.restart else {"steps": int(self.step)}
        source = {"builder": "lwal", **steps, "metric": "euclidean", **targets.first_seen(self.running_count == 0)}
        return LabelSpace(self.names, matrix, "vectors", source)

    def target_matrix(self) -> Tensor:
        """Return the labels that predict, ``(K, D)``."""
        return self._test_matrix().detach().cpu().double()

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes in five dimensions, past its start, and eight samples."""
        generator = torch.Generator().manual_seed(0)
        criterion = cls(["a", "b", "c", "d"], dim=5, repel=0.5)
        for name in ("label_matrix", "running_mean"):
            setattr(criterion, name, torch.randn(4, 5, generator=generator))
        criterion.running_count = torch.tensor([2.0, 1.0, 0.0, 3.5])
        output = torch.randn(8, 5, generator=generator)
        return Example(criterion, output, torch.tensor([0, 1, 2, 1, 0, 2, 2, 1]), {})


def _start(classes: int, width: int) -> Tensor:
    if width >= classes:
        return torch.eye(classes, width)
    # fewer dimensions than classes: corners run out, random directions keep labels apart
    generator = torch.Generator().manual_seed(0)
    return torch.nn.functional.normalize(torch.randn(classes, width, generator=generator), dim=1)


def _written(table: Array, places: Array | None, rows: Array) -> Array:
    """Return a table with new rows: a copy, since the last loss may hold the old one."""
    if places is None:
        return rows
    if table.size > IN_CACHE:  # of which new memory would take longer than the copy
        new: Array = LENT.take(table.shape, torch.from_numpy(table).dtype).numpy()
        np.copyto(new, table)
    else:
        new = table.copy()
    new[places] = rows
    return new


def _tiny(like: Tensor) -> float:
    return torch.finfo(like.dtype).tiny
