"""Rows of comparisons of several splits of the same data, as a table of Markdown: means, and intervals over splits.

Run ``python benchmarks/splits_table.py FOLDER…`` on what ``regret.py --runs`` left of one set. Rows are those that all
splits have; intervals are of the change from the reference, with the variance of Nadeau and Bengio.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labelspace.comparison.split_rows import Counted, change_over, taken_of
from labelspace.metrics import Interval
from labelspace.results import Result, Row
from labelspace.results.result import NAME, read


def results_of(folders: Sequence[Path]) -> list[Result]:
    """Return the comparisons in or below folders."""
    found = sorted(path.parent for folder in folders for path in folder.rglob(NAME))
    return [read("splits_table", folder)[0] for folder in found]


def table(results: Sequence[Result]) -> list[str]:
    """Return its lines, the dearest row first behind the reference."""
    counts = results[0].data.counts
    share = counts["test"] / (counts["train"] + counts["validation"])
    reference = [result.reference for result in results]
    every = Counted(results, share, 0.95).keyed
    shared = [key for key in every[0] if all(key in each for each in every)]
    rows = {str(each[0].label): each for each in ([rows[key] for rows in every] for key in shared)}
    taken = [taken_of(result) for result in results]
    if all(row is not None for row in taken):
        rows["what was recommended in each split"] = [row for row in taken if row is not None]
    lines = ["| row | cost by argmax / minimum cost | accuracy | change | cheaper in |", "|---|---|---|---|---|"]
    return lines + [
        _line(label, each, reference, share)
        for label, each in sorted(rows.items(), key=lambda item: -_mean([row.headline.cost for row in item[1]]))
    ]


def _line(label: str, rows: Sequence[Row], reference: Sequence[Row], share: float) -> str:
    costs, before = [row.headline.cost for row in rows], [row.headline.cost for row in reference]
    moved = change_over(costs, before, share, 0.95)
    change = "" if moved is None or costs == before else _words(moved)
    by_argmax = _mean([row.argmax.cost for row in rows])
    right, decided = _mean([row.argmax.accuracy for row in rows]), _mean([row.headline.accuracy for row in rows])
    cheaper = sum(mine < other for mine, other in zip(costs, before, strict=True))
    return (
        f"| {label} | {by_argmax:.2f} / {_mean(costs):.2f} | {right:.3f} / {decided:.3f} | {change} |"
        f" {cheaper} of {len(costs)} |"
    )


def _words(moved: Interval) -> str:
    text = f"{moved.estimate:+.0%} [{moved.low:+.0%}, {moved.high:+.0%}]"
    return text.replace("-", "−").replace("%,", ",").replace("%]", "]").replace("%", " %", 1)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    print("\n".join(table(results_of(parser.parse_args().folders))))
