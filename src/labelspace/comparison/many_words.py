"""What many comparisons say together, in sentences, and what a reader should know before believing them."""

import math

from labelspace.comparison.verdict import enough_seeds
from labelspace.report.words import THIN, decimals_for, fixed, interval, percent
from labelspace.results.many import Mean, Standing, Summary

SURE = 10  # datasets from which Friedman's χ² is what it says


def sentences(summary: Summary) -> tuple[str, ...]:
    """Return what came out, in words.

    Args:
        summary: its numbers.
    """
    found = [_best(summary)]
    if summary.regret is not None:
        found.append(_followed(summary, summary.regret))
    if summary.friedman is not None and summary.difference is not None:
        apart = "differ" if summary.friedman <= 1 - summary.level else "are not told apart"
        p_value = "< 0.001" if summary.friedman < 0.001 else f"= {fixed(summary.friedman, 3)}"
        found.append(
            f"Over all rows, ranks {apart} (Friedman, p {p_value}); two rows must be"
            f" {fixed(summary.difference, decimals_for([summary.difference]))} mean ranks apart (Nemenyi,"
            f" {100 * summary.level:g}{THIN}%)."
        )
    return tuple(found)


def _followed(summary: Summary, regret: Mean) -> str:
    """Return what it costs to do as one is told."""
    worst = max((each for each in summary.places if each.regret is not None), key=lambda each: each.regret or 0.0)
    if not worst.regret:
        return "What was recommended is the cheapest row of every dataset on test data."
    ends = interval(regret.low, regret.high)
    mean = f"{percent(regret.estimate, sign=False)} {ends}".removesuffix(" –")
    return (
        f"Always taking the recommendation costs {mean} more than the cheapest row of each dataset on test data; at"
        f" worst {percent(worst.regret, sign=False)} ({worst.name})."
    )


def _best(summary: Summary) -> str:
    best, count = summary.standings[0], len(summary.places)
    tied = [each.label for each in summary.standings[1:] if math.isclose(each.rank, best.rank)]
    mean = f"mean rank, {best.rank:.2f}"
    ranked = f"Over {count} datasets {best.label} has the best {mean}"
    if tied:
        ranked = f"Over {count} datasets {best.label} and {', '.join(tied)} share the best {mean}"
    if best.role == "reference":
        return f"{ranked}: nothing is cheaper."
    sure = best.p_holm is not None and best.p_holm <= 1 - summary.level
    doubt = "" if sure else ", which may be chance"
    if best.change is None:
        return f"{ranked}; no mean of relative changes can be given ({_counted(best)}){doubt}."
    return (
        f"{ranked}; {f'of {best.label} the' if tied else 'its'} mean cost is"
        f" {_moved(best.change)} against {summary.reference} ({_counted(best)}){doubt}."
    )


def _moved(change: Mean) -> str:
    return f"{percent(change.estimate)} {interval(change.low, change.high)}".removesuffix(" –")


def _counted(standing: Standing) -> str:
    counts = {"win": standing.wins, "loss": standing.losses, "tie": standing.ties}
    plural = {"win": "wins", "loss": "losses", "tie": "ties"}
    return ", ".join(f"{count} {name if count == 1 else plural[name]}" for name, count in counts.items())


def warnings(summary: Summary) -> tuple[str, ...]:
    """Return what a reader should know before believing it.

    Args:
        summary: its numbers.
    """
    count, enough = len(summary.places), enough_seeds(summary.level)
    found = []
    if count < enough:
        found.append(
            f"Indicative: {count} datasets, fewer than {enough}: no test of signed ranks can be sure with so few, and"
            " intervals are wide."
        )
    if summary.friedman is not None and count < SURE:
        found.append(f"Friedman's p-value is an approximation (χ²), rough with fewer than {SURE} datasets.")
    found += [f"Not ranked: {each.label}, missing for {', '.join(each.missing)}." for each in summary.left_out]
    gains = [each.name for each in summary.places if each.unit == "per sample"]
    if gains:
        found.append(
            f"In no mean of relative changes and no regret: {', '.join(gains)}, where prices are gains too and the mean"
            f" cost of {summary.reference} is not above zero beyond doubt."
        )
    some = [each for each in summary.standings if each.change is not None and each.change.datasets < count - len(gains)]
    found += [
        f"The mean change of {each.label} is over {each.change.datasets} of {count} datasets: elsewhere a cost is not"
        " above zero."
        for each in some
        if each.change is not None
    ]
    return tuple(found)
