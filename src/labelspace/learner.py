"""Learner: model and criterion as one module, so that optimizer, DDP, device moves and checkpoints see both."""

from typing import final

from torch import Tensor, nn

from labelspace import _checks
from labelspace.criteria.base import Criterion
from labelspace.criteria.layout import likeliest
from labelspace.top_targets import TopTargets


@final
class Learner(nn.Module):
    """A model and its criterion: the one module to wrap, optimise and save.

    ``learner(x)`` gives scores per class, ``learner(x, y)`` the loss. In distributed training wrap the learner, not the
    model: label parameters outside the wrapped module would drift apart between ranks.

    Args:
        model: returns the output, or a pair ``(output, features)``; features are passed on where a method needs them.
            Where it needs scores at each position of a feature map, ``model.at_positions(x)`` is called instead, if
            there is one: it returns the pair ``(output, scores (N, K, positions…))``.
        criterion: any criterion.

    Example:
        >>> import torch
        >>> from labelspace import LearnableSmoothing
        >>> learner = Learner(torch.nn.Linear(8, 3), LearnableSmoothing(["cat", "dog", "car"]))
        >>> optimizer = torch.optim.SGD(learner.parameter_groups(weight_decay=1e-4), lr=0.1)
        >>> learner(torch.zeros(2, 8), torch.tensor([0, 2])).backward()
        >>> learner(torch.zeros(2, 8)).shape
        torch.Size([2, 3])
    """

    def __init__(self, model: nn.Module, criterion: Criterion) -> None:
        """Hold the two."""
        super().__init__()
        if not isinstance(model, nn.Module):
            raise _checks.fail_type("Learner", "model", "a torch module", type(model).__name__)
        if not isinstance(criterion, Criterion):
            remedy = "Build one with labelspace.make_criterion(name, labels)."
            raise _checks.fail_type("Learner", "criterion", "a labelspace criterion", type(criterion).__name__, remedy)
        self.model = model
        self.criterion = criterion

    def forward(self, x: object, y: Tensor | TopTargets | None = None, **extras: Tensor | TopTargets) -> Tensor:
        """Return scores without ``y``, the loss with it.

        Args:
            x: whatever the model takes.
            y: class indices or probabilities, all of them or the few that ``TopTargets`` name.
            extras: ``index=`` or ``teacher=`` for methods that need them.
        """
        dense = y is not None and self.criterion.dense_features
        result = (getattr(self.model, "at_positions", self.model) if dense else self.model)(x)
        output, features = result if isinstance(result, tuple) else (result, None)
        if y is None:
            return self.criterion.scores(output)
        if features is not None:
            extras.setdefault("features", features)
        loss = self.criterion(output, y, **extras)
        assert isinstance(loss, Tensor)
        return loss

    def predict(self, x: object) -> Tensor:
        """Return predicted class indices; what is not finite is met as in ``Criterion.predict``."""
        return likeliest("Learner.predict", self(x), self.criterion.class_dim)

    def end_epoch(self) -> None:
        """Let the criterion commit its running statistics."""
        self.criterion.end_epoch()

    def gather(self) -> None:
        """Bring together what all ranks have observed, before a checkpoint in mid-epoch; every rank calls it."""
        self.criterion.gather()

    def parameter_groups(self, weight_decay: float = 0.0, *, rows: bool = False) -> list[dict[str, object]]:
        """Return groups for an optimizer: everything decays but the label parameters.

        Decay would pull learned labels towards uniform, which is a statement about the classes, not a regulariser.

        Args:
            weight_decay: of the model, and of heads that a method adds to it.
            rows: put label parameters that are read row by row into groups of their own, with ``rows=True``, for
                ``labelspace.optim.SGD``, whose step then touches the rows of the batch alone.
        """
        decay = _checks.number("Learner.parameter_groups", "weight_decay", weight_decay, low=0)
        free = {id(parameter) for parameter in self.criterion.undecayed_parameters()}
        names = self.criterion.row_parameters if rows else ()
        by_row = {id(own) for name, own in self.criterion.named_parameters() if name in names}
        groups: list[dict[str, object]] = []
        for kept, alone in ((False, False), (True, False), (False, True), (True, True)):
            own = [each for each in self.parameters() if (id(each) in free, id(each) in by_row) == (kept, alone)]
            if own:
                group = {"params": own, "weight_decay": 0.0 if kept else decay}
                groups.append({**group, "rows": True} if alone else group)
        return groups
