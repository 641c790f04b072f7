"""The five terms of the label embedding network, or the two of a pre-trained one."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, softmax, weighted_mean


def embedding(case: Case) -> Array:
    if "factor" in case.state:
        products = case.state["factor"] @ case.state["basis"]
        return np.maximum(products, 0) if case.attributes["relu"] else products
    return case.state["embedding"]


def first_weights(case: Case) -> tuple[float, float]:
    """1 and 1 in the paper's eq. (14); β and 1−β in the published code."""
    beta = float(case.state["beta"])
    return (beta, 1 - beta) if case.attributes["shared"] else (1.0, 1.0)


def second_scores(case: Case, features: Array) -> Array:
    seen = features @ case.state["narrow.weight"].T if "narrow.weight" in case.state else features
    return seen @ case.state["second_head.weight"].T + case.state["second_head.bias"]


def loss(case: Case, frozen: Case) -> float:
    log_p1, (hard_weight, soft_weight) = log_softmax(case.output), first_weights(case)
    if case.attributes["pretrained"]:
        soft = case.y @ (case.state["fixed"] if "fixed" in case.state else softmax(embedding(case)))
        values = hard_weight * cross_entropy(case.y, log_p1) + soft_weight * cross_entropy(soft, log_p1)
        return weighted_mean(values, case.weight)
    stopped = frozen if case.attributes["stop_targets"] else case
    z2 = second_scores(case, frozen.extras["features"])  # features are always stopped
    learnt = softmax(second_scores(stopped, frozen.extras["features"]) / case.state["temperature"])
    soft = case.y @ softmax(embedding(case))
    soft = np.where(case.y.sum(1, keepdims=True) > 0, soft, 1.0)  # an ignored row has no label; log 1 = 0
    stopped_soft = case.y @ softmax(embedding(stopped))
    p2_y = (softmax(z2) * case.y).sum(1)
    hinge = {
        "linear": np.maximum(0, p2_y - case.state["cap"]),
        "squared": np.maximum(0, p2_y - case.state["cap"]) ** 2,
        "absolute": abs(p2_y - case.state["cap"]),
    }[case.attributes["hinge"]]
    right = (z2.argmax(1) == case.y.argmax(1)) * case.weight
    value = hard_weight * weighted_mean(cross_entropy(case.y, log_p1), case.weight)
    value += soft_weight * weighted_mean(cross_entropy(stopped_soft, log_p1), case.weight)
    value += weighted_mean(cross_entropy(case.y, log_softmax(z2)), case.weight)
    total = (case.y.sum(1) > 0).sum() if case.attributes["hinge_total"] else 1
    value += total * weighted_mean(hinge, case.weight)
    return value + weighted_mean(cross_entropy(learnt, np.log(soft)), right)


def target(case: Case) -> Array:
    # of the first head, which predicts: the class and its embedding, as the first two terms weigh them
    soft = case.state["fixed"] if case.attributes["pretrained"] else softmax(embedding(case))
    hard_weight, soft_weight = first_weights(case)
    return np.asarray((hard_weight * np.eye(case.y.shape[1]) + soft_weight * soft) / (hard_weight + soft_weight))
