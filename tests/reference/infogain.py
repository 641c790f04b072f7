"""−Σ_i H[i, y] log p_i, where H is given or ((1−σ)I + σA)ᵀ."""

import numpy as np

from reference.case import Case, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    log_p, count = log_softmax(case.output), case.y.shape[1]
    if "matrix" in case.state:
        gain = case.state["matrix"]
    else:
        sigma = case.state["smoothing"]
        gain = ((1 - sigma) * np.eye(count) + sigma * case.state["relations"]).T
    values = np.zeros(len(case.y))
    for n in range(len(case.y)):
        for label in range(count):
            for i in range(count):
                if case.y[n, label] > 0 and gain[i, label] > 0:
                    values[n] -= case.y[n, label] * gain[i, label] * log_p[n, i]
    return weighted_mean(values, case.weight)
