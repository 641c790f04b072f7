"""`labelspace predict`: what a finished run says of new samples."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelspace._checks import InputError
from labelspace.cli.flags import speaks_of_flags
from labelspace.cli.options import AllowDamaged
from labelspace.cli.screen import bad_input_exits, bars, console, errors, print_json
from labelspace.cli.table_output import TABLES, Write, check_output, stopped_cleanly, table_file
from labelspace.cli.translations import translate

if TYPE_CHECKING:
    from labelspace.serving.predictions import Ready, Tally

# so many samples are named on the screen; the file and --json have them all
SHOWN = 20


@bad_input_exits
@speaks_of_flags()
def predict(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or `best` of a comparison.")],
    new: Annotated[
        str,
        typer.Argument(
            help="Folder of pictures, a picture, a CSV, Parquet or NPZ file; texts to translate, one a line."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv or .parquet file, .txt for translations; stdout if left out."),
    ] = None,
    abstain_cost: Annotated[
        float | None, typer.Option(help="Price of leaving a sample to somebody, in the unit of the prices.")
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

    `class` is the likeliest class and `probability` its own; `decision` is the cheapest class where the run knows
    prices. A sample that cannot be read spoils its own row alone: it is empty, `note` says why, and a warning counts
    such rows; if all are such, nothing is written. `note` also names a number far outside those of training. Names are
    written as they are, so that programs find them again: a spreadsheet takes one that begins with = + - or @ for a
    formula, which --spreadsheet prevents. A model of sequences writes a translation for each line.

    Example: labelspace predict runs/digits-1a2b3c4d/best scans/ -o predictions.csv --abstain-cost 0.5
    """
    from labelspace.serving import predictions

    if spreadsheet and ((as_json and output is None) or str(output).lower().endswith(".parquet")):
        raise InputError(
            "", "--spreadsheet", "given for CSV", "it for another format", "Neither JSON nor Parquet has formulas."
        )
    if output is not None:
        check_output("predict", output, new, (*TABLES, ".txt"))
    prepared = predictions.ready(run, allow_damaged=allow_damaged)
    if prepared.run.preprocessing["kind"] == "sequences":
        asked = {"--abstain-cost": abstain_cost, "--keep": keep, "--spreadsheet": spreadsheet or None}
        asked |= {"--per-class": per_class or None, "--expected-cost": expected_cost or None}
        translate(prepared.run, new, output, beam, device, as_json, [name for name, value in asked.items() if value])
        return
    if beam is not None:
        raise InputError("", "--beam", "given for a model of sequences", "it for another")
    if output is not None:
        check_output("predict", output, new, TABLES)
    if abstain_cost is not None:
        prepared = prepared._replace(decision=prepared.decision.with_abstain_cost(abstain_cost))
    tally = predictions.Tally()
    extra = predictions.Extra(expected_cost, per_class)
    rows: list[dict[str, object]] = []
    with stopped_cleanly(), _table(output, as_json, rows, spreadsheet) as write, _bar(prepared, new) as advance:
        for columns in predictions.predictions(prepared, new, tally, keep or [], device, extra):
            write(columns)
            advance(tally.rows)
        if not tally.rows:
            raise InputError("", "NEW", "samples", f"none in {new}")
        if tally.rows == len(tally.unread):
            name, why = tally.unread[0]
            raise InputError("", "NEW", "samples that can be read", f"{tally.rows} that cannot, first {name} ({why})")
    with stopped_cleanly():
        _report(prepared, tally, output, rows if as_json else None)
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
def _bar(prepared: "Ready", new: str) -> Iterator[Callable[[int], None]]:
    """Show how far it is."""
    from labelspace.training.inputs import Inputs

    with bars() as bar:
        total = Inputs(prepared.run.preprocessing, prepared.run.config.backbone).count(new)
        task = bar.add_task(f"predict {Path(new).name}", total=total)
        yield lambda done: bar.update(task, completed=done)


def _report(prepared: "Ready", tally: "Tally", output: Path | None, rows: list[dict[str, object]] | None) -> None:
    if rows is not None:
        facts = {
            "run": str(prepared.run.folder),
            "decision": {
                name: value for name, value in prepared.decision.plain().items() if name not in ("cost", "names")
            },
            "rows": tally.rows,
            "decisions": {name: tally.decisions[name] for name in prepared.decision.names},
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
        said += f" · {tally.abstained:,} abstained" if prepared.decision.abstain_cost is not None else ""
        said += f" · {len(tally.unread):,} not read" if tally.unread else ""
        console.print(said, soft_wrap=True)
