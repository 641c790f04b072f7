"""Hugging Face: any criterion as the loss of its Trainer, exact under gradient accumulation and on several ranks.

    trainer = LabelTrainer(model, arguments, criterion=criterion, train_dataset=data)
    trainer.train()

``LabelTrainer`` is made of two parts that can be given to any other Trainer: ``loss_function`` and ``LabelCallback``.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from labelspace import _checks, _distributed, _packages
from labelspace._returned import Getter, features_of, output_of
from labelspace.criteria.base import Criterion
from labelspace.criteria.layout import ROUNDED
from labelspace.criteria.targets import IGNORED
from labelspace.integrations._found import check_criterion, check_optimized
from labelspace.integrations.trackers import log_labels

transformers = _packages.optional("labelspace.integrations.huggingface", "transformers", "hf")
Callback: Any = transformers.TrainerCallback
Trainer: Any = transformers.Trainer
PLACE = "label_criterion"  # where the model holds the criterion


def loss_function(
    criterion: Criterion, *, features: Getter | None = None, shift: bool = False, weigh: bool = False
) -> Callable[..., Tensor]:
    """Return a criterion as ``Trainer(compute_loss_func=…)`` calls it.

    The loss of a micro-batch is its mean, times its share of all labels of the step as the Trainer has counted them:
    the gradients that are added up are those of one large batch, also where some labels are −100, where labels are
    probabilities, and on several ranks. Only a Trainer that weighs them (``LabelTrainer``) can be exact in that sense
    with class weights, an ``ignore_index`` of your own or ignored rows of probabilities. Methods whose unit is the
    batch (``scope = "batch"``) see micro-batches.

    Args:
        criterion: any that needs nothing, or features.
        features: what a model's output holds that the criterion needs; by default its last hidden states, where the
            logits are in their layout, as in token classification.
        shift: a position's logits are about the next label, as in causal language models.
        weigh: ``num_items_in_batch`` is what the labels of the step weigh, rather than their number.

    Shape:
        logits ``(B, K)``, ``(B, T, K)`` (classes last, whatever ``class_dim`` says) or ``(B, K, H, W)``.

    Example:
        >>> from labelspace import OneHot
        >>> loss = loss_function(OneHot(2))
        >>> loss({"logits": torch.zeros(4, 2)}, torch.tensor([0, 1, 1, -100]), num_items_in_batch=6)  # of 3 of them
        tensor(0.3466)
    """
    if check_criterion("loss_function", criterion).reduction != "mean":
        remedy = "It is weighed by its share of the labels of a step."
        expected = "one with reduction='mean'"
        raise _checks.fail("loss_function", "criterion", expected, f"reduction={criterion.reduction!r}", remedy)

    def loss(outputs: Any, labels: Tensor | None, num_items_in_batch: Tensor | float | None = None) -> Tensor:
        output, y, extras = _called(criterion, outputs, labels, features, shift)
        mean = criterion(output, y, **extras)
        assert isinstance(mean, Tensor)
        if num_items_in_batch is None:
            return mean
        training = criterion.training and torch.is_grad_enabled()
        here = _weight(criterion, y) if weigh and training else y.ne(IGNORED).sum()
        if not (training and criterion.global_mean):
            return mean * here / num_items_in_batch
        # The mean is over all ranks, multiplied by their number because gradients are averaged; the Trainer multiplies
        # by it once more.
        return mean * _distributed.sum_over_ranks(here) / num_items_in_batch / _distributed.world_size()

    return loss


class LabelCallback(Callback):
    """What a criterion needs beside its loss: a place in the model, the end of every epoch, a checkpoint of all ranks.

    The criterion becomes a part of the model, so that optimizer, devices, ranks and checkpoints have it; a checkpoint
    opened with ``from_pretrained`` reports its keys as unexpected. Label parameters decay with all others unless
    the Trainer is a ``LabelTrainer``.

    Args:
        criterion: the one that computes the loss.
        tracker: where a picture of the labels goes after every epoch, see ``log_labels``.

    Example:
        >>> from labelspace import LearnableSmoothing
        >>> callbacks = [LabelCallback(LearnableSmoothing(3))]
    """

    def __init__(self, criterion: Criterion, *, tracker: object = None) -> None:
        """Hold the two."""
        self.criterion = check_criterion("LabelCallback", criterion)
        self.tracker = tracker

    def on_init_end(self, args: Any, state: Any, control: Any, model: nn.Module | None = None, **rest: object) -> None:
        """Make the criterion a part of the model."""
        if model is not None and all(part is not self.criterion for part in model.modules()):
            model.add_module(PLACE, self.criterion.to(args.device))

    def on_train_begin(self, args: Any, state: Any, control: Any, optimizer: Any = None, **rest: object) -> None:
        """Refuse settings that would train other labels than these, or none."""
        remedy = "Leave the optimizer to the Trainer, or build it after the Trainer, from all of model.parameters()."
        check_optimized("Trainer", self.criterion, [optimizer], remedy)
        self.criterion.loop.ends = True
        if args.world_size > 1:
            _check_ranks(args, self.criterion)

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: object) -> None:
        """Bring together what the ranks have counted before rank 0 saves it."""
        if control.should_save or control.should_evaluate:  # which may decide to save
            self.criterion.gather()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **rest: object) -> None:
        """Commit what the epoch has counted, unless training stops before its end and may be resumed."""
        stopped = control.should_training_stop or control.should_epoch_stop
        if stopped and state.epoch is not None and state.epoch % 1:
            return
        self.criterion.end_epoch()
        if self.tracker is not None and state.is_world_process_zero:
            log_labels(self.tracker, self.criterion, state.global_step)


class LabelTrainer(Trainer):
    """A Trainer whose loss is a criterion, with everything that belongs to it.

    Beside ``loss_function`` and ``LabelCallback``: label parameters without weight decay, labels of a step weighed
    rather than counted, and scores instead of raw outputs for ``compute_metrics``, so that the largest predicts.

    Args:
        model: as in ``Trainer``, and so everything that is not named here.
        args: training arguments.
        criterion: any that needs nothing, or features.
        features: as in ``loss_function``.
        shift: as in ``loss_function``.
        tracker: as in ``LabelCallback``.

    Example:
        >>> from labelspace import SemanticSmoothing, ordinal
        >>> settings = {"criterion": SemanticSmoothing(ordinal(["mild", "moderate", "severe"]))}
        >>> LabelTrainer(None, None, **settings)
        Traceback (most recent call last):
        RuntimeError: `Trainer` requires either a `model` or `model_init` argument
    """

    def __init__(
        self,
        model: nn.Module | None = None,
        args: Any = None,
        *,
        criterion: Criterion,
        features: Getter | None = None,
        shift: bool = False,
        tracker: object = None,
        **others: Any,  # whatever the installed Trainer takes
    ) -> None:
        """Build the Trainer around the criterion."""
        self.criterion = check_criterion("LabelTrainer", criterion)
        learns = any(one.requires_grad for one in criterion.parameters())
        if args is not None and learns and args.ddp_find_unused_parameters is None:
            # DistributedDataParallel would look for parameters from the logits on, find none of the labels', and fail
            args.ddp_find_unused_parameters = False
        others["callbacks"] = [*(others.get("callbacks") or ()), LabelCallback(criterion, tracker=tracker)]
        others.setdefault("preprocess_logits_for_metrics", self._scores)
        loss = loss_function(criterion, features=features, shift=shift, weigh=True)
        self._shift = shift
        super().__init__(model, args, compute_loss_func=loss, **others)

    def get_decay_parameter_names(self, model: nn.Module) -> list[str]:
        """Return the parameters that decay: all that the Trainer lets decay but the labels."""
        free = {id(one) for one in self.criterion.undecayed_parameters()}
        kept = {name for name, one in model.named_parameters() if id(one) in free}
        return [name for name in super().get_decay_parameter_names(model) if name not in kept]

    def get_batch_samples(self, *args: Any, **keywords: Any) -> tuple[list[Any], Tensor | int | None]:
        """Return the batches of a step, and what their labels weigh."""
        batches, number = super().get_batch_samples(*args, **keywords)
        if not isinstance(number, Tensor):
            return batches, number
        labels = [batch["labels"][:, 1:] if self._shift else batch["labels"] for batch in batches]
        placed = [_placed(self.criterion, y) if y.is_floating_point() else y for y in labels]
        total = torch.stack([_weight(self.criterion, y.to(self.args.device)) for y in placed]).sum()
        return batches, _distributed.sum_over_ranks(total)

    def _scores(self, logits: Any, labels: Any) -> Tensor:
        found = logits[0] if isinstance(logits, tuple) else logits
        scores = self.criterion.scores(_placed(self.criterion, found))
        return scores.movedim(self.criterion.class_dim, -1) if scores.ndim == 3 else scores


def _called(
    criterion: Criterion, outputs: Any, labels: Tensor | None, getter: Getter | None, shift: bool
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Return output, labels and extras as the criterion takes them."""
    if labels is None:
        remedy = "If the model's forward takes no labels, keep them with TrainingArguments(label_names=['labels'])."
        raise _checks.fail("loss_function", "labels", "given with every batch", None, remedy)
    output = output_of("loss_function", outputs)
    extras = {}
    if "features" in criterion.needs:
        features = features_of("loss_function", outputs, output, getter)
        extras = {} if features is None else {"features": features}
    if shift:
        output, labels = output[:, :-1], labels[:, 1:]
        extras = {name: value[:, :-1] for name, value in extras.items()}
    soft = labels.is_floating_point()
    return (
        _placed(criterion, output),
        _placed(criterion, labels) if soft else labels,
        {name: _placed(criterion, value) for name, value in extras.items()},
    )


def _placed(criterion: Criterion, values: Tensor) -> Tensor:
    """Return values with classes where the criterion looks for them: in ``(B, T, K)`` they are last."""
    return values.movedim(-1, criterion.class_dim) if values.ndim == 3 else values


def _weight(criterion: Criterion, y: Tensor) -> Tensor:
    """Return what labels weigh in the mean: their number without ignored ones, or the sum of their class weights."""
    weight = criterion.weight
    if not y.is_floating_point():
        valid = y.ne(criterion.ignore_index)
        return valid.sum() if weight is None else (weight[torch.where(valid, y, 0)] * valid).sum()
    rows = y.movedim(criterion.class_dim if y.ndim > 2 else -1, -1)
    if criterion.ignore_index >= 0:
        rows = rows * rows.new_tensor([place != criterion.ignore_index for place in range(rows.shape[-1])])
    mass = rows.sum(dim=-1)
    counts = torch.where((mass - 1).abs() <= ROUNDED, 1, mass)  # as the loss counts them
    if weight is None:
        return counts.sum()
    return (counts * (rows * weight.to(rows)).sum(dim=-1) / torch.where(mass > 0, mass, 1)).sum()


def _check_ranks(args: Any, criterion: Criterion) -> None:
    if not args.average_tokens_across_devices:
        remedy = "With it, ranks train as one process would."
        expected = "True on several ranks"
        raise _checks.fail("TrainingArguments", "average_tokens_across_devices", expected, False, remedy)
    learns = any(one.requires_grad for one in criterion.parameters())
    if learns and args.ddp_find_unused_parameters is not False and not args.gradient_checkpointing:
        expected = f"False: parameters of {type(criterion).__name__} are used after the model's forward"
        got = args.ddp_find_unused_parameters
        raise _checks.fail("TrainingArguments", "ddp_find_unused_parameters", expected, got)
