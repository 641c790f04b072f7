"""How frequent classes are among samples that nobody has labelled, as a decision sees them."""

from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace.decisions.decision import Decision
from labelspace.decisions.prior import settled_prior

OWNER = "estimate_prior"
PER_CLASS = 20  # unlabelled samples, as for a parameter of a calibrator


def adapted(scores: Numbers, decision: Decision) -> Decision:
    """Return the decision for the class frequencies of unlabelled samples; too few of them are refused.

    Args:
        scores: of the samples, as the decision takes them; at least twenty for each class.
        decision: with ``frequencies``.
    """
    rows, needed = len(_inputs.tensor(OWNER, "scores", scores)), PER_CLASS * len(decision.names)
    if rows < needed:
        expected = f"at least {needed} samples, {PER_CLASS} for each class, to find their frequencies"
        raise _checks.fail(OWNER, "scores", expected, f"{rows}", "Give the frequencies, if they are known: prior.")
    return decision.with_prior(estimate_prior(scores, decision))


def estimate_prior(scores: Numbers, decision: Decision) -> Tensor:
    """Return the class frequencies among unlabelled samples, ``(K,)``: what ``Decision.with_prior`` takes.

    By expectation and maximisation, from the decision's probabilities and the frequencies that these were fitted with.
    They have to be calibrated: a temperature alone may leave classes too likely on the whole, which would be taken for
    a change of frequencies; after vector or matrix scaling none is.

    Args:
        scores: of the samples, as the decision takes them.
        decision: with ``frequencies``.

    Example:
        >>> import torch
        >>> decision = Decision("argmax", 1.0, None, ["well", "ill"], frequencies=[0.5, 0.5])
        >>> scores = torch.tensor([[2.0, 0.0]] * 80 + [[0.0, 2.0]] * 20)  # p = 0.8808: (0.8 − 1 + p)/(2p − 1) are well
        >>> estimate_prior(scores, decision).round(decimals=3)
        tensor([0.8940, 0.1060], dtype=torch.float64)

    Reference:
        Saerens, Latinne and Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities", 2002.
    """
    old = decision.frequencies
    if not isinstance(old, Tensor):
        remedy = "Give it those of the data that it was fitted on: dataclasses.replace(decision, frequencies=[…])."
        raise _checks.fail(OWNER, "decision", "one that knows the frequencies it was fitted with", None, remedy)
    if bool((old == 0).any()):
        place = int((old == 0).nonzero()[0])
        raise _checks.fail(OWNER, "decision", "with frequencies above 0", f"0 for {decision.names[place]!r}")
    return settled_prior(decision.with_prior(None).probabilities(scores), old)
