"""The model card of a run of sequences: what it writes, how good that is, and how to use it, in Markdown."""

import math
from collections.abc import Iterable
from importlib.metadata import version

from labelspace.criteria.registry import method_summary
from labelspace.results import Result
from labelspace.sequences.searched import FORCED, ended, words
from labelspace.serving.card import chosen, code, data_name, table
from labelspace.spec.naming import plain
from labelspace.training.run import Run

TEXTS = "TEXTS.txt"


def text_card(run: Run, comparison: Result | None = None) -> str:
    """Return the model card of a run of sequences.

    Args:
        run: a finished run.
        comparison: what the comparison found that chose it, or None.
    """
    name = plain(data_name(run, comparison))
    sections = [
        [f"# A model that writes texts: {name}", "", *_summary(run, comparison)],
        ["## What it is", "", *table(("", ""), _facts(run))],
        ["## Measured on the test part", "", *_measured(run, comparison)],
        [] if comparison is None else ["## How it was chosen", "", *chosen(comparison)],
        ["## Caveats", "", *(f"- {sentence}" for sentence in _caveats(comparison))],
        ["## How to use it", "", *_use()],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _summary(run: Run, comparison: Result | None) -> list[str]:
    counts = {"train": run.result["train_samples"]}
    counts |= {part: len(run.translations.get(part, ())) for part in ("validation", "test")}
    listed = ", ".join(f"{count:,} {part}" for part, count in counts.items() if count)
    lines = [f"Trained with labelspace {version('labelspace')} on {listed} pairs of texts, seed {run.config.seed}."]
    return lines if comparison is None else [*lines, "", plain(comparison.title)]


def _facts(run: Run) -> list[tuple[str, str]]:
    config = run.config
    method = method_summary(config.method).replace("``", "")
    options = ", ".join(f"{name} {value}" for name, value in config.method_options.items())
    forced = ended(run.result["test"], len(run.translations.get("test", ())))
    facts = [
        ("input", f"texts of {run.preprocessing['tokens']:,} known tokens"),
        ("output", f"texts of {len(run.space):,} known tokens"),
        ("model", config.model),
        ("labels", f"{config.method}{f' ({options})' if options else ''}: {method}"),
        ("search", "; ".join(filter(None, (words(run.result.get("search", {})) or f"beam of {config.beam}", forced)))),
    ]
    return [(what, plain(value)) for what, value in facts]


def _measured(run: Run, comparison: Result | None) -> list[str]:
    test = run.result["test"]
    measure = None if comparison is None else comparison.measure
    texts = [name for name in test if name not in ("accuracy", "nll", FORCED)]
    rows = [("chrF" if name == "chrf" else name.upper(), f"{test[name]:.2f}") for name in texts]
    rows += [("token accuracy", f"{test['accuracy']:.4f}"), ("perplexity", f"{math.exp(test['nll']):.2f}")]
    if measure is None:
        return table(("measure", "value"), rows)
    named = [(f"**{measure.title}**" if name == measure.title else name, text) for name, text in rows]
    return [*table(("measure", "value"), named), "", f"{measure.title}: `{measure.signature}`"]


def _caveats(comparison: Result | None) -> Iterable[str]:
    own = "" if comparison is None else ", those of the comparison are means over seeds"
    yield f"The numbers above are of this one run{own}; they hold for texts like those of the test part."
    yield "It writes something for every text, also for one in another language, and what it writes may be wrong."
    for warning in () if comparison is None else comparison.warnings:
        yield plain(warning)


def _use() -> list[str]:
    lines = code([f"labelspace predict . {TEXTS} -o translations.txt"])
    python = ["from labelspace import Run", "", 'run = Run.load(".")', 'print(run.translate(["a text"]))']
    return ["In this folder:", "", *lines, "", *code(python, "python")]
