"""Everything a comparison found, as plain data: what ``comparison.json`` holds, and the report reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from labelspace import metrics
from labelspace.comparison.knowledge import Knowledge
from labelspace.comparison.outcome import Judge, Outcome
from labelspace.comparison.plan import Plan
from labelspace.comparison.rows import Row
from labelspace.comparison.verdict import Verdict
from labelspace.data.dataset import Dataset

LISTED = 30
TITLES = {"kappa": "κ² ↑", "balanced_accuracy": "balanced ↑", "group_accuracy": "right group ↑"}


def title_of(plan: Plan, knowledge: Knowledge, dataset: Dataset) -> str:
    """Return one line: the data, the model, how much of it, and what mistakes cost."""
    counts = [len(part) for part in dataset.parts.values()]
    parts = [
        Path(plan.data).name,
        f"{len(dataset.names)} classes",
        plan.model if plan.backbone is None else f"{plan.model} on {plan.backbone}",
        f"{counts[0]:,} train / {counts[1]:,} val / {counts[2]:,} test",
        f"{plan.seeds} {'seed' if plan.seeds == 1 else 'seeds'}",
        f"cost: {knowledge.spoken['cost']}",
    ]
    return " · ".join(parts)


def summary(
    rows: Sequence[Row],
    verdict: Verdict,
    plan: Plan,
    knowledge: Knowledge,
    judge: Judge,
    dataset: Dataset,
) -> dict[str, Any]:
    """Return what does not depend on where the comparison lies."""
    groups = dataset.test.groups
    return {
        "format": 1,
        "title": title_of(plan, knowledge, dataset),
        "data": {
            "name": Path(plan.data).name,
            "kind": dataset.kind,
            "input_shape": list(dataset.input_shape),
            "names": list(dataset.names),
            "counts": {name: len(part) for name, part in dataset.parts.items()},
            "key": dataset.key,
            "group_by": plan.data_options.get("group_by"),
            "test_groups": None if groups is None else len(torch.unique(groups)),
        },
        "model": plan.model,
        "backbone": plan.backbone,
        "epochs": plan.epochs,
        "seeds": list(range(plan.seeds)),
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
