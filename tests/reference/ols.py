"""(1−σ)·H(δ, p) + σ·H(S[y], p); S from the mean softmax of correctly classified samples."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    log_p = log_softmax(case.output)
    sigma = case.state["smoothing"]
    own, spread = (1, 1) if case.attributes["both"] else (1 - sigma, sigma)
    # shares are in the targets: no share of something infinite is nothing
    values = cross_entropy(own * case.y, log_p) + cross_entropy(spread * (case.y @ case.state["label_matrix"]), log_p)
    return weighted_mean(values, case.weight)


def after(case: Case) -> dict[str, Array]:
    count = case.y.shape[1]
    matrix = np.full((count, count), 1 / count)
    for label in range(count):
        rows = [
            softmax(case.output[i])
            for i in range(len(case.y))
            if case.y[i].sum() > 0 and case.y[i].argmax() == label == case.output[i].argmax()
        ]
        if rows:
            matrix[label] = np.mean(rows, axis=0)
    frozen = case.state["label_matrix"].max(axis=1) >= case.state["freeze"]
    matrix[frozen] = case.state["label_matrix"][frozen]
    return {"label_matrix": matrix}


def target(case: Case) -> Array:
    own, spread = (1, 1) if case.attributes["both"] else (1 - case.state["smoothing"], case.state["smoothing"])
    mixed = own * np.eye(case.y.shape[1]) + spread * case.state["label_matrix"]
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))
