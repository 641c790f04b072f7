"""The table of the page: heads in groups, and rows of cells that show a text and are sorted by a number."""

from collections.abc import Callable, Sequence
from typing import Any

from labelspace.report import words
from labelspace.report.reading import Material, Row

Value = Callable[[Row], float | None]


def table(material: Material) -> dict[str, Any]:
    """Return groups of heads, heads and rows for a comparison."""
    priced = material.rule == "min_cost"
    rules = [("argmax", "argmax"), ("min_cost", "min-cost")] if priced else [("argmax", "argmax")]
    rival = material.reference.label
    columns: list[tuple[str, list[dict[str, Any]]]] = [
        ("", [_strength(material), _trials(material)]),
        ("cost per sample ↓", [_numbers(material, title, _of(rule, "cost")) for rule, title in rules]),
        (f"{'min-cost ' if priced else ''}vs {rival}", [_change(material), _interval(material), _holm(material)]),
        ("accuracy ↑", [_numbers(material, title, _of(rule, "accuracy"), 3) for rule, title in rules]),
        (
            "ECE ↓",
            [_numbers(material, title, _own(key), 3) for key, title in [("ece", "raw"), ("ece_after", "after T")]],
        ),
        ("NLL ↓", [_numbers(material, "after T", _own("nll_after"), 3)]),
        ("risk–coverage ↓", [_numbers(material, "area", _own("risk_coverage"))]),
    ]
    for extra in material.facts.get("extra", []):
        columns.append(
            (extra["title"], [_numbers(material, material.rule.replace("_", "-"), _of(material.rule, extra["key"]), 3)])
        )
    return _assembled([(group, [column for column in parts if _used(column)]) for group, parts in columns], material)


def _used(column: dict[str, Any]) -> bool:
    return any(cell["sort"] is not None for cell in column["cells"])


def _assembled(columns: Sequence[tuple[str, list[dict[str, Any]]]], material: Material) -> dict[str, Any]:
    filled = [(group, parts) for group, parts in columns if parts]
    flat = [column for _, parts in filled for column in parts]
    return {
        "groups": [{"title": group, "span": len(parts)} for group, parts in filled],
        "heads": [column["title"] for column in flat],
        "rows": [
            {
                "label": row.label,
                "role": row.role,
                "of": row.of,
                "winner": row.winner,
                "marked": bool(row.facts.get("marked")),
                "cells": [column["cells"][place] for column in flat],
            }
            for place, row in enumerate(material.rows)
        ],
    }


def _numbers(material: Material, title: str, value: Value, decimals: int | None = None) -> dict[str, Any]:
    values = [value(row) for row in material.rows]
    shown = words.decimals_for(values) if decimals is None else decimals
    return {"title": title, "cells": [{"text": words.fixed(number, shown), "sort": number} for number in values]}


def _of(rule: str, key: str) -> Value:
    return lambda row: (row.facts.get(rule) or {}).get(key)


def _own(key: str) -> Value:
    return lambda row: row.facts.get(key)


def _strength(material: Material) -> dict[str, Any]:
    cells = []
    for row in material.rows:
        strength = row.strength or {}
        text = strength_text(row)
        cells.append({"text": f"▸ {text}" if row.winner and row.strength else text, "sort": strength.get("value")})
    return {"title": "strength", "cells": cells}


def _trials(material: Material) -> dict[str, Any]:
    # what has no strength is trained as it is, once
    counts = [max(len(row.trials), 1) for row in material.rows]
    return {"title": "trials", "cells": [{"text": str(count), "sort": count} for count in counts]}


def strength_text(row: Row) -> str:
    """Return the chosen strength as it is shown, such as ``σ 0.50``."""
    if not row.strength or row.strength.get("value") is None:
        return words.MISSING
    value = row.strength["value"]
    text = f"{value:.2f}" if 0.01 <= abs(value) < 10 else f"{value:g}"
    return f"{row.strength.get('symbol') or row.strength.get('name', '')} {text}".replace("-", "−").strip()


def _change(material: Material) -> dict[str, Any]:
    cells = []
    for row in material.rows:
        estimate = (row.facts.get("change") or {}).get("estimate")
        mark = " ●" if row.facts.get("marked") else ""
        cells.append({"text": words.percent(estimate) + mark, "sort": estimate})
    return {"title": "change", "cells": cells}


def _interval(material: Material) -> dict[str, Any]:
    cells = []
    for row in material.rows:
        change = row.facts.get("change") or {}
        low, high = change.get("low"), change.get("high")
        width = None if low is None or high is None else high - low
        cells.append({"text": words.interval(low, high), "sort": width, "note": change.get("note") or None})
    level = next((row.facts["change"].get("level", 0.95) for row in material.rows if row.facts.get("change")), 0.95)
    return {"title": f"{words.percent(level, sign=False)} interval", "cells": cells}


def _holm(material: Material) -> dict[str, Any]:
    values = [row.facts.get("p_holm") for row in material.rows]
    texts = ["< 0.001" if value is not None and value < 0.001 else words.fixed(value, 3) for value in values]
    return {
        "title": "p (Holm)",
        "cells": [{"text": text, "sort": value} for text, value in zip(texts, values, strict=True)],
    }


def runs_table(material: Material) -> dict[str, Any]:
    """Return groups of heads, heads and rows for plain runs: means over the seeds of each configuration."""

    def of(part: str, key: str) -> Value:
        return lambda row: _mean([result.get(part, {}).get(key) for result in row.facts["results"]])

    seeds = [
        {"text": ", ".join(map(str, row.facts["seeds"])), "sort": len(row.facts["seeds"])} for row in material.rows
    ]
    facts = [{"title": "seeds", "cells": seeds}]
    for key in ("model", "epochs"):
        values = [row.facts["config"].get(key) for row in material.rows]
        facts.append({"title": key, "cells": [{"text": str(value), "sort": value} for value in values]})
    columns = [("", facts)]
    for group, key in [("accuracy ↑", "accuracy"), ("NLL ↓", "nll")]:
        columns.append((group, [_numbers(material, part, of(part, key), 3) for part in ("validation", "test")]))
    return _assembled(columns, material)


def _mean(values: list[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None
