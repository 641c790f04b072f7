"""What many comparisons found together, as text for a terminal, as Markdown, and as one page."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from labelspace import _files
from labelspace.report import words
from labelspace.report.document import environment
from labelspace.report.grids import NARROWEST, Grid, aligned, in_markdown, said
from labelspace.report.rank_diagram import diagram, rank_lines
from labelspace.results.many import Mean, Place, Standing, Summary
from labelspace.spec.naming import plain

# nothing is run on this page, and nobody is asked for anything
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def summary_text(summary: Summary, width: int = 100, places: Mapping[str, str] | None = None) -> str:
    """Return the rows, their ranks, the datasets and what came out; names that are too long for a line are shortened.

    Args:
        summary: what many comparisons found.
        width: characters in a line.
        places: further lines below, by the word they begin with.
    """
    blocks = [
        [title(summary)],
        aligned(standings_grid(summary), width),
        rank_lines(summary, width),
        aligned(places_grid(summary), width),
        _legend(summary, width),
        [*said("TOGETHER", " ".join(summary.sentences), width), *_minded(summary, width)],
    ]
    further = [f"{word:<{NARROWEST}}{text}" for word, text in (places or {}).items()]
    return "\n".join([*"\n\n".join("\n".join(block) for block in blocks if block).splitlines(), *further])


def summary_markdown(summary: Summary) -> str:
    """Return the tables and what came out as Markdown."""
    parts = [f"**{plain(title(summary))}**"]
    parts += [in_markdown(grid) for grid in (standings_grid(summary), places_grid(summary))]
    parts.append(plain(" ".join(summary.sentences)))
    return "\n\n".join([*parts, *(f"> {plain(text)}" for text in summary.warnings)])


def write_summary_html(summary: Summary, path: str | Path) -> Path:
    """Write one page about many comparisons and return its path; it needs no script and no network.

    Args:
        summary: what many comparisons found.
        path: the file to write.
    """
    return write_page(
        path,
        title=title(summary),
        summary=summary,
        word="together",
        sentences=summary.sentences,
        grids=[("Rows", standings_grid(summary)), ("Datasets", places_grid(summary))],
        diagram=diagram(summary),
        legend=_signs(summary),
    )


def write_page(path: str | Path, **shown: object) -> Path:
    """Write the page of several comparisons and return its path.

    Args:
        path: the file to write.
        shown: what the template asks for.
    """
    page = environment().get_template("many.html.j2").render(**shown, policy=POLICY)
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
    return Grid(heads, tuple(place_cells(each) for each in summary.places))


def place_cells(each: Place) -> tuple[str, ...]:
    """Return the cells of one dataset, or of one split.

    Args:
        each: what was found there.
    """
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
    return [line for text in summary.warnings for line in said("Mind", text, width)]
