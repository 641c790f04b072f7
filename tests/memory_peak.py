"""How much memory a call takes."""

import tracemalloc


def peak_of(function):
    """Return what a call gave, or its refusal, and the most memory that Python and numpy held during it."""
    tracemalloc.start()
    try:
        found = function()
    except ValueError as error:
        found = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found, peak
