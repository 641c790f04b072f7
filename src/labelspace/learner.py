"""Learner: model and criterion as one module, so that optimizer, DDP, device moves and checkpoints see both."""

from collections.abc import Sequence
from typing import Any, cast, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace._returned import Getter, features_of, output_of
from labelspace.criteria.base import Criterion
from labelspace.criteria.class_order import check_order, class_list
from labelspace.criteria.layout import likeliest
from labelspace.criteria.options import IGNORED_BY_DDP, ignored_by_ddp

LABELS = ("y", "labels")
EXTRAS = ("features", "index", "teacher", "sample_weight")  # what goes to the criterion; everything else to the model


@final
class Learner(nn.Module):
    """A model and its criterion: the one module to wrap, optimise and save.

    ``learner(x)`` gives scores per class, ``learner(x, y)`` the loss, ``learner(x, y, scores=True)`` both from one
    forward pass. Inputs by name go to the model: ``learner(**batch)`` takes ``labels`` or ``y`` out of a batch, and
    what only the criterion reads. In distributed training wrap the learner, not the model: label parameters outside
    the wrapped module would drift apart between ranks.

    Args:
        model: returns the output, a pair ``(output, features)``, or names: ``logits``, and ``features`` or
            ``hidden_states``, as keys or attributes. Where a method needs scores at each position of a feature map,
            ``model.at_positions(…)`` is called instead, if there is one: it returns the pair
            ``(output, scores (N, K, positions…))``.
        criterion: any criterion.
        output: a function of what the model returns that finds the output in it.
        features: one that finds the features, which methods such as label embedding read.
        classes: the names of a dataset's classes in the order of their indices (``dataset.classes``), which the
            criterion's must be; of one that was built with a number of classes, their number is checked.

    Example:
        >>> import torch
        >>> from labelspace import LearnableSmoothing
        >>> learner = Learner(torch.nn.Linear(8, 3), LearnableSmoothing(["cat", "dog", "car"]))
        >>> optimizer = torch.optim.SGD(learner.parameter_groups(weight_decay=1e-4), lr=0.1)
        >>> learner(torch.zeros(2, 8), torch.tensor([0, 2])).backward()
        >>> learner(torch.zeros(2, 8)).shape
        torch.Size([2, 3])
    """

    def __init__(
        self,
        model: nn.Module,
        criterion: Criterion,
        *,
        classes: Sequence[str] | None = None,
        output: Getter | None = None,
        features: Getter | None = None,
    ) -> None:
        """Hold the two."""
        super().__init__()
        if not isinstance(model, nn.Module):
            raise _checks.fail_type("Learner", "model", "a torch module", type(model).__name__)
        if not isinstance(criterion, Criterion):
            remedy = "Build one with labelspace.make_criterion(name, labels)."
            raise _checks.fail_type("Learner", "criterion", "a labelspace criterion", type(criterion).__name__, remedy)
        if classes is not None:
            names = class_list("Learner", classes)
            remedy = f"Build it in their order: {type(criterion).__name__}(labels, classes=classes)."
            known = criterion.names if criterion.named or len(names) != len(criterion.names) else names
            check_order("Learner", "criterion", known, names, remedy)
        for name, getter in (("output", output), ("features", features)):
            if getter is not None and not callable(getter):
                expected = "a function of what the model returns"
                raise _checks.fail_type("Learner", name, expected, type(getter).__name__)
        self.model = model
        self.criterion = criterion
        setattr(self, IGNORED_BY_DDP, ignored_by_ddp(model, "model") + ignored_by_ddp(criterion, "criterion"))
        self._output, self._features = output, features

    def forward(self, *inputs: Any, scores: bool = False, **named: Any) -> Tensor | tuple[Tensor, Tensor]:
        """Return scores without labels, the loss with them.

        Args:
            inputs: what the model takes. The second of two is the labels, unless these are named: a model of two inputs
                is called as ``learner(a, b, y=y)``, and as ``learner(a, b, y=None)`` for scores.
            scores: return the pair of loss and scores, which have no gradient.
            named: ``y=`` or ``labels=``: class indices or probabilities, all of them or the few that ``TopTargets``
                name; ``sample_weight=``, ``index=``, ``teacher=`` and ``features=`` for the criterion; all else is the
                model's.
        """
        extras: dict[str, Any] = {}
        if len(inputs) == 2 and not named:  # as nearly always
            y, inputs = inputs[1], inputs[:1]
        else:
            inputs, y, named = _labels(inputs, named)
            extras = {name: named.pop(name) for name in EXTRAS if name in named}
        modules = self._modules  # a module looks long for an attribute that is one
        model, criterion = cast(nn.Module, modules["model"]), cast(Criterion, modules["criterion"])
        dense = y is not None and criterion.dense_features
        returned = (getattr(model, "at_positions", model) if dense else model)(*inputs, **named)
        output = output_of("Learner", returned, self._output)
        if y is None:
            return criterion.scores(output)
        if "features" in criterion.needs and "features" not in extras:
            features = features_of("Learner", returned, output, self._features)
            extras = extras if features is None else {**extras, "features": features}
        loss = criterion(output, y, **extras)
        assert isinstance(loss, Tensor)
        if not scores:
            return loss
        with torch.no_grad():
            return loss, criterion.scores(output.detach())

    def predict(self, *inputs: Any, **named: Any) -> Tensor:
        """Return predicted class indices; what is not finite is met as in ``Criterion.predict``.

        Args:
            inputs: what the model takes.
            named: likewise; labels are left alone.
        """
        found = self(*inputs, **{name: value for name, value in named.items() if name not in LABELS}, y=None)
        return likeliest("Learner.predict", found, 0 if found.ndim == 1 else self.criterion.class_dim)

    def extra_repr(self) -> str:
        """Return what is learned of what, and what the criterion wants with every call."""
        names, labels = self.criterion.names, [one.numel() for one in self.criterion.parameters()]
        more = "".join(f", {name}=" for name in self.criterion.needs if name != "features")
        return (
            f"{self.criterion.name}: {len(names)} classes, {_checks.listed(names)}\n"
            f"{sum(one.numel() for one in self.parameters()):,} parameters, {sum(labels):,} of them the criterion's\n"
            f"learner(x, y{more}) is the loss, learner(x) scores"
        )

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


def _labels(inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], Any, dict[str, Any]]:
    """Return the inputs of the model, the labels, and what else was named."""
    found = [name for name in LABELS if name in named]
    if len(found) == 2 and named["y"] is not None:
        raise _checks.fail("Learner", "labels", "left out where y= is given", "both")
    if found:
        return inputs, named[found[0]], {name: value for name, value in named.items() if name not in LABELS}
    if len(inputs) > 2:
        remedy = "Give labels by name: learner(a, b, c, y=y); y=None is for scores."
        raise _checks.fail("Learner", "inputs", "at most two, or labels by name", f"{len(inputs)}", remedy)
    return (inputs[:1], inputs[1], named) if len(inputs) == 2 else (inputs, None, named)
