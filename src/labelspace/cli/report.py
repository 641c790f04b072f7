"""`labelspace report`: pages from what comparisons and runs left on disk; nothing is trained."""

from pathlib import Path
from typing import Annotated

import typer

from labelspace import results
from labelspace._checks import InputError
from labelspace.cli.found import print_methods, print_summary
from labelspace.cli.options import AllowDamaged
from labelspace.cli.screen import bad_input_exits, console
from labelspace.report.words import size


@bad_input_exits
def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="The folder of a comparison; those of several, or the one that holds them, for what they say together;"
            " or folders of runs."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The HTML file; else report.html in the first folder."),
    ] = None,
    examples: Annotated[int, typer.Option(help="Put so many pictures of costly mistakes into the report.")] = 0,
    methods_text: Annotated[
        bool, typer.Option("--methods-text", help="Print how a comparison was made, for a paper: a paragraph, a table.")
    ] = False,
    allow_damaged: AllowDamaged = False,
) -> None:
    """Write a report again, as one self-contained HTML file, from the records alone.

    Example: labelspace report runs/digits-1a2b3c4d

    Example: labelspace report runs/digits-1a2b3c4d --methods-text

    Example: labelspace report runs/digits-1a2b3c4d runs/stones-5e6f7a8b

    Example: labelspace report runs/lls-* -o lls.html
    """
    from labelspace.report import write_html, write_runs_html

    compared = _comparisons(folders)
    if methods_text:
        if not compared or output is not None or examples:
            expected = "given with folders of comparisons, and without -o and --examples"
            raise InputError("", "--methods-text", expected, "it otherwise", "It is printed, and nothing is written.")
        print_methods([results.read("report", folder, allow_damaged)[0] for folder in compared])
        return
    comparison = compared == folders and len(folders) == 1
    if examples and compared and not comparison:
        raise InputError("", "--examples", "left out for several comparisons", "it", "Each has a page of its own.")
    if compared and not comparison:
        print_summary(compared, output, allow_damaged=allow_damaged)
        return
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


def _comparisons(folders: list[Path]) -> list[Path]:
    """Return the folders where one of them is a comparison, or the comparisons that an only one holds; else none."""
    if any((folder / results.NAME).is_file() for folder in folders):
        return folders
    return sorted(path.parent for path in folders[0].glob(f"*/{results.NAME}")) if len(folders) == 1 else []
