"""The card of a decision without a model: what it was fitted on, what it was measured to save, and how to use it."""

from collections.abc import Iterable
from importlib.metadata import version

from torch import Tensor

from labelspace.decisions.decision import Decision
from labelspace.results import Result
from labelspace.serving.card import chosen, classes, code, decision_caveats, decision_facts, measured, table
from labelspace.serving.score_kind import SMALLEST, Kind
from labelspace.spec.naming import plain

FORMS = {
    "logits": "logits, larger is likelier, of any model: rows need not sum to anything",
    "probabilities": "probabilities, whose rows sum to 1; their logarithms are divided by the temperature",
}

TAKEN = {"logits": "scores", "probabilities": f"numpy.log(numpy.clip(scores, {SMALLEST:g}, None))"}
CHOSEN = "The decision is that of the model, and of its seed, which costs least on validation data."


def decision_card(
    decision: Decision,
    kind: Kind,
    model: str,
    scores: Tensor,
    y: Tensor,
    comparison: Result | None = None,
    factors: Tensor | None = None,
) -> str:
    """Return the card of a decision about scores that a model elsewhere makes.

    Args:
        decision: temperature, prices and rule.
        kind: what the scores are that it takes.
        model: whose scores it was fitted on.
        scores: of the test samples, as logits, ``(N, K)``.
        y: their classes.
        comparison: what the comparison of scores found.
        factors: what the prices of each sample are multiplied by; None for nothing.
    """
    judged = decision.judge(scores, y, weights=factors)
    facts = [("model", model), ("scores", FORMS[kind]), *decision_facts(decision)]
    sections = [
        [f"# A decision about {len(decision.names)} classes", "", *_summary(model, comparison)],
        ["## What it is", "", *table(("", ""), [(what, plain(value)) for what, value in facts])],
        ["## Measured on the test part", "", *measured(scores, y, decision, judged, factors)],
        ["## Classes", "", *classes(y, decision, judged)],
        [] if comparison is None else ["## What was found", "", *chosen(comparison, CHOSEN)],
        ["## Caveats", "", *(f"- {sentence}" for sentence in _caveats(y, decision, model, comparison))],
        ["## How to use it", "", *_use(kind)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _summary(model: str, comparison: Result | None) -> list[str]:
    said = f"How scores of {plain(model)} become decisions; the model itself is not here."
    lines = [f"{said} Fitted with labelspace {version('labelspace')}."]
    return lines if comparison is None else [*lines, "", plain(comparison.title)]


def _caveats(y: Tensor, decision: Decision, model: str, comparison: Result | None) -> Iterable[str]:
    yield f"It was fitted on scores of {plain(model)}; those of another model, or of it trained again, need their own."
    yield from decision_caveats(y, decision)
    for warning in () if comparison is None else comparison.warnings:
        yield plain(warning)


def _use(kind: Kind) -> list[str]:
    lines = code(["labelspace predict . NEW.csv -o decisions.csv"])
    said = "NEW is a CSV or Parquet file with a column for each class, or an NPZ file with `scores` and `names`."
    python = [
        *(["import numpy"] if kind == "probabilities" else []),
        "from labelspace import Decision",
        "",
        'decision = Decision.load("decision.json")',
        f"names = decision.doing({TAKEN[kind]})",
    ]
    return ["In this folder:", "", *lines, "", said, "", *code(python, "python")]
