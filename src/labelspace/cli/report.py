"""`labelspace report`: pages from what comparisons and runs left on disk; nothing is trained."""

from pathlib import Path
from typing import Annotated

import typer

from labelspace._checks import InputError
from labelspace.cli.options import AllowDamaged
from labelspace.cli.screen import bad_input_exits, console
from labelspace.report.words import size


@bad_input_exits
def report(
    folders: Annotated[list[Path], typer.Argument(help="The folder of a comparison, or folders of runs.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The HTML file; else report.html in the first folder."),
    ] = None,
    examples: Annotated[int, typer.Option(help="Put so many pictures of costly mistakes into the report.")] = 0,
    allow_damaged: AllowDamaged = False,
) -> None:
    """Write a report again, as one self-contained HTML file, from the records alone.

    Example: labelspace report runs/digits-1a2b3c4d

    Example: labelspace report runs/lls-* -o lls.html
    """
    from labelspace.report import write_html, write_runs_html

    comparison = len(folders) == 1 and (folders[0] / "comparison.json").is_file()
    if examples and not comparison:
        raise InputError("", "--examples", "left out for folders of runs", "it", "They have no prices.")
    if comparison and examples:
        from labelspace.comparison import Comparison

        found = Comparison.load(folders[0], allow_damaged=allow_damaged)
        page = found.save_html(output, examples=examples, allow_damaged=allow_damaged)
    elif comparison:
        page = write_html(folders[0], output, allow_damaged=allow_damaged)
    else:
        page = write_runs_html(folders, output or folders[0] / "report.html", allow_damaged=allow_damaged)
    console.print(f"{page} ({size(page.stat().st_size)})", soft_wrap=True)
