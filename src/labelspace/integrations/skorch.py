"""skorch: a network with any criterion as a scikit-learn classifier.

net = LabelSpaceNet(Network, criterion=SemanticSmoothing, criterion__labels=space, criterion__smoothing=0.2)
GridSearchCV(net, {"criterion__smoothing": [0.1, 0.3], "criterion__labels": [space, permuted(space, 0)]}).fit(x, y)
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks, _packages
from labelspace.integrations._found import check_criterion

skorch = _packages.optional("labelspace.integrations.skorch", "skorch", "skorch")
Classifier: Any = skorch.NeuralNetClassifier


class LabelSpaceNet(Classifier):
    """A ``NeuralNetClassifier`` whose loss is a criterion: its probabilities, features, epochs and label parameters.

    The module returns raw outputs, or the pair ``(output, features)`` for methods that need features. What a method
    learns of labels is optimised without weight decay. ``y`` are class indices in the order of the criterion's names;
    with ``classes=encoder.classes_`` that order is checked.

    Args:
        module: as in ``NeuralNetClassifier``, and so everything that is not named here.
        criterion: a class of criteria, whose arguments are ``criterion__labels``, ``criterion__smoothing``, …

    Example:
        >>> from labelspace import UniformSmoothing
        >>> net = LabelSpaceNet(torch.nn.Linear, module__in_features=2, module__out_features=3,
        ...     criterion=UniformSmoothing, criterion__labels=3, train_split=None, verbose=0)
        >>> net.fit(np.eye(2, dtype="float32"), np.array([0, 2])).predict_proba(np.eye(2, dtype="float32")).shape
        (2, 3)
    """

    def initialize_criterion(self) -> "LabelSpaceNet":
        """Build the criterion; check that it is one, and that it knows the classes in their order."""
        super().initialize_criterion()
        names = check_criterion("LabelSpaceNet", self.criterion_).names
        if self.predict_nonlinearity != "auto" and not self.criterion_.argmax_predicts:
            expected = f"'auto' for {type(self.criterion_).__name__}, whose largest output does not predict"
            raise _checks.fail("LabelSpaceNet", "predict_nonlinearity", expected, repr(self.predict_nonlinearity))
        known = () if self.classes is None else tuple(self.classes)
        given = tuple(str(name) for name in known if isinstance(name, str))
        if given and given != names:
            got = f"{_checks.listed(names)} for classes {_checks.listed(given)}"
            remedy = "Put the space into their order: criterion__classes=classes."
            raise _checks.fail("LabelSpaceNet", "criterion", "one for the classes in their order", got, remedy)
        return self

    def get_params_for_optimizer(self, prefix: str, named_parameters: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the groups of the optimizer: labels in one of their own, which does not decay."""
        free = {id(one): one for one in self.criterion_.undecayed_parameters()}
        others = [(name, one) for name, one in named_parameters if id(one) not in free]
        (groups,), options = super().get_params_for_optimizer(prefix, others)
        labels = [{"params": list(free.values()), "weight_decay": 0.0}] if free else []
        return ([*groups, *labels],), options

    def get_loss(self, y_pred: Tensor | tuple[Tensor, ...], y_true: Any, *args: Any, **keywords: Any) -> Tensor:
        """Return the loss; the second output of a module is its features."""
        output, features = y_pred[:2] if isinstance(y_pred, tuple) else (y_pred, None)
        loss = self.criterion_(output, skorch.utils.to_tensor(y_true, device=self.device), features=features)
        assert isinstance(loss, Tensor)
        return loss

    def on_epoch_end(self, net: Any, *args: Any, **keywords: Any) -> None:
        """Commit what the epoch has counted."""
        super().on_epoch_end(net, *args, **keywords)
        self.criterion_.end_epoch()

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Return ``softmax`` of the criterion's scores, ``(N, K)``; a given ``predict_nonlinearity`` comes first."""
        if self.predict_nonlinearity != "auto":
            given = super().predict_proba(X)
            assert isinstance(given, np.ndarray)
            return given
        parts = []
        for found in self.forward_iter(X, training=False, device=self.device):
            output = found[0] if isinstance(found, tuple) else found
            parts.append(torch.softmax(self.criterion_.scores(output), dim=self.criterion_.class_dim).cpu())
        return torch.cat(parts).numpy()
