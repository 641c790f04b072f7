"""H(T[y], p) with T fixed, mixed per class or per entry, and the penalties of eq. (10) and (11)."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def matrix(case: Case) -> Array:
    state, learn = case.state, case.attributes["learn"]
    count = case.y.shape[1]
    prior = state["relations"]
    rows = np.zeros((count, count))
    for i in range(count):
        spread = prior[i]
        if learn is None:
            epsilon = state["smoothing"]
        elif learn == "class":
            epsilon = (
                0.5 * sigmoid(state["mixing_logits"][i]) if case.attributes["bounded"] else state["mixing_free"][i]
            )
        elif not case.attributes["bounded"]:
            rows[i] = state["entry_free"][i]
            continue
        else:
            epsilon = (1 - state["margin"]) / 2 * sigmoid(state["entry_logits"][i, i])
            weights = np.exp(state["entry_logits"][i])
            weights[i] = 0
            spread = weights / weights.sum()
        rows[i] = epsilon * spread
        rows[i, i] += 1 - epsilon
    return rows


def penalty(case: Case) -> float:
    state, learn, count = case.state, case.attributes["learn"], case.y.shape[1]
    if learn is None or case.attributes["bounded"]:
        return 0.0
    p = state["exponent"]
    if learn == "class":
        e = state["mixing_free"]
        norms = [
            sum(abs(e[i] * state["relations"][i, j]) for j in range(count) if j != i) + abs(1 - e[i])
            for i in range(count)
        ]
        rows = sum((norm - 1) ** 2 for norm in norms)
        box = state["high_penalty"] * (abs(e - 0.5) ** p).sum() + state["low_penalty"] * (abs(e) ** p).sum()
        return float(state["row_penalty"] * rows + box)
    e = state["entry_free"]
    rows = sum((e[i].sum() - 1) ** 2 for i in range(count))
    box = state["high_penalty"] * (abs(e - 1) ** p).sum() + state["low_penalty"] * (abs(e) ** p).sum()
    ahead = sum(
        ((count - 1) * (e[i, i] - state["margin"]) - sum(e[i, j] for j in range(count) if j != i)) ** 2
        for i in range(count)
    )
    return float(state["row_penalty"] * rows + box + state["margin_penalty"] * ahead)


def loss(case: Case, frozen: Case) -> float:
    value = weighted_mean(cross_entropy(case.y @ matrix(case), log_softmax(case.output)), case.weight)
    return value + penalty(case)


def target(case: Case) -> Array:
    return matrix(case)
