"""H(δ, p) + λ·KL(z̃ ‖ softmax over the other classes), z̃ ∝ 1/rank; ranks by logits or by votes of positions."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def scores(case: Case) -> Array:
    if case.attributes["votes"] == "logits":
        return case.output
    votes = np.zeros_like(case.output)
    for i, maps in enumerate(case.extras["features"]):
        for place in np.ndindex(maps.shape[1:]):
            votes[i, np.argmax([plane[place] for plane in maps])] += 1
    return votes


def divergence(z: Array, score: Array, label: int) -> float:
    others = [k for k in range(len(z)) if k != label]
    others = [k for k in others if z[k] > -np.inf]  # a class that is ruled out has no share
    if not others:
        return 0.0
    zipf = np.array([1 / (1 + sum(score > score[k])) for k in others])
    zipf = zipf / zipf.sum()
    return float((zipf * (np.log(zipf) - log_softmax(z[others]))).sum())


def loss(case: Case, frozen: Case) -> float:
    values = cross_entropy(case.y, log_softmax(case.output))
    ranked = scores(frozen)
    for i, row in enumerate(case.y):
        if row.sum() > 0:
            values[i] += case.state["strength"] * divergence(case.output[i], ranked[i], int(row.argmax()))
    return weighted_mean(values, case.weight)
