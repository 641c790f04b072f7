"""How frequent classes are where a model decides, as people type it."""

from pathlib import Path

from labelspace._cells import names_in
from labelspace._checks import InputError
from labelspace._tables import is_there, read_text

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
