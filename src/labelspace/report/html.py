"""The report of a comparison, or of plain runs that nothing has compared: one HTML file that needs nothing else."""

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from labelspace import _checks, _files
from labelspace.report import cells, columns, confusions, document, intervals, measures, spaces, whatif, words  # noqa: F401 (they make figures)
from labelspace.report.document import LIMIT, Figure, Room
from labelspace.report.glossary import chosen_text, glossary
from labelspace.report.reading import Material, read_comparison, read_runs
from labelspace.results import Result, Row

# text around the matrices that is not known before they are packed: tables, curves, the plan
MARGIN = 150_000
LISTED = 30
DRAWN = 40  # rows of plain runs in figures
HASHED = ("plan.toml", "comparison.json", "space.safetensors", "cost.safetensors")


def write_html(
    folder: str | Path,
    path: str | Path | None = None,
    examples: Sequence[tuple[bytes, str]] = (),
    *,
    allow_damaged: bool = False,
) -> Path:
    """Write the report of a comparison and return its path.

    It is one file of at most 4 MB that needs no network. Everything is read from the folder; nothing is trained.

    Args:
        folder: that of a finished comparison.
        path: the file to write, ``report.html`` in the folder by default.
        examples: pictures as PNG or JPEG with a caption each. They may be private: without any the file holds none,
            and with some it says so. Those that do not fit are left out.
        allow_damaged: read also what is not what was written, and warn.

    Example:
        >>> write_html("nowhere")
        Traceback (most recent call last):
        ...
        labelspace._checks.InputError: `folder` of write_html must be the folder of a finished comparison. Got \
nowhere, which has no \
comparison.json. The same compare command finishes it.
    """
    result, material = read_comparison(Path(folder), allow_damaged)
    room = Room(LIMIT - document.fixed_size() - MARGIN)
    pictures = [picture for picture in map(_picture, examples) if room.keeps(picture)]
    # no figure of sequences names all of their tokens
    names = material.names if result.measure is None else ()
    first = {"names": names, "quality": intervals.qualities(result), "change": intervals.changes(result)}
    data = {**first, **document.figures(material, room)}
    shown = [column for column in columns.columns(result) if column.used]
    content = {
        **_first_screen(result),
        "glossary": glossary(result, [name for name, value in data.items() if value]),
        "whatif": _shown_samples(data.get("whatif")),
        "table": cells.page_table(shown, result.lines),
        "pictures": pictures,
        "left_out": room.refused,
        "reproduce": _reproduce(Path(folder), result, material),
        "sections": {name for name, value in data.items() if value},
    }
    target = Path(folder) / "report.html" if path is None else Path(path)
    return _files.write_bytes(target, document.render(content, data))


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
    data = {"names": material.names, **document.figures(replace(material, rows=material.rows[:DRAWN]), room)}
    warnings = ["These runs were not tuned alike, so their numbers are no comparison: labelspace compare makes one."]
    if len(material.rows) > DRAWN:
        warnings.append(f"Figures show the first {DRAWN} of {len(material.rows)} rows.")
    number = sum(len(row.runs) for row in material.rows)
    title = f"{number} run{'s' if number > 1 else ''} · {len(material.names)} classes"
    content: Figure = {
        "title": title,
        "heading": title,
        "verdict": None,
        "measure": None,
        "grouped": False,
        "labels": [],
        "translations": [],
        "neighbours": None,
        "decided": [],
        "rehearsal": (),
        "paid": False,
        "chosen": "",
        "elsewhere": None,
        "glossary": {},
        "whatif": _shown_samples(data.get("whatif")),
        "caveats": [],
        "warnings": warnings,
        "costliest": [],
        "best": "",
        "next": None,
        "priced": False,
        "reference": material.reference.label,
        "table": cells.page_table(columns.runs_columns(material), material.rows),
        "pictures": [],
        "left_out": room.refused,
        "reproduce": {
            "command": None,
            "plan": None,
            "versions": {},
            "hashes": [],
            "runs": _run_names(material),
        },
        "sections": {name for name, value in data.items() if value},
    }
    return _files.write_bytes(Path(path), document.render(content, data))


def _first_screen(result: Result) -> Figure:
    return {
        "title": result.title,
        "heading": f"{result.data.name} · label comparison",
        "verdict": result.verdict,
        "measure": result.measure,
        "grouped": bool(result.data.test_groups),
        "labels": [row.label for row in result.rows],
        "translations": result.translations,
        "neighbours": result.neighbours,
        "decided": result.decided,
        "rehearsal": result.rehearsal,
        "rehearsed_best": min(result.rehearsal, key=lambda each: each.nll, default=None),
        "paid": any(each.realised_cost is not None for each in result.decided),
        "chosen": chosen_text(result),
        "elsewhere": result.elsewhere,
        "unmarked": result.verdict.kind in ("cheaper", "dearer", "better", "worse")
        and any(row.winner and not row.marked for row in result.rows),
        "caveats": _caveats(result),
        "warnings": result.warnings,
        "costliest": result.costliest[:LISTED],
        "best": "" if result.best is None else result.best.label,
        "next": result.next,
        "priced": result.decision == "min_cost",
        "level": result.verdict.level,
        "reference": result.reference.label,
    }


def _caveats(result: Result) -> list[tuple[str, str]]:
    data = result.data
    counts = {part: data.counts[part] for part in ("train", "validation", "test") if data.counts.get(part)}
    seeds = len(result.seeds)
    which = "" if result.seeds == tuple(range(seeds)) else f" ({', '.join(map(str, result.seeds))})"
    frozen = f" on frozen features of {result.backbone}" if result.backbone else ""
    epochs = f", {result.epochs} epochs" if result.epochs else ""
    # scores that came from elsewhere have no model, and may be of a single one
    model = f"{result.model}{frozen}{epochs}" if result.model else ""
    few = ", so the result is indicative only" if result.verdict.indicative else ""
    samples = " / ".join(f"{words.count(number)} {part}" for part, number in counts.items())
    example, noise, measure = result.cost.example, result.label_noise, result.measure
    listed = [
        ("Model", model),
        ("Samples", samples),
        ("Label noise", f"{noise}, in training labels only" if noise else ""),
        ("Training", ": ".join(filter(None, [result.training, words.rehearsed_text(result.rehearsal)]))),
        ("Seeds", f"{seeds}{which}{few}" if seeds else ""),
        ("Cost", result.cost.words + (f": {example}" if example else "") if measure is None else ""),
        ("Judged by", "" if measure is None else f"{measure.title} on the test part, mean over seeds"),
        ("Label space", "" if result.space is None else result.space.words),
        *((_option_title(row), options) for row in result.lines if (options := _options(row))),
        ("Groups", f"{data.test_groups} in the test part, drawn whole" if data.test_groups else ""),
    ]
    return [(name, text) for name, text in listed if text]


def _option_title(row: Row) -> str:
    return "Constant" if row.role == "constant" else f"Options of {row.label}"


def _options(row: Row) -> str:
    if row.role == "constant":
        return words.calls_text(row.options)
    return words.options_text(row.options) if row.options and row.role != "control" else ""


def _shown_samples(part: object) -> str:
    """Return of how many test samples other prices are tried on."""
    if not isinstance(part, dict):
        return ""
    shown, every = len(part["y"]), part["samples"]
    return f"{words.count(shown)} test samples" if shown == every else f"{shown} of {words.count(every)} test samples"


def _reproduce(folder: Path, result: Result, material: Material) -> Figure:
    plan = folder / "plan.toml"
    hashes = [(name, _files.digest((folder / name).read_bytes())) for name in HASHED if (folder / name).is_file()]
    return {
        "command": result.command,
        "plan": plan.read_text(encoding="utf-8", errors="replace") if plan.is_file() else None,
        "versions": result.versions,
        "hashes": [("data", result.data.key or ""), *hashes],
        "runs": _run_names(material),
    }


def _run_names(material: Material) -> list[tuple[str, list[str]]]:
    return [(row.label, [run.folder.path.name for run in row.runs]) for row in material.rows if row.runs]


def _picture(example: tuple[bytes, str]) -> dict[str, str]:
    content, caption = example
    kinds = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
    kind = next((name for start, name in kinds.items() if content.startswith(start)), None)
    if kind is None:
        raise _checks.fail("write_html", "examples", "PNG or JPEG pictures", f"{content[:8]!r} for {caption!r}")
    return {"source": f"data:{kind};base64,{base64.b64encode(content).decode()}", "caption": caption}
