"""β·H(δ, p) + (1−β)·τ²·H(softmax(t/τ), softmax(z/τ)), the teacher t being a constant."""

from reference.case import Case, cross_entropy, log_softmax, softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    tau, beta = case.state["temperature"], case.state["hard"]
    factor = tau**2 if case.attributes["scale"] else 1.0
    teacher = softmax(frozen.extras["teacher"] / tau)
    # shares are in the targets: no share of something infinite is nothing
    soft = cross_entropy((1 - beta) * factor * teacher, log_softmax(case.output / tau))
    values = cross_entropy(beta * case.y, log_softmax(case.output)) + soft
    return weighted_mean(values, case.weight)
