"""H(δ_y, p)."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    return weighted_mean(cross_entropy(case.y, log_softmax(case.output)), case.weight)


def target(case: Case) -> Array:
    return np.eye(case.y.shape[1])
