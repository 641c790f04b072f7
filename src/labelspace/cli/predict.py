"""`labelspace predict`: what a finished run says of new samples."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from labelspace._checks import InputError
from labelspace.cli.flags import speaks_of_flags
from labelspace.cli.options import AllowDamaged
from labelspace.cli.priors import prior_of, said_frequencies
from labelspace.cli.screen import bad_input_exits, bars, console, errors, print_json
from labelspace.cli.table_output import TABLES, Write, check_output, stopped_cleanly, table_file
from labelspace.cli.translations import translate

if TYPE_CHECKING:
    from torch import Tensor

    from labelspace.data.tables import Columns
    from labelspace.decisions.decision import Decision
    from labelspace.serving.predictions import Tally
    from labelspace.training.run import Run

# so many samples are named on the screen; the file and --json have them all
SHOWN = 20


@bad_input_exits
@speaks_of_flags()
def predict(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or `best` of a comparison, also one of scores.")],
    new: Annotated[
        str,
        typer.Argument(
            help="Folder of pictures, a picture, a CSV, Parquet or NPZ file (of scores, where a decision has no model);"
            " texts to translate, one a line."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv or .parquet file, .txt for translations; stdout if left out."),
    ] = None,
    abstain_cost: Annotated[
        float | None, typer.Option(help="Price of leaving a sample to somebody, in the unit of the prices.")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS=SHARE,…|FILE",
            help='How frequent classes are in NEW, if not as in the validation data: "ill=2%,well=98%", or a file.',
        ),
    ] = None,
    adapt_prior: Annotated[
        bool,
        typer.Option(
            "--adapt-prior", help="Find how frequent classes are in NEW from NEW itself, and decide accordingly."
        ),
    ] = False,
    cost_column: Annotated[
        str | None,
        typer.Option(help="Column of NEW that multiplies each sample's prices, as in compare: weighed against limits."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of NEW to write along, such as an id; repeatable.")
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Write the probability of each class, `probability_NAME`.")
    ] = False,
    expected_cost: Annotated[
        bool, typer.Option("--expected-cost", help="Write what each decision is expected to cost.")
    ] = False,
    allow_damaged: AllowDamaged = False,
    device: Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1 or mps.")] = "cpu",
    beam: Annotated[
        int | None, typer.Option(min=1, help="Width of the search, of a model of sequences; as trained if left out.")
    ] = None,
    spreadsheet: Annotated[
        bool,
        typer.Option("--spreadsheet", help="CSV for Excel and the like: a ' before text that begins with = + - @."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary (without -o: everything) as JSON.")] = False,
) -> None:
    """Write class, probability, decision and abstention for new samples.

    `class` is the likeliest class and `probability` its own; `decision` is the cheapest class, or action, where the run
    knows prices. A sample that cannot be read spoils its own row alone: it is empty, `note` says why, and a warning
    counts such rows; if all are such, nothing is written. `note` also names a number far outside those of training.
    Names are written as they are, so that programs find them again: a spreadsheet takes one that begins with = + - or @
    for a formula, which --spreadsheet prevents. A model of sequences writes a translation for each line. What
    `compare --scores` left holds no model: NEW are then new scores, with a column for each class.

    Example: labelspace predict runs/digits-1a2b3c4d/best scans/ -o predictions.csv --abstain-cost 0.5
    """
    from labelspace.serving import alone, predictions

    if spreadsheet and ((as_json and output is None) or str(output).lower().endswith(".parquet")):
        raise InputError(
            "", "--spreadsheet", "given for CSV", "it for another format", "Neither JSON nor Parquet has formulas."
        )
    if output is not None:
        check_output("predict", output, new, (*TABLES, ".txt"))
    if adapt_prior and prior is not None:
        raise InputError("", "--adapt-prior", "given without --prior", "both", "One finds what the other says.")
    extra = predictions.Extra(expected_cost, per_class)
    place = alone.place_of(run)
    if place is not None:
        _refuse_for_scores({"--beam": beam is not None, "--device": device != "cpu"})
        if output is not None:
            check_output("predict", output, new, TABLES)
        of = alone.load(place, allow_damaged)
        decision = _asked(of.decision, abstain_cost, prior)
        if adapt_prior:
            decision = _adapted(decision, alone.scores_in(of, new, keep or [], cost_column))
        met = alone.Met()
        found = alone.decisions(of._replace(decision=decision), new, met, keep or [], extra, cost_column)
        _write(Written(place, decision, None), new, found, met, output, as_json, spreadsheet)
        return
    prepared = predictions.ready(run, allow_damaged=allow_damaged)
    if prepared.run.preprocessing["kind"] == "sequences":
        asked = {"--abstain-cost": abstain_cost, "--prior": prior, "--keep": keep, "--spreadsheet": spreadsheet or None}
        asked |= {"--cost-column": cost_column, "--adapt-prior": adapt_prior or None}
        asked |= {"--per-class": per_class or None, "--expected-cost": expected_cost or None}
        translate(prepared.run, new, output, beam, device, as_json, [name for name, value in asked.items() if value])
        return
    if beam is not None:
        raise InputError("", "--beam", "given for a model of sequences", "it for another")
    if output is not None:
        check_output("predict", output, new, TABLES)
    prepared = prepared._replace(decision=_asked(prepared.decision, abstain_cost, prior))
    if adapt_prior:
        scores = predictions.scores_in(prepared, new, device)
        prepared = prepared._replace(decision=_adapted(prepared.decision, scores))
    tally = predictions.Tally()
    found = predictions.predictions(prepared, new, tally, keep or [], device, extra, cost_column)
    of_run = Written(prepared.run.folder, prepared.decision, prepared.run)
    _write(of_run, new, found, tally, output, as_json, spreadsheet)


def _asked(decision: "Decision", abstain_cost: float | None, prior: str | None) -> "Decision":
    """Return a decision with what was typed of it."""
    found = decision if abstain_cost is None else decision.with_abstain_cost(abstain_cost)
    return found if prior is None else found.with_prior(prior_of(prior))


def _adapted(decision: "Decision", scores: "Tensor") -> "Decision":
    """Return a decision for the class frequencies that unlabelled samples show, and say which those are."""
    from labelspace.decisions.shifted import adapted

    try:
        found = adapted(scores, decision)
    except InputError as error:
        flag = "--adapt-prior" if error.argument in ("scores", "prior", "decision") else error.argument
        raise InputError("", flag, error.expected, error.got, error.parts) from error
    said = said_frequencies(found)
    errors.print(f"class frequencies of {len(scores):,} samples: {said}", style="yellow", soft_wrap=True)
    return found


class Written(NamedTuple):
    """Where what is written comes from: the folder, how it decides, and the run, if there is one."""

    folder: Path | None
    decision: "Decision"
    run: "Run | None"


def _refuse_for_scores(typed: dict[str, bool]) -> None:
    for name, given in typed.items():
        if given:
            raise InputError("", name, "given for a model", "it for a decision without one")


def _write(
    of: Written,
    new: str,
    found: Iterable["Columns"],
    tally: "Tally",
    output: Path | None,
    as_json: bool,
    spreadsheet: bool,
) -> None:
    """Write what was found, and say what was met."""
    rows: list[dict[str, object]] = []
    with stopped_cleanly(), _table(output, as_json, rows, spreadsheet) as write, _bar(of.run, new) as advance:
        for columns in found:
            write(columns)
            advance(tally.rows)
        if not tally.rows:
            raise InputError("", "NEW", "samples", f"none in {new}")
        if tally.rows == len(tally.unread):
            name, why = tally.unread[0]
            raise InputError("", "NEW", "samples that can be read", f"{tally.rows} that cannot, first {name} ({why})")
    with stopped_cleanly():
        _report(of, tally, output, rows if as_json else None)
    if tally.unread:
        count = f"{len(tally.unread):,} of {tally.rows:,} samples"
        errors.print(f"warning: {count} could not be read; their rows are empty but for `note`.", style="yellow")


@contextmanager
def _table(output: Path | None, as_json: bool, rows: list[dict[str, object]], spreadsheet: bool) -> Iterator[Write]:
    if output is not None or not as_json:
        with table_file(output, spreadsheet) as write:
            yield write
        return
    yield lambda columns: rows.extend(
        dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
    )


@contextmanager
def _bar(run: "Run | None", new: str) -> Iterator[Callable[[int], None]]:
    """Show how far it is."""
    from labelspace.training.inputs import Inputs

    with bars() as bar:
        total = None if run is None else Inputs(run.preprocessing, run.config.backbone).count(new)
        task = bar.add_task(f"predict {Path(new).name}", total=total)
        yield lambda done: bar.update(task, completed=done)


def _report(of: Written, tally: "Tally", output: Path | None, rows: list[dict[str, object]] | None) -> None:
    if rows is not None:
        facts = {
            "run": str(of.folder),
            "decision": {name: value for name, value in of.decision.plain().items() if name not in ("cost", "names")},
            "rows": tally.rows,
            "decisions": {name: tally.decisions[name] for name in of.decision.actions or of.decision.names},
            "abstained": tally.abstained,
            "unread": [{"name": name, "why": why} for name, why in tally.unread],
            "far": [{"name": name, "why": why} for name, why in tally.far],
            "notes": tally.notes,
            "output": None if output is None else str(output),
        }
        print_json(facts | ({"predictions": rows} if output is None else {}))
        return
    for name, why in tally.unread[:SHOWN]:
        errors.print(f"not read: {name} ({why})", style="yellow", soft_wrap=True)
    if len(tally.unread) > SHOWN:
        errors.print(f"not read: {len(tally.unread) - SHOWN} more", style="yellow")
    for note in tally.notes:
        errors.print(f"note: {note}", style="yellow", soft_wrap=True)
    if output is not None:
        said = f"{tally.rows:,} samples → {output}"
        said += f" · {tally.abstained:,} abstained" if of.decision.abstain_cost is not None else ""
        said += f" · {len(tally.unread):,} not read" if tally.unread else ""
        console.print(said, soft_wrap=True)
