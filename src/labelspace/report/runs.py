"""The report of plain runs, which nothing has compared: their table, curves, label spaces and confusions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from labelspace import _checks, _files
from labelspace.report import columns, document
from labelspace.report.html import MARGIN, figures
from labelspace.report.reading import read_runs
from labelspace.report.room import LIMIT, Room

DRAWN = 40  # rows in figures


def write_runs_html(folders: Sequence[str | Path], path: str | Path, *, allow_damaged: bool = False) -> Path:
    """Write one page about finished runs and return its path.

    Runs that differ in their seed only are one row. There is no verdict: these runs were not tuned alike.

    Args:
        folders: those of runs, or folders that hold runs.
        path: the file to write.
        allow_damaged: read also what is not what was written, and warn.

    Example:
        >>> write_runs_html([], "report.html")
        Traceback (most recent call last):
        ...
        labelspace._checks.InputError: `runs` of report must be at least one folder. Got none.
    """
    if not folders:
        raise _checks.fail("report", "runs", "at least one folder", "none")
    material = read_runs([Path(folder) for folder in folders], allow_damaged)
    room = Room(LIMIT - document.fixed_size() - MARGIN)
    data = {"names": material.names, **figures(replace(material, rows=material.rows[:DRAWN]), room)}
    warnings = ["These runs were not tuned alike, so their numbers are no comparison: labelspace compare makes one."]
    if len(material.rows) > DRAWN:
        warnings.append(f"Figures show the first {DRAWN} of {len(material.rows)} rows.")
    number = sum(len(row.runs) for row in material.rows)
    title = f"{number} run{'s' if number > 1 else ''} · {len(material.names)} classes"
    content: dict[str, Any] = {
        "title": title,
        "heading": title,
        "verdict": None,
        "caveats": [],
        "warnings": warnings,
        "costliest": [],
        "best": "",
        "next": None,
        "priced": False,
        "reference": material.reference.label,
        "table": columns.runs_table(material),
        "pictures": [],
        "left_out": room.refused,
        "reproduce": {
            "command": None,
            "plan": None,
            "versions": {},
            "hashes": [],
            "runs": [(row.label, [run.folder.path.name for run in row.runs]) for row in material.rows],
        },
        "sections": {name for name, value in data.items() if value},
    }
    return _files.write_bytes(Path(path), document.render(content, data))
