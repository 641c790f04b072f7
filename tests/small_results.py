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


def of_texts(**facts: Any) -> Result:
    """Return a result of sequences: one-hot and uniform labels, two texts, and neighbours of two tokens."""
    numbers = {"cost": 0.4, "accuracy": 0.6, "bleu": 31.2, "chrf": 55.0, "perplexity": 9.25}
    row = {**REFERENCE, "argmax": numbers, "ece_after": None, "method": "onehot"}
    change = {"estimate": 0.7, "low": 0.1, "high": 1.3, "level": 0.95}
    better = {
        **row,
        "label": "uniform",
        "method": "uniform",
        "role": "method",
        "strength": {"name": "smoothing", "symbol": "σ", "value": 0.1},
        "trials": [{"value": 0.1, "validation_quality": 31.0}],
        "change": change,
        "p_holm": 0.021,
        "marked": True,
        "winner": True,
        "quality": {"value": 31.9},
        "validation_quality": 31.0,
    }
    texts = [["a <script>alert(1)</script> dog", "ein Hund"], ["two cats", "zwei Katzen"]]
    given = {
        "title": "multi30k · judged by BLEU",
        "rows": [{**row, "quality": {"value": 31.2, "low": 29.9, "high": 32.6}, "validation_quality": 30.5}, better],
        "extra": [{"key": "chrf", "title": "chrF ↑"}],
        "measure": {"key": "bleu", "title": "BLEU", "signature": "nrefs:1|case:mixed"},
        "translations": [
            {"source": source, "answer": answer, "rows": ["ein Hunt", "<b>ein Hund</b>"]} for source, answer in texts
        ],
        "neighbours": {"label": "LLS", "rows": [{"name": "Hund", "nearest": ["Hunde", "<script>"]}]},
        "data": {"name": "multi30k", "kind": "sequences"},
        "verdict": {"kind": "better", "subject": "uniform", "margin": 0.5, **change},
    }
    return result(**{**given, **facts})
