"""``labelspace data``: what datasets are known, and what is in one, before anyone trains."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labelspace import data
from labelspace.data import folders
from labelspace.data.dataset import PARTS
from labelspace.data.loading import KNOWN

app = typer.Typer(name="data", help="Find datasets and look at them before training.", no_args_is_help=True)

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Where datasets lie; else $LABELSPACE_DATA, else the cache folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_datasets(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the datasets known by name, and say which of them are on this machine.

    Example: labelspace data list --data-dir ~/datasets
    """
    root = folders.data_folder(data_dir)
    rows = [{"name": name, "about": known.about, "found": _found(root, known.folders)} for name, known in KNOWN.items()]
    if as_json:
        typer.echo(json.dumps({"data_dir": str(root), "datasets": rows}, indent=2))
        return
    if not _on_terminal():
        lines = [f"{row['name']:<14} {row['found'] or 'not here':<22} {row['about']}" for row in rows]
        typer.echo("\n".join([f"data directory: {root}", *lines]))
        return
    table = Table("name", "found", "what it is", title=Text(f"data directory: {root}"))
    for row in rows:
        table.add_row(row["name"], row["found"] or "[dim]not here[/dim]", row["about"])
    Console().print(table)


@app.command()
def check(
    path: Annotated[str, typer.Argument(help="A name, a file (CSV, Parquet, NPZ, tar) or a folder.")],
    label: Annotated[str | None, typer.Option(help="Column of labels, for tables.")] = None,
    text: Annotated[str | None, typer.Option(help="Column of texts, for tables.")] = None,
    group_by: Annotated[
        str | None, typer.Option(help="Column of groups (for folders of pictures a pattern) kept on one side.")
    ] = None,
    missing: Annotated[str | None, typer.Option(help="Rule for missing values: error, median or drop.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    resize: Annotated[str | None, typer.Option(help="Size of pictures: 64, or 48x64 for height x width.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the splits.")] = 0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print what is found in a dataset: counts per class, shapes, problems.

    The exit code is 0 if all is well, 1 if there are problems, 2 if the data cannot be read.

    Example: labelspace data check patients.csv --label diagnosis --group-by patient
    """
    given = {"label": label, "text": text, "group_by": group_by, "missing": missing, "ignore": ignore or None}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        if resize is not None:
            options["resize"] = _size(resize)
        report = data.check(path, seed=seed, data_dir=data_dir, **options)
    except (ValueError, TypeError, OSError) as error:
        # one line, whatever the message holds: scripts read it
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(2) from error
    _print(report, as_json)
    raise typer.Exit(1 if report.problems else 0)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _found(root: Path, candidates: tuple[str, ...]) -> str | None:
    if not candidates:
        return "built in"
    return next((folder for folder in candidates if (root / folder).is_dir()), None)


def _size(text: str) -> int | tuple[int, int]:
    parts = text.lower().replace("×", "x").split("x")
    if not all(part.strip().isdecimal() for part in parts) or len(parts) > 2:
        raise ValueError(f"--resize must be a size such as 64 or 48x64. Got {text!r}.")
    return int(parts[0]) if len(parts) == 1 else (int(parts[0]), int(parts[1]))


def _print(report: data.DataReport, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
        return
    if not _on_terminal():
        typer.echo(str(report))
        return
    console = Console()
    # texts, because a class may be called something like [b] that would be read as markup
    console.print(Text(report.title, style="bold"))
    table = Table("class")
    for part in PARTS:
        table.add_column(part, justify="right")
    for row in report.rows():
        table.add_row(*(Text(cell) for cell in row), end_section=row[0] == report.names[-1])
    console.print(table)
    for what, value in report.facts():
        console.print(f"{what}: {value}", markup=False, highlight=False)
    for note in report.notes:
        console.print(f"note: {note}", style="yellow", markup=False, highlight=False)
    for problem in report.problems:
        console.print(f"problem: {problem}", style="bold red", markup=False, highlight=False)
    if not report.problems:
        console.print("no problems found", style="green")
