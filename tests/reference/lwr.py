"""(γ + (1−c/E)(1−γ))·H(δ, p) + (c/E)(1−γ)·τ²·KL(old/τ ‖ z/τ), c the epoch of the last refresh; dense memory."""

import numpy as np

from reference.case import Array, Case, cross_entropy, log_softmax, softmax, weighted_mean


def loss(case: Case, frozen: Case) -> float:
    gamma, tau = case.state["hard"], case.state["temperature"]
    every, epochs = case.attributes["every"], case.attributes["epochs"]
    epoch = int(case.state["epoch"]) + case.attributes["first_epoch"]
    done = min(every * (epoch // every) / epochs, 1)
    values = np.zeros(len(case.y))
    for i in range(len(case.y)):
        own = cross_entropy(case.y[i], log_softmax(case.output[i]))
        row = int(case.extras["index"][i])
        if not case.state["statistics.remembered"][row]:
            values[i] = own
            continue
        old = case.state["statistics.old_outputs"][row] / tau
        divergence = (softmax(old) * (log_softmax(old) - log_softmax(case.output[i] / tau))).sum()
        values[i] = (gamma + (1 - done) * (1 - gamma)) * own + done * (1 - gamma) * tau**2 * divergence
    return weighted_mean(values, case.weight)


def after(case: Case) -> dict[str, Array]:
    epoch = case.state["epoch"] + 1
    memory, remembered = case.state["statistics.old_outputs"].copy(), case.state["statistics.remembered"].copy()
    if epoch % case.attributes["every"] == 0:
        for i in range(len(case.y)):
            if case.y[i].sum() > 0:
                row = int(case.extras["index"][i])
                memory[row] = (case.output[i] - case.output[i].max()).astype(np.float16)
                remembered[row] = 1
    return {"epoch": epoch, "statistics.old_outputs": memory, "statistics.remembered": remembered}
