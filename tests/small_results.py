"""Results of comparisons made by hand: what is not given is harmless."""

from typing import Any

from labelspace.results import Result

REFERENCE = {
    "label": "one-hot",
    "role": "reference",
    "of": None,
    "control": None,
    "strength": None,
    "trials": [],
    "argmax": {"cost": 1.0, "accuracy": 0.5},
    "min_cost": None,
    "ece_after": 0.1,
}


def result(**facts: Any) -> Result:
    """Return a result; ``data`` and ``verdict`` may be given in part."""
    return Result.model_validate(
        {
            "title": "digits · 10 classes",
            "seeds": [0],
            "cost": {"words": "every mistake costs 1"},
            "decision": "argmax",
            "extra": [],
            "rows": [REFERENCE],
            "warnings": [],
            "costliest": [],
            "command": "labelspace compare digits",
            **facts,
            "data": {"name": "digits", "names": ["a", "b"], **facts.get("data", {})},
            "verdict": {
                "kind": "undecided",
                "subject": "one-hot",
                "margin": 0.05,
                "indicative": False,
                "sentences": ["Nothing is known."],
                **facts.get("verdict", {}),
            },
        }
    )
