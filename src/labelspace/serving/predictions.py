"""Predictions of a finished run for raw samples, as columns to be written down, a piece at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.data.tables import Columns
from labelspace.decisions.decision import Decision
from labelspace.training.feed import BATCH
from labelspace.training.inputs import Inputs, Piece
from labelspace.training.predict import Scorer, about_unseen, flat, scorer
from labelspace.training.run import Run

DIGITS = 7  # of probabilities: what single precision holds
NOT_FINITE = "its scores are not finite numbers"
COLUMNS = ("class", "probability", "decision", "abstained")


class Ready(NamedTuple):
    """A run and how it decides."""

    run: Run
    decision: Decision


@dataclass
class Tally:
    """What was met on the way: counts of decisions, and what should be told."""

    rows: int = 0
    abstained: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    unread: list[tuple[str, str]] = field(default_factory=list)
    unseen: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def notes(self) -> list[str]:
        """Sentences about categories that training did not have."""
        return about_unseen(self.unseen)


def ready(folder: str | Path, *, allow_damaged: bool = False) -> Ready:
    """Read a run and how it decides: by its ``decision.json``, else the likeliest class.

    Args:
        folder: of a run, or of a comparison, whose ``best`` is then meant.
        allow_damaged: read also what is damaged, as far as it goes, and warn.
    """
    try:
        run = Run.load(folder, allow_damaged=allow_damaged)
    except (KeyError, AttributeError) as error:
        raise _checks.fail("Run.load", "folder", "a sound run", f"{folder} ({error!r})") from error
    return Ready(run, run.deciding)


def predictions(
    prepared: Ready, x: object, tally: Tally, keep: Sequence[str] = (), device: str = "cpu"
) -> Iterator[Columns]:
    """Yield columns: the file or row, what is kept, ``class``, ``probability``, ``decision`` and ``abstained``.

    ``class`` is the likeliest class and ``probability`` its own; ``decision`` follows the rule, and is empty where it
    abstains. A sample that cannot be read, or whose scores are not finite, has a name and nothing else.

    Args:
        prepared: from ``ready``.
        x: raw samples, as for ``Run.predict``.
        tally: is filled on the way.
        keep: columns of the samples to pass on; one that is called like a column of the output gets ``input_`` before.
        device: where to compute, as for ``Run.predict``.
    """
    inputs = Inputs(prepared.run.preprocessing, prepared.run.config.backbone)
    score = scorer(prepared.run, device)
    for given in inputs.pieces(x, BATCH, keep):
        piece, scores = _scored(given, score)
        columns = _columns(piece, prepared.decision, scores, by_file(inputs, x))
        tally.rows += len(piece.names)
        tally.unread += [(piece.names[place], why) for place, why in piece.problems.items()]
        tally.unseen.update(flat(piece.unseen))
        tally.decisions.update(name for name in columns["decision"] if isinstance(name, str))
        tally.abstained += sum(flag is True for flag in columns["abstained"])
        yield columns


def _scored(piece: Piece, score: Scorer) -> tuple[Piece, Tensor | None]:
    """Return finite scores, None where there are none; a sample without them is a problem of its piece."""
    if not len(piece.x):
        return piece, None
    scores = score(piece.x)
    finite = torch.isfinite(scores).all(dim=1)
    read = [place for place in range(len(piece.names)) if place not in piece.problems]
    spoilt = {place: NOT_FINITE for place, sound in zip(read, finite.tolist(), strict=True) if not sound}
    return piece._replace(problems=piece.problems | spoilt), scores[finite] if bool(finite.any()) else None


def by_file(inputs: Inputs, x: object) -> bool:
    """Return whether samples are named by their files, not by the number of their rows."""
    return inputs.kind == "images" and not (isinstance(x, str | Path) and Path(x).suffix.lower() == ".npz")


def _columns(piece: Piece, decision: Decision, scores: Tensor | None, files: bool) -> dict[str, list[object]]:
    names = [name.encode("utf-8", "backslashreplace").decode() for name in piece.names]
    columns: dict[str, list[object]] = {"file": [*names]} if files else {"row": [int(name) for name in names]}
    taken = {*columns, *COLUMNS}
    columns |= {f"input_{name}" if name in taken else name: [*values] for name, values in piece.kept.items()}
    columns |= {name: [None] * len(names) for name in COLUMNS}
    if scores is None:
        return columns
    likeliest = scores.argmax(dim=1, keepdim=True)
    probability = decision.probabilities(scores).gather(1, likeliest).squeeze(1)
    decided = decision.decide(scores)
    found = zip(
        likeliest.squeeze(1).tolist(),
        probability.tolist(),
        decided.classes.tolist(),
        decided.abstained.tolist(),
        strict=True,
    )
    places = [place for place in range(len(names)) if place not in piece.problems]
    for place, (first, share, chosen, abstained) in zip(places, found, strict=True):
        cells = (decision.names[first], round(share, DIGITS), None if abstained else decision.names[chosen], abstained)
        for name, cell in zip(COLUMNS, cells, strict=True):
            columns[name][place] = cell
    return columns
