"""−log p at the label, or at a drawn one: draws are a hash of (seed, place in the stream, stream 1 or 2)."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, weighted_mean


def lowbias32(x: int) -> int:
    x ^= x >> 16
    x = x * 0x7FEB352D % 2**32
    x ^= x >> 15
    x = x * 0x846CA68B % 2**32
    return x ^ x >> 16


def draw(position: int, seed: int, stream: int) -> int:
    high, low = divmod(position, 2**32)
    seed_high, seed_low = divmod(seed, 2**32)
    key = lowbias32(lowbias32(lowbias32(seed_low) ^ seed_high) ^ stream)
    place = lowbias32(lowbias32(low ^ 0x9E3779B9) ^ high)
    return lowbias32(place ^ key)


def disturbed(y: Array, start: int, seed: int, rate: float) -> Array:
    count = y.shape[1]
    labels = y.copy()
    for i in range(len(y)):
        if y[i].sum() > 0 and draw(start + i, seed, 1) / 2**32 < rate:
            labels[i] = np.eye(count)[draw(start + i, seed, 2) * count // 2**32]
    return labels


def loss(case: Case, frozen: Case) -> float:
    labels = case.y
    if case.attributes["training"]:
        start, rate = int(case.state["position"]), float(case.state["rate"])
        labels = disturbed(case.y, start, case.attributes["seed"], rate)
    return weighted_mean(cross_entropy(labels, log_softmax(case.output)), case.weight)


def after(case: Case) -> dict[str, Array]:
    return {"position": case.state["position"] + len(case.y)}


def target(case: Case) -> Array:
    rate, count = case.state["rate"], case.y.shape[1]
    return (1 - rate) * np.eye(count) + rate / count
