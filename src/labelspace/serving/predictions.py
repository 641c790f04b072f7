"""Predictions of a finished run for raw samples, as columns to be written down, a piece at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.data import factors
from labelspace.data.numbers import number
from labelspace.data.tables import Columns
from labelspace.decisions.decided import Decided
from labelspace.decisions.decision import Decision
from labelspace.decisions.rules import RULES
from labelspace.training.feed import BATCH
from labelspace.training.inputs import Inputs, Piece
from labelspace.training.predict import Scorer, about_unseen, flat, scorer
from labelspace.training.ranges import about_far, reach_of
from labelspace.training.run import Run

DIGITS = 7  # of probabilities: what single precision holds
NOT_FINITE = "its scores are not finite numbers"
COLUMNS = ("class", "probability", "decision", "abstained", "note")
EXPECTED_COST, OF_CLASS = "expected_cost", "probability_"  # on request; the latter before the name of each class


Written = dict[str, list[object]]  # columns that are being filled


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
    far: list[tuple[str, str]] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """Sentences about categories that training did not have, and about numbers far from its own."""
        return [*about_unseen(self.unseen), *about_far(self.far)]


class Extra(NamedTuple):
    """What is written on request: what a decision is expected to cost, and the probability of each class."""

    expected_cost: bool = False
    per_class: bool = False


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
    prepared: Ready,
    x: object,
    tally: Tally,
    keep: Sequence[str] = (),
    device: str = "cpu",
    extra: Extra = Extra(),  # noqa: B008 (it cannot be changed)
    cost_column: str | None = None,
) -> Iterator[Columns]:
    """Yield columns: the file or row, what is kept, those of ``COLUMNS``, and what is asked for in ``extra``.

    ``class`` is the likeliest class and ``probability`` its own; ``decision`` follows the rule, a class or an action,
    and is empty where it abstains. ``note`` says why a sample has nothing else, because it cannot be read or its scores
    are not finite, or which of its numbers lies far outside those of training.

    Args:
        prepared: from ``ready``.
        x: raw samples, as for ``Run.predict``.
        tally: is filled on the way.
        keep: columns of the samples to pass on; one that is called like a column of the output gets ``input_`` before.
        device: where to compute, as for ``Run.predict``.
        extra: ``expected_cost``, of what is decided, which for leaving a sample to somebody is the price of that; and
            ``probability_NAME`` of each class.
        cost_column: a column of the samples that their prices are multiplied by; a row without such a number is a
            problem of its own.
    """
    inputs = Inputs(prepared.run.preprocessing, prepared.run.config.backbone)
    reach = reach_of(prepared.run.preprocessing, inputs.encoding)
    score = scorer(prepared.run, device)
    for given in _pieces(inputs, x, keep, cost_column):
        far = {} if reach is None else reach.far(given.x)
        read = _read(given)
        piece, scores = _scored(given, score)
        piece, scores, weights = weighed(piece, scores, keep, cost_column)
        notes = {read[row]: why for row, why in far.items()} | piece.problems
        columns = empty_columns(piece, by_file(inputs, x), prepared.decision, extra)
        columns["note"] = [notes.get(place) for place in range(len(piece.names))]
        if scores is not None:
            fill(columns, _read(piece), prepared.decision, scores, extra, weights)
        tally.rows += len(piece.names)
        tally.unread += [(piece.names[place], why) for place, why in piece.problems.items()]
        tally.far += [(piece.names[place], why) for place, why in notes.items() if place not in piece.problems]
        tally.unseen.update(flat(piece.unseen))
        tally.decisions.update(name for name in columns["decision"] if isinstance(name, str))
        tally.abstained += sum(flag is True for flag in columns["abstained"])
        yield columns


def scores_in(prepared: Ready, x: object, device: str = "cpu") -> Tensor:
    """Return the scores of all samples that can be read, ``(N, K)``.

    Args:
        prepared: from ``ready``.
        x: raw samples, as for ``Run.predict``.
        device: where to compute.
    """
    inputs, score = Inputs(prepared.run.preprocessing, prepared.run.config.backbone), scorer(prepared.run, device)
    found = [scores for piece in inputs.pieces(x, BATCH) for _, scores in [_scored(piece, score)] if scores is not None]
    return torch.cat(found) if found else torch.zeros(0, len(prepared.decision.names))


def _pieces(inputs: Inputs, x: object, keep: Sequence[str], cost_column: str | None) -> Iterator[Piece]:
    """Yield the samples with what is to be kept of them, and with the column of factors."""
    wanted = [*keep, *([] if cost_column is None or cost_column in keep else [cost_column])]
    try:
        yield from inputs.pieces(x, BATCH, wanted)
    except _checks.InputError as error:
        own = error.argument == "keep" and error.got == repr(cost_column) and cost_column not in keep
        raise (error.about(argument="cost_column") if own else error) from error


def weighed(
    piece: Piece, scores: Tensor | None, keep: Sequence[str], cost_column: str | None
) -> tuple[Piece, Tensor | None, Tensor | None]:
    """Return a piece, the scores of its samples, and what their prices are multiplied by.

    Args:
        piece: with the column among those that are kept.
        scores: of the samples without problems, None where there are none.
        keep: columns to pass on, the others are taken out.
        cost_column: the column of factors; None where prices are multiplied by nothing.
    """
    if cost_column is None:
        return piece, scores, None
    values, places = piece.kept[cost_column], _read(piece)
    wrong = {place: f"in {cost_column!r} {why}" for place in places if (why := factors.problem(values[place]))}
    kept = {name: column for name, column in piece.kept.items() if name in keep}
    sound = torch.tensor([place not in wrong for place in places], dtype=torch.bool)
    weights = torch.tensor([number(values[place]) for place in places if place not in wrong], dtype=torch.float64)
    left = None if scores is None or not len(weights) else scores[sound]
    return piece._replace(problems=piece.problems | wrong, kept=kept), left, weights


def _read(piece: Piece) -> list[int]:
    """Return the places of the samples that could be prepared."""
    return [place for place in range(len(piece.names)) if place not in piece.problems]


def _scored(piece: Piece, score: Scorer) -> tuple[Piece, Tensor | None]:
    """Return finite scores, None where there are none; a sample without them is a problem of its piece."""
    if not len(piece.x):
        return piece, None
    scores = score(piece.x)
    finite = torch.isfinite(scores).all(dim=1)
    spoilt = {place: NOT_FINITE for place, sound in zip(_read(piece), finite.tolist(), strict=True) if not sound}
    return piece._replace(problems=piece.problems | spoilt), scores[finite] if bool(finite.any()) else None


def by_file(inputs: Inputs, x: object) -> bool:
    """Return whether samples are named by their files, not by the number of their rows."""
    listed = isinstance(x, str | Path) and Path(x).suffix.lower() != ".npz"
    return inputs.kind == "images" and (listed or isinstance(x, list | tuple))


def empty_columns(piece: Piece, files: bool, decision: Decision, extra: Extra) -> Written:
    """Return all columns: the names of the samples, what is kept, and nothing yet of what the run says."""
    names = [name.encode("utf-8", "backslashreplace").decode() for name in piece.names]
    columns: Written = {"file": [*names]} if files else {"row": [int(name) for name in names]}
    own = [*COLUMNS, *([EXPECTED_COST] if extra.expected_cost else [])]
    own += [f"{OF_CLASS}{name}" for name in decision.names] if extra.per_class else []
    taken = {*columns, *own}
    columns |= {f"input_{name}" if name in taken else name: [*values] for name, values in piece.kept.items()}
    return columns | {name: [None] * len(names) for name in own}


def fill(
    columns: Written,
    places: Sequence[int],
    decision: Decision,
    scores: Tensor,
    extra: Extra,
    weights: Tensor | None = None,
) -> None:
    """Write what scores say of samples, with what their prices are multiplied by, into the columns, at their places."""
    p, decided = decision.probabilities(scores), decision.decide(scores, weights=weights)
    likeliest = decision.likeliest(scores)[:, None]
    found: dict[str, list[object]] = {
        "class": [decision.names[index] for index in likeliest.squeeze(1).tolist()],
        "probability": _rounded(p.gather(1, likeliest).squeeze(1)),
        "decision": [*decision.named(decided)],
        "abstained": decided.abstained.tolist(),
    }
    if extra.expected_cost:
        found[EXPECTED_COST] = _rounded(_expected(scores, decided, decision, weights))
    if extra.per_class:
        found |= {f"{OF_CLASS}{name}": _rounded(p[:, index]) for index, name in enumerate(decision.names)}
    for name, cells in found.items():
        column = columns[name]
        for place, cell in zip(places, cells, strict=True):
            column[place] = cell


def _expected(scores: Tensor, decided: Decided, decision: Decision, weights: Tensor | None) -> Tensor:
    """Return what decisions are expected to cost; leaving a sample to somebody has its price."""
    if RULES[decision.rule].needs_prices or decision.actions is not None:
        return decision.expected_costs(scores, weights=weights).gather(1, decided.actions[:, None]).squeeze(1)
    costs = 1 - decided.probability  # every mistake costs 1; of many classes, a matrix of ones would not fit
    costs = costs if weights is None else costs * weights
    return costs if decision.abstain_cost is None else costs.masked_fill(decided.abstained, decision.abstain_cost)


def _rounded(numbers: Tensor) -> list[object]:
    return [round(number, DIGITS) for number in numbers.tolist()]
