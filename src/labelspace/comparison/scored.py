"""Comparing scores of models that were trained anywhere: what decisions alone would save, in seconds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict, cast

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._tables import is_there
from labelspace.comparison.chosen import Offer, told_by
from labelspace.comparison.decided import collapses, decided, done
from labelspace.comparison.headline import advice
from labelspace.comparison.knowledge import EACH, Doing, Knowledge, known
from labelspace.comparison.learned import constant_row, unhelped
from labelspace.comparison.outcome import Outcome
from labelspace.comparison.refitted import check_fits
from labelspace.comparison.result import Comparison
from labelspace.comparison.rows import About, Judged, against_reference, make_row
from labelspace.comparison.score_folder import Found, choose, folder_for, leave, next_command, run_names
from labelspace.comparison.score_models import Gathered, gather_scores
from labelspace.comparison.summary import VERSIONS, caveats, costliest, extra_columns, prices_facts, space_facts
from labelspace.comparison.verdict import judge_decisions, judge_rows
from labelspace.decisions.choosing import CALIBRATIONS, Calibration
from labelspace.results import Best, Data, Result, Verdict
from labelspace.serving.score_files import Beside
from labelspace.serving.score_kind import Kind
from labelspace.space import LabelSpace
from labelspace.spec.actions import limited
from labelspace.spec.named import named
from labelspace.spec.prices import ActionSpec, CostSpec, implied, prices

MARGIN, LEVEL = 0.05, 0.95


def compare_scores(
    scores: object,
    *,
    cost: CostSpec = None,
    names: Sequence[str] | None = None,
    space: str | Path | LabelSpace | None = None,
    kind: Kind | None = None,
    label: str = "y",
    group_by: str = "groups",
    ignore: Sequence[str] = (),
    cost_column: str | None = None,
    margin: float = MARGIN,
    level: float = LEVEL,
    out: str | Path | None = None,
    command: str = "",
    actions: ActionSpec = None,
    capacity: Mapping[str, float] | None = None,
    calibration: str = "auto",
) -> Comparison:
    """Say what temperature and minimum-cost decisions save on given scores, and how named models differ.

    A part is an NPZ file, or a dict, with arrays ``scores`` ``(N, K)``, or ``(seeds, N, K)`` for several seeds, and
    ``y`` ``(N,)``, with ``names`` ``(K,)`` and ``groups`` ``(N,)`` if known; a table (CSV, Parquet, DataFrame) with a
    column for each class, one for the labels and perhaps one for groups; or a pair ``(scores, y)``. One file may hold
    both parts: arrays ``validation_scores``, ``validation_y``, ``test_scores`` and ``test_y``, or a table with a column
    ``part`` that says validation or test.

    Columns that something names are matched by their names: the headers of tables, ``names`` in files, ``names=``; else
    the prices name them, which is said, and else they are 0 … K−1 by column. Labels that are text name classes, as
    all labels of tables do; whole numbers in arrays count the columns.

    Args:
        scores: ``(validation, test)``, or such a pair for every name; the first is the reference. A file that holds
            both parts stands alone. Scores are logits in all of them, or probabilities in all.
        cost: what mistakes cost, as ``labelspace.spec.prices`` takes it.
        names: the classes in the order of the columns, where files do not name them; else in the order to use.
        space: what is known about the classes, as ``labelspace.spec.named`` takes it: the order or the tree that
            prices speak of.
        kind: ``"logits"`` or ``"probabilities"``. Without it, scores whose rows all sum to 1 are probabilities, and
            what only nearly looks like them is refused. Probabilities may miss 1 by 0.05 where it is said.
        label: the column of labels in tables.
        group_by: the column of groups in tables, if there is one.
        ignore: columns of tables that are no classes.
        cost_column: the column of tables that the prices of each sample are multiplied by, such as an amount; beside
            arrays these numbers are called ``cost_factors``.
        margin: relative changes within ± this do not matter, in (0, 1].
        level: of the intervals, in (0, 1).
        out: the folder that holds comparisons: one of its own is made there, for the page and the best decision, which
            ``labelspace predict`` takes for new scores. None writes nothing.
        command: how it was asked for.
        actions: what can be done beside calling classes, as ``labelspace.spec.prices`` takes it: ``"tree"``, or names
            of the columns of an array of prices.
        capacity: the largest share of samples for some actions, kept on validation data.
        calibration: how scores become probabilities: ``"temperature"``, ``"vector"``, ``"matrix"``, ``"isotonic"`` (two
            classes), ``"none"``, or ``"auto"``: chosen on validation data, as ``decisions.choosing`` says.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.randint(3, (200,), generator=generator)
        >>> logits = 2 * torch.nn.functional.one_hot(y, 3) + torch.randn(200, 3, generator=generator)
        >>> result = compare_scores([(logits[:100], y[:100]), (logits[100:], y[100:])], cost="squared")
        >>> [row.label for row in result.rows]
        ['model']
    """
    _checks.number("compare", "margin", margin, low=0, high=1, open_low=True)
    _checks.number("compare", "level", level, low=0, high=1, open_low=True, open_high=True)
    how = cast(Calibration, _checks.choice("compare", "calibration", calibration, CALIBRATIONS))
    beside = Beside(label, group_by, ignore, factors=cost_column)
    gathered = gather_scores(scores, beside, cost, names, kind)
    factor = (cost_column or EACH) if gathered.models[0].scores[0].test_factors is not None else ""
    knowledge = _known(gathered, cost, space, Doing(actions, capacity, factor))
    judge = knowledge.judge(gathered.classes, gathered.models[0].scores[0].test_y, calibration=how)
    check_fits(judge, gathered.models[0].scores[0].validation_y, gathered.models[0].scores[0].validation_groups)
    outcomes = [Outcome(model.scores, judge) for model in gathered.models]
    found = Found(knowledge, outcomes, choose(outcomes))
    folder = None if out is None else folder_for(out, gathered, knowledge, (margin, level))
    rows = against_reference(_rows(gathered, outcomes, folder is not None), level, gathered.groups, fixed=True)
    result = _result(gathered, found, rows, _verdict(rows, margin, level, gathered.groups, found), folder, command)
    if folder is not None:
        leave(folder, gathered, found, result)
    return Comparison(folder, result)


def _rows(gathered: Gathered, outcomes: Sequence[Outcome], kept: bool) -> list[Judged]:
    rows = []
    for number, (model, outcome) in enumerate(zip(gathered.models, outcomes, strict=True)):
        about: About = {"label": model.name, "role": "method" if number else "reference"}
        rows.append(make_row(outcome, **about, **({"runs": run_names(model, number)} if kept else {})))
    return rows


def _verdict(rows: Sequence[Judged], margin: float, level: float, groups: Tensor | None, found: Found) -> Verdict:
    best = found.chosen.row
    if len(rows) == 1:
        verdict = judge_decisions(rows[0], margin, level, groups)
    else:
        verdict = judge_rows(rows, margin, "labels", groups, level, rows[best])
    offers = [Offer(each.validation_table, each.validation_nll) for each in found.outcomes]
    chose = told_by(offers, [row.label for row in rows], best, found.outcomes[0].scores[0].validation_groups)
    return verdict.advising(f"{advice(rows, best, groups, level)} {chose}".rstrip())


def _result(
    gathered: Gathered, found: Found, rows: Sequence[Judged], verdict: Verdict, folder: Path | None, command: str
) -> Result:
    row, seed = found.chosen
    judge, first = found.outcomes[0].judge, gathered.models[0].scores[0]
    counts = {"validation": len(first.validation_y), "test": len(first.test_y)}
    run = None if folder is None else run_names(gathered.models[row], row)[seed]
    constant = constant_row(first.validation_y, found.outcomes[0], first.validation_factors)
    idle = unhelped(rows[row], constant, gathered.groups, verdict.level)
    collapsed = collapses(rows, found.outcomes, row, gathered.classes)
    return Result(
        title=_title(gathered, counts, found.knowledge.spoken.cost),
        data=Data(name="scores", names=gathered.classes, counts=counts, **_grouped(gathered.groups)),
        seeds=tuple(range(len(gathered.models[0].scores))),
        cost=prices_facts(found.knowledge, judge),
        space=space_facts(found.knowledge),
        decision=judge.rule,
        extra=extra_columns(rows[0], judge.tree),
        rows=tuple(each.row() for each in rows),
        verdict=verdict.adding(done(found.outcomes[row])),
        warnings=(*idle, *collapsed, *caveats(rows, None, gathered.notes, gathered.groups, verdict.level)),
        costliest=costliest(found.outcomes[row], gathered.classes),
        constant=constant.row(),
        decided=decided(found.outcomes[row], gathered.classes),
        best=Best(label=gathered.models[row].name, run=run, rule=judge.rule),
        command=command,
        versions=VERSIONS,
        next=None if folder is None else next_command(folder),
    )


class Grouped(TypedDict):
    """How test samples are grouped, as ``Data`` says it."""

    group_by: str | None
    test_groups: int | None


def _grouped(groups: Tensor | None) -> Grouped:
    known = groups is not None
    return {"group_by": "groups" if known else None, "test_groups": len(torch.unique(groups)) if known else None}


def _title(gathered: Gathered, counts: dict[str, int], about: str) -> str:
    models, seeds = len(gathered.models), len(gathered.models[0].scores)
    parts = [
        f"{gathered.kind} of {models} {'model' if models == 1 else 'models'}",
        gathered.words,
        f"{counts['validation']:,} val / {counts['test']:,} test",
        f"{seeds} {'seed' if seeds == 1 else 'seeds'}",
        f"cost: {about}",
    ]
    return " · ".join(parts)


def _known(gathered: Gathered, cost: CostSpec, space: str | Path | LabelSpace | None, doing: Doing) -> Knowledge:
    with _said_without_names([] if gathered.named else [cost, space]):
        given = None if space is None else named(space, gathered.classes)
        spec = (implied(given) if cost is None else None) or cost
        price = limited(prices(spec, gathered.classes, given, doing.actions), doing.capacity)
        return known(given, price, doing.factor)


@contextmanager
def _said_without_names(given: Sequence[object]) -> Iterator[None]:
    """Say of prices and spaces, given as files or texts with names in them, that nothing names the classes."""
    texts = [str(each) for each in given if isinstance(each, str | Path)]
    try:
        yield
    except _checks.InputError as error:
        if not any(is_there(Path(text)) or set(text) & set("<|:") for text in texts):
            raise
        hint = "Nothing names the classes of these scores, which are 0, 1, … therefore: give names=… (--names a,b,c)"
        remedy = (f"{hint}, or an array names in the files. ", *error.parts)
        fuller = _checks.fail(error.owner, error.argument, error.expected, error.got, remedy)
        raise fuller.about(file=error.file) from error
