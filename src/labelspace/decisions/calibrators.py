"""The calibrators that a decision may carry beside its temperature, by name and as plain data."""

from collections.abc import Mapping
from typing import Protocol, Self, cast

from torch import Tensor

from labelspace import _checks
from labelspace._inputs import Numbers
from labelspace.decisions.isotonic import Isotonic
from labelspace.decisions.scaling import MatrixScaling, VectorScaling

FACTS = {"vector": ("change", "bias"), "matrix": ("change", "bias"), "isotonic": ("points", "values")}


class Calibrator(Protocol):
    """What makes honest probabilities of scores after temperature; read-only once it is fitted."""

    @property
    def kind(self) -> str:
        """Its name in ``CALIBRATORS``."""
        ...

    @property
    def classes(self) -> int | None:
        """How many classes it is about."""
        ...

    def fit(self, scores: Numbers, y: Numbers) -> Self:
        """Fit it on held-out scores and their labels, and return itself."""
        ...

    def logits(self, scores: Tensor) -> Tensor:
        """Return logits in float64, by tensor operations alone."""
        ...

    def apply(self, scores: Numbers) -> Tensor:
        """Return probabilities."""
        ...

    def plain(self) -> dict[str, object]:
        """Return it as plain JSON data."""
        ...


CALIBRATORS: dict[str, type[VectorScaling] | type[MatrixScaling] | type[Isotonic]] = {
    each.kind: each for each in (VectorScaling, MatrixScaling, Isotonic)
}


def calibrator(owner: str, given: object, classes: int) -> Calibrator | None:
    """Return a calibrator for so many classes, from itself or from its plain data; None for none.

    Args:
        owner: whose argument ``calibration`` it is.
        given: a calibrator, or what its ``plain`` returned.
        classes: how many there are.

    Example:
        >>> calibrator("Decision", {"kind": "vector", "change": [0.0, 0.5], "bias": [0.0, 0.1]}, 2).kind
        'vector'
    """
    if given is None:
        return None
    found = cast(Calibrator, given) if isinstance(given, tuple(CALIBRATORS.values())) else _read(owner, given)
    if found.classes != classes:
        got = "one that was not fitted" if found.classes is None else f"one of {found.classes}"
        raise _checks.fail(owner, "calibration", f"of {classes} classes", got)
    return found


def _read(owner: str, given: object) -> Calibrator:
    if not isinstance(given, Mapping):
        expected = "a calibrator or its plain data"
        raise _checks.fail_type(owner, "calibration", expected, repr(given), "Such as VectorScaling().fit(scores, y).")
    kind = _checks.choice(owner, "calibration", given.get("kind"), CALIBRATORS)
    facts = {name: value for name, value in given.items() if name != "kind"}
    if set(facts) != set(FACTS[kind]):
        expected = f"of kind {kind!r} with {' and '.join(FACTS[kind])}"
        raise _checks.fail(owner, "calibration", expected, ", ".join(map(str, facts)) or "nothing")
    return cast(Calibrator, CALIBRATORS[kind].of(facts))
