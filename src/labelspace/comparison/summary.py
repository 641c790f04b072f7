"""The words and numbers of a result that no single row holds, and what a reader should know before believing it."""

import json
import platform
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

import labelspace
from labelspace import metrics
from labelspace.comparison.change import unguarded_change_of
from labelspace.comparison.ends import at_an_end
from labelspace.comparison.headline import change_text, saved_by_decisions
from labelspace.comparison.knowledge import Knowledge
from labelspace.comparison.outcome import Judge, Outcome
from labelspace.comparison.plan import TRAINING, Plan
from labelspace.comparison.rows import Judged
from labelspace.data.dataset import Dataset
from labelspace.data.splits import leak_sentences
from labelspace.metrics.accuracy import level_groups
from labelspace.metrics.cost import dearest
from labelspace.report.words import calibrated_by, decimals_for, fixed
from labelspace.results import Confusion, Data, Extra, Known, Prices, Row
from labelspace.space import LabelSpace
from labelspace.training.config import Config, make_config

LISTED = 30
LONGEST_TITLE = 24  # of a level's groups, in letters
VERSIONS = {"labelspace": labelspace.__version__, "python": platform.python_version()}
SAID_ELSEWHERE = ("data", "data_options", "limit", "model", "backbone", "epochs", "label_noise")
KEPT = {  # what is least in the epoch that a run keeps
    "nll": "validation NLL",
    "calibrated": "validation NLL after temperature",
    "error": "validation error",
}
TITLES = {"kappa": "κ² ↑", "balanced_accuracy": "balanced ↑", "group_accuracy": "right group ↑"}


def title_of(plan: Plan, headline: str, dataset: Dataset) -> str:
    """Return one line: the data, the model, how much of it, and what it is about: the cost of mistakes, a measure."""
    counts, config = [len(part) for part in dataset.parts.values()], plan.config
    parts = [
        Path(config.data).name,
        *_classes(dataset),
        config.model if config.backbone is None else f"{config.model} on {config.backbone}",
        f"{counts[0]:,} train / {counts[1]:,} val / {counts[2]:,} test",
        *([] if config.label_noise is None else [f"label noise {config.label_noise}"]),
        _seeds(plan),
        headline,
    ]
    return " · ".join(parts)


def _classes(dataset: Dataset) -> list[str]:
    if dataset.kind != "sequences":
        return [f"{len(dataset.names)} classes"]
    languages = dataset.source.get("languages")
    return [*(["→".join(languages)] if languages else []), f"{len(dataset.names):,} tokens"]


def _seeds(plan: Plan) -> str:
    count = len(plan.chosen_seeds)
    which = "" if isinstance(plan.seeds, int) else f": {', '.join(map(str, plan.chosen_seeds))}"
    return f"{count} {'seed' if count == 1 else 'seeds'}{which}"


def training_words(config: Config) -> str:
    """Return how every model was trained, in one line: what is usual briefly, whatever else was set by name.

    Example:
        >>> training_words(Config(schedule="step", milestones=(40, 80), precision="float64"))
        'adam, learning rate 0.001, step schedule, batches of 128, milestones [40, 80], precision "float64"'
    """
    parts = [
        config.optimizer,
        f"learning rate {config.learning_rate:g}",
        f"{config.schedule} schedule",
        f"batches of {config.batch_size}",
    ]
    usual, told = make_config(), {"optimizer", "learning_rate", "schedule", "batch_size", "best_by", *SAID_ELSEWHERE}
    for name in TRAINING:
        if name not in told and getattr(config, name) != getattr(usual, name):
            parts.append(f"{name.replace('_', ' ')} {json.dumps(getattr(config, name))}")
    if config.best_by in KEPT:
        parts.append(f"of each run the epoch of least {KEPT[config.best_by]}")
    return ", ".join(parts)


def data_facts(config: Config, dataset: Dataset) -> Data:
    """Return what was compared on."""
    groups, group_by = dataset.test.groups, config.data_options.get("group_by")
    return Data(
        name=Path(config.data).name,
        kind=dataset.kind,
        input_shape=tuple(dataset.input_shape),
        names=tuple(dataset.names),
        counts={name: len(part) for name, part in dataset.parts.items()},
        key=dataset.key,
        group_by=group_by if isinstance(group_by, str) else None,
        test_groups=None if groups is None else len(torch.unique(groups)),
    )


def prices_facts(knowledge: Knowledge, judge: Judge) -> Prices:
    """Return what mistakes cost, in words."""
    return Prices(words=knowledge.spoken.cost, example=knowledge.spoken.example, priced=judge.priced)


def space_facts(knowledge: Knowledge) -> Known | None:
    """Return what is known about the classes, in words."""
    return None if knowledge.spoken.space is None else Known(words=knowledge.spoken.space)


def extra_columns(row: Row, tree: LabelSpace | None = None) -> tuple[Extra, ...]:
    """Return the numbers that belong to this kind of classes, beside cost and accuracy, with their titles.

    Args:
        row: one that has them.
        tree: the taxonomy of the classes, after whose groups the columns of its levels are called.
    """
    titles = TITLES | ({} if tree is None else level_titles(tree))
    return tuple(Extra(key=key, title=titles.get(key, f"{key.replace('_', ' ')} ↑")) for key in row.headline.others)


def level_titles(tree: LabelSpace) -> dict[str, str]:
    """Return what the columns of the levels of a taxonomy are called: by their groups, the last one by the classes.

    Example:
        >>> from labelspace import tree
        >>> level_titles(tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}))
        {'level_1': 'pet or vehicle ↑', 'level_2': 'class ↑'}
    """
    *levels, _ = level_groups(tree)
    classes = set(tree.names)
    found = {}
    for number, level in enumerate(levels, 1):
        groups = [node for node in dict.fromkeys(level) if node not in classes]
        shown = groups if len(" or ".join(groups)) <= LONGEST_TITLE else groups[:1]
        more = [f"{len(groups) - len(shown)} more"] if len(groups) > len(shown) else []
        *first, last = [*shown, *more] or [f"level {number}"]
        found[f"level_{number}"] = f"{', '.join(first)} or {last} ↑" if first else f"{last} ↑"
    return {**found, f"level_{len(levels) + 1}": "class ↑"}


def costliest(outcome: Outcome, names: Sequence[str]) -> tuple[Confusion, ...]:
    """Return the confusions that carry most of the cost, counted over all seeds and divided by their number."""
    called, cost = torch.cat(outcome.actions(outcome.judge.rule)), outcome.judge.cost
    y, seeds = torch.cat([each.test_y for each in outcome.scores]), len(outcome.scores)
    columns = names if outcome.judge.actions is None else outcome.judge.actions
    cells, factors = y * len(columns) + called, [each.test_factors for each in outcome.scores]
    known = torch.cat([each for each in factors if each is not None]) if None not in factors else None
    counts, stakes = (torch.bincount(cells, weights, cost.numel()).reshape(cost.shape) for weights in (None, known))
    found = dearest(counts, cost, names, columns, LISTED, stakes)
    return tuple(
        Confusion(
            true=each.true,
            predicted=each.predicted,
            count=each.samples / seeds,
            cost=each.cost / seeds,
            share=each.share,
        )
        for each in found
    )


def caveats(
    rows: Sequence[Judged],
    dataset: Dataset | None,
    problems: Sequence[str] = (),
    groups: Tensor | None = None,
    level: float = 0.95,
) -> list[str]:
    """Return warnings, the gravest first.

    Args:
        rows: of the table, the reference first.
        dataset: the data; None where only scores are known.
        problems: runs that failed.
        groups: of the test samples.
        level: of the intervals that decide what is worth a warning.
    """
    found = [*problems]
    if dataset is not None:
        found += _data(dataset)
    return [*found, *_badly_priced(rows, groups, level), *_selective(rows, level), *_at_an_end(rows)]


def _at_an_end(rows: Sequence[Judged]) -> list[str]:
    """Return which rows were best with the weakest or strongest of several strengths: the best may lie beyond."""
    found = []
    for row in rows:
        tried = [trial.value for trial in row.trials if trial.value is not None]
        which = "" if row.strength is None else at_an_end(tried, row.strength.value)
        if row.strength is not None and which:
            symbol = row.strength.symbol or row.strength.name
            found.append(f"{row.label} with the {which} {symbol}, {row.strength.value:g}")
    if not found:
        return []
    return [f"Best at the end of what was tried, so that others may be better still: {'; '.join(found)}."]


def _data(dataset: Dataset) -> list[str]:
    found = []
    counts = torch.bincount(dataset.test.y, minlength=len(dataset.names)).tolist()
    absent = [name for name, count in zip(dataset.names, counts, strict=True) if count == 0]
    if absent:
        shown = ", ".join(absent[:5]) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
        found.append(f"No test sample is of class {shown}: nothing is known about mistakes there.")
    found += leak_sentences(dataset.source)
    return found


def _badly_priced(rows: Sequence[Judged], groups: Tensor | None, level: float) -> list[str]:
    """Return a warning where the free rival is no rival: plain one-hot labels with argmax cost less."""
    reference = rows[0]
    if reference.min_cost is None:
        return []
    dearer = saved_by_decisions(reference, level, groups)
    if dearer is None or dearer.low is None or dearer.low <= 0:
        return []
    before, after = reference.argmax.cost, reference.min_cost.cost
    decimals, how = decimals_for([before, after]), calibrated_by(reference.calibrations).lower()
    text = (
        f"Minimum-cost decisions cost {reference.spoken} {fixed(after, decimals)}, more than argmax does"
        f" ({fixed(before, decimals)}): its probabilities mislead, even after {how}."
    )
    winner = next((row for row in rows if row.winner), None)
    if winner is None:
        return [text]
    moved = unguarded_change_of(winner.costs, reference.plain_costs, level, groups)
    return [text if moved is None else f"{text} Against argmax, {winner.label}: {change_text(moved)}."]


def _selective(rows: Sequence[Judged], level: float) -> list[str]:
    """Return a warning where a method saves cost but knows less well which of its decisions to doubt."""
    reference, found = rows[0], []

    def column(values: Sequence[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)[:, None]

    for row in rows[1:]:
        cheaper = row.role == "method" and row.moved is not None and row.moved.high is not None
        if not cheaper or row.moved is None or row.moved.high is None or row.moved.high >= 0:
            continue
        worse = metrics.paired_interval(column(row.selective), column(reference.selective), level=level)
        if worse.low is not None and worse.low > 0:
            found.append(row.label)
    if not found:
        return []
    verb = "costs" if len(found) == 1 else "cost"
    return [
        f"{', '.join(found)} {verb} less, but selective prediction gets worse: leaving the doubtful samples to"
        f" somebody else saves less than with {reference.spoken} (area under risk–coverage)."
    ]
