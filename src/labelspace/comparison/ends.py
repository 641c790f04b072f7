"""Strengths beyond what is usually tried: where the best lies at an end of these, a better one may lie further out."""

from collections.abc import Sequence

FURTHER = 2  # strengths beyond an end, one after the other while the last one is the best
FEWEST = 3  # strengths without which there is no end to speak of


def beyond(tried: Sequence[float], best: float) -> float | None:
    """Return the next strength beyond the end at which the best lies; None where it lies inside, or none is beyond.

    Steps grow as the last one did: by the same factor, or after 0 by the same difference. Below 0 there is nothing,
    and whole numbers stay whole.

    Args:
        tried: all strengths so far.
        best: of these.

    Example:
        >>> beyond((0.05, 0.1, 0.2, 0.3, 0.5), 0.5), beyond((0.05, 0.1, 0.2), 0.05), beyond((0.05, 0.1, 0.2), 0.1)
        (0.833, 0.025, None)
        >>> beyond((0.0, 1.0, 3.0), 0.0), beyond((1, 2, 5), 5), beyond((1, 2, 5), 1)
        (None, 12, None)
    """
    ordered = sorted(set(tried))
    if len(ordered) < FEWEST or best not in (ordered[0], ordered[-1]) or best <= 0:
        return None
    before = ordered[1] if best == ordered[0] else ordered[-2]
    found = best * best / before if before > 0 else best + (best - before)
    if all(isinstance(value, int) for value in tried):
        return round(found) if round(found) not in (0, *ordered) else None
    return float(f"{found:.3g}")


def at_an_end(tried: Sequence[float], chosen: float) -> str:
    """Return whether the chosen strength is the ``weakest`` or ``strongest`` of several; nothing where it is neither.

    Weaker than 0 there is nothing: that is no end.

    Args:
        tried: all strengths.
        chosen: of these.

    Example:
        >>> at_an_end((0.1, 0.2, 0.5), 0.5), at_an_end((0.1, 0.2, 0.5), 0.2), at_an_end((0.0, 0.2, 0.5), 0.0)
        ('strongest', '', '')
    """
    if len(set(tried)) < FEWEST or not chosen:
        return ""
    return "weakest" if chosen == min(tried) else "strongest" if chosen == max(tried) else ""
