"""What each method needs from a training loop, read from the facts that its class and its criterion declare."""

from collections.abc import Sequence

from labelspace.criteria.base import Criterion, Labels
from labelspace.criteria.registry import criterion_class, make_criterion, methods
from labelspace.sources.matrices import ordinal

COLUMNS = {
    "parameters": "its parameters in the optimizer",
    "features": "`features=`",
    "index": "`index=`",
    "teacher": "`teacher=`",
    "end_epoch": "`end_epoch()`",
    "predict": "`predict()`",
}
SUPPLIED = {"samples": 4, "epochs": 2, "in_features": 3}  # what a loop knows of itself, for a criterion to look at


def loop_needs(criterion: Criterion) -> tuple[str, ...]:
    """Return what a loop must do for a criterion beside calling it with outputs and labels.

    Args:
        criterion: as it was built: its options may change the answer.

    Returns:
        Some of ``"parameters"`` (in the optimizer), ``"features"``, ``"index"``, ``"teacher"`` (with every call),
        ``"end_epoch"`` and ``"predict"`` (or ``scores``: the largest output does not predict); nothing for most.

    Example:
        >>> from labelspace import LearnableSmoothing, OneHot, OnlineSmoothing
        >>> [loop_needs(criterion) for criterion in (OneHot(3), LearnableSmoothing(3), OnlineSmoothing(3))]
        [(), ('parameters',), ('end_epoch',)]
    """
    learns = any(parameter.requires_grad for parameter in criterion.parameters())
    counts = bool(criterion.statistics) and criterion.commit_every is None
    nearest = not criterion.argmax_predicts
    asked = {"parameters": learns, "end_epoch": counts, "predict": nearest, **dict.fromkeys(criterion.needs, True)}
    return tuple(name for name in COLUMNS if asked.get(name, False))


def needs_table(names: Sequence[str] | None = None) -> str:
    """Return what methods need as a Markdown table; ``*`` marks what only some of their options need.

    Args:
        names: of methods; all by default.

    Example:
        >>> print(needs_table(["onehot", "ols"]).partition("|---|")[2])
        ---|---|---|---|---|---|---|
        | `onehot` | ● | | | | | | |
        | `ols` | | | | | | ● | |
    """
    titles = ["method", "nothing", *COLUMNS.values()]
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for name in methods() if names is None else names:
        found = loop_needs(_usual(name))
        kind = criterion_class(name)
        sometimes = {"parameters": bool(kind.label_parameters), "end_epoch": bool(kind.end_epoch_options)}
        marks = ["●" if one in found else "*" if sometimes.get(one, False) else "" for one in COLUMNS]
        lines.append(
            "|" + "".join(f" {cell} |" if cell else " |" for cell in [f"`{name}`", "" if found else "●", *marks])
        )
    return "\n".join(lines)


def _usual(name: str) -> Criterion:
    """Return a criterion of a method as it is without options."""
    kind = criterion_class(name)
    labels: Labels = ordinal(3) if kind.requires_space else 3
    return make_criterion(name, labels, **{option: SUPPLIED[option] for option in kind.engine_supplies})
