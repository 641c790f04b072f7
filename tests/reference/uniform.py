"""H(T[y], p) with T = (1−ε)I + ε/K."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    count = case.y.shape[1]
    epsilon = case.state["smoothing"]
    matrix = (1 - epsilon) * np.eye(count) + epsilon / count
    return weighted_mean(cross_entropy(case.y @ matrix, log_softmax(case.output)), case.weight)


def target(case: Case) -> Array:
    epsilon, count = case.state["smoothing"], case.y.shape[1]
    return (1 - epsilon) * np.eye(count) + epsilon / count
