"""β·H(δ, p) + (1−β)·τ²·H(softmax(t/τ), softmax(z/τ)), the teacher t being a constant."""

from reference.case import Case, cross_entropy, log_softmax, softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    tau, beta = case.state["temperature"], case.state["hard"]
    factor = tau**2 if case.attributes["scale"] else 1.0
    teacher = softmax(frozen.extras["teacher"] / tau)
    soft = cross_entropy(teacher, log_softmax(case.output / tau))
    values = beta * cross_entropy(case.y, log_softmax(case.output)) + (1 - beta) * factor * soft
    return weighted_mean(values, case.weight)
