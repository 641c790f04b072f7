"""`labelspace doctor`: what works on this machine, what does not, and what to do about it."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from labelspace._checks import WorkError
from labelspace.cli.screen import bad_input_exits, console, errors, print_json

MARKS = {"ok": ("✓", "green"), "absent": ("–", "dim"), "warning": ("!", "yellow"), "broken": ("✗", "bold red")}


@bad_input_exits
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Look at packages, machine and folders, and say what is broken and how to repair it.

    The exit code is 1 if something is broken; what is merely not installed is not.

    Example: labelspace doctor --json
    """
    from labelspace.cli import health

    with errors.status("looking around …"):
        found = health.findings()
    broken = [one.what for one in found if one.state == "broken"]
    if as_json:
        print_json({"broken": broken, "findings": [one._asdict() for one in found]})
    else:
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column()
        table.add_column()
        table.add_column(overflow="fold")
        for one in found:
            mark, style = MARKS[one.state]
            remedy = f"\n→ {one.remedy}" if one.remedy else ""
            table.add_row(Text(mark, style=style), one.what, f"{one.value}{remedy}")
        console.print(table)
    if broken:
        raise WorkError(f"{len(broken)} broken: {', '.join(broken)}.")
    if not as_json:
        console.print("nothing is broken", style="green")
