"""Learning with retrospection: a model's own outputs of an earlier epoch as soft labels, sample by sample."""

from collections.abc import Mapping
from typing import Unpack, final

import torch
from torch import Tensor

from labelspace import _checks, _devices
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Labels, Term, Tuned
from labelspace.space import LabelSpace, kept_mass


@final
class Retrospection(Criterion):
    """Cross-entropy and a divergence from what the model said of the same sample some epochs ago.

    Every k epochs the outputs that the model has just trained on become ``old``, the soft labels of the next k epochs:
    ``(1−s)·H(δ_y, p) + s·τ²·KL(softmax(old/τ) ‖ softmax(z/τ))`` with ``s = (1−γ)·c/E``, where ``c = k·⌊epoch/k⌋`` and E
    is the number of epochs in all (s stays where it is beyond them). Before the first refresh, and for a sample that
    was not seen then, this is cross-entropy. Call ``end_epoch()`` after every epoch.

    Outputs are kept as float16, relative to the largest of their row. ``top`` keeps only the largest of them and the
    mean of the others, which stands for each of the others: at a large τ that is right to first order, while dropping
    the others would lose most of the mass. The memory is no buffer, so distributed training never sends it around.

    Paper says: the weights ``γ + (1−c/E)(1−γ)`` and ``(c/E)(1−γ)``, which are 1−s and s. Code does: counts epochs from
    1, so that in epochs 2k, 3k, … the weights step up one epoch before the memory does, and has E = 240 in a training
    of 200 epochs. We do: count from 0, so that c is the epoch the memory is from; ``preset="reference"`` counts from 1.

    Args:
        labels: a number of classes, their names, or a LabelSpace, of which the names alone are used.
        samples: how many training samples there are; ``index`` counts from 0 to ``samples`` − 1.
        epochs: E, how many epochs the training will take; the soft share grows towards it.
        every: k, refresh the memory every so many epochs.
        temperature: τ > 0.
        hard: γ in [0, 1], the share that the true label keeps to the end.
        top: how many classes to remember of each sample, 1 to K − 1; None remembers all.
        first_epoch: the number of the first epoch in c, 0 or 1.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, K)`` or ``(N, K, d…)``; y class indices ``(N, d…)``; index like y, a whole number per sample.

    Example:
        >>> criterion = Retrospection(3, samples=1, epochs=2, every=1)
        >>> output, y, index = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True), torch.tensor([0]), torch.tensor([0])
        >>> criterion(output, y, index=index).detach()
        tensor(0.4076)
        >>> criterion.end_epoch()
        >>> criterion(output, y, index=index).detach()  # the same output: no divergence, and 55 % of the cross-entropy
        tensor(0.2242)

    Reference:
        Deng and Zhang 2021, "Learning with retrospection".
    """

    name = "lwr"
    engine_supplies = ("samples", "epochs")
    tuned = Tuned("temperature", "τ", (1.0, 2.0, 3.0, 5.0, 10.0))
    scope = "sample"
    class_axes = {"output": (1,), "statistics.outputs": (1,), "statistics.old_outputs": (1,)}
    needs = ("index",)
    needs_in_eval = False
    soft_targets = False
    presets = {"paper": {}, "reference": {"first_epoch": 1}}
    temperature: Tensor
    hard: Tensor
    epoch: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        samples: int,
        epochs: int,
        every: int = 5,
        temperature: float = 5.0,
        hard: float = 0.1,
        top: int | None = None,
        first_epoch: int | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Allocate the memory and the table in which the current epoch is written down."""
        owner, count = type(self).__name__, self.count_classes(labels)
        rows = _checks.whole(owner, "samples", samples, low=1)
        columns = count if top is None else _top(owner, top, count) + 1
        tables: dict[str, tuple[tuple[int, ...], torch.dtype]] = {"outputs": ((rows, columns), torch.float16)}
        if top is not None:
            # 32 bits: the narrowest that hold any class and that every backend can add up over ranks
            tables["classes"] = ((rows, top), torch.int32)
        super().__init__(
            labels,
            **common,
            tables=tables,
            memory={"remembered": ((rows,), torch.bool), **{f"old_{name}": form for name, form in tables.items()}},
        )
        self.samples = rows
        self.epochs = _checks.whole(owner, "epochs", epochs, low=1)
        self.every = _checks.whole(owner, "every", every, low=1)
        self.top = top
        chosen = self.resolved(common.get("preset"), {"first_epoch": 0}, {"first_epoch": first_epoch})
        self.first_epoch = self.choose("first_epoch", chosen["first_epoch"], [0, 1])
        self.option("temperature", temperature, low=0, open_low=True)
        self.option("hard", hard, low=0, high=1)
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))

    def terms(self, output: Tensor, y: Tensor, *, index: Tensor | None = None) -> list[Term]:
        """Return both terms; the soft share is in the target, so that a share of 0 meets no infinity."""
        if not self.training:
            # the memory is of training samples; what is judged has only its label
            return [Term(-targets.pick(torch.log_softmax(output, dim=-1), y))]
        assert index is not None
        place = self._places(index, y)
        # differs from the code: beyond E epochs its weight of the true label would become negative
        done = (self.epoch + self.first_epoch) // self.every * self.every
        share = (1 - self.hard) * (done.to(self.hard.dtype) / self.epochs).clamp_max(1)
        soft_share = self.statistics.memory["remembered"][place].to(output.dtype) * share
        own = -targets.pick(torch.log_softmax(output, dim=-1), y)
        old = torch.softmax(self._recalled(place).to(output.dtype) / self.temperature, dim=-1)
        factor = soft_share * self.temperature.square()
        across = divergences.soft_cross_entropy(output / self.temperature, factor.unsqueeze(-1) * old)
        return [Term((1 - soft_share) * own + across - factor * torch.special.entr(old).sum(dim=-1))]

    def observe(self, output: Tensor, y: Tensor, *, index: Tensor) -> dict[str, Tensor]:  # type: ignore[override]
        """Return the outputs relative to their row's largest, within the range of float16."""
        lowest = torch.finfo(torch.float16).min
        relative = (output - output.amax(dim=-1, keepdim=True)).clamp_min(lowest)
        if self.top is None:
            return {"outputs": relative}
        largest, classes = relative.topk(self.top, dim=-1)
        rest = relative.scatter(-1, classes, 0).sum(dim=-1, keepdim=True) / (len(self.names) - self.top)
        return {"outputs": torch.cat([largest, rest], dim=-1), "classes": classes}

    def commit(self, gathered: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the next epoch's number and, every k epochs, the memory of the samples seen in this one."""
        epoch, memory = self.epoch + 1, self.statistics.memory
        fresh = gathered["seen"] & (epoch % self.every == 0)
        new = {"epoch": epoch, "remembered": memory["remembered"] | fresh}
        for name in self.statistics.tables:
            new[f"old_{name}"] = torch.where(fresh.unsqueeze(1), gathered[name], memory[f"old_{name}"])
        return new

    def label_space(self) -> LabelSpace:
        """Return the mean soft label of the remembered samples, by the class each was most likely thought to be.

        The memory knows no labels; ``analysis.class_means(outputs, y)`` has the means by the true ones.
        """
        total = torch.zeros(len(self.names), len(self.names), dtype=torch.float64)
        known = self.statistics.memory["remembered"].nonzero().squeeze(1)
        for places in torch.split(known, 65536):
            soft = torch.softmax(self._recalled(places).cpu().double() / self.temperature.cpu(), dim=-1)
            total.index_add_(0, soft.argmax(dim=-1), soft)
        source = {"builder": "lwr", "epoch": int(self.epoch), **targets.first_seen(len(known) == 0)}
        return LabelSpace(self.names, kept_mass(total), "relations", source)

    def _recalled(self, place: Tensor) -> Tensor:
        values = self.statistics.memory["old_outputs"][place]
        if self.top is None:
            return values
        rest = values[:, -1:].expand(-1, len(self.names))
        return rest.scatter(-1, self.statistics.memory["old_classes"][place].long(), values[:, :-1])

    def _places(self, index: Tensor, y: Tensor) -> Tensor:
        """Return the rows of the memory; an ignored sample may have any index and is given row 0."""
        place = torch.where(y >= 0, index.long(), 0)
        if self.validate and _devices.may_look_at(place):
            wrong = place[(place < 0) | (place >= self.samples)]
            if len(wrong):
                expected = f"from 0 to {self.samples - 1} (samples={self.samples})"
                remedy = "Number the training samples from 0, and pass how many there are as `samples`."
                raise _checks.fail(type(self).__name__, "index", expected, int(wrong[0]), remedy)
        return place

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes that remembers most of its samples, one epoch before a refresh."""
        generator = torch.Generator().manual_seed(0)
        criterion = cls(["a", "b", "c", "d"], samples=9, epochs=10, every=2)
        memory = 3 * torch.randn(9, 4, generator=generator)
        criterion.statistics.memory["old_outputs"] = (memory - memory.amax(dim=1, keepdim=True)).half()
        criterion.statistics.memory["remembered"] = torch.arange(9) != 6
        criterion.epoch = torch.tensor(3)
        index = torch.tensor([0, 3, 8, 6, 1, 5])
        output = torch.randn(6, 4, generator=generator)
        return Example(criterion, output, torch.tensor([0, 1, 2, 3, 1, 2]), {"index": index})


def _top(owner: str, top: int, classes: int) -> int:
    if _checks.whole(owner, "top", top, low=1) >= classes:
        remedy = "Leave it out to remember all classes."
        raise _checks.fail(owner, "top", f"less than the number of classes {classes}", top, remedy)
    return top
