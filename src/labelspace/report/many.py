"""What many comparisons found together, as text for a terminal, as Markdown, and as one page."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from labelspace import _files
from labelspace.report import words
from labelspace.report.document import environment
from labelspace.report.rank_diagram import diagram, rank_lines
from labelspace.results.many import Mean, Place, Standing, Summary
from labelspace.spec.naming import plain

# nothing is run on this page, and nobody is asked for anything
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
GAP = "  "
TEXTS = (
    "labels",
    "group",
    "data",
    "verdict",
    "recommended",
    "cheapest on test",
)  # heads of columns that are no numbers
NARROWEST = 10  # the words before sentences stand in a column of at least this width


class Grid(NamedTuple):
    """A small table: heads, and the cells of every line; the first column says what a line is of."""

    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def summary_text(summary: Summary, width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return the rows, their ranks, the datasets and what came out; names that are too long for a line are shortened.

    Args:
        summary: what many comparisons found.
        width: characters in a line.
        places: further lines below, by the word they begin with.
    """
    blocks = [
        [title(summary)],
        _aligned(standings_grid(summary), width),
        rank_lines(summary, width),
        _aligned(places_grid(summary), width),
        _legend(summary, width),
        [*_said("TOGETHER", " ".join(summary.sentences), width), *_minded(summary, width)],
    ]
    further = [f"{word:<{NARROWEST}}{text}" for word, text in (places or {}).items()]
    return "\n".join([*"\n\n".join("\n".join(block) for block in blocks if block).splitlines(), *further])


def summary_markdown(summary: Summary) -> str:
    """Return the tables and what came out as Markdown."""
    parts = [f"**{plain(title(summary))}**"]
    for grid in (standings_grid(summary), places_grid(summary)):
        rule = "|".join(" --- " if head in TEXTS else " ---: " for head in grid.heads)
        parts.append("\n".join([_line(grid.heads), f"|{rule}|", *map(_line, grid.lines)]))
    parts.append(plain(" ".join(summary.sentences)))
    return "\n\n".join([*parts, *(f"> {plain(text)}" for text in summary.warnings)])


def write_summary_html(summary: Summary, path: str | Path) -> Path:
    """Write one page about many comparisons and return its path; it needs no script and no network.

    Args:
        summary: what many comparisons found.
        path: the file to write.
    """
    page = (
        environment()
        .get_template("many.html.j2")
        .render(
            title=title(summary),
            summary=summary,
            grids=[("Rows", standings_grid(summary)), ("Datasets", places_grid(summary))],
            diagram=diagram(summary),
            legend=_signs(summary),
            policy=POLICY,
        )
    )
    return _files.write_bytes(Path(path), page.encode("utf-8", "replace"))


def title(summary: Summary) -> str:
    """Return one line: how many datasets and rows, and what mistakes cost.

    Args:
        summary: what many comparisons found.
    """
    return f"{len(summary.places)} datasets · {len(summary.standings)} rows in all of them · cost: {summary.prices}"


def standings_grid(summary: Summary) -> Grid:
    """Return the rows: ranks, wins and losses, changes and regrets.

    Args:
        summary: what many comparisons found.
    """
    tested = summary.difference is not None
    level = f"{100 * summary.level:g}{words.THIN}% interval"
    heads = ("labels", "mean rank", *(["group"] if tested else []), "wins", "losses", "ties")
    heads += (f"vs {summary.reference}", level, "p (Holm)", "regret")
    return Grid(heads, tuple(_standing(each, tested) for each in summary.standings))


def _standing(each: Standing, tested: bool) -> tuple[str, ...]:
    counts = (str(each.wins), str(each.losses), str(each.ties)) if each.role != "reference" else (words.MISSING,) * 3
    holm = "< 0.001" if each.p_holm is not None and each.p_holm < 0.001 else words.fixed(each.p_holm, 3)
    letters = (each.group,) if tested else ()
    return (each.label, words.fixed(each.rank, 2), *letters, *counts, *_mean(each.change), holm, _regret(each.regret))


def _mean(change: Mean | None) -> tuple[str, str]:
    if change is None:
        return words.MISSING, words.MISSING
    return words.percent(change.estimate), words.interval(change.low, change.high)


def _regret(regret: Mean | None) -> str:
    return words.percent(None if regret is None else regret.estimate, sign=False)


def places_grid(summary: Summary) -> Grid:
    """Return the datasets: the verdict, what was recommended, and what was cheapest.

    Args:
        summary: what many comparisons found.
    """
    heads = ("data", "verdict", "recommended", "cost", "cheapest on test", "cost", "regret")
    return Grid(heads, tuple(_place(each) for each in summary.places))


def _place(each: Place) -> tuple[str, ...]:
    decimals = words.decimals_for([each.cost, each.least])
    costs = words.fixed(each.cost, decimals), words.fixed(each.least, decimals)
    regret = words.percent(each.regret, sign=False)
    return each.name, each.kind, each.taken or words.MISSING, costs[0], each.cheapest, costs[1], regret


def _signs(summary: Summary) -> list[str]:
    """Return what the heads mean."""
    margin = words.percent(summary.margin, sign=False)
    signs = [
        f"ties: within ±{margin}",
        f"vs {summary.reference}: mean of log cost ratios over datasets, Student's t",
        "p: Wilcoxon's signed ranks, exact, after Holm",
        "regret: above the cheapest row of each dataset, on test data",
    ]
    return (
        [*signs, "group: rows that share a letter are nearer than CD, the critical difference"]
        if summary.difference
        else signs
    )


def _legend(summary: Summary, width: int) -> list[str]:
    return textwrap.wrap("   ".join(_signs(summary)), width, break_on_hyphens=False, break_long_words=False)


def _minded(summary: Summary, width: int) -> list[str]:
    return [line for text in summary.warnings for line in _said("Mind", text, width)]


def _said(word: str, text: str, width: int) -> list[str]:
    lines = textwrap.wrap(text, width - NARROWEST, break_on_hyphens=False, break_long_words=False)
    return [f"{word if not number else '':<{NARROWEST}}{line}" for number, line in enumerate(lines)]


def _aligned(grid: Grid, width: int) -> list[str]:
    """Return a table whose numbers stand below each other; texts give way, and what still does not fit comes below."""
    table = [grid.heads, *grid.lines]
    texts = [place for place, head in enumerate(grid.heads) if head in TEXTS]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]

    def taken(places: Sequence[int]) -> int:
        return sum(widths[place] + len(GAP) for place in places) - len(GAP)

    while taken(range(len(widths))) > width and max(widths[place] for place in texts) > NARROWEST:
        widths[max(texts, key=widths.__getitem__)] -= 1
    blocks: list[list[int]] = [[0]]
    for place in range(1, len(widths)):
        if len(blocks[-1]) > 1 and taken([*blocks[-1], place]) > width:
            blocks.append([0])  # every block says what its lines are of
        blocks[-1].append(place)
    return [_cells(line, block, widths, texts) for block in blocks for line in table]


def _cells(line: Sequence[str], block: Sequence[int], widths: Sequence[int], texts: Sequence[int]) -> str:
    cells = [
        f"{shortened(line[place], widths[place]):{'<' if place in texts else '>'}{widths[place]}}" for place in block
    ]
    return GAP.join(cells).rstrip()


def shortened(text: str, width: int) -> str:
    """Return a text that fits.

    Args:
        text: any.
        width: characters that it may take.

    Example:
        >>> shortened("semantic", 5), shortened("lls", 5)
        ('sema…', 'lls')
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"
