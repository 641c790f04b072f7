"""What several splits of the same data found together, as text for a terminal, as Markdown, and as one page."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from labelspace.report import words
from labelspace.report.grids import NARROWEST, Grid, aligned, in_markdown, said
from labelspace.report.many import place_cells, write_page
from labelspace.results.splits import Line, Splits
from labelspace.spec.naming import plain


def splits_text(splits: Splits, width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return the rows, the splits and what came out; names that are too long for a line are shortened.

    Args:
        splits: what was found.
        width: characters in a line.
        places: further lines below, by the word they begin with.
    """
    verdict = splits.verdict
    column = max(NARROWEST, len(verdict.kind) + 2)
    blocks = [
        [title(splits)],
        aligned(rows_grid(splits), width),
        aligned(splits_grid(splits), width),
        textwrap.wrap("   ".join(_signs(splits)), width, break_on_hyphens=False, break_long_words=False),
        [
            *said(verdict.kind.upper(), " ".join(verdict.sentences), width, column),
            *(line for text in splits.warnings for line in said("Mind", text, width, column)),
        ],
    ]
    further = [f"{word:<{column}}{text}" for word, text in (places or {}).items()]
    return "\n".join([*"\n\n".join("\n".join(block) for block in blocks).splitlines(), *further])


def splits_markdown(splits: Splits) -> str:
    """Return the tables and what came out as Markdown."""
    verdict = splits.verdict
    parts = [f"**{plain(title(splits))}**", *map(in_markdown, (rows_grid(splits), splits_grid(splits)))]
    parts.append(f"**{verdict.kind.upper()}** {plain(' '.join(verdict.sentences))}")
    return "\n\n".join([*parts, *(f"> {plain(text)}" for text in splits.warnings)])


def write_splits_html(splits: Splits, path: str | Path) -> Path:
    """Write one page about several splits and return its path; it needs no script and no network.

    Args:
        splits: what was found.
        path: the file to write.
    """
    return write_page(
        path,
        title=title(splits),
        summary=splits,
        word=splits.verdict.kind,
        sentences=splits.verdict.sentences,
        grids=[("Rows", rows_grid(splits)), ("Splits", splits_grid(splits))],
        diagram=None,
        legend=_signs(splits),
    )


def title(splits: Splits) -> str:
    """Return one line: how many splits, of what, and what mistakes cost.

    Args:
        splits: what was found.
    """
    return (
        f"{splits.data} · {len(splits.places)} splits · {len(splits.rows)} rows in all of them · cost: {splits.prices}"
    )


def rows_grid(splits: Splits) -> Grid:
    """Return the rows: mean costs, changes with corrected intervals, and how often each was recommended.

    What each split chooses by itself has a line of its own where that is not the same row everywhere.

    Args:
        splits: what was found.
    """
    level = f"{100 * splits.level:g}{words.THIN}% interval"
    heads = ("labels", "mean cost", f"vs {splits.reference}", level, "least", "most", "recommended in")
    drawn = [each for each in (splits.winner, splits.recommendation) if each is not None and each.role is None]
    lines = [_line(each, str(each.recommended)) for each in splits.rows]
    return Grid(heads, (*lines, *(_line(each, words.MISSING) for each in drawn)))


def _line(each: Line, recommended: str) -> tuple[str, ...]:
    numbers = each.cost, min(each.costs), max(each.costs)
    cost, least, most = (words.fixed(value, words.decimals_for([each.cost])) for value in numbers)
    moved = (words.MISSING,) * 2
    if each.change is not None:
        moved = words.percent(each.change.estimate), words.interval(each.change.low, each.change.high)
    return each.label, cost, *moved, least, most, recommended


def splits_grid(splits: Splits) -> Grid:
    """Return the splits: the verdict, what was recommended, and what was cheapest.

    Args:
        splits: what was found.
    """
    heads = ("split", "verdict", "recommended", "cost", "cheapest on test", "cost", "regret")
    return Grid(heads, tuple(place_cells(each) for each in splits.places))


def _signs(splits: Splits) -> list[str]:
    """Return what the heads mean."""
    return [
        f"vs {splits.reference}: of the mean cost; interval corrected for the training samples that splits share"
        " (Nadeau–Bengio), an approximation",
        "least, most: over splits",
        "recommended in: so many splits; a split alone: --data-option seed=N",
        "winner: the best method on validation data",
        "regret: above the cheapest row of each split, on test data",
    ]
