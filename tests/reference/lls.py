"""KL(t‖p) + KL(p‖t), halved or not, each entropy switchable."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, softmax, weighted_mean


def spread(case: Case) -> Array:
    """softmax(Q); after pruning, the classes that are not kept share the mass of one logit evenly."""
    logits = case.state["label_logits"]
    if "kept" not in case.state or case.state["epoch"] < case.attributes["prune_after"]:
        return softmax(logits)
    matrix = np.zeros_like(logits)
    for row, places in enumerate(case.state["kept"].astype(int)):
        q = softmax(logits[row, places])
        near, rest = places[:-1], [k for k in range(len(logits)) if k not in places[:-1]]
        matrix[row, near] = q[:-1]
        matrix[row, rest] = q[-1] / len(rest)
    return matrix


def loss(case: Case, frozen: Case) -> float:
    alpha = case.state["smoothing"]
    matrix = (1 - alpha) * np.eye(case.y.shape[1]) + alpha * spread(case)
    t = case.y @ matrix
    t = np.where(case.weight[:, None] > 0, t, 0.25)  # an ignored row has no target; anything finite will do
    log_t, log_p = np.log(t), log_softmax(case.output)
    p = np.exp(log_p)
    entropies = {
        "-H(t)": (t * log_t).sum(1),
        "H(t,p)": -(t * log_p).sum(1),
        "-H(p)": -cross_entropy(p, log_p),
        "H(p,t)": -(p * log_t).sum(1),
    }
    values = sum(entropies[term] for term in case.attributes["loss_terms"])
    return (0.5 if case.attributes["halve"] else 1.0) * weighted_mean(np.asarray(values), case.weight)


def target(case: Case) -> Array:
    alpha = case.state["smoothing"]
    return (1 - alpha) * np.eye(case.y.shape[1]) + alpha * spread(case)
