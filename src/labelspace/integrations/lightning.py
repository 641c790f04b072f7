"""Lightning: a callback for modules whose loss is a criterion.

class Classifier(lightning.LightningModule):            # holds self.learner = Learner(model, criterion)
    def training_step(self, batch, index): return self.learner(*batch)
    def configure_optimizers(self): return AdamW(self.learner.parameter_groups(weight_decay=0.01))
Trainer(callbacks=[LabelCallback()]).fit(Classifier(), loader)
"""

from typing import Any

from torch import nn

from labelspace import _checks, _packages
from labelspace.integrations._found import check_optimized, criteria_in, put_statistics, say_nothing_of_ranks
from labelspace.integrations.trackers import log_labels

Callback: Any = _packages.optional("labelspace.integrations.lightning", "lightning.pytorch", "lightning").Callback


class LabelCallback(Callback):
    """What the criteria inside a LightningModule need: the end of every epoch, and checkpoints of all ranks.

    It refuses a module whose optimizers leave out what a method learns of labels. Checkpoints in the middle of an epoch
    hold what all ranks have counted. Lightning divides the loss by ``accumulate_grad_batches``, so that accumulated
    batches are one large batch where all are of the same size and none has ignored labels.

    Args:
        pictures: send a picture of the labels to the trainer's loggers after every epoch, see ``log_labels``.

    Example:
        >>> callbacks = [LabelCallback(pictures=True)]
    """

    def __init__(self, *, pictures: bool = False) -> None:
        """Keep whether to draw; no epoch has ended yet."""
        self.pictures = pictures
        self.ended: int | None = None

    def state_dict(self) -> dict[str, Any]:
        """Return how many epochs have ended, for the checkpoint."""
        return {"ended": self.ended}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take it over."""
        self.ended = state_dict["ended"]

    def on_train_start(self, trainer: Any, pl_module: nn.Module) -> None:
        """Look for criteria, and for their parameters in the optimizers; end an epoch that was left unended."""
        found = criteria_in(pl_module)
        if not found:
            remedy = "Hold it, or a Learner, as an attribute of the module."
            raise _checks.fail("LabelCallback", "pl_module", "a module with a criterion", "none", remedy)
        say_nothing_of_ranks(pl_module)
        remedy = "Return an optimizer of learner.parameter_groups(weight_decay) from configure_optimizers."
        for criterion in found.values():
            check_optimized("configure_optimizers", criterion, trainer.optimizers, remedy)
            criterion.loop.ends = True
        # A checkpoint between the last batch of an epoch and its end, such as ModelCheckpoint's after a validation, is
        # resumed with the next epoch: what was counted is committed here.
        if self.ended is not None and trainer.current_epoch > self.ended:
            self.on_train_epoch_end(trainer, pl_module)
        self.ended = trainer.current_epoch

    def on_train_epoch_end(self, trainer: Any, pl_module: nn.Module) -> None:
        """Commit what the epoch has counted."""
        self.ended = trainer.current_epoch + 1
        for name, criterion in criteria_in(pl_module).items():
            criterion.end_epoch()
            if self.pictures and trainer.is_global_zero:
                for logger in trainer.loggers:
                    log_labels(logger.experiment, criterion, trainer.global_step, name=name)

    def on_save_checkpoint(self, trainer: Any, pl_module: nn.Module, checkpoint: dict[str, Any]) -> None:
        """Write what all ranks have counted into the checkpoint, which Lightning has taken from this rank alone."""
        put_statistics(pl_module, checkpoint["state_dict"])
