"""Soft labels for a classifier that is no network: every sample enters once for each class, weighted by its share."""

from collections.abc import Sequence
from dataclasses import dataclass

from labelspace.comparison.entries import Entry, fewer, to_tune
from labelspace.comparison.judging import Trained
from labelspace.data.dataset import Dataset
from labelspace.space import LabelSpace

METHODS = ("semantic", "uniform")  # the latter says how much of what the former gains any smoothing would
ROWS = 200_000  # samples × classes, which is what is fitted to


@dataclass
class Softened:
    """Which rows a rival has with soft labels; called with the best of those that can have some.

    Args:
        space: what is known about the classes; without it there are no such rows.
        dataset: as it is trained on.
        trials: of the strength.
        notes: is told what is left out.
    """

    space: LabelSpace | None
    dataset: Dataset
    trials: int
    notes: list[str]

    def __call__(self, best: Trained) -> Sequence[Entry]:
        """Return the rows of a rival at its chosen settings."""
        samples, classes = len(self.dataset.train), len(self.dataset.names)
        if self.space is None:
            return []
        if samples * classes > ROWS:
            much = f"{samples:,} samples × {classes:,} classes"
            self.notes.append(f"{best.entry.label} was not fitted to soft labels, which would take too long: {much}.")
            return []
        return [self._entry(best, method) for method in METHODS]

    def _entry(self, best: Trained, method: str) -> Entry:
        entry, tuned = best.entry, to_tune(method, {})
        assert tuned is not None
        return entry._replace(
            label=f"{entry.label}, {method}",
            method=method,
            space=self.space if method == METHODS[0] else None,
            option=tuned.option,
            symbol=tuned.symbol,
            values=fewer(tuned.values, self.trials),
            takes="method",
            extends=True,
            settings={**entry.settings, **best.options},
            weighted=False,
        )
