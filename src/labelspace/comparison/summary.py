"""Everything a comparison found, as plain data: what ``comparison.json`` holds, and the report reads."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from labelspace import metrics
from labelspace.comparison.knowledge import Knowledge
from labelspace.comparison.outcome import Judge, Outcome
from labelspace.comparison.plan import TRAINING, Plan
from labelspace.comparison.rows import Row
from labelspace.comparison.verdict import Verdict
from labelspace.data.dataset import Dataset
from labelspace.training.config import Config, make_config

LISTED = 30
SAID_ELSEWHERE = ("data", "data_options", "limit", "model", "backbone", "epochs", "label_noise")
TITLES = {"kappa": "κ² ↑", "balanced_accuracy": "balanced ↑", "group_accuracy": "right group ↑"}


def title_of(plan: Plan, knowledge: Knowledge, dataset: Dataset) -> str:
    """Return one line: the data, the model, how much of it, and what mistakes cost."""
    counts, config = [len(part) for part in dataset.parts.values()], plan.config
    parts = [
        Path(config.data).name,
        f"{len(dataset.names)} classes",
        config.model if config.backbone is None else f"{config.model} on {config.backbone}",
        f"{counts[0]:,} train / {counts[1]:,} val / {counts[2]:,} test",
        *([] if config.label_noise is None else [f"label noise {config.label_noise}"]),
        _seeds(plan),
        f"cost: {knowledge.spoken['cost']}",
    ]
    return " · ".join(parts)


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
    usual, told = make_config(), {"optimizer", "learning_rate", "schedule", "batch_size", *SAID_ELSEWHERE}
    for name in TRAINING:
        if name not in told and getattr(config, name) != getattr(usual, name):
            parts.append(f"{name.replace('_', ' ')} {json.dumps(getattr(config, name))}")
    return ", ".join(parts)


def summary(
    rows: Sequence[Row],
    verdict: Verdict,
    plan: Plan,
    knowledge: Knowledge,
    judge: Judge,
    dataset: Dataset,
) -> dict[str, Any]:
    """Return what does not depend on where the comparison lies."""
    groups, config = dataset.test.groups, plan.config
    return {
        "format": 1,
        "title": title_of(plan, knowledge, dataset),
        "data": {
            "name": Path(config.data).name,
            "kind": dataset.kind,
            "input_shape": list(dataset.input_shape),
            "names": list(dataset.names),
            "counts": {name: len(part) for name, part in dataset.parts.items()},
            "key": dataset.key,
            "group_by": config.data_options.get("group_by"),
            "test_groups": None if groups is None else len(torch.unique(groups)),
        },
        "model": config.model,
        "backbone": config.backbone,
        "epochs": config.epochs,
        "training": training_words(config),
        "label_noise": config.label_noise,
        "seeds": list(plan.chosen_seeds),
        "cost": {"words": knowledge.spoken["cost"], "example": knowledge.spoken["example"], "priced": judge.priced},
        "space": None if knowledge.space is None else {"words": knowledge.spoken["space"]},
        "decision": judge.rule,
        "extra": extra_columns(rows[0]),
        "rows": [row.plain() for row in rows],
        "verdict": verdict.plain(),
    }


def extra_columns(row: Row) -> list[dict[str, str]]:
    """Return the numbers that belong to this kind of classes, beside cost and accuracy, with their titles."""
    return [{"key": key, "title": _title(key)} for key in row.headline if key not in ("cost", "accuracy")]


def costliest(outcome: Outcome, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the confusions that carry most of the cost, counted over all seeds and divided by their number."""
    called = torch.cat(outcome.decisions(outcome.judge.rule))
    y, seeds = torch.cat([each.test_y for each in outcome.scores]), len(outcome.scores)
    found = metrics.costliest_confusions(called, y, outcome.judge.cost, names, LISTED)
    return [
        {
            "true": each.true,
            "predicted": each.predicted,
            "count": each.samples / seeds,
            "cost": each.cost / seeds,
            "share": each.share,
        }
        for each in found
    ]


def _title(key: str) -> str:
    return TITLES.get(key, f"{key.replace('_', ' ')} ↑")
