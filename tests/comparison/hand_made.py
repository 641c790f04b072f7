"""Rows of a comparison made by hand: costs of every seed and sample, and nothing trained."""

from typing import Any

import torch
from torch import Tensor

from labelspace.comparison.rows import Judged

SEEDS, SAMPLES = 6, 200


def table(level: float, spread: float = 0.0, seed: int = 0, seeds: int = SEEDS, samples: int = SAMPLES) -> Tensor:
    """Return costs around a level, each seed and sample with chance of its own."""
    generator = torch.Generator().manual_seed(seed)
    return level + spread * torch.randn(seeds, samples, generator=generator, dtype=torch.float64)


def row(
    label: str, costs: Tensor, right: float | Tensor = 0.5, plain: float | Tensor | None = None, **facts: Any
) -> Judged:
    """Return a row with these test costs under the headline rule; what is not given is harmless.

    Args:
        label: its name; that of a control is two words.
        costs: ``(seeds, samples)``.
        right: 1 where the headline decision was right.
        plain: 1 where the likeliest class was right; the same by default.
        facts: other fields of the row.
    """
    decided = right if isinstance(right, Tensor) else torch.full_like(costs, right)
    likeliest = decided if plain is None else plain if isinstance(plain, Tensor) else torch.full_like(costs, plain)
    method, _, control = label.partition(" ")
    numbers = {"cost": float(costs.mean()), "accuracy": float(decided.mean())}
    defaults: dict[str, Any] = {
        "method": {"one-hot": "onehot"}.get(method, method),
        "role": "reference" if label == "one-hot" else "control" if control else "method",
        "of": method if control else None,
        "control": control or None,
        "structured": label == "semantic",
        "strength": None,
        "trials": [],
        "runs": [],
        "temperatures": [1.0] * len(costs),
        "validation_cost": float(costs.mean()),
        "argmax": {"cost": 2 * numbers["cost"], "accuracy": float(likeliest.mean())},
        "min_cost": numbers,
        **{"ece": 0.1, "ece_after": 0.05, "nll_after": 0.5, "risk_coverage": 0.1},
        "selective": [0.1] * len(costs),
        "plain_costs": 2 * costs,
    }
    given = {"label": label, "costs": costs, "right": decided, "plain_right": likeliest}
    return Judged.model_validate({**given, **defaults, **facts})
