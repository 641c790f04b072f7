"""timm: its classification task with a criterion, which its optimizers, ranks, averages and checkpoints then have.

task = LabelTask(model, criterion)
optimizer = timm.optim.create_optimizer_v2(task.get_trainable_module(), opt="adamw", weight_decay=0.05)
task(images, y)["loss"].backward()
task.end_epoch()
"""

import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from labelspace import _packages
from labelspace.criteria.base import Criterion
from labelspace.integrations._found import check_criterion

Task: Any = _packages.optional("labelspace.integrations.timm", "timm.task", "timm").TrainingTask
LEAST = 1e-4  # of a target's smallest entry, times the number of classes: a smoothing that is meant


class Trained(nn.Module):
    """What is optimised and wrapped: the model and its criterion. Calling it gives output, loss and scores.

    Args:
        model: of timm.
        criterion: any that needs nothing, or features.
    """

    def __init__(self, model: Any, criterion: Criterion) -> None:
        """Hold the two."""
        super().__init__()
        self.model: Any = model
        self.criterion = criterion

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output and the loss."""
        if "features" not in self.criterion.needs:
            output = self.model(x)
            return output, self.criterion(output, y)
        seen = self.model.forward_features(x)
        output, features = self.model.forward_head(seen), self.model.forward_head(seen, pre_logits=True)
        return output, self.criterion(output, y, features=features)

    def no_weight_decay(self) -> set[str]:
        """Return the parameters that do not decay: those that the model names, and the labels."""
        free = {id(one) for one in self.criterion.undecayed_parameters()}
        labels = {f"criterion.{name}" for name, one in self.criterion.named_parameters() if id(one) in free}
        return labels | {f"model.{name}" for name in getattr(self.model, "no_weight_decay", set)()}


class LabelTask(Task):
    """timm's ``ClassificationTask`` for criteria: learned labels are trained, wrapped and saved with the model.

    Call ``end_epoch()`` after every epoch. ``get_eval_model()`` is the model itself, as for every task of timm, whose
    largest output predicts; for methods that predict by the nearest label take ``task.scores(images)``. Checkpoints
    have the model under ``state_dict`` as always and the criterion under ``task_state``; on several ranks every rank
    calls ``task.criterion.gather()`` before rank 0 saves in the middle of an epoch.

    Targets that were smoothed before they came (``Mixup(label_smoothing=0.1)``, timm's default) are smoothed twice: the
    first batch of such targets is warned of.

    Args:
        model: of timm.
        criterion: any that needs nothing, or features, which are what the head of the model reads.
        others: of ``TrainingTask``: ``device``, ``dtype``, ``verbose``.
    """

    def __init__(self, model: nn.Module, criterion: Criterion, **others: Any) -> None:
        """Hold model and criterion as one module."""
        super().__init__(**others)
        self.trainable_module: nn.Module = Trained(model, check_criterion("LabelTask", criterion).to(self.device))
        self._looked = self._told = False

    @property
    def criterion(self) -> Criterion:
        """The criterion."""
        found = self._trained().criterion
        assert isinstance(found, Criterion)
        return found

    def forward(self, input: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Return ``{"loss": …, "output": …}`` of a batch."""
        if target.is_floating_point() and not self._looked:
            self._looked = True  # once: looking at values waits for the device
            _warn_of_smoothing(target, self.criterion.class_dim)
        output, loss = self.trainable_module(input, target)
        return {"loss": loss, "output": output}

    def scores(self, input: Tensor) -> Tensor:
        """Return a score per class; the largest predicts."""
        return self.criterion.scores(self._trained().model(input))

    def end_epoch(self) -> None:
        """Commit what the epoch has counted; every rank calls it."""
        self.criterion.end_epoch()

    def prepare_distributed(self, device_ids: list[Any] | None = None, **options: Any) -> "LabelTask":
        """Wrap model and criterion for several ranks."""
        self.trainable_module = nn.parallel.DistributedDataParallel(
            self.trainable_module, device_ids=device_ids, **options
        )
        return self

    def compile(self, backend: str = "inductor", mode: str | None = None, **options: Any) -> nn.Module:
        """Compile the model; the criterion is left as it is."""
        trained = self._trained()
        trained.model = torch.compile(trained.model, backend=backend, mode=mode, **options)
        assert isinstance(trained.model, nn.Module)
        return trained.model

    def get_eval_model(self, module: nn.Module | None = None, ema: bool = False) -> nn.Module | None:
        """Return the model without the criterion."""
        chosen = module if module is not None else self.get_trainable_module(ema=ema)
        if not self.criterion.argmax_predicts and not self._told:
            self._told = True
            text = f"The largest output does not predict with {type(self.criterion).__name__}"
            warnings.warn(f"{text}, whose labels do: take task.scores(images) for accuracy.", stacklevel=2)
        return None if chosen is None else _unwrapped(chosen).model

    def get_task_state(self, module: nn.Module | None = None, ema: bool = False) -> dict[str, Any]:
        """Return the state of the criterion, with what it has counted."""
        return {"criterion": self._trained(module, ema).criterion.state_dict()}

    def load_task_state(
        self, state: Mapping[str, Any] | None, strict: bool = True, module: nn.Module | None = None, ema: bool = False
    ) -> None:
        """Load the state of the criterion, where the checkpoint has one."""
        if state and "criterion" in state:
            self._trained(module, ema).criterion.load_state_dict(state["criterion"], strict=strict)

    def _trained(self, module: nn.Module | None = None, ema: bool = False) -> Trained:
        return _unwrapped(module if module is not None else self.get_trainable_module(ema=ema))


def _unwrapped(module: Any) -> Trained:
    while not isinstance(module, Trained):
        module = module.module
    return module


def _warn_of_smoothing(target: Tensor, class_dim: int) -> None:
    classes = target.shape[class_dim]
    least = target.detach().amin(dim=class_dim)
    # two classes may share the mass of a mixture; of three, one must be left empty
    strength = float(least.amin()) * classes if classes > 2 else 0.0
    if strength > LEAST:
        warnings.warn(
            f"LabelTask got targets that are smoothed by {strength:.3g} already, and the criterion's labels come on "
            "top. Set --smoothing 0, that is Mixup(label_smoothing=0.0).",
            stacklevel=3,
        )
