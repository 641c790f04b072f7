"""The five terms of the label embedding network, or the two of a pre-trained one."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, softmax, weighted_mean


def embedding(case: Case) -> Array:
    if "factor" in case.state:
        products = case.state["factor"] @ case.state["basis"]
        return np.maximum(products, 0) if case.attributes["relu"] else products
    return case.state["embedding"]


def loss(case: Case, frozen: Case) -> float:
    log_p1, beta = log_softmax(case.output), case.state["beta"]
    if case.attributes["pretrained"]:
        soft = case.y @ (case.state["fixed"] if "fixed" in case.state else softmax(embedding(case)))
        return float(beta) * weighted_mean(cross_entropy(case.y, log_p1) + cross_entropy(soft, log_p1), case.weight)
    stopped = frozen if case.attributes["stop_targets"] else case
    head = (case.state["second_head.weight"], case.state["second_head.bias"])
    z2 = frozen.extras["features"] @ head[0].T + head[1]  # features are always stopped
    stopped_head = (stopped.state["second_head.weight"], stopped.state["second_head.bias"])
    learnt = softmax((frozen.extras["features"] @ stopped_head[0].T + stopped_head[1]) / case.state["temperature"])
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
    value = float(beta) * weighted_mean(cross_entropy(case.y, log_p1), case.weight)
    value += float(beta) * weighted_mean(cross_entropy(stopped_soft, log_p1), case.weight)
    value += weighted_mean(cross_entropy(case.y, log_softmax(z2)), case.weight)
    total = (case.y.sum(1) > 0).sum() if case.attributes["hinge_total"] else 1
    value += total * weighted_mean(hinge, case.weight)
    return value + weighted_mean(cross_entropy(learnt, np.log(soft)), right)
