"""One question, many datasets: what finished comparisons say together."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from labelspace import _checks, metrics, results
from labelspace.comparison.entries import TUNED
from labelspace.comparison.many_words import sentences, warnings
from labelspace.comparison.ranks import Costs, letters, mean_change, ranked, signed_ranks
from labelspace.results import Result, Role, Row
from labelspace.results.many import LeftOut, Mean, Place, Standing, Summary

OWNER = "summarize"
Key = tuple[Role, str, str]  # of a row: its role, its name and its method
ROUNDING = 1e-9  # 1.9 of 2 is five percent less
RANKED = ("reference", "method", "rival", "ensemble")  # shuffled forms explain a row, and nobody would take one


def summarize(
    folders: str | Path | Sequence[str | Path], *, level: float = 0.95, allow_damaged: bool = False
) -> Summary:
    """Say what finished comparisons found together: wins and losses, mean changes, ranks, and the regret.

    Args:
        folders: of comparisons, each of other data, at the same kind of prices and with the same reference; or one
            folder that holds them.
        level: of the intervals over datasets, in (0, 1).
        allow_damaged: read also what is not what was written, and warn.

    Example:
        >>> summarize("nowhere")
        Traceback (most recent call last):
        ...
        labelspace._checks.InputError: `folders` of summarize must be a folder that holds finished comparisons. Got \
nowhere.
    """
    paths = inside(Path(folders)) if isinstance(folders, str | Path) else [Path(folder) for folder in folders]
    twice = [str(path) for path, count in Counter(path.resolve() for path in paths).items() if count > 1]
    if twice:
        raise _checks.fail(OWNER, "folders", "different folders", f"{twice[0]} twice")
    found = {str(path): results.read(OWNER, path, allow_damaged)[0] for path in paths}
    return summary_of(found, level)


def inside(folder: Path) -> list[Path]:
    """Return the finished comparisons that lie in a folder.

    Args:
        folder: such as ``runs``.
    """
    found = sorted(path.parent for path in folder.glob(f"*/{results.NAME}"))
    if not found:
        raise _checks.fail(OWNER, "folders", "a folder that holds finished comparisons", folder)
    return found


def summary_of(found: Mapping[str, Result], level: float = 0.95) -> Summary:
    """Return what results say together.

    Args:
        found: of each comparison, by its folder.
        level: of the intervals over datasets, in (0, 1).
    """
    _checks.number(OWNER, "level", level, low=0, high=1, open_low=True, open_high=True)
    _check_alike(found)
    named = _names(found)
    everywhere, left_out = _shared(named)
    rows = [_ranked_rows(each) for each in named.values()]
    costs = np.array([[each[key].headline.cost for key in everywhere] for each in rows])
    places = tuple(_place(name, *pair) for name, pair in zip(named, found.items(), strict=True))
    margin = max(each.verdict.margin for each in found.values())
    standings, friedman, difference = _standings(rows, everywhere, costs, places, margin, level)
    taken = [(each.least, each.cost) for each in places if each.cost is not None and each.unit == "relative"]
    first = next(iter(found.values()))
    summary = Summary(
        reference=_called(first.reference),
        prices=first.cost.words,
        level=level,
        margin=margin,
        places=places,
        standings=standings,
        left_out=left_out,
        friedman=friedman,
        difference=difference,
        regret=_regret([cost for _, cost in taken], [cheapest for cheapest, _ in taken], level),
    )
    return summary.model_copy(update={"sentences": sentences(summary), "warnings": warnings(summary)})


def _check_alike(found: Mapping[str, Result]) -> None:
    """Refuse comparisons that do not answer one question, or that count the same data twice."""
    if len(found) < 2:
        remedy = "One dataset says nothing about others: labelspace compare A B C compares on several."
        raise _checks.fail(OWNER, "folders", "at least 2 comparisons", len(found), remedy)
    texts = next((folder for folder, each in found.items() if each.measure is not None), None)
    if texts is not None:
        raise _checks.fail(OWNER, "folders", "comparisons of what mistakes cost", f"{texts}, which is about texts")
    for what, said in {
        "prices": {folder: each.cost.words for folder, each in found.items()},
        "reference": {folder: _called(each.reference) for folder, each in found.items()},
    }.items():
        (first, words), *others = said.items()
        other = next(((folder, text) for folder, text in others if text != words), None)
        if other is not None:
            got = f"{first} ({words}) and {other[0]} ({other[1]})"
            raise _checks.fail(OWNER, "folders", f"comparisons with the same {what}", got, "Summarise those alone.")
    seen: dict[str, str] = {}
    for folder, each in found.items():
        if each.data.key is not None and each.data.key in seen:
            remedy = "The same data would count twice: leave one out."
            got = f"{each.data.name} twice: {seen[each.data.key]} and {folder}"
            raise _checks.fail(OWNER, "folders", "comparisons on different data", got, remedy)
        seen[each.data.key or folder] = folder


def _names(found: Mapping[str, Result]) -> dict[str, Result]:
    """Return results by the names of their data; by those of their folders where several are called alike."""
    counts = Counter(each.data.name for each in found.values())
    unique = all(count == 1 for count in counts.values())
    folders = Counter(Path(folder).name for folder in found)
    short = all(count == 1 for count in folders.values())
    return {
        each.data.name if unique else Path(folder).name if short else folder: each for folder, each in found.items()
    }


def _called(row: Row) -> str:
    """Return the name of a row over datasets: whether the reference was tuned, and of how many seeds, is none of it."""
    if row.mixed:
        return "rows alike, averaged"
    if row.role == "ensemble":
        return f"{(row.of or row.label).removesuffix(TUNED)}, averaged"
    return row.label.removesuffix(TUNED) if row.role == "reference" else row.label


def _ranked_rows(result: Result) -> dict[Key, Row]:
    """Return the rows by what they are; another method under the same name is another row."""
    return {(row.role, _called(row), row.method): row for row in result.rows if row.role in RANKED}


def _shared(named: Mapping[str, Result]) -> tuple[list[Key], tuple[LeftOut, ...]]:
    """Return the rows that all comparisons have, the reference first, and of the others where they are missing."""
    rows = {name: _ranked_rows(each) for name, each in named.items()}
    every = dict.fromkeys(key for those in rows.values() for key in those)
    missing = {key: tuple(name for name, those in rows.items() if key not in those) for key in every}
    left_out = tuple(LeftOut(label=key[1], missing=names) for key, names in missing.items() if names)
    everywhere = sorted((key for key, names in missing.items() if not names), key=lambda key: key[0] != "reference")
    if len(everywhere) < 2:
        remedy = "Compare the same methods."
        raise _checks.fail(OWNER, "folders", "comparisons that share at least 2 rows", len(everywhere), remedy)
    return everywhere, left_out


def _place(name: str, folder: str, result: Result) -> Place:
    """Return what one dataset says of its recommendation."""
    rows = [row for row in result.rows if row.role in RANKED]
    cheapest = min(rows, key=lambda row: row.headline.cost)
    least = cheapest.headline.cost
    taken = None if result.best is None else next((row for row in rows if row.label == result.best.label), None)
    cost = None if taken is None else taken.headline.cost
    return Place(
        name=name,
        folder=folder,
        kind=result.verdict.kind,
        taken=None if taken is None else _called(taken),
        cost=cost,
        cheapest=_called(cheapest),
        least=least,
        regret=None if cost is None or least <= 0 or result.unit != "relative" else cost / least - 1,
        unit=result.unit,
    )


def _standings(
    every: Sequence[Mapping[Key, Row]],
    keys: Sequence[Key],
    costs: Costs,
    places: Sequence[Place],
    margin: float,
    level: float,
) -> tuple[tuple[Standing, ...], float | None, float | None]:
    """Return the rows by their mean ranks, and the tests of all ranks."""
    found = ranked(costs, level)
    reference = costs[:, 0]
    # of a cost that may be a gain nothing is a share: what is not above zero is in no ratio
    least = [each.least if each.unit == "relative" else math.nan for each in places]
    standings = []
    for number, key in enumerate(keys):
        mine, rows = costs[:, number], [each[key] for each in every]
        regret = _regret(mine.tolist(), least, level)
        about = Standing(label=key[1], role=key[0], rank=found.ranks[number], regret=regret)
        against = {} if number == 0 else _against(reference, mine, rows, margin, level)
        standings.append(about.model_copy(update=against))
    tested = [place for place, each in enumerate(standings) if each.p_value is not None]
    holm = metrics.holm([standings[place].p_value or 0.0 for place in tested]).tolist() if tested else []
    for place, value in zip(tested, holm, strict=True):
        standings[place] = standings[place].model_copy(update={"p_holm": value})
    ordered = sorted(standings, key=lambda each: each.rank)
    if found.difference is not None:
        groups = letters([each.rank for each in ordered], found.difference)
        ordered = [each.model_copy(update={"group": group}) for each, group in zip(ordered, groups, strict=True)]
    return tuple(ordered), found.friedman, found.difference


def _regret(costs: Sequence[float], least: Sequence[float], level: float) -> Mean | None:
    """Return what rows cost more than the cheapest ones, on average; less than nothing it cannot be."""
    found = mean_change(least, costs, level)
    return found if found is None or found.low is None else found.model_copy(update={"low": max(found.low, 0.0)})


def _against(reference: Costs, mine: Costs, rows: Sequence[Row], margin: float, level: float) -> dict[str, object]:
    """Return what a row's standing says of the reference."""
    stakes = [None if row.change is None else row.change.stake for row in rows]
    bases = [one if stake is None else stake for one, stake in zip(reference, stakes, strict=True)]
    relative = np.array([one if stake is None else math.nan for one, stake in zip(reference, stakes, strict=True)])
    moved = [1 if mine_ > other else -1 if mine_ < other else 0 for mine_, other in zip(mine, reference, strict=True)]
    small = [
        bool(base > 0 and abs(other - one) / base <= margin + ROUNDING)
        for one, other, base in zip(reference, mine, bases, strict=True)
    ]
    signs = [0 if tied else sign for sign, tied in zip(moved, small, strict=True)]
    ratios = [math.log(other / one) for one, other in zip(relative, mine, strict=True) if one > 0 and other > 0]
    return {
        "wins": signs.count(-1),
        "losses": signs.count(1),
        "ties": signs.count(0),
        "change": mean_change(relative.tolist(), mine.tolist(), level),
        "p_value": signed_ranks(ratios) if ratios else None,
    }
