"""The attack as part of the project: hostile inputs, and what came of each.

How to add a generator
    Write ``tests/hostile/NAME.py`` with one function ``tries(seed, count, first)`` that yields the cases ``first``,
    ``first + 1``, …, each drawn from ``chance(seed, number)`` alone, so that one that went wrong can be made again.
    Then add a line to ``ATTACKS`` in ``test_hostile.py``: title, ``tries``, and how many are tried in the normal tests
    and in ``make fuzz``. A case is

        Case("what was done to it", run, right)

    ``run()`` gives the hostile input to the library. ``right(result)`` looks at what was accepted and says whether
    it is right, by something independent of the library (numpy, json, the generator's own knowledge).

What is counted
    refused            a clear error of ours: an InputError in the house form, a FileNotFoundError, or an ImportError
                       that says what to install. Anything else counts as a traceback, other ValueErrors such as
                       JSONDecodeError too.
    accepted and right, wrong
                       what ``right`` says; where it raises, the case counts as a traceback.
    traceback          any other exception.
    hang               more than ``SECONDS``.
    memory             MemoryError, or the process grew by more than ``BYTES``.
    code run           the file ``canary()`` appeared. Hostile inputs that try to run code create it: ``Payload`` is an
                       object whose unpickling does.

``make test`` tries few; ``make fuzz`` (``LABELSPACE_FUZZ=1``) tries many and prints

    label files: tried 300, refused 281, accepted and right 19, wrong 0, traceback 0, hang 0, memory 0, code run 0

What went wrong is named by its number. To try that one alone:

    LABELSPACE_FUZZ_SEED=11 LABELSPACE_FUZZ_CASE=22594 python -m pytest tests/hostile -k criterion
"""

import contextlib
import os
import pathlib
import re
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelspace import InputError

OUTCOMES = ("refused", "accepted and right", "wrong", "traceback", "hang", "memory", "code run")
BAD = OUTCOMES[2:]
SECONDS = 20.0
BYTES = 600 << 20
SHOWN = 5
STATUS = pathlib.Path("/proc/self/status")
HOUSE = re.compile(r" must be .* Got ", re.DOTALL)


class Hang(BaseException):
    """Raised inside a case that takes too long; no ``except Exception`` of the library catches it."""


@dataclass(frozen=True)
class Case:
    """One hostile input.

    Args:
        title: what was done, for the report.
        run: gives it to the library.
        right: whether what was accepted is right.
    """

    title: str
    run: Callable[[], Any]
    right: Callable[[Any], bool]


@dataclass
class Tally:
    """How many cases ended how, and the first of those that ended badly."""

    title: str
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{outcome} {self.counts[outcome]}" for outcome in OUTCOMES)
        return f"{self.title}: tried {self.counts.total()}, {counts}"

    @property
    def bad(self) -> int:
        """How many ended in a way that none may."""
        return sum(self.counts[outcome] for outcome in BAD)


class Payload:
    """An object whose unpickling creates the canary."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pathlib.Path.touch, (canary(),)


def canary() -> pathlib.Path:
    """Return the file whose presence shows that something was executed."""
    return pathlib.Path(tempfile.gettempdir()) / f"labelspace-canary-{os.getpid()}"


def chance(seed: int, number: int) -> np.random.Generator:
    """Return the random numbers of one case."""
    return np.random.default_rng([seed, number])


def tally(title: str, cases: Iterable[Case], first: int = 0) -> Tally:
    """Try every case, the first of which has this number, and count what came of it."""
    found = Tally(title)
    for number, case in enumerate(cases, first):
        outcome, why = judge(case)
        found.counts[outcome] += 1
        if outcome in BAD and len(found.examples) < SHOWN:
            found.examples.append(f"{outcome} in case {number} ({case.title}): {why}")
    return found


def judge(case: Case, seconds: float = SECONDS) -> tuple[str, str]:
    """Return what came of a case, and why."""
    canary().unlink(missing_ok=True)
    before = _held()
    try:
        with warnings.catch_warnings(), _within(seconds):
            warnings.simplefilter("ignore")
            outcome, why = _outcome(case)
    except Hang:
        outcome, why = "hang", f"more than {seconds:g} s"
    if canary().exists():
        return "code run", why
    grown = _peak() - before
    return ("memory", f"{grown >> 20} MB more") if grown > BYTES else (outcome, why)


def _outcome(case: Case) -> tuple[str, str]:
    try:
        result = case.run()
    except MemoryError as error:
        return "memory", repr(error)
    except Exception as error:
        clear = _is_clear(error)
        return "refused" if clear else "traceback", str(error) if clear else _where(error)
    try:
        return ("accepted and right" if case.right(result) else "wrong"), repr(result)[:300]
    except Exception as error:
        return "traceback", _where(error)


def _is_clear(error: Exception) -> bool:
    if type(error) is FileNotFoundError:
        return bool(str(error))
    if type(error) is ImportError:
        return "nstall" in str(error)
    return isinstance(error, InputError) and HOUSE.search(str(error)) is not None


def _where(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:200]} ({last.filename}:{last.lineno})"


def _held() -> int:
    """Return how much memory this process has, in bytes, and begin to look for the most anew where the system can."""
    if STATUS.exists():
        with contextlib.suppress(OSError):
            pathlib.Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    if STATUS.exists():
        return int(re.search(r"VmHWM:\s*(\d+)", STATUS.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(*arguments: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    # pytest-timeout has a timer of its own, which goes on afterwards
    started, left = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, seconds)[0]
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, left - (time.monotonic() - started)))
