"""H(T[y], p) with T fixed, mixed per class or per entry, and what keeps a learned T from one-hot."""

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
            margin = np.broadcast_to(state["margin"], count)[i]
            epsilon = (1 - margin) / 2 * sigmoid(state["entry_logits"][i, i])
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
    return sum(row_penalty(case, state["entry_free"][i], i) for i in range(count))


def row_penalty(case: Case, row: Array, i: int) -> float:
    """What row i of a free matrix adds to eq. (11)."""
    state, count = case.state, len(row)
    others = sum(row[j] for j in range(count) if j != i)
    p = state["exponent"]
    box = state["high_penalty"] * (abs(row - 1) ** p).sum() + state["low_penalty"] * (abs(row) ** p).sum()
    ahead = (count - 1) * (row[i] - np.broadcast_to(state["margin"], count)[i]) - others
    return float(state["row_penalty"] * (row[i] + others - 1) ** 2 + box + state["margin_penalty"] * ahead**2)


def kept_from_one_hot(case: Case) -> Array:
    """−H(t) where ε is learned by the divergence, and pull·KL(t⁰‖t), t⁰ being t at its start."""
    count = case.y.shape[1]
    if case.attributes["learn"] is None or not case.attributes["bounded"]:
        return np.zeros(len(case.y))
    epsilon = case.state["smoothing"]
    target = case.y @ matrix(case)
    start = case.y @ ((1 - epsilon) * np.eye(count) + epsilon * case.state["relations"])
    found = np.zeros(len(case.y))
    for n in range(len(case.y)):
        for j in range(count):
            if target[n, j] > 0 and case.attributes["objective"] == "divergence":
                found[n] += target[n, j] * np.log(target[n, j])
            if start[n, j] > 0:
                found[n] += case.state["pull"] * start[n, j] * np.log(start[n, j] / target[n, j])
    return found


def samples(case: Case) -> Array:
    """The loss of each sample, without the penalty."""
    return cross_entropy(case.y @ matrix(case), log_softmax(case.output)) + kept_from_one_hot(case)


def loss(case: Case, frozen: Case) -> float:
    return weighted_mean(samples(case), case.weight) + (penalty(case) if case.weight.sum() > 0 else 0.0)


def target(case: Case) -> Array:
    return matrix(case)
