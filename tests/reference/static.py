"""Distance of the output to the (mixed) row of the true class: Huber, squared, or 1 − cosine."""

import numpy as np

from reference.case import Array, Case, weighted_mean


def distance(kind: str, z: Array, v: Array) -> float:
    if kind == "cosine":
        length = np.sqrt((z**2).sum() * (v**2).sum())
        return float(1 - (z * v).sum() / length) if length > 0 else 1.0
    if kind == "mse":
        return float(np.mean((z - v) ** 2))
    return float(np.mean([0.5 * e**2 if abs(e) < 1 else abs(e) - 0.5 for e in z - v]))


def loss(case: Case, frozen: Case) -> float:
    rows = case.y @ (float(case.state["scale"]) * case.state["label_matrix"])
    values = [distance(case.attributes["loss"], z, v) for z, v in zip(case.output, rows, strict=True)]
    return weighted_mean(np.array(values), case.weight)


def target(case: Case) -> Array:
    return float(case.state["scale"]) * case.state["label_matrix"]
