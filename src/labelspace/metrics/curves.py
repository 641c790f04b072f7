"""Curves: accuracy after each epoch, and the risk of deciding only the surest samples."""

from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers

FORMS = ("mean", "trapezoid")
AGAINST = ("budget", "best")


def accuracy_curve_area(accuracies: Numbers, *, form: str = "mean") -> float:
    """Return the area under the accuracy curve divided by its length: a mean accuracy over training.

    ``"mean"`` is ``Σ_e a_e / E``, what the published script of adaptive labels prints; ``"trapezoid"`` is
    ``Σ_e (a_e + a_{e+1})/2 / (E − 1)``, in which the first and the last epoch count half. A single epoch gives its
    accuracy in both.

    Args:
        accuracies: the accuracy after each epoch, as a share or in percent.
        form: ``"mean"`` or ``"trapezoid"``.

    Shape:
        ``accuracies (E,)``.

    Example:
        >>> accuracy_curve_area([0.25, 0.75, 1.0, 1.0])
        0.75
        >>> accuracy_curve_area([0.25, 0.75, 1.0], form="trapezoid")
        0.6875

    Reference:
        "Learning with adaptive labels", tables 3 and 5 ("Avg. AUAC").
    """
    curve = _inputs.vector("accuracy_curve_area", "accuracies", accuracies)
    if _checks.choice("accuracy_curve_area", "form", form, FORMS) == "mean" or len(curve) == 1:
        return curve.mean().item()
    return torch.trapezoid(curve).item() / (len(curve) - 1)


def epochs_saved(
    curve: Numbers, reference: Numbers, *, against: str = "budget", budget: int | None = None
) -> float | None:
    """Return the percent of epochs saved on the way to the reference's best accuracy, or None if never reached.

    With c the first epoch (from 1) at which ``curve`` is at least the best of ``reference``: ``100 · (1 − c/n)``.
    Negative where it took longer than n.

    Args:
        curve: accuracy after each epoch.
        reference: that of the model to be reached, in the same unit.
        against: what n is: ``"budget"``, the epochs that training was given, as published; or ``"best"``, the epoch at
            which the reference reached its best, so that the reference saves nothing against itself.
        budget: the epochs that training was given; by default the length of ``reference``. Say it where the reference
            stopped early.

    Shape:
        ``curve (E,)``, ``reference (R,)``.

    Example:
        >>> curve, reference = [0.6, 0.7, 0.8, 0.9], [0.5, 0.7, 0.6, 0.6]
        >>> epochs_saved(curve, reference), epochs_saved(curve, reference, against="best")
        (50.0, 0.0)
        >>> epochs_saved([0.6, 0.65], reference) is None
        True

    Reference:
        "Learning with adaptive labels", table 1 ("percent epochs reduced"): steps of 10 % in 10 epochs, 5 % in 20.
    """
    owner = "epochs_saved"
    ours = _inputs.vector(owner, "curve", curve)
    theirs = _inputs.vector(owner, "reference", reference)
    best = theirs.max()
    if _checks.choice(owner, "against", against, AGAINST) == "best":
        if budget is not None:
            raise _checks.fail(owner, "budget", "left out with against='best'", budget)
        allowed = int((theirs == best).nonzero()[0]) + 1
    else:
        allowed = _checks.whole(owner, "budget", len(theirs) if budget is None else budget, low=1)
    reached = (ours >= best).nonzero()
    return 100 * (1 - (int(reached[0]) + 1) / allowed) if len(reached) else None


class RiskCoverage(NamedTuple):
    """For each share of the samples that is decided, surest first, the mean risk of those; both ``(N,)``."""

    coverage: Tensor
    risk: Tensor


def risk_coverage_curve(confidence: Numbers, risk: Numbers) -> RiskCoverage:
    """Return the mean risk of the i surest samples for every i, at the coverage i/N.

    Equally confident samples have no order: each is given the mean risk of its equals, which is the expectation
    over all orders.

    Args:
        confidence: larger is surer, such as the largest probability or minus the expected cost.
        risk: what each sample costs if it is decided: 1 for a mistake and 0 else, or a price.

    Shape:
        ``confidence (N,)``, ``risk (N,)``; the result holds two tensors ``(N,)``.

    Example:
        >>> risk_coverage_curve([0.9, 0.6, 0.8, 0.7], [0, 1, 0, 1]).risk
        tensor([0.0000, 0.0000, 0.3333, 0.5000], dtype=torch.float64)
    """
    return _curve("risk_coverage_curve", confidence, risk)


def _curve(owner: str, confidence: Numbers, risk: Numbers) -> RiskCoverage:
    sure = _inputs.vector(owner, "confidence", confidence)
    paid = _inputs.vector(owner, "risk", risk, length=len(sure))
    order = sure.argsort(descending=True, stable=True)
    _, group, count = torch.unique_consecutive(sure[order], return_inverse=True, return_counts=True)
    shared = torch.zeros(len(count), dtype=torch.float64).scatter_add_(0, group, paid[order]) / count
    decided = torch.arange(1, len(sure) + 1, dtype=torch.float64)
    return RiskCoverage(decided / len(sure), shared[group].cumsum(dim=0) / decided)


def risk_coverage_area(confidence: Numbers, risk: Numbers) -> float:
    """Return the area under the risk–coverage curve: ``1/N Σ_i (mean risk of the i surest samples)``.

    Lower is better. It is the overall risk if confidence says nothing, and less the better mistakes are ranked last;
    it rewards accuracy too, so compare it beside that.

    Args:
        confidence: larger is surer.
        risk: 1 for a mistake and 0 else, or a price.

    Shape:
        ``confidence (N,)``, ``risk (N,)``.

    Example:
        >>> risk_coverage_area([0.9, 0.6, 0.8, 0.7], [0, 1, 0, 1])  # (0 + 0 + 1/3 + 1/2) / 4
        0.20833333333333331

    Reference:
        Geifman and others, "Bias-reduced uncertainty estimation for deep neural classifiers", 2019, section 2.
    """
    return _curve("risk_coverage_area", confidence, risk).risk.mean().item()
