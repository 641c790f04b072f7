"""``labelspace data``: what datasets are known, and what is in one, before anyone trains."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from labelspace import data
from labelspace._checks import InputError
from labelspace.cli import options
from labelspace.cli.flags import Flags, speaks_of_flags
from labelspace.cli.screen import bad_input_exits, console, print_json
from labelspace.data import files
from labelspace.data.dataset import PARTS
from labelspace.data.known import KNOWN

app = typer.Typer(name="data", help="Find datasets and look at them before training.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
@bad_input_exits
def list_datasets(data_dir: options.DataDir = None, as_json: AsJson = False) -> None:
    """List the datasets known by name, and say which of them are on this machine.

    Example: labelspace data list --data-dir ~/datasets
    """
    root = files.data_folder(data_dir)
    rows = [{"name": name, "about": known.about, "found": _found(root, known.folders)} for name, known in KNOWN.items()]
    if as_json:
        print_json({"data_dir": str(root), "datasets": rows})
        return
    if not _on_terminal():
        lines = [f"{row['name']:<14} {row['found'] or 'not here':<22} {row['about']}" for row in rows]
        console.print("\n".join([f"data directory: {root}", *lines]), soft_wrap=True)
        return
    table = Table("name", "found", "what it is", title=f"data directory: {root}")
    for row in rows:
        table.add_row(row["name"], row["found"] or Text("not here", style="dim"), row["about"])
    console.print(table)


@app.command()
@bad_input_exits
@speaks_of_flags("seed")
def check(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A name, a file (CSV, Parquet, NPZ, tar) or a folder.")],
    label: options.Label = None,
    text: options.Text = None,
    group_by: options.GroupBy = None,
    cost_column: options.CostColumn = None,
    missing: options.Missing = None,
    ignore: options.Ignore = None,
    resize: options.Resize = None,
    delimiter: options.Delimiter = None,
    classes: options.Classes = None,
    validation: options.Validation = None,
    data_option: options.DataOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the splits.")] = 0,
    data_dir: options.DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print what is found in a dataset: counts per class, shapes, problems.

    The exit code is 0 if all is well, 1 if there are problems, 2 if the data cannot be read.

    Example: labelspace data check patients.csv --label diagnosis --group-by patient

    Example: labelspace data check cifar-10 --classes cat,dog,deer --validation "first 5000"
    """
    given = options.reader_options(
        label=label,
        text=text,
        group_by=group_by,
        cost_column=cost_column,
        missing=missing,
        ignore=ignore,
        resize=resize,
        delimiter=delimiter,
        classes=classes,
        validation=validation,
        data_option=data_option,
    )
    try:
        report = data.check(path, data_dir=data_dir, say=Flags(check, "seed").setting, **{"seed": seed, **given})
    except OSError as error:
        raise InputError("", "PATH", "data that can be read", f"{path} ({error})") from error
    _print(report, as_json)
    sys.exit(1 if report.problems else 0)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _found(root: Path, candidates: tuple[str, ...]) -> str | None:
    if not candidates:
        return "built in"
    return next((folder for folder in candidates if (root / folder).is_dir()), None)


def _print(report: data.DataReport, as_json: bool) -> None:
    if as_json:
        print_json(report.to_json())
        return
    if not _on_terminal():
        console.print(str(report), soft_wrap=True)
        return
    console.print(report.title, style="bold")
    table = Table(report.heading)
    for part in PARTS:
        table.add_column(part, justify="right")
    for row in report.rows():
        table.add_row(*row, end_section=row[0] == report.names[-1])
    console.print(table)
    for what, value in report.facts():
        console.print(f"{what}: {value}")
    for note in report.notes:
        console.print(f"note: {note}", style="yellow")
    for problem in report.problems:
        console.print(f"problem: {problem}", style="bold red")
    if not report.problems:
        console.print("no problems found", style="green")
    for line in report.option_lines():
        console.print(line, style="dim", soft_wrap=True)
