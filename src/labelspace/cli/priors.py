"""How frequent classes are where a model decides, as people type it."""

from pathlib import Path
from typing import TYPE_CHECKING

from labelspace._cells import names_in
from labelspace._checks import InputError
from labelspace._tables import is_there, read_text

if TYPE_CHECKING:
    from labelspace.decisions.decision import Decision

SHOWN = 8  # classes
EXPECTED = "shares of samples by class, CLASS=SHARE with commas between, or a file with a line for each"


def prior_of(text: str) -> dict[str, float]:
    """Return class frequencies by name: ``a=0.7,b=0.3``, with percent or without, or a file of lines ``a=0.7``.

    Args:
        text: what was typed.

    Example:
        >>> prior_of("ill=2%, well=0.98")
        {'ill': 0.02, 'well': 0.98}
    """
    given = read_text("prior", Path(text)).splitlines() if is_there(Path(text)) else names_in("predict", "prior", text)
    found: dict[str, float] = {}
    for part in filter(None, map(str.strip, given)):
        name, _, share = (each.strip() for each in part.rpartition("="))
        try:
            value = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1)
        except ValueError:
            name = ""
        if not name or name in found:
            raise InputError("", "--prior", EXPECTED, repr(part), 'Such as "ill=2%,well=98%".')
        found[name] = value
    return found


def said_frequencies(decision: "Decision") -> str:
    """Return the class frequencies that a decision is for beside those it was fitted with, the largest change first.

    Args:
        decision: with a prior.

    Example:
        >>> from labelspace import Decision
        >>> said_frequencies(Decision("argmax", 1.0, None, ["ill", "well"], frequencies=[0.5, 0.5], prior=[0.1, 0.9]))
        'ill 10.0% (50.0% in the validation data), well 90.0% (50.0%)'
    """
    facts = decision.plain()
    new, old = facts["prior"], facts["frequencies"]
    assert isinstance(new, list)
    assert isinstance(old, list)
    rows = sorted(zip(decision.names, new, old, strict=True), key=lambda row: -abs(row[1] - row[2]))
    where = [" in the validation data", *[""] * len(rows)]
    said = [f"{name} {one:.1%} ({other:.1%}{more})" for (name, one, other), more in zip(rows, where, strict=False)]
    return ", ".join(said[:SHOWN]) + (f", {len(said) - SHOWN} others" if len(said) > SHOWN else "")
