"""The columns of a comparison's table, each written once: a page shows all of them, a terminal the most telling.

A new column is one line in ``columns``: the group it stands under, its head, what it says, its value from a ``Row``,
and under what heads it is printed in a terminal, if it is. ``report.cells`` and ``report.table`` lay them out.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from labelspace.report import words
from labelspace.report.cells import Cell, Column, Heads, number_cells
from labelspace.report.glossary import TERMS, honest_by, strength_words
from labelspace.report.reading import Material
from labelspace.results import Change, Measure, Result, Row

LONGEST = 24  # letters of a name that a printed head repeats
TITLES = {"argmax": "argmax", "min_cost": "min-cost"}
RULES = {"argmax": "when the likeliest class is called", "min_cost": "when the class of least expected cost is called"}


def columns(result: Result) -> list[Column]:
    """Return the columns of a comparison, in their order."""
    rows, priced = result.lines, result.decision == "min_cost"
    rules = ("argmax", "min_cost") if priced else ("argmax",)
    how = honest_by(result)
    after = "after T" if how == "T" else how

    def ruled(group: str, key: str, what: str, decimals: int | None = None) -> list[Column]:
        made = []
        for rule in rules:
            printed = Heads(group, TITLES[rule] if priced else "")  # the only rule there is needs no name
            value = _under(rule, key)
            made.append(_numbers(rows, Heads(group, TITLES[rule]), f"{what} {RULES[rule]}", value, decimals, printed))
        return made

    def own(group: str, head: str, says: str, value: Value, decimals: int | None = 3, printed: bool = False) -> Column:
        heads = Heads(group, head)
        return _numbers(rows, heads, says, value, decimals, heads if printed else None)

    tried = [
        Column(
            Heads("", "strength"),
            "chosen on validation data",
            _cells(rows, partial(_strength, _chosen(result))),
            Heads("", "strength"),
        ),
        Column(Heads("", "trials"), "strengths tried on validation data", _cells(rows, _trials)),
    ]
    if result.measure is not None:
        texts = [own(each.title, "", each.key, _under("argmax", each.key), 1, True) for each in result.extra]
        return [*tried, *_quality(result.measure, result), *_changes(result), *texts, *_tokens(rows)]
    return [
        *tried,
        *ruled("cost per sample ↓", "cost", "mean cost"),
        *_changes(result),
        *ruled(*_accuracy(result), 3),
        own("ECE ↓", "raw", "calibration error of the model's own probabilities", lambda row: row.ece),
        own(
            "ECE ↓",
            after,
            f"calibration error {after}. {TERMS[how]}",
            lambda row: row.ece_after,
            printed=True,
        ),
        own("NLL ↓", after, f"negative log-likelihood {after}. {TERMS[how]}", lambda row: row.nll_after),
        own("risk–coverage ↓", "area", "mean cost over all coverages", lambda row: row.risk_coverage, None),
        *(
            _numbers(
                rows,
                Heads(extra.title, TITLES[result.decision]),
                f"{extra.key.replace('_', ' ')} {RULES[result.decision]}",
                _under(result.decision, extra.key),
                3,
                Heads(extra.title, ""),
            )
            for extra in result.extra
        ),
    ]


Value = Callable[[Row], float | None]


def _under(rule: str, key: str) -> Value:
    def value(row: Row) -> float | None:
        numbers = row.under(rule)
        return None if numbers is None else numbers.of(key)

    return value


def _numbers(
    rows: Sequence[Row], heads: Heads, says: str, value: Value, decimals: int | None, printed: Heads | None
) -> Column:
    if decimals is None:  # what a constant costs does not say how precise the others must be
        decimals = words.decimals_for(value(row) for row in rows if row.role != "constant")
    return Column(heads, says, number_cells([value(row) for row in rows], decimals), printed)


def _cells(rows: Sequence[Row], cell: Callable[[Row], Cell]) -> tuple[Cell, ...]:
    return tuple(cell(row) for row in rows)


def _chosen(result: Result) -> str | None:
    """Return the label of the row that is marked: the one to take home, else the winner."""
    if result.best is not None:
        return result.best.label
    return next((row.label for row in result.rows if row.winner), None)


def _strength(chosen: str | None, row: Row) -> Cell:
    mark = "▸ " if row.label == chosen else ""
    if row.strength is None:
        return Cell(words.MISSING, None, brief=mark + words.MISSING)
    brief = f"{mark}{row.strength.symbol} {row.strength.value:g}"
    note = next((f"{symbol}: {text}" for symbol, text in strength_words([row]).items()), None)
    return Cell(mark + strength_text(row), row.strength.value, note, brief=brief)


def strength_text(row: Row) -> str:
    """Return the chosen strength as a page shows it, such as ``σ 0.50``."""
    if row.strength is None:
        return words.MISSING
    value = row.strength.value
    text = f"{value:.2f}" if 0.01 <= abs(value) < 10 else f"{value:g}"
    return f"{row.strength.symbol or row.strength.name} {text}".replace("-", "−").strip()


def _trials(row: Row) -> Cell:
    if row.role == "constant":
        return Cell(words.MISSING, None)
    # what has no strength is trained as it is, once
    count = max(len([trial for trial in row.trials if trial.value is not None]), 1)
    return Cell(str(count), count)


def _quality(measure: Measure, result: Result) -> list[Column]:
    """Return the measure of texts and its interval."""
    found = [row.quality for row in result.lines]
    values = [None if each is None else each.value for each in found]
    ends = [None if each is None or each.low is None or each.high is None else (each.low, each.high) for each in found]
    cells = [
        Cell(words.MISSING, None) if pair is None else Cell(f"[{pair[0]:.1f}, {pair[1]:.1f}]", pair[1] - pair[0])
        for pair in ends
    ]
    group, head = f"{measure.title} ↑", _level(result)[1]
    says = f"{measure.title} on test data, mean over seeds: {measure.signature}"
    drawn = "seeds and " if len(result.seeds) > 1 else ""
    return [
        Column(Heads(group, "mean"), says, number_cells(values, 1), Heads(group, "")),
        Column(Heads(group, head), f"over {drawn}test texts", tuple(cells), Heads(group, head)),
    ]


def _tokens(rows: Sequence[Row]) -> list[Column]:
    """Return how well single tokens are foretold from the true ones before them."""
    right, perplexity = _under("argmax", "accuracy"), _under("argmax", "perplexity")
    says = "share of tokens that are the likeliest after the true ones before them"
    return [
        _numbers(rows, Heads("tokens", "accuracy ↑"), says, right, 3, Heads("tokens", "acc. ↑")),
        _numbers(rows, Heads("tokens", "perplexity ↓"), "of true tokens", perplexity, None, Heads("tokens", "ppl ↓")),
    ]


def _accuracy(result: Result) -> tuple[str, str, str]:
    """Return how accuracy is called, its key, and what it is a share of."""
    if result.partly_called:
        return "accuracy of called ↑", "accuracy", "share that is right of samples that are called a class,"
    return "accuracy ↑", "accuracy", "share that is right"


def _level(result: Result) -> tuple[str, str]:
    """Return how intervals are called on a page and in a terminal."""
    level = next((row.change.level for row in result.rows if row.change is not None), None)
    head = f"{words.percent(0.95 if level is None else level, sign=False)} interval"
    return head, "interval" if level is None else f"{100 * level:g} % interval"


def _changes(result: Result) -> list[Column]:
    """Return the change against the reference, its interval and its corrected p-value."""
    rows, label = result.lines, result.reference.label
    rule = "min-cost " if result.decision == "min_cost" else ""
    group, brief = f"{rule}vs {label}", f"{rule}vs {rows[0].label if len(rows[0].label) <= LONGEST else 'the first'}"
    head, printed = _level(result)
    several, measure = len(result.rows) > 1, result.measure
    what = f"{_change_words(result)} of the mean cost"
    if measure is not None:
        what = f"difference in {measure.unit} of {measure.title}"
    moved = words.moved([row.change for row in rows], result.unit)
    changed = "change per sample" if result.unit == "per sample" else "change"
    return [
        Column(
            Heads(group, changed),
            f"{what}; ● excludes 0 after Holm. {TERMS['Holm']}",
            tuple(_change(row, text) for row, (text, _) in zip(rows, moved, strict=True)),
            Heads(brief, changed.replace("change per", "per")) if several else None,
        ),
        Column(
            Heads(group, head),
            "of the change, over seeds and test samples, paired",
            tuple(_interval(row.change, text) for row, (_, text) in zip(rows, moved, strict=True)),
            Heads(brief, printed) if several else None,
        ),
        Column(
            Heads(group, "p (Holm)"),
            f"of no change, corrected for the number of methods; of rivals as it is. {TERMS['Holm']}",
            _cells(rows, _holm),
            Heads(brief, "p") if several and measure is not None else None,
        ),
    ]


def _change_words(result: Result) -> str:
    """Return what a change of a cost is."""
    return "relative change" if result.unit == "relative" else "difference, below 0 more is gained,"


def _change(row: Row, text: str) -> Cell:
    # printed in one column, the signs must stand below each other
    estimate = None if row.change is None else row.change.estimate
    return Cell(f"{text} ●" if row.marked else text, estimate, brief=text + (" ●" if row.marked else "  "))


def _interval(change: Change | None, text: str) -> Cell:
    if change is None:
        return Cell(words.MISSING, None)
    width = None if change.low is None or change.high is None else change.high - change.low
    return Cell(text, width, change.note or None)


def _holm(row: Row) -> Cell:
    value = row.p_value if row.role in ("rival", "ensemble") else row.p_holm
    return Cell("< 0.001" if value is not None and value < 0.001 else words.fixed(value, 3), value)


def runs_columns(material: Material) -> list[Column]:
    """Return the columns for plain runs: means over the seeds of each configuration."""
    configs = [[run.folder.config() for run in row.runs] for row in material.rows]
    results = [[run.folder.result() for run in row.runs] for row in material.rows]
    seeds = tuple(Cell(", ".join(str(each["seed"]) for each in group), len(group)) for group in configs)
    found = [Column(Heads("", "seeds"), "of its runs", seeds)]
    chosen: Mapping[str, Sequence[str | int | None]] = {
        "model": [group[0].get("model") for group in configs],
        "epochs": [group[0].get("epochs") for group in configs],
    }
    for key, values in chosen.items():
        found.append(Column(Heads("", key), "of its runs", tuple(Cell(str(value), value) for value in values)))
    measured = {
        "validation": [[each.get("validation", {}) for each in row] for row in results],
        "test": [[each.get("test", {}) for each in row] for row in results],
    }
    for group, key in (("accuracy ↑", "accuracy"), ("NLL ↓", "nll")):
        for part, rows in measured.items():
            means = [_mean([numbers.get(key) for numbers in row]) for row in rows]
            found.append(Column(Heads(group, part), "mean over seeds", number_cells(means, 3)))
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None
