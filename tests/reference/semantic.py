"""H(T[y], p) with T = (1−σ)I + σA."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    sigma = case.state["smoothing"]
    matrix = (1 - sigma) * np.eye(case.y.shape[1]) + sigma * case.state["relations"]
    return weighted_mean(cross_entropy(case.y @ matrix, log_softmax(case.output)), case.weight)


def target(case: Case) -> Array:
    sigma = case.state["smoothing"]
    return (1 - sigma) * np.eye(case.y.shape[1]) + sigma * case.state["relations"]
