"""The same comparison over several splits of the same data, and what they say together."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.comparison import split_words as words
from labelspace.comparison.folder import folder_of
from labelspace.comparison.result import Comparison
from labelspace.comparison.split_rows import Counted, change_over, taken_of, winner_of
from labelspace.comparison.training import Report
from labelspace.comparison.verdict import kind_of, verdict_of
from labelspace.data.dataset import Dataset
from labelspace.data.loading import loaded
from labelspace.metrics import Interval
from labelspace.results import Change, Kind, Result
from labelspace.results.many import Place
from labelspace.results.splits import Splits

OWNER = "compare"
STEP = 2  # a split draws its test part with its seed and its validation part with the next one


def seeds_of(splits: object, data: object, options: Mapping[str, object]) -> list[int]:
    """Return the seeds of the splits; refuse data that are not split by chance, before anything is trained.

    Args:
        splits: how many.
        data: as ``compare`` takes it.
        options: of ``labelspace.data.load``.
    """
    count = _checks.whole(OWNER, "splits", splits, low=2)
    if isinstance(data, Dataset):
        remedy = "Give what it was read from, or leave splits out (--splits)."
        raise _checks.fail(OWNER, "splits", "left out for a Dataset", "one whose parts are what they are", remedy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are said when the data are compared on
        dataset = loaded(data, options)
    if dataset.kind == "sequences":
        raise _checks.fail(OWNER, "splits", "left out for pairs of texts, which have no costs", count)
    if "seed" not in dataset.source.get("split", {}) or "split from all" not in str(dataset.source["split"]["test"]):
        remedy = "Leave splits out (--splits), or put all samples into one part, which is then split."
        got = f"{count} with a test part of its own: other splits would redraw nothing that is measured"
        raise _checks.fail(OWNER, "splits", "given for data whose test part is drawn from all samples", got, remedy)
    first = _checks.whole("data.load", "seed", options.get("seed", 0))
    return [first + STEP * number for number in range(count)]


def over_splits(
    compare: Callable[[int], Comparison],
    seeds: Sequence[int],
    out: str | Path,
    level: float,
    command: str | None,
    tell: Report,
) -> Splits:
    """Return what comparisons on several splits say together, and write it.

    Args:
        compare: makes the comparison on the split of a seed.
        seeds: of the splits.
        out: the folder that holds comparisons.
        level: of the intervals.
        command: how it was asked for.
        tell: told which split comes next.
    """
    found: dict[str, Comparison] = {}
    for number, seed in enumerate(seeds):
        tell("split", {"done": number + 1, "of": len(seeds)})
        found[f"seed {seed}"] = compare(seed)
    places = [each.folder for each in found.values() if each.folder is not None]
    name = next(iter(found.values())).result.data.name
    folder = folder_of(out, f"{name}-splits", {"folders": [place.name for place in places]})
    splits = together(
        {key: each.result for key, each in found.items()}, [str(place) for place in places], str(folder), level
    ).model_copy(update={"command": command})
    splits.write()
    return splits


def together(found: Mapping[str, Result], folders: Sequence[str], folder: str, level: float = 0.95) -> Splits:
    """Return what results of several splits say together.

    Args:
        found: by the names of the splits.
        folders: of their comparisons, in the same order.
        folder: where it will be written.
        level: of the intervals.
    """
    results = list(found.values())
    first = results[0]
    share = float(np.mean([_share(each) for each in results]))
    counted = Counted(results, share, level)
    rows, left_out = counted.rows(tuple(found))
    winner, recommendation = counted.winner(), counted.recommendation()
    places = tuple(_place(*each) for each in zip(found.items(), folders, strict=True))
    regret = None
    if recommendation is not None:
        regret = change_over(recommendation.costs, [each.least for each in places], share, level)
    moved = None if winner.change is None else _interval(winner.change)
    margin = max(each.verdict.margin for each in results)
    thin = sum(winner_of(each).p_value is None for each in results)
    kind = _kind(moved, margin, len(results), thin)
    said = [words.main(winner, rows[0], kind, margin)]
    said += [] if recommendation is None else [words.taken(recommendation, rows[0], _not_below(regret))]
    said += [text for text in [words.steady(rows, places)] if text]
    return Splits(
        folder=folder,
        data=first.data.name,
        title=first.title,
        reference=rows[0].label,
        prices=first.cost.words,
        level=level,
        margin=margin,
        test_share=share,
        places=places,
        rows=rows,
        winner=winner,
        recommendation=recommendation,
        regret=_not_below(regret),
        left_out=left_out,
        verdict=verdict_of(kind, winner.label, moved, margin, None, len(results) < words.ENOUGH, said, level),
        warnings=words.warnings(places, thin, left_out),
    )


def _kind(moved: Interval | None, margin: float, count: int, thin: int) -> Kind:
    """Return the verdict that an interval over splits allows.

    Splits in which hardly a decision differs agree by that alone: they do not show that nothing differs.
    """
    kind = kind_of(moved, margin)
    few = count < words.ENOUGH or (kind == "no difference" and 2 * thin > count)
    return "undecided" if few else kind


def _share(result: Result) -> float:
    counts = result.data.counts
    return counts["test"] / (counts["train"] + counts["validation"])


def _place(named: tuple[str, Result], folder: str) -> Place:
    """Return what one split says of its recommendation; ensembles are rows that one could take."""
    name, result = named
    cheapest = min((row for row in result.rows if row.role != "control"), key=lambda row: row.headline.cost)
    least, taken = cheapest.headline.cost, taken_of(result)
    cost = None if taken is None else taken.headline.cost
    return Place(
        name=name,
        folder=folder,
        kind=result.verdict.kind,
        taken=None if taken is None else taken.label,
        cost=cost,
        cheapest=cheapest.label,
        least=least,
        regret=None if cost is None or least <= 0 else cost / least - 1,
    )


def _not_below(regret: Interval | None) -> Change | None:
    """Return a regret as it is written: it cannot be less than nothing."""
    if regret is None:
        return None
    found = Change.of(regret)
    return found if found.low is None else found.model_copy(update={"low": max(found.low, 0.0)})


def _interval(change: Change) -> Interval:
    return Interval(**{each.name: getattr(change, each.name) for each in fields(Interval)})
