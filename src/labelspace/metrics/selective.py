"""How well confidence ranks mistakes: what is risked if only the surest samples are decided."""

from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _inputs
from labelspace._inputs import Numbers


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
