"""Criterion: what every method shares. Subclasses write pure functions; only this file changes state or reduces."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import ClassVar, Literal, NamedTuple, final

import torch
from torch import Tensor, nn

from labelspace import _checks, _sharded
from labelspace._agreement import Agreement
from labelspace._checks import Option
from labelspace._devices import in_vmap, may_look_at
from labelspace._distributed import Ranks, running
from labelspace.criteria import layout, reducing, targets
from labelspace.criteria.class_order import OrdersLabels, class_weight
from labelspace.criteria.described import described
from labelspace.criteria.layout import Batch, Layout, check_device, is_plain, is_plain_beside, likeliest, no_autocast
from labelspace.criteria.soundness import Rows, only_sound
from labelspace.criteria.statistics import Learnt, Statistics, StatisticsModule, parted
from labelspace.criteria.targets import IGNORED, Common, Labels, Reduction, Share, Term, Tuned, with_common
from labelspace.criteria.voices import Loop
from labelspace.space import LabelSpace
from labelspace.top_targets import TopTargets

__all__ = ["Common", "Criterion", "Example", "Labels", "Reduction", "Share", "Term", "Tuned"]

_FEATURES = ("features",)  # what a method may need where a plain batch is computed with little around the kernel


class Example(NamedTuple):
    """A small ready instance and one batch for it."""

    criterion: "Criterion"
    output: Tensor
    y: Tensor
    extras: dict[str, Tensor]


class Criterion(StatisticsModule, metaclass=OrdersLabels):
    """A loss that holds a label space: call it as ``criterion(output, y)``.

    Args:
        labels: a number of classes, their names, or a LabelSpace.
        width: the size of the model's output, K unless the method embeds labels.
        weight: one factor per class, or ``{name: factor}``, applied to a sample by its true class; the mean divides by
            their sum.
        ignore_index: samples with this label leave every term, statistic and denominator.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        class_dim: where classes are in ``output``: 1 as in torch, −1 for ``(B, T, K)``; probabilities, features and a
            teacher's logits are in the same layout.
        preset: a named set of options, for example ``"paper"``.
        global_mean: in distributed training, divide by the sum of weights over all ranks (needs every rank to
            call the criterion in step), so that training is that of one process. ``"sum"`` and ``"none"`` are this
            rank's, as in torch. False keeps to this rank: its own mean, its own batch statistics.
        process_group: the ranks that train together, where they are not all: those of one data-parallel group.
        validate: look at the values of labels, where that is possible without waiting for a device or a compiler; False
            leaves wrong ones to do what they do.
        classes: the names of a dataset's classes in the order of their indices (``dataset.classes``). A LabelSpace is
            put into it by name, a number of classes is named, names are checked; ``weight`` and a method's own matrices
            are in this order.
        commit_every: commit running statistics every so many steps instead of at ``end_epoch()``.
        sums: names and shapes of the statistics that ``observe`` returns, to be added up.
        tables: names and (shape, dtype) of per-sample tables that ``observe`` fills.
        memory: names and (shape, dtype) of per-sample tensors that ``commit`` fills; not buffers, see ``Statistics``.
    """

    name: ClassVar[str]
    scope: ClassVar[Literal["sample", "batch"]]
    class_axes: ClassVar[Mapping[str, tuple[int, ...]]]
    needs: tuple[str, ...] = ()
    needs_in_eval: ClassVar[bool] = True
    dense_features: bool = False  # whether ``features`` are scores at each position of the last feature map
    stops_gradient: bool = False
    piecewise: ClassVar[bool] = False
    random: ClassVar[bool] = False
    soft_targets: ClassVar[bool] = True
    label_parameters: ClassVar[tuple[str, ...]] = ()
    row_parameters: ClassVar[tuple[str, ...]] = ()  # those of which a sample with a class reads one row
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": {}}
    engine_options: ClassVar[Mapping[str, object]] = {}  # what the training engine sets unless told otherwise
    engine_supplies: ClassVar[tuple[str, ...]] = ()  # what only it knows: "samples", "epochs", "in_features"
    requires_space: ClassVar[bool] = False  # whether ``labels`` must be a LabelSpace; see also ``looks_at_space``
    space_options: ClassVar[tuple[str, ...]] = ()  # other options that are label spaces
    space_from_data: ClassVar[bool] = False  # whether a comparison gives it the space of the data's discriminants
    invertible: ClassVar[bool] = False  # whether targets are (1−σ)·I + σ·A with a fixed A, so that p tells of p(y|x)
    smooths: ClassVar[Literal["", "blindly", "learning"]] = ""  # how a method spreads mass that was given no space
    display: ClassVar[str] = ""  # what tables call it, where that is not its name
    end_epoch_options: ClassVar[tuple[str, ...]] = ()  # with these, ``end_epoch()`` changes the loss
    tuned: ClassVar[Tuned | None] = None  # what a comparison tunes; None: there is nothing to tune
    full_pass: bool = False  # whether ``fit_labels`` wants all training outputs before it predicts

    given: Mapping[str, object] = {}  # options as they were given, for ``repr``
    weight: Tensor | None
    steps_observed: Tensor

    def __init__(
        self,
        labels: Labels,
        *,
        weight: Tensor | Sequence[float] | Mapping[str, float] | None = None,
        ignore_index: int = IGNORED,
        reduction: Reduction = "mean",
        class_dim: int = 1,
        preset: str | None = None,
        global_mean: bool = True,
        process_group: object = None,
        validate: bool = True,
        classes: Sequence[str] | None = None,  # labels are in their order by now: see OrdersLabels
        width: int | None = None,
        commit_every: int | None = None,
        sums: Mapping[str, tuple[int, ...]] | None = None,
        tables: Mapping[str, tuple[tuple[int, ...], torch.dtype]] | None = None,
        memory: Mapping[str, tuple[tuple[int, ...], torch.dtype]] | None = None,
    ) -> None:
        """Check and keep what all methods have in common."""
        super().__init__()
        owner = type(self).__name__
        self.names = labels.names if isinstance(labels, LabelSpace) else _checks.class_names(owner, labels)
        self.named = not isinstance(labels, Integral)
        self.output_dim = len(self.names) if width is None else width
        self.reduction = _checks.choice(owner, "reduction", reduction, ["mean", "sum", "none"])
        self.preset = preset if preset is None else _checks.choice(owner, "preset", preset, self.presets)
        self.ignore_index = _checks.integer(owner, "ignore_index", ignore_index)
        self.class_dim = _checks.integer(owner, "class_dim", class_dim)
        self.global_mean, self.validate = global_mean, bool(validate)
        self.ranks, self._agreement = Ranks(process_group), Agreement()
        self.commit_every = (
            commit_every if commit_every is None else _checks.whole(owner, "commit_every", commit_every, low=1)
        )
        self.loop = Loop()
        self._hold(Statistics(sums or {}, tables or {}, memory or {}, self.ranks))
        self.constant("weight", class_weight(owner, weight, self.names))
        if commit_every is not None and commit_every > 1:
            self.register_buffer("steps_observed", torch.zeros((), dtype=torch.int64))

    def extra_repr(self) -> str:
        """Return classes and options."""
        return described(self)

    def __init_subclass__(cls, **keywords: object) -> None:
        """Write the common options into the signature, where people and ``make_criterion`` look for names."""
        super().__init_subclass__(**keywords)
        for name in {"label_space", "target_matrix", "renew"} & vars(cls).keys():
            setattr(cls, name, _sharded.with_whole_parameters(vars(cls)[name]))
        cls.__signature__ = with_common(cls.__init__, Criterion.__init__)  # type: ignore[attr-defined]

    # ------------------------------------------------------------------ what a method writes

    @abstractmethod
    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return the loss as terms; pure. Methods with ``needs`` take those tensors as keyword-only arguments."""

    @abstractmethod
    def label_space(self) -> LabelSpace:
        """Return the label space the method uses or has learned; of sharded parameters, every rank calls it."""

    @classmethod
    @abstractmethod
    def example(cls) -> Example:
        """Return a small ready instance and inputs for it."""

    def target_matrix(self) -> Tensor | None:
        """Return T as the loss sees it now, with the method's own strength: what a network is held against.

        Row k is the target of class k, in float64 on the CPU: ``(K, K)`` and scaled to sum to 1 where terms weigh
        another total (that moves no minimum), or the vectors of a method that embeds labels. None where there is no
        such matrix: targets that differ from sample to sample, or too many classes to write them all down.
        """
        return None

    def summed(self, output: Tensor, y: Tensor, share: Share) -> Tensor | Learnt | None:
        """Return ``Σ share·values`` of the terms in one go, where a method has a faster way to that; pure.

        It is asked only where values can be looked at; what it returns is left alone unless it is finite, so infinite
        logits are the terms' business. Methods with ``needs`` take those tensors as keyword-only arguments.

        Args:
            output: as in ``terms``.
            y: as in ``terms``, but an ignored sample has any class: its share is 0. A label that is no class must be an
                IndexError or a RuntimeError, as it is in torch's own lookups.
            share: what every sample's value counts: 1/n of a mean, or ``(n,)`` of weighed ones.
        """
        return None

    def renew(self) -> dict[str, Tensor]:
        """Return new values of buffers or parameters for the epoch that follows, after any commit; pure."""
        return {}

    def fit_labels(self, batches: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Take labels for prediction from pairs ``(output, y)`` of all training data, where a method wants that."""

    def row_scores(self, output: Tensor) -> Tensor:
        """Return ``(n, K)`` scores of flat rows; logits are scores already. Methods that embed labels replace it."""
        return output

    # ------------------------------------------------------------------ what users call

    def forward(
        self,
        output: Tensor,
        y: Tensor | TopTargets,
        *,
        features: Tensor | None = None,
        index: Tensor | None = None,
        teacher: Tensor | TopTargets | None = None,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        """Return the loss; extras that the method does not declare in ``needs`` are ignored.

        ``sample_weight`` is one factor per sample, beside the class's ``weight``: the mean divides by the sum of their
        products, 0 is an ignored sample. A row of probabilities that sums to less than 1 counts that much, likewise.
        Weights are in the loss alone: running statistics and class means count samples alike.
        """
        if sample_weight is None and isinstance(y, Tensor) and is_plain(output, y, self.output_dim):
            loss = self._quickly(output, y, features)
            if loss is not None:
                return loss
        if isinstance(y, TopTargets):
            y = y.dense(len(self.names), self.class_dim)
        extras: dict[str, Tensor] = {}
        if self.needs and (self.training or self.needs_in_eval):
            if isinstance(teacher, TopTargets):
                teacher = teacher.logits(len(self.names), self.class_dim)
            given = {"features": features, "index": index, "teacher": teacher}
            extras = {name: layout.needed(type(self).__name__, name, given[name]) for name in self.needs}
        context = no_autocast(output)
        if context is None:
            return self._loss(output, y, extras, sample_weight)
        with context:
            return self._loss(output, y, extras, sample_weight)

    @final
    def scores(self, output: Tensor) -> Tensor:
        """Return a score per class in the layout of ``output``; the largest predicts."""
        layout = self._layout()
        return layout.unflatten(self.row_scores(layout.flatten(output)), output)

    @final
    def predict(self, output: Tensor) -> Tensor:
        """Return the predicted class indices.

        Scores of a sample that are not finite name no class: they are refused on the CPU, and are −1 on other devices
        and in compiled code, where to look would be to wait. A class may be ruled out by −inf.
        """
        dim = 0 if output.ndim == 1 else self.class_dim
        return likeliest(f"{type(self).__name__}.predict", self.scores(output), dim)

    @property
    def argmax_predicts(self) -> bool:
        """Whether the largest output predicts; where it does not, ``predict`` and ``scores`` alone know the classes."""
        return type(self).row_scores is Criterion.row_scores

    @final
    def end_epoch(self) -> None:
        """Commit what was observed since the last commit, and renew. In distributed training every rank calls it."""
        self.loop.ends = True
        with torch.inference_mode(False), torch.no_grad():  # of inference mode's tensors no step could go on
            if self.observes and self.commit_every is None:
                self._rebind(self.commit(self.statistics.gathered()))
                self.statistics.clear()
            self._rebind(self.renew())

    @final
    def gather(self) -> None:
        """Bring together what all ranks have observed, so that ``state_dict()`` of any has it; every rank calls it."""
        self.statistics.gather()

    @final
    def undecayed_parameters(self) -> list[nn.Parameter]:
        """Return the label parameters, which weight decay leaves alone unless ``decay_labels`` says otherwise."""
        if getattr(self, "decay_labels", False):
            return []
        return [parameter for name, parameter in self.named_parameters() if name in self.label_parameters]

    # ------------------------------------------------------------------ for methods

    def smoothed_identity(self, strength: Tensor | float, spread: Tensor) -> Tensor:
        """Return ``(1−σ)·I + σ·spread`` in float64 on the CPU, for ``target_matrix``."""
        share = strength.detach().cpu().double() if isinstance(strength, Tensor) else strength
        return (1 - share) * torch.eye(len(self.names), dtype=torch.float64) + share * spread.detach().cpu().double()

    @classmethod
    def resolved(
        cls, preset: str | None, defaults: Mapping[str, object], given: Mapping[str, object]
    ) -> dict[str, object]:
        """Return options: what was given, else what the preset says, else the default."""
        chosen = {**defaults, **(cls.presets[preset] if preset is not None else {})}
        return {name: chosen[name] if given[name] is None else given[name] for name in defaults}

    @classmethod
    def choose(cls, name: str, value: object, options: Sequence[Option]) -> Option:
        """Return ``value`` if it is one of ``options``."""
        return _checks.choice(cls.__name__, name, value, options)

    @classmethod
    def count_classes(cls, labels: Labels) -> int:
        """Return K."""
        return len(labels.names if isinstance(labels, LabelSpace) else _checks.class_names(cls.__name__, labels))

    @classmethod
    def needs_space(cls, labels: object) -> LabelSpace:
        """Return ``labels`` if it is a LabelSpace; say how to get one otherwise."""
        if isinstance(labels, LabelSpace):
            return labels
        remedy = "Build one, for example labelspace.ordinal(labels) or labelspace.wordnet(names)."
        raise _checks.fail_type(cls.__name__, "labels", "a LabelSpace", repr(labels), remedy)

    @classmethod
    def looks_at_space(cls, options: Mapping[str, object]) -> bool:
        """Return whether a method with these options needs a LabelSpace."""
        return cls.requires_space

    def sound(self, rows: Rows) -> Rows:
        """Return rows of which those that are not finite are as if ignored: nothing is to be learnt from them."""
        return only_sound(rows, logits="output" in self.class_axes)

    def over_batch(self, *tensors: Tensor) -> Sequence[Tensor]:
        """Return sums of batch statistics over all ranks, with gradient. For methods of scope ``"batch"``."""
        return self.ranks.differentiable_sum(*tensors) if self._synchronised() else tensors

    def positions(self, count: int, start: Tensor) -> Tensor:
        """Return the place of each sample in the stream of all samples, the same for any split or number of ranks."""
        return start + self.ranks.rank() * count + torch.arange(count, device=start.device)

    # ------------------------------------------------------------------ inside

    def _layout(self) -> Layout:
        owner, dims = type(self).__name__, (len(self.names), self.output_dim)
        return Layout(owner, *dims, self.class_dim, self.ignore_index, self.soft_targets, self.validate)

    def _loss(self, output: Tensor, y: Tensor, extras: dict[str, Tensor], sample_weight: Tensor | None) -> Tensor:
        batch = self._layout().batch(output, y, extras, sample_weight)
        check_device(type(self).__name__, output, self)
        at_once = self._at_once(batch)
        loss = self._reduced(self.terms(batch.output, batch.y, **batch.extras), batch) if at_once is None else at_once
        if self.observes and self.training and torch.is_grad_enabled():
            if in_vmap(batch.output):
                owner, remedy = type(self).__name__, "Call eval() on the criterion for gradients of single samples."
                expected, got = "a whole batch while it trains", "one of many inside torch.func.vmap"
                raise _checks.fail(owner, "output", expected, got, remedy)
            rows = Rows(batch.output, batch.y, batch.valid, batch.extras)
            # what was computed at once is finite, and so was all that went into it
            self._observe(rows if at_once is not None and not batch.extras else self.sound(rows))
        return loss

    def _synchronised(self) -> bool:
        # evaluation often runs on one rank only: a collective there would wait forever
        return self.global_mean and self.training and torch.is_grad_enabled() and self.ranks.size() > 1

    def _needs_others(self) -> bool:
        """Return whether the loss of this rank depends on what others have."""
        return self._synchronised() and (self.reduction == "mean" or self.scope == "batch")

    def _quickly(self, output: Tensor, y: Tensor, features: Tensor | None) -> Tensor | None:
        """Return the loss of what a batch nearly always is, with as little as possible around the kernel."""
        if type(self).summed is Criterion.summed or self.reduction != "mean" or self.class_dim not in (1, -1):
            return None
        if self.ignore_index >= 0 or self._buffers["weight"] is not None or (running() and self._needs_others()):
            return None
        given: dict[str, Tensor] = {}
        if self.needs:
            if self.needs != _FEATURES or features is None or not is_plain_beside(output, features):
                return None
            given = {"features": features}
        try:
            loss, commit = parted(self.summed(output, y, 1 / y.shape[0], **given))
        except (IndexError, RuntimeError):
            return None  # a sample to be left out, no class, another device: masked, or refused in words
        if loss is None or not math.isfinite(loss.item()):
            return None
        if self.observes and self.training and torch.is_grad_enabled():
            rows = Rows(output, y, None, given)
            self._observe(self.sound(rows) if given else rows, commit)
        return loss

    def _at_once(self, batch: Batch) -> Tensor | None:
        """Return the loss in the method's faster way, if it has one that serves here."""
        if type(self).summed is Criterion.summed or self.reduction == "none" or self._needs_others():
            return None
        if batch.valid is not None and not (batch.valid.shape[0] and may_look_at(batch.valid)):
            return None
        if batch.counts is not None and batch.counts.requires_grad:
            return None  # kernels have no gradient of what samples count
        y = batch.y
        if batch.valid is not None and not targets.is_soft(y):
            y = y.clamp_min(0)
        share = reducing.shares(batch, self._buffers["weight"], self.reduction)
        loss, _ = parted(self.summed(batch.output, y, share, **batch.extras))
        return loss if loss is not None and math.isfinite(loss.item()) else None

    def _reduced(self, terms: Sequence[Term], batch: Batch) -> Tensor:
        over_ranks = self._summed_over_ranks if self._synchronised() else None
        return reducing.reduced(terms, batch, self._buffers["weight"], self.reduction, over_ranks)

    def _summed_over_ranks(self, totals: Tensor) -> tuple[Tensor, int]:
        held = [own for own in self.parameters() if own.requires_grad] + self.constants()
        return self._agreement.summed(totals, self.ranks, type(self).__name__, held)
