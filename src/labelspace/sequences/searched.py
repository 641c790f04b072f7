"""How texts were looked for, and how many of them were ended by force, as a record holds it and people read it."""

from collections.abc import Mapping

from labelspace.sequences.search import MORE, PENALTY, TIMES

FORCED = "forced"  # among the numbers of a part: texts that were ended by force
MANY = 0.05  # of all texts: more say something about the model, or about the limit


def facts(beam: int, positions: int | None) -> dict[str, float]:
    """Return what a result depends on beside the model: all that a search was told.

    Args:
        beam: its width.
        positions: that the model has for targets, if they have an end.

    Example:
        >>> facts(10, None)
        {'beam': 10, 'length_penalty': 1.0, 'source_times': 2, 'more': 10}
    """
    known: dict[str, float] = {"beam": beam, "length_penalty": PENALTY, "source_times": TIMES, "more": MORE}
    return known if positions is None else {**known, "positions": positions}


def words(found: Mapping[str, float]) -> str:
    """Return these facts as people read them; nothing where a record has none.

    Args:
        found: from ``facts``.

    Example:
        >>> words(facts(10, 40))
        'beam of 10, length penalty 1, at most 2 × source + 10 tokens and 40'
    """
    if not found:
        return ""
    most = f"{found['source_times']:g} × source + {found['more']:g} tokens"
    most += f" and {found['positions']:g}" if "positions" in found else ""
    return f"beam of {found['beam']:g}, length penalty {found['length_penalty']:g}, at most {most}"


def ended(numbers: Mapping[str, float], texts: int) -> str:
    """Return how many texts were ended by force; nothing where a record does not say it.

    Args:
        numbers: of a part.
        texts: how many there are.

    Example:
        >>> ended({"forced": 3.0}, 1000)
        '3 of 1,000 test texts were ended by force'
    """
    return f"{numbers[FORCED]:,.0f} of {texts:,} test texts were ended by force" if FORCED in numbers else ""


def many(numbers: Mapping[str, float], texts: int) -> bool:
    """Return whether so many texts were ended by force that it must be said.

    Args:
        numbers: of a part.
        texts: how many there are.

    Example:
        >>> many({"forced": 3.0}, 1000), many({"forced": 3.0}, 30)
        (False, True)
    """
    return numbers.get(FORCED, 0) > MANY * texts


def unended(rows: Mapping[str, Mapping[str, float]], texts: int) -> list[str]:
    """Return a sentence for every model of which many texts were ended by force.

    Args:
        rows: the numbers of each, by name; of several seeds their means.
        texts: how many there are.
    """
    why = "at the longest that the search allows: they repeat themselves, or are cut off"
    return [f"{name}: {ended(found, texts)}, {why}." for name, found in rows.items() if many(found, texts)]
