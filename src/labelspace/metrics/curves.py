"""How fast a model learns, from its accuracy after each epoch."""

import torch

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers


def accuracy_curve_area(accuracies: Numbers) -> float:
    """Return the area under the accuracy curve by trapezoids, divided by its length: a mean accuracy over training.

    ``Σ_e (a_e + a_{e+1})/2 / (E − 1)``; a single epoch gives its accuracy.

    Args:
        accuracies: the accuracy after each epoch, as a share or in percent.

    Shape:
        ``accuracies (E,)``.

    Example:
        >>> accuracy_curve_area([0.5, 0.75, 1.0])
        0.75
    """
    curve = _inputs.vector("accuracy_curve_area", "accuracies", accuracies)
    return curve[0].item() if len(curve) == 1 else torch.trapezoid(curve).item() / (len(curve) - 1)


def epochs_saved(curve: Numbers, reference: Numbers, budget: int | None = None) -> float | None:
    """Return the percent of epochs saved on the way to the reference's best accuracy, or None if never reached.

    With c the first epoch (from 1) at which ``curve`` is at least the best of ``reference``: ``100 · (1 − c/budget)``.
    Negative where it took longer.

    Args:
        curve: accuracy after each epoch.
        reference: that of the model to be reached, in the same unit.
        budget: epochs to measure against; by default those the reference took to reach its best, so that the
            reference saves nothing against itself. ``len(reference)`` measures against its whole training.

    Shape:
        ``curve (E,)``, ``reference (R,)``.

    Example:
        >>> epochs_saved([0.6, 0.8, 0.9, 0.9], [0.5, 0.6, 0.7, 0.8])
        50.0
        >>> epochs_saved([0.6, 0.7], [0.5, 0.6, 0.7, 0.8]) is None
        True

    Reference:
        "Learning with adaptive labels", table 1 ("percent epochs reduced"), whose steps of 10 % in 10 epochs and
        5 % in 20 suggest ``budget=len(reference)``.
    """
    ours = _inputs.vector("epochs_saved", "curve", curve)
    theirs = _inputs.vector("epochs_saved", "reference", reference)
    best = theirs.max()
    needed = int((theirs == best).nonzero()[0]) + 1
    allowed = needed if budget is None else _checks.whole("epochs_saved", "budget", budget, low=1)
    reached = (ours >= best).nonzero()
    return 100 * (1 - (int(reached[0]) + 1) / allowed) if len(reached) else None
