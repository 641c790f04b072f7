"""Other class frequencies than those a model was calibrated on: probabilities corrected, and the frequencies found.

Letters: N samples, K classes, p the probabilities, π_old the frequencies they were fitted with, π_new the ones to come.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers

STEPS = 10_000  # of expectation and maximisation; a hundred are usual
SETTLED = 1e-12  # the largest change of a frequency in a step, where it ends
Shares = Numbers | Mapping[str, float]  # one for each class in their order, or by their names
REMEDY = "They are shares of samples by class, such as {'ill': 0.02, 'well': 0.98}."


def class_frequencies(y: Tensor, classes: int) -> Tensor:
    """Return how frequent classes are among labels, ``(K,)``.

    Where some class never occurs every class counts once more: a frequency of 0 would say that it never will, and
    leaves no way to correct for one that does.

    Args:
        y: class indices, ``(N,)``.
        classes: K.

    Example:
        >>> class_frequencies(torch.tensor([0, 0, 0, 1]), 2), class_frequencies(torch.tensor([0, 0]), 2)
        (tensor([0.7500, 0.2500], dtype=torch.float64), tensor([0.7500, 0.2500], dtype=torch.float64))
    """
    counts = torch.bincount(y.long().cpu(), minlength=classes).double()
    counts = counts + 1 if bool((counts == 0).any()) else counts
    return counts / counts.sum()


def shares(owner: str, argument: str, given: Shares, names: Sequence[str]) -> Tensor:
    """Return class frequencies ``(K,)`` in float64, after checking that they are such.

    Args:
        owner: whose argument they are.
        argument: what it is called.
        given: one for each class in their order, or by their names; they may miss 1 by rounding.
        names: of the classes.
    """
    if isinstance(given, Mapping):
        _checks.known_names(owner, argument, list(given), list(names))
        missing = [name for name in names if name not in given]
        if missing:
            raise _checks.fail(owner, argument, "given for every class", f"none for {_checks.listed(missing)}", REMEDY)
        given = [given[name] for name in names]
    found = _inputs.vector(owner, argument, given, length=len(names))
    if bool((found < 0).any()):
        raise _checks.fail(owner, argument, "0 or more", f"{found.min().item():g} for {names[int(found.argmin())]!r}")
    total = float(found.sum())
    if abs(total - 1) > 1e-3:
        raise _checks.fail(owner, argument, "frequencies that sum to 1", f"{total:.6g}", REMEDY)
    return found / total


def checked_frequencies(
    owner: str, frequencies: Shares | None, prior: Shares | None, names: Sequence[str]
) -> dict[str, Tensor | None]:
    """Return both by their names, after checking that the one can be corrected for the other.

    Args:
        owner: whose arguments they are.
        frequencies: π_old.
        prior: π_new.
        names: of the classes.
    """
    old = None if frequencies is None else shares(owner, "frequencies", frequencies, names)
    new = None if prior is None else shares(owner, "prior", prior, names)
    if new is not None and old is None:
        remedy = "Give those of the data that the model was calibrated on."
        raise _checks.fail(owner, "frequencies", "known beside a prior, or given", None, remedy)
    unknown = [] if new is None or old is None else ((old == 0) & (new > 0)).nonzero().flatten().tolist()
    if unknown:
        expected = "0 for a class that never occurred where the probabilities were fitted"
        raise _checks.fail(owner, "prior", expected, f"more for {names[unknown[0]]!r}")
    return {"frequencies": old, "prior": new}


def factors(new: Tensor, old: Tensor) -> Tensor:
    """Return what probabilities are multiplied by, ``π_new / π_old``; 0 where a class is not to come.

    Args:
        new: frequencies to come, ``(K,)``.
        old: frequencies that the probabilities were fitted with.
    """
    return torch.where(new > 0, new / old.clamp_min(torch.finfo(torch.float64).tiny), 0.0)


def corrected(probabilities: Tensor, ratio: Tensor, new: Tensor) -> Tensor:
    """Return ``p · π_new / π_old``, each row divided by its sum; tensor operations alone, as ONNX graphs need it.

    Args:
        probabilities: ``(N, K)``.
        ratio: from ``factors``.
        new: the frequencies to come, which stand for a row that allows no class which is to come.

    Example:
        >>> old, new = torch.tensor([0.5, 0.5]).double(), torch.tensor([0.9, 0.1]).double()
        >>> corrected(torch.tensor([[0.5, 0.5]]).double(), new / old, new)
        tensor([[0.9000, 0.1000]], dtype=torch.float64)

    Reference:
        Saerens, Latinne and Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities", 2002,
        eq. (2.4).
    """
    weighed = probabilities.double() * ratio.to(probabilities.device)
    total = weighed.sum(dim=1, keepdim=True)
    none = total <= 0
    return torch.where(none, new.to(probabilities.device), weighed / torch.where(none, 1.0, total))


def settled_prior(probabilities: Tensor, old: Tensor) -> Tensor:
    """Return the class frequencies of unlabelled samples that make their probabilities the likeliest, ``(K,)``.

    Expectation: probabilities are corrected for the frequencies found so far; maximisation: their means are the next.

    Args:
        probabilities: fitted with the old frequencies, ``(N, K)``.
        old: these, none of them 0.

    Reference:
        Saerens, Latinne and Decaestecker, 2002, eq. (2.9).
    """
    rows, new = probabilities.double().cpu(), old.clone()
    for _ in range(STEPS):
        found = corrected(rows, new / old, new).mean(dim=0)
        moved, new = float((found - new).abs().max()), found
        if moved <= SETTLED:
            break
    return new / new.sum()
