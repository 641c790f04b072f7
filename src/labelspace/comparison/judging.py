"""How runs of a comparison are judged: ``classified`` by what mistakes cost, ``sequences`` by a measure of texts."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from labelspace.comparison.entries import Entry
from labelspace.comparison.knowledge import Spoken
from labelspace.comparison.rows import About
from labelspace.results import (
    Called,
    Confusion,
    Extra,
    Known,
    Measure,
    Neighbourhood,
    Options,
    Prices,
    Result,
    Row,
    Rule,
    Strength,
    Translation,
    Trial,
    Verdict,
)
from labelspace.space import LabelSpace
from labelspace.training.run import Run


class Assessed(Protocol):
    """What the runs of one row show, one for each seed."""

    @property
    def merits(self) -> list[float]:
        """Of each seed, what it is chosen by, on validation data: the largest is the best."""

    def trial(self, value: float | None, runs: Sequence[Run]) -> Trial:
        """Return what the runs say of a strength."""


class Trained(NamedTuple):
    """A row's trials, the options that were chosen, and its runs, one per seed."""

    entry: Entry
    trials: list[Trial]
    options: Options
    runs: list[Run]
    outcome: Assessed

    @property
    def run_names(self) -> tuple[str, ...]:
        """The names of its runs."""
        return tuple(run.folder.name for run in self.runs if run.folder is not None)

    def about(self) -> About:
        """Return what its row says that no score does."""
        entry = self.entry
        strength, value = None, entry.strength(self.options)
        if entry.option is not None and value is not None:
            strength = Strength(name=entry.option, symbol=entry.symbol, value=value)
        return {
            "label": entry.label,
            "method": entry.method,
            "role": entry.role,
            "of": entry.of,
            "control": entry.control,
            "structured": entry.structured,
            "strength": strength,
            "trials": tuple(self.trials),
            "runs": self.run_names,
            "options": dict(entry.options),
        }


class Found(NamedTuple):
    """What judging found, as a ``Result`` says it, and which row's seed to take home."""

    rows: tuple[Row, ...]
    verdict: Verdict
    warnings: tuple[str, ...]
    best: int
    seed: int
    extra: tuple[Extra, ...] = ()
    costliest: tuple[Confusion, ...] = ()
    measure: Measure | None = None
    translations: tuple[Translation, ...] = ()
    neighbours: Neighbourhood | None = None
    constant: Row | None = None
    decided: tuple[Called, ...] = ()
    ensembles: tuple[Trained, ...] = ()  # their rows come last


Shuffle = Callable[[Trained], Sequence[Trained]]  # trains a row with shuffled forms of its space; none where too few


class Judging(Protocol):
    """How everything is judged."""

    @property
    def space(self) -> LabelSpace | None:
        """What is known about the classes."""

    @property
    def cost(self) -> LabelSpace | None:
        """What mistakes cost; nothing where that is not the question."""

    @property
    def rule(self) -> Rule:
        """How decisions are made."""

    @property
    def spoken(self) -> Spoken:
        """Both in words."""

    @property
    def headline(self) -> str:
        """What the title says it is about."""

    @property
    def prices(self) -> Prices:
        """What mistakes cost, as a result says it."""

    @property
    def known(self) -> Known | None:
        """What is known about the classes, as a result says it."""

    @property
    def taken_home(self) -> tuple[str, ...]:
        """The files of the best model beside those of its run."""

    def assessed(self, entry: Entry, options: Options, runs: Sequence[Run]) -> Assessed:
        """Return what the runs of a row show."""

    def found(self, trained: Sequence[Trained], problems: Sequence[str], shuffle: Shuffle) -> Found:
        """Judge all rows, the reference first; where one is cheaper, ask for its shuffled forms to know why."""

    def leave(self, folder: Path, trained: Sequence[Trained], found: Found, result: Result) -> None:
        """Write what belongs to a result: what its figures are drawn from, and the best model."""


def candidates(rows: Sequence[Row]) -> list[int]:
    """Return the places of the rows that may be taken home as one model: all but controls and ensembles."""
    return [number for number, row in enumerate(rows) if row.role not in ("control", "ensemble")]


def best_seed(outcome: Assessed) -> int:
    """Return which of a row's seeds did best on validation data."""
    return max(range(len(outcome.merits)), key=outcome.merits.__getitem__)
