"""A decision without a model: what it is of, and what it says of new scores that a model elsewhere made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

import torch
from torch import Tensor

from labelspace import _checks, _files
from labelspace._opening import Asked
from labelspace.data import factors
from labelspace.data.tables import Columns
from labelspace.decisions.decision import Decision
from labelspace.decisions.decision import stored as stored_decision
from labelspace.records import CONFIG, FILES, RESULT
from labelspace.serving.predictions import Extra, Tally, empty_columns, fill, weighed
from labelspace.serving.score_files import Beside, Sheet, checked, in_order, read
from labelspace.serving.score_kind import KINDS, NEAR, Kind, Table, as_logits, sums_to_one
from labelspace.spec.naming import canonical
from labelspace.training.decided import FILE
from labelspace.training.inputs import Piece

SCORES = "scores.json"  # what the scores are that a decision was fitted on
ASKED = Asked("Run", "x")  # as for a run, so that a command line calls it NEW
OF_RUNS = (CONFIG, RESULT, *FILES)  # a run that lost some of these is damaged, not a decision without one
ROWS = 4096
REMEDY = "The same compare command writes it again."


class Alone(NamedTuple):
    """How scores of a model that is not here are decided about.

    Args:
        decision: temperature, prices and rule.
        kind: what the scores were that it was fitted on; None where nobody wrote that down.
        model: whose they were.
    """

    decision: Decision
    kind: Kind | None = None
    model: str = ""

    def write(self, folder: Path) -> None:
        """Write both files; each says that it belongs to the other."""
        facts = _files.sealed({"kind": self.kind, "model": self.model})
        _files.write_json(folder / SCORES, facts)
        self.decision.save(folder / FILE, str(facts[_files.DIGEST]))


@dataclass
class Met(Tally):
    """What was met on the way through scores."""

    said: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """Sentences about the columns."""
        return self.said


def place_of(folder: str | Path) -> Path | None:
    """Return where there is a decision without a model: in a folder, or in its ``best``; None where there is none."""
    for place in (Path(folder), Path(folder) / "best"):
        if (place / FILE).is_file() and not any((place / name).is_file() for name in OF_RUNS):
            return place
    return None


def load(place: Path, allow_damaged: bool = False) -> Alone:
    """Return the decision in a folder.

    Args:
        place: as ``place_of`` found it; a ``decision.json`` of ``Decision.save`` alone does as well.
        allow_damaged: read also what is not what was written, and warn.
    """
    decision, of = stored_decision(place / FILE, allow_damaged)
    path = place / SCORES
    if not path.is_file():
        if of is not None:
            raise _damaged(path, "it is missing")
        return Alone(decision)
    try:
        facts = _files.read_json(path)
        sound = isinstance(facts, dict) and facts.get("kind") in KINDS and isinstance(facts.get("model"), str)
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if not sound:
        raise _damaged(path, "no kind of scores and name of a model")
    if not _files.holds(facts) or of not in (None, facts.get(_files.DIGEST)):
        why = "its content is not what was written beside the decision"
        _checks.damaged("Run.load", "folder", f"a sound {SCORES}", path, why, REMEDY, allow_damaged)
    return Alone(decision, cast(Kind, facts["kind"]), facts["model"])


def _damaged(path: Path, why: str) -> _checks.DamagedError:
    return _checks.DamagedError("Run.load", "folder", f"a decision with a sound {SCORES}", path, why, REMEDY)


def decisions(
    alone: Alone,
    new: object,
    met: Met,
    keep: Sequence[str] = (),
    extra: Extra = Extra(),  # noqa: B008 (it cannot be changed)
    cost_column: str | None = None,
) -> Iterator[Columns]:
    """Yield columns as ``predictions`` does: row, what is kept, class, probability, decision, abstained and note.

    Of a row without a finite score for every class, or that is no distribution where the decision takes probabilities,
    ``note`` says so, and there is nothing else.

    Args:
        alone: how they are decided about.
        new: scores in any form that ``score_files.read`` takes; labels in them are not looked at.
        met: is filled on the way.
        keep: columns of a table to pass on.
        extra: what is written on request, as for ``predictions``.
        cost_column: a column that the prices of each row are multiplied by, as for ``predictions``.
    """
    sheets = read(new, "the scores", ASKED, Beside(keep=keep, factors=cost_column))
    if "" not in sheets:
        got = f"{next(iter(sheets.values())).origin}, one of the parts that a decision is fitted and measured on"
        raise _checks.fail(*ASKED, "new scores", got, "Give one part alone.")
    sheet = sheets[""]
    values = _values(sheet, alone.decision.names, keep, met)
    problems = _problems(sheet, values)
    logits, broken = _logits(values, problems, alone.kind, sheet.origin, met)
    problems |= broken
    if cost_column is not None and sheet.by_name:
        sheet = sheet._replace(kept={**sheet.kept, cost_column: factors.listed(sheet.factors)})
    elif cost_column is not None:
        got = f"{cost_column!r} beside {sheet.origin}"
        raise _checks.fail("predict", "cost_column", "a column of a table", got)
    for start in range(0, len(values), ROWS):
        rows = range(start, min(start + ROWS, len(values)))
        found = {row - start: problems[row] for row in rows if row in problems}
        kept = {name: column[start : rows.stop] for name, column in sheet.kept.items()}
        piece = Piece([str(row) for row in rows], torch.empty(0), found, kept, {})
        piece, good, weights = weighed(piece, logits[[row for row in rows if row not in problems]], keep, cost_column)
        found = piece.problems
        columns = empty_columns(piece, False, alone.decision, extra)
        columns["note"] = [found.get(place) for place in range(len(rows))]
        if good is not None and len(good):
            places = [place for place in range(len(rows)) if place not in found]
            fill(columns, places, alone.decision, good, extra, weights)
        met.rows += len(rows)
        met.unread += [(str(start + place), why) for place, why in sorted(found.items())]
        met.decisions.update(name for name in columns["decision"] if isinstance(name, str))
        met.abstained += sum(flag is True for flag in columns["abstained"])
        yield columns


def scores_in(alone: Alone, new: object, keep: Sequence[str] = (), cost_column: str | None = None) -> Tensor:
    """Return as logits all scores that can be decided about, ``(N, K)``; arguments are those of ``decisions``."""
    sheet, met = read(new, "the scores", ASKED, Beside(keep=keep, factors=cost_column)).get(""), Met()
    if sheet is None:
        raise _checks.fail(*ASKED, "new scores", "parts that a decision is fitted and measured on")
    values = _values(sheet, alone.decision.names, keep, met)
    problems = _problems(sheet, values)
    logits, broken = _logits(values, problems, alone.kind, sheet.origin, met)
    return logits[[row for row in range(len(values)) if row not in problems and row not in broken]]


def _values(sheet: Sheet, names: Sequence[str], keep: Sequence[str], met: Met) -> Tensor:
    """Return the scores ``(N, K)`` with their columns in the order of the classes."""
    table = checked(sheet, ASKED)
    if len(table) > 1:
        raise _checks.fail(*ASKED, "scores of one model", f"those of {len(table)} seeds in {sheet.origin}")
    if sheet.names is None:
        if table.shape[2] != len(names):
            expected = f"of {len(names)} columns, one per class"
            raise _checks.fail(*ASKED, expected, f"{table.shape[2]} in {sheet.origin}")
        met.said.append(f"nothing names the columns of {sheet.origin}: they are taken to be {_checks.listed(names)}")
    elif {*map(canonical, sheet.names)} != {*map(canonical, names)}:
        known = {*map(canonical, names)}
        others = [name for name in sheet.names if canonical(name) not in known]
        got = f"{_checks.listed(others or list(sheet.names))} in {sheet.origin} where the decision has"
        remedy = "Columns that are no classes are written along with --keep." if others and sheet.by_name else ""
        raise _checks.fail(*ASKED, "scores of the classes of the decision", f"{got} {_checks.listed(names)}", remedy)
    return in_order(table, sheet.names, names)[0]


def _problems(sheet: Sheet, values: Tensor) -> dict[int, str]:
    bad = (~torch.isfinite(values)).any(dim=1).nonzero().flatten().tolist()
    return {row: sheet.unread.get(row, "its scores are not finite numbers") for row in bad}


def _logits(
    values: Tensor, problems: dict[int, str], kind: Kind | None, origin: str, met: Met
) -> tuple[Tensor, dict[int, str]]:
    """Return all scores as logits, and the rows that are no probabilities where they should be."""
    good = torch.tensor([row not in problems for row in range(len(values))], dtype=torch.bool)
    table = Table(origin, values[good][None])
    alike = bool(good.any()) and bool(sums_to_one(table).all())
    if kind is None and bool(good.any()):
        kind, _ = as_logits([table], None)
        met.said.append(f"the decision does not say which scores it takes; these are read as {kind}")
    if kind == "logits" and alike:
        remedy = "Give the model's logits, or fit a decision on its probabilities: labelspace compare --scores."
        raise _checks.fail(*ASKED, "logits, as the decision was fitted on", f"probabilities in {origin}", remedy)
    if kind != "probabilities":
        return values.double(), {}
    sound = sums_to_one(Table(origin, torch.nan_to_num(values)[None]), NEAR)[0]
    rows = (good & ~sound).nonzero().flatten().tolist()
    if len(rows) == int(good.sum()):
        got = (
            f"others in {origin}: row {rows[0]} sums to {values[rows[0]].double().sum().item():.6g}" if rows else "none"
        )
        raise _checks.fail(*ASKED, "probabilities, as the decision was fitted on", got)
    broken = {row: f"it sums to {values[row].double().sum().item():.6g}, no probabilities" for row in rows}
    logits = as_logits([Table(origin, values[good & sound][None])], "probabilities")[1][0][0]
    found = torch.full(values.shape, torch.nan, dtype=torch.float64)
    found[good & sound] = logits
    return found, broken
