"""The intervals of the first screen: the change of every row, and of sequences the measure itself."""

from labelspace.report import columns, words
from labelspace.report.document import Figure, rounded
from labelspace.report.reading import row_facts
from labelspace.results import Change, Measure, Result, Row, Unit


def changes(result: Result) -> Figure | None:
    """Return the change of every row against the reference, with its interval."""
    rows, measure = [], result.measure
    moved = words.moved([row.change for row in result.rows], result.unit)
    for row, (text, interval) in zip(result.rows, moved, strict=True):
        if row.change is not None:
            texts = {"text": text, "interval": interval}
            rows.append({**_placed(row, row.change), **texts, "marked": row.marked})
    rule = "with minimum-cost decisions" if result.decision == "min_cost" else ""
    margin, reference = result.verdict.within, result.reference.label
    facts = {"reference": reference, "rule": rule, "margin": margin, **_unit(measure, result.unit)}
    return {"rows": rows, **facts} if rows else None


def _unit(measure: Measure | None, unit: Unit = "points") -> Figure:
    """Return how a change is drawn: by what it is multiplied, what stands behind its numbers, and which way is good."""
    if measure is None and unit == "per sample":
        return {
            "factor": 1,
            "suffix": "",
            "title": "change in cost per sample, left gains more",
            "good": "← gains more",
        }
    if measure is None:
        return {
            "factor": 100,
            "suffix": f"{words.THIN}%",
            "title": "change in cost, left is cheaper",
            "good": "← cheaper",
        }
    title = f"change in {measure.title}, right is better"
    return {"factor": 1, "suffix": "", "title": title, "good": "better →"}


def qualities(result: Result) -> Figure | None:
    """Return the measure of every row with its interval."""
    measure, found = result.measure, [row for row in result.rows if row.quality is not None]
    if measure is None or not found:
        return None
    rows = []
    for row in found:
        value, low, high = (getattr(row.quality, name) for name in ("value", "low", "high"))
        interval = "" if low is None or high is None else f"[{low:.1f}, {high:.1f}]"
        ends = {"estimate": rounded(value), "low": rounded(low), "high": rounded(high)}
        rows.append({**_placed(row, None), **ends, "text": words.fixed(value, 1), "interval": interval, "marked": True})
    title = f"{measure.title} on test data, right is better"
    return {"rows": rows, "reference": "", "margin": None, **_unit(measure), "title": title}


def _placed(row: Row, change: Change | None) -> Figure:
    """Return what a figure of intervals says of a row."""
    facts = {**row_facts(row), "of": row.of, "strength": columns.strength_text(row)}
    return facts | {name: rounded(getattr(change, name, None)) for name in ("estimate", "low", "high")}
