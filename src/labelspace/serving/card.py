"""The model card: what a trained model is, what it was measured to do, and how to use it, in Markdown."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import torch

from labelspace import metrics
from labelspace.criteria.registry import method_summary
from labelspace.decisions.decided import Judged
from labelspace.decisions.decision import Decision
from labelspace.decisions.rules import RULES
from labelspace.metrics.cost import dearest
from labelspace.results import Result
from labelspace.spec.naming import plain
from labelspace.training.restored import is_estimator
from labelspace.training.run import Run

# so many classes and confusions are listed
CLASSES = 40
CONFUSIONS = 5
# classes with fewer test samples are named: their numbers say little
FEW = 10
INPUTS = {
    "images": "pictures, {shape} (channels × height × width)",
    "table": "rows of a table: {columns}",
    "text": "texts, of which the first {length} words are read",
    "features": "vectors of {shape} numbers",
}
CALIBRATED = {
    "vector": "vector scaling: a scale and a bias for each class",
    "matrix": "matrix scaling: every class's score by those of all",
    "isotonic": "isotonic regression: a rising curve",
}
NEW = {"images": "PICTURES/", "table": "ROWS.csv", "text": "TEXTS.csv", "features": "ARRAYS.npz"}


def card(run: Run, decision: Decision, comparison: Result | None = None) -> str:
    """Return the model card of a run and how it decides.

    Args:
        run: a finished run.
        decision: temperature, prices and rule.
        comparison: what the comparison found that chose it, or None.

    Example:
        >>> from labelspace import train
        >>> run = train("digits", model="linear", epochs=1, limit=100)
        >>> text = card(run, Decision("argmax", 1.0, None, run.preprocessing["names"]))
        >>> text.splitlines()[0]
        '# A classifier of 10 classes: digits'
    """
    name = plain(data_name(run, comparison))
    factors = run.scores.get("test_factors")
    judged = decision.judge(run.scores["test_scores"], run.scores["test_y"], weights=factors)
    sections = [
        [f"# A classifier of {len(decision.names)} classes: {name}", "", *_summary(run, comparison)],
        ["## What it is", "", *table(("", ""), _facts(run, decision))],
        [
            "## Measured on the test part",
            "",
            *measured(run.scores["test_scores"], run.scores["test_y"], decision, judged, factors),
        ],
        ["## Classes", "", *classes(run.scores["test_y"], decision, judged)],
        [] if comparison is None else ["## How it was chosen", "", *chosen(comparison)],
        ["## Caveats", "", *(f"- {sentence}" for sentence in _caveats(run, decision, comparison))],
        ["## How to use it", "", *_use(run)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def data_name(run: Run, comparison: Result | None) -> str:
    """Return what the data are called."""
    if comparison is not None and comparison.data.name:
        return comparison.data.name
    return Path(run.config.data).name or "data"


def _summary(run: Run, comparison: Result | None) -> list[str]:
    counts = {"train": run.result["train_samples"]}
    counts |= {part: len(run.scores[f"{part}_y"]) for part in ("validation", "test")}
    listed = ", ".join(f"{count:,} {part}" for part, count in counts.items() if count)
    seeds = [*dict.fromkeys(str(member.config.seed) for member in run.members or (run,))]
    seeded = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds)}"
    lines = [f"Trained with labelspace {version('labelspace')} on {listed} samples, {seeded}."]
    if comparison is not None and comparison.title:
        lines += ["", plain(comparison.title)]
    return lines


def _facts(run: Run, decision: Decision) -> list[tuple[str, str]]:
    count, kinds = len(run.members), {(_model(each), _labels(each)) for each in run.members}
    if len(kinds) > 1:
        facts = [("model", f"{count} models: the mean of their calibrated probabilities")]
        facts += _members(run)
    else:
        rows, width = run.space.shape
        facts = [
            ("model", f"{count} × {_model(run)}: the mean of their calibrated probabilities" if count else _model(run)),
            ("labels", _labels(run)),
            ("label space", f"{run.space.kind}, {rows} × {width}, from {run.space.source.get('builder', 'a matrix')}"),
        ]
    return [(what, plain(value)) for what, value in (("input", _input(run)), *facts, *decision_facts(decision))]


def _members(run: Run) -> list[tuple[str, str]]:
    """Return what members are and count, those together that differ in their seeds alone."""
    facts, places = [], range(len(run.members))
    alike = itertools.groupby(places, key=lambda place: (_model(run.members[place]), _labels(run.members[place])))
    for (model, labels), group in alike:
        first, *others = group
        name = f"members/{first}" + (f" to {others[-1]}" if others else "")
        share = sum(run.shares[place] for place in (first, *others))
        facts.append((name, f"{model}; {labels}; {share:.0%} of the mean"))
    return facts


def _model(run: Run) -> str:
    config = run.config
    return config.model if config.backbone is None else f"{config.model} on frozen {config.backbone}"


def _labels(run: Run) -> str:
    config = run.config
    options = ", ".join(f"{name} {value}" for name, value in config.method_options.items())
    method = method_summary(config.method).replace("``", "")
    return f"{config.method}{f' ({options})' if options else ''}: {method}"


def decision_facts(decision: Decision) -> list[tuple[str, str]]:
    """Return how scores become a class."""
    return [
        ("decision", _rule(decision)),
        ("temperature", f"{decision.temperature:.4g} (probabilities are softmax(scores / temperature))"),
        *calibration_facts(decision),
    ]


def calibration_facts(decision: Decision) -> list[tuple[str, str]]:
    """Return what is done beside the temperature to make probabilities honest, and for which classes' frequencies."""
    facts = decision.plain()
    given, found = facts.get("calibration"), []
    if isinstance(given, Mapping):
        found.append(("calibration", f"{CALIBRATED[str(given['kind'])]}, of scores / temperature"))
    if isinstance(decision.prior, torch.Tensor):
        shares = zip(decision.names, decision.prior.tolist(), strict=True)
        said = ", ".join(f"{name} {share:.3g}" for name, share in list(shares)[:CLASSES])
        found.append(("class frequencies", f"probabilities are corrected for {said}"))
    return found


def _input(run: Run) -> str:
    facts = run.preprocessing
    given = facts.get("input", {})
    kind = given.get("kind") or facts["kind"]
    shape = given.get("shape") or facts["input_shape"]
    names = [str(column["name"]) for column in given.get("encoding") or []]
    columns = ", ".join(names[:20]) + (" …" if len(names) > 20 else "") or f"{shape[0]} encoded columns"
    return INPUTS[kind].format(shape=" × ".join(map(str, shape)), columns=columns, length=shape[0])


def _rule(decision: Decision) -> str:
    words = RULES[decision.rule].words
    if decision.actions is not None:
        words = words.replace("class", "action") + f": {', '.join(decision.actions[:CLASSES])}"
    if decision.abstain_cost is not None:
        words += f"; none where leaving it to somebody ({decision.abstain_cost:g}) costs less"
    return words


def measured(
    scores: torch.Tensor, y: torch.Tensor, decision: Decision, chosen: Judged, factors: torch.Tensor | None = None
) -> list[str]:
    """Return what decisions about samples of known classes are worth, and the costliest confusions.

    Args:
        scores: of a model, ``(N, K)``.
        y: the classes.
        decision: temperature, prices and rule.
        chosen: what it decided about them.
        factors: what the prices of each are multiplied by, ``(N,)``; None for nothing.
    """
    # one line where the rule is to call the likeliest class
    own = replace(decision, rule="argmax", calibration=None, prior=None)  # what the model itself says
    likeliest = chosen if decision.rule == "argmax" else own.judge(scores, y, weights=factors)
    rules = {RULES["argmax"].title: likeliest, RULES[decision.rule].title: chosen}
    rows = [(words, _right(found.classes, y), *_paid(found, y, decision, factors)) for words, found in rules.items()]
    some = any(bool((found.classes < 0).any()) for found in rules.values())
    header = ("decision", "accuracy of called ↑" if some else "accuracy ↑", "cost per sample ↓")
    lines = table(header[: len(rows[0])], rows)
    nll, ece = metrics.nll(chosen.probabilities, y), metrics.calibration_error(chosen.probabilities, y)
    lines += ["", f"Probabilities: negative log-likelihood {nll:.4f}, calibration error {ece:.4f}."]
    if decision.abstain_cost is not None:
        lines += ["", f"It abstains on {chosen.abstained.double().mean().item():.1%} of the test samples."]
    lines += _shares(decision, chosen)
    worst = _confusions(chosen, y, decision, factors)
    if worst:
        cells = [(plain(one.true), plain(one.predicted), f"{one.samples:g}", f"{one.share:.0%}") for one in worst]
        lines += ["", "The costliest confusions:", "", *table(("true", "called", "samples", "of the cost"), cells)]
    return lines


def _right(called: torch.Tensor, y: torch.Tensor) -> str:
    """Return the accuracy over samples that are called a class."""
    some = called >= 0
    return f"{metrics.accuracy(called[some], y[some]):.4f}" if bool(some.any()) else "–"


def _paid(found: Judged, y: torch.Tensor, decision: Decision, factors: torch.Tensor | None) -> tuple[str, ...]:
    """Return the cost per sample, where there are prices: what is called, or done, where nobody abstains."""
    cost = decision.cost
    if not isinstance(cost, torch.Tensor):
        return ()
    if decision.actions is not None:
        return (f"{found.costs.mean().item():.4g}",)
    costs = metrics.expected_cost(found.classes, y, cost, per_sample=True)
    return (f"{(costs if factors is None else costs * factors).mean().item():.4g}",)


def _shares(decision: Decision, found: Judged) -> list[str]:
    """Return how often each action is done, where there are others than classes."""
    if decision.actions is None:
        return []
    names = decision.action_names
    counts = torch.bincount(found.actions, minlength=len(names))
    order = counts.argsort(descending=True, stable=True)[:CLASSES].tolist()
    rows = [(plain(names[place]), f"{counts[place] / counts.sum():.1%}") for place in order if counts[place]]
    return ["", "What is done about the test samples:", "", *table(("action", "of the samples"), rows)]


def _confusions(
    judged: Judged, y: torch.Tensor, decision: Decision, factors: torch.Tensor | None
) -> list[metrics.CostlyConfusion]:
    """Return the costliest confusions; without prices each mistake costs 1."""
    cost = decision.cost
    if isinstance(cost, torch.Tensor) and (decision.actions is not None or factors is not None):
        some = ~judged.abstained
        cells = y[some] * cost.shape[1] + judged.actions[some]
        known = None if factors is None else factors[some]
        counts, stakes = (torch.bincount(cells, each, cost.numel()).reshape(cost.shape) for each in (None, known))
        return dearest(counts, cost, decision.names, decision.actions or decision.names, CONFUSIONS, stakes)
    found = judged.classes
    # of the classes that occur: there may be tens of thousands of others
    seen, places = torch.unique(torch.cat([found, y]), return_inverse=True)
    names = [decision.names[place] for place in seen.tolist()]
    prices = cost[seen][:, seen] if isinstance(cost, torch.Tensor) else 1 - torch.eye(len(seen), dtype=torch.float64)
    return metrics.costliest_confusions(places[: len(found)], places[len(found) :], prices, names, k=CONFUSIONS)


def classes(y: torch.Tensor, decision: Decision, judged: Judged) -> list[str]:
    """Return a table of the classes: how many samples each has, and how many of them were found.

    Args:
        y: the classes of samples.
        decision: which names them.
        judged: what it decided about them.
    """
    counts = torch.bincount(y, minlength=len(decision.names))
    right = torch.bincount(y[judged.classes == y], minlength=len(decision.names))
    rows = [
        (plain(name), str(count), f"{found / count:.3f}" if count else "–")
        for name, count, found in zip(decision.names, counts.tolist(), right.tolist(), strict=True)
    ]
    lines = table(("class", "test samples", "of these found"), rows[:CLASSES])
    return lines + (
        [f"\n… and {len(rows) - CLASSES} more; decision.json names them all."] if len(rows) > CLASSES else []
    )


def chosen(comparison: Result, how: str = "On validation data, among the methods of a comparison.") -> list[str]:
    """Return how a model was chosen: the verdict, and the command.

    Args:
        comparison: that chose it.
        how: by what.
    """
    verdict = comparison.verdict
    lines = [" ".join([f"**{verdict.kind.capitalize()}.**", *(plain(sentence) for sentence in verdict.sentences)])]
    if comparison.command:
        lines += ["", *code([comparison.command])]
    return [how, "", *lines]


def _caveats(run: Run, decision: Decision, comparison: Result | None) -> Iterable[str]:
    own = "" if comparison is None else ", those of the comparison are means over seeds"
    yield f"The numbers above are of this one run{own}; they hold for samples like those of the test part."
    yield from decision_caveats(run.scores["test_y"], decision)
    if run.config.label_noise is not None:
        yield f"Training labels were made noisy on purpose ({plain(run.config.label_noise)})."
    for warning in () if comparison is None else comparison.warnings:
        yield plain(warning)


def decision_caveats(y: torch.Tensor, decision: Decision) -> Iterable[str]:
    """Yield what a reader should know of decisions.

    Args:
        y: the classes of the samples that they were measured on.
        decision: temperature, prices and rule.
    """
    counts = torch.bincount(y, minlength=len(decision.names)).tolist()
    few = [name for name, count in zip(decision.names, counts, strict=True) if count < FEW]
    if few:
        shown = ", ".join(plain(name) for name in few[:8]) + (" …" if len(few) > 8 else "")
        yield f"Fewer than {FEW} test samples of {len(few)} class{'es' if len(few) > 1 else ''} ({shown})."
    what, them = ("classes", "them") if decision.actions is None else ("actions", "the classes")
    yield f"Every sample gets one of the {what} above, also one that belongs to none of {them}."
    if RULES[decision.rule].needs_prices:
        yield "Decisions are as good as the prices; for others, edit `cost` in decision.json and take its `digest` out."
    if decision.calibration is not None:
        yield "The calibration was fitted on validation data; with another mix of classes, see Decision.with_prior."
    elif decision.temperature == 1:
        yield "The temperature is 1: probabilities are the model's own."
    else:
        yield "The temperature was fitted on validation data; with another mix of classes, fit it again."


def _use(run: Run) -> list[str]:
    kind = run.preprocessing.get("input", {}).get("kind") or run.preprocessing["kind"]
    new = NEW[kind]
    export = [] if any(map(is_estimator, run.members or (run,))) else ["labelspace export . --onnx model.onnx"]
    lines = code([f"labelspace predict . {new} -o predictions.csv", *export])
    if run.members:
        alone = "Who wants a single model takes members/0, of the row that was cheapest on validation data:"
        lines += ["", alone, "", *code([f"labelspace predict members/0 {new} -o predictions.csv"])]
    python = [
        "from labelspace import Decision, Run",
        "",
        'run, decision = Run.load("."), Decision.load("decision.json")',
        f'names = decision.doing(run.scores_of("{new}"))',
    ]
    return ["In this folder:", "", *lines, "", *code(python, "python")]


def code(lines: Sequence[str], language: str = "") -> list[str]:
    """Return lines as a block of code."""
    # a fence longer than any inside cannot be closed by the content
    longest = max((len(ticks) for line in lines for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
