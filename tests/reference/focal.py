"""Σ_k y_k·(−(1−p_k)^γ log p_k); γ is a number, or 5 below p = 0.2 and 3 above."""

import numpy as np

from reference.case import Array, Case, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    values = np.zeros(len(case.y))
    for i, row in enumerate(log_softmax(case.output)):
        for k, log_p in enumerate(row):
            if case.y[i, k] > 0:
                p = np.exp(log_p)
                gamma = case.state.get("gamma", 5.0 if p < 0.2 else 3.0)
                values[i] -= case.y[i, k] * (1 - p) ** gamma * log_p
    return weighted_mean(values, case.weight)


def target(case: Case) -> Array:
    return np.eye(case.y.shape[1])
