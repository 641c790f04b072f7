"""Cross-entropy of softmax(−‖z − ŷ‖) with class means as labels, and the repel term over all pairs."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def due(case: Case) -> bool:
    step, every, warmup = case.state["step"], case.attributes["every"], case.attributes["warmup"]
    return bool(step >= warmup and (step - warmup) % every == 0)


def labels(case: Case) -> Array:
    matrix = case.state["label_matrix"].copy()
    for c in range(case.y.shape[1]):
        mass = case.y[:, c].sum()
        if not due(case) or mass == 0:
            continue
        total = sum(case.y[i, c] * case.output[i] for i in range(len(case.y)))
        if case.attributes["memory"]:
            old = case.state["decay"] * case.state["running_count"][c]
            matrix[c] = (old * case.state["running_mean"][c] + total) / (old + mass)
        else:
            matrix[c] = total / mass
    return matrix


def repel(case: Case) -> Array:
    """Per sample: the sum over other samples of (1 − y_i·y_j)·cos."""
    rows = [i for i in range(len(case.y)) if case.y[i].sum() > 0]
    values = np.zeros(len(case.y))
    for i in rows:
        for j in rows:
            if i != j:
                norms = np.linalg.norm(case.output[i]) * np.linalg.norm(case.output[j])
                cosine = (case.output[i] @ case.output[j]) / norms if norms > 0 else 0.0
                values[i] += (1 - case.y[i] @ case.y[j]) * cosine
    return values


def loss(case: Case, frozen: Case) -> float:
    centres = labels(frozen if case.attributes["grad"] == "detached" else case)
    recomputed = case.attributes["order"] == "as printed" and case.state["repel"] > 0  # line 8 of the algorithm
    if case.attributes["order"] != "update first" and not recomputed:
        centres = case.state["label_matrix"]
    distances = [[max(np.linalg.norm(z - c), 1e-6) for c in centres] for z in case.output]
    log_p = log_softmax(-np.reshape(distances, case.y.shape))
    value = weighted_mean(cross_entropy(case.y, log_p), case.weight)
    count = (case.y.sum(1) > 0).sum()
    if not due(case) or count == 0:
        return value
    if not case.attributes["repel_mean"]:
        return value + float(case.state["repel"] * count * weighted_mean(repel(case), case.weight))
    return value + float(case.state["repel"]) * weighted_mean(repel(case), case.weight) / count


def after(case: Case) -> dict[str, Array]:
    mean, count = case.state["running_mean"].copy(), case.state["decay"] * case.state["running_count"]
    for c in range(case.y.shape[1]):
        mass = case.y[:, c].sum()
        if mass > 0:
            mean[c] = (count[c] * mean[c] + case.y[:, c] @ case.output) / (count[c] + mass)
            count[c] += mass
    step = np.zeros(()) if case.attributes["restart"] else case.state["step"] + 1
    return {"label_matrix": labels(case), "running_mean": mean, "running_count": count, "step": step}


def target(case: Case) -> Array:
    # the labels that predict: running means of the classes that were seen, by default
    seen = case.state["running_count"] > 0
    return np.where(seen[:, None], case.state["running_mean"], case.state["label_matrix"])
