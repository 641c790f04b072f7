"""H(δ_y, p)."""

from reference.case import Case, cross_entropy, log_softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    return weighted_mean(cross_entropy(case.y, log_softmax(case.output)), case.weight)
