"""The report of a comparison: one HTML file that needs nothing else."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelspace import _checks, _files
from labelspace.compressed import fits
from labelspace.report import columns, document, words
from labelspace.report.confusions import confusions, strengths
from labelspace.report.curves import learning_curves
from labelspace.report.geometry import distances, projections
from labelspace.report.measures import measured
from labelspace.report.packing import rounded
from labelspace.report.reading import Material, Row, read_comparison
from labelspace.report.room import LIMIT, Room
from labelspace.report.spaces import distinct_spaces, space_pictures, targets

# text around the matrices that is not known before they are packed: tables, curves, the plan
MARGIN = 150_000
LISTED = 30
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
    material = read_comparison(Path(folder), allow_damaged)
    room = Room(LIMIT - document.fixed_size() - MARGIN)
    pictures = [picture for picture in map(_picture, examples) if room.keeps(picture)]
    data = {"names": material.names, "change": _changes(material), **figures(material, room)}
    content = {
        **_first_screen(material),
        "table": columns.table(material),
        "pictures": pictures,
        "left_out": room.refused,
        "reproduce": _reproduce(Path(folder), material),
        "sections": {name for name, value in data.items() if value},
    }
    target = Path(folder) / "report.html" if path is None else Path(path)
    return _files.write_bytes(target, document.render(content, data))


def figures(material: Material, room: Room) -> dict[str, Any]:
    """Return what the folded figures are drawn from, the most telling first: the last may not fit."""
    found = {row.label: part for row in material.rows if (part := measured(material, row)) is not None}
    drawn = fits(len(material.names))  # else no figure of classes by classes
    room.refused += 0 if drawn else 2
    spaces = distinct_spaces(material) if drawn else []
    return {
        "curves": learning_curves(material),
        "spaces": space_pictures(spaces, room),
        "targets": {"rows": rows, "start": _start(material)} if (rows := targets(spaces, room)) else None,
        "projections": projections(material, room),
        "strengths": strengths(material),
        "honesty": {
            "reference": material.reference.label,
            "priced": material.cost is not None,
            "rows": [
                {**_row_facts(row), "reliability": found[row.label].reliability, "risk": found[row.label].risk}
                for row in material.rows
                if row.label in found
            ],
        }
        if found
        else None,
        "confusions": confusions(material, found, room) if drawn else None,
        "distances": distances(material, room) if drawn else [],
    }


def _row_facts(row: Any) -> dict[str, Any]:
    return {"label": row.label, "role": row.role, "winner": row.winner}


def _start(material: Material) -> float:
    """Return where the slider starts: the winner's strength if it is a smoothing."""
    for row in material.rows:
        if row.winner and row.strength and row.strength.get("symbol") == "σ":
            return min(max(float(row.strength["value"]), 0.0), 1.0)
    return 0.3


def _changes(material: Material) -> dict[str, Any] | None:
    rows = []
    for row in material.rows:
        change = row.facts.get("change")
        if change is None:
            continue
        ends = {name: rounded(change.get(name)) for name in ("estimate", "low", "high")}
        texts = {
            "text": words.percent(change.get("estimate")),
            "interval": words.interval(change.get("low"), change.get("high")),
        }
        facts = {"of": row.of, "marked": bool(row.facts.get("marked")), "strength": columns.strength_text(row)}
        rows.append({**_row_facts(row), **facts, **ends, **texts})
    rule = "with minimum-cost decisions" if material.rule == "min_cost" else ""
    margin = material.facts["verdict"].get("margin")
    return {"rows": rows, "reference": material.reference.label, "rule": rule, "margin": margin} if rows else None


def _first_screen(material: Material) -> dict[str, Any]:
    facts = material.facts
    return {
        "title": facts["title"],
        "heading": f"{facts['data']['name']} · label comparison",
        "verdict": facts["verdict"],
        "caveats": _caveats(material),
        "warnings": facts.get("warnings", []),
        "costliest": facts["costliest"][:LISTED],
        "best": (facts.get("best") or {}).get("label", ""),
        "next": facts.get("next"),
        "priced": material.rule == "min_cost",
        "level": facts["verdict"].get("level", 0.95),
        "reference": material.reference.label,
    }


def _caveats(material: Material) -> list[tuple[str, str]]:
    facts, data = material.facts, material.facts["data"]
    counts = {
        part: data["counts"][part] for part in ("train", "validation", "test") if data.get("counts", {}).get(part)
    }
    seeds = len(facts["seeds"])
    which = "" if facts["seeds"] == list(range(seeds)) else f" ({', '.join(map(str, facts['seeds']))})"
    frozen = f" on frozen features of {facts['backbone']}" if facts.get("backbone") else ""
    epochs = f", {facts['epochs']} epochs" if facts.get("epochs") else ""
    # scores that came from elsewhere have no model, and may be of a single one
    model = f"{facts['model']}{frozen}{epochs}" if facts["model"] else ""
    few = ", so the result is indicative only" if facts["verdict"]["indicative"] else ""
    samples = " / ".join(f"{words.count(number)} {part}" for part, number in counts.items())
    example, noise = facts["cost"].get("example"), facts.get("label_noise")
    listed = [
        ("Model", model),
        ("Samples", samples),
        ("Label noise", f"{noise}, in training labels only" if noise else ""),
        ("Training", facts.get("training") or ""),
        ("Seeds", f"{seeds}{which}{few}" if seeds else ""),
        ("Cost", facts["cost"]["words"] + (f": {example}" if example else "")),
        ("Label space", (facts.get("space") or {}).get("words", "")),
        *((f"Options of {row.label}", options) for row in material.rows if (options := _options(row))),
        ("Groups", f"{data['test_groups']} in the test part, drawn whole" if data.get("test_groups") else ""),
    ]
    return [(name, text) for name, text in listed if text]


def _options(row: Row) -> str:
    options = row.facts.get("options")
    return words.options_text(options) if options and row.role != "control" else ""


def _reproduce(folder: Path, material: Material) -> dict[str, Any]:
    plan = folder / "plan.toml"
    hashes = [(name, _digest(folder / name)) for name in HASHED if (folder / name).is_file()]
    return {
        "command": material.facts["command"],
        "plan": plan.read_text(encoding="utf-8", errors="replace") if plan.is_file() else None,
        "versions": material.facts.get("versions", {}),
        "hashes": [("data", str(material.facts["data"].get("key", ""))), *hashes],
        "runs": [(row.label, [run.folder.path.name for run in row.runs]) for row in material.rows if row.runs],
    }


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _picture(example: tuple[bytes, str]) -> dict[str, str]:
    content, caption = example
    kinds = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
    kind = next((name for start, name in kinds.items() if content.startswith(start)), None)
    if kind is None:
        raise _checks.fail("write_html", "examples", "PNG or JPEG pictures", f"{content[:8]!r} for {caption!r}")
    return {"source": f"data:{kind};base64,{base64.b64encode(content).decode()}", "caption": caption}
