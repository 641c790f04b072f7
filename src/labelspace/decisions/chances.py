"""From scores to the probabilities that a decision is made by, with all that was fitted for them."""

from collections.abc import Mapping

from torch import Tensor

from labelspace.decisions.calibrators import Calibrator
from labelspace.decisions.prior import Shares, corrected, factors

Calibration = Calibrator | Mapping[str, object] | None


def chances(
    logits: Tensor, temperature: float, calibration: Calibration, frequencies: Shares | None, prior: Shares | None
) -> Tensor:
    """Return probabilities ``(N, K)`` in float64, by tensor operations alone.

    Args:
        logits: ``(N, K)``.
        temperature: τ.
        calibration: what is done with ``logits / τ`` before the softmax; None for nothing.
        frequencies: of the classes where all was fitted, checked.
        prior: of the classes where it decides, checked; None for the same.
    """
    scaled = logits.double() / temperature
    found = (scaled if calibration is None else _checked(calibration).logits(scaled)).softmax(dim=1)
    if not isinstance(prior, Tensor) or not isinstance(frequencies, Tensor):
        return found
    return corrected(found, factors(prior, frequencies), prior)


def known(calibration: Calibration, frequencies: Shares | None, prior: Shares | None) -> dict[str, object]:
    """Return what there is as plain JSON data, by the names of the fields of ``Decision``."""
    found: dict[str, object] = {} if calibration is None else {"calibration": _checked(calibration).plain()}
    shares = {"frequencies": frequencies, "prior": prior}
    return found | {name: each.tolist() for name, each in shares.items() if isinstance(each, Tensor)}


def _checked(calibration: Calibrator | Mapping[str, object]) -> Calibrator:
    assert not isinstance(calibration, Mapping)
    return calibration
