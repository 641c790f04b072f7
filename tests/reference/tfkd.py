"""(1−α)·H(δ, p) + α·m·KL(softmax(u/τ) ‖ p), u holding the confidence at the class and the rest spread evenly."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    alpha, confidence = case.state["strength"], case.state["confidence"]
    factor = case.state["multiplier"]
    count = case.y.shape[1]
    virtual = np.full((count, count), (1 - confidence) / (count - 1))
    np.fill_diagonal(virtual, confidence)
    teacher = case.y @ softmax(virtual / case.state["temperature"])
    log_p = log_softmax(case.output)
    # a row of zeros (an ignored sample) has no logarithm, and no weight either
    log_teacher = np.log(np.where(teacher > 0, teacher, 1.0))
    parts = teacher * (log_teacher - log_p)
    divergence = parts.mean(axis=1) if case.attributes["average"] == "classes" else parts.sum(axis=1)
    # no share of something infinite is nothing
    own, others = (
        share * np.where(share > 0, part, 0)
        for share, part in ((1 - alpha, cross_entropy(case.y, log_p)), (alpha * factor, divergence))
    )
    return weighted_mean(own + others, case.weight)


def target(case: Case) -> Array:
    alpha, confidence, count = case.state["strength"], case.state["confidence"], case.y.shape[1]
    virtual = np.full((count, count), (1 - confidence) / (count - 1))
    np.fill_diagonal(virtual, confidence)
    share = alpha * case.state["multiplier"] / (count if case.attributes["average"] == "classes" else 1)
    mixed = (1 - alpha) * np.eye(count) + share * softmax(virtual / case.state["temperature"])
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))
