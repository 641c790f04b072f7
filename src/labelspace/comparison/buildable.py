"""Which strengths can be tried at all: options of a method may rule some of them out."""

from collections.abc import Sequence
from typing import Any

from labelspace.comparison.entries import Entry
from labelspace.comparison.plan import Plan
from labelspace.training.build import Job, Outline, make_learner, option_spaces
from labelspace.training.config import make_config


def buildable(entries: Sequence[Entry], plan: Plan, job: Job) -> tuple[list[Entry], list[str]]:
    """Return the entries without the strengths that their options rule out, and why these cannot be tried.

    Options with which a method cannot be built at all are refused, before anything is trained.
    """
    kept, problems = [], []
    for entry in entries:
        found = [_problem(entry, options, plan, job) for options in entry.trials()] if entry.options else [None]
        errors = [error for error in found if error is not None]
        if len(errors) == len(found):
            raise errors[0]
        if errors:
            lost = [value for value, error in zip(entry.values, found, strict=True) if error is not None]
            values = tuple(value for value in entry.values if value not in lost)
            if entry.role != "control":
                shown = ", ".join(f"{value:g}" for value in lost)
                problems.append(f"{entry.label} was not tried with {entry.symbol} = {shown}: {errors[0]}")
            entry = entry._replace(values=values)
        kept.append(entry)
    return kept, problems


def _problem(entry: Entry, options: dict[str, Any], plan: Plan, job: Job) -> Exception | None:
    """Return why a method cannot be built with these options; None where it can."""
    config = make_config(**plan.training(), method=entry.method, method_options=options)
    config = config.model_copy(update={"model": job.config.model})
    try:
        make_learner(config, Outline.of(job.dataset), entry.space, option_spaces(config, job.dataset))
    except (ValueError, TypeError) as error:
        return error
    return None
