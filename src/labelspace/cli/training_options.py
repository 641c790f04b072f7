"""Options of how a model is trained, for every command that trains one; what they may be is for ``Config`` to say."""

from typing import Annotated

import typer

from labelspace._checks import InputError

Optimizer = Annotated[str, typer.Option("--optimizer", help="sgd, adam or adamw.")]
Momentum = Annotated[float | None, typer.Option("--momentum", help="Of sgd, 0.9 if not said; 0 for none.")]
Schedule = Annotated[
    str,
    typer.Option("--schedule", help="Of the rate: constant, linear, step (--milestones) or exponential (--gamma)."),
]
Milestones = Annotated[
    str | None,
    typer.Option("--milestones", metavar="EPOCHS", help="Where a step schedule multiplies by --gamma: 40,80."),
]
Gamma = Annotated[
    float | None, typer.Option("--gamma", help="The rate's factor at each milestone (0.1 if not said) or every epoch.")
]
WarmupEpochs = Annotated[
    int | None, typer.Option("--warmup-epochs", help="Epochs over which the rate rises linearly to its start.")
]
Clip = Annotated[float | None, typer.Option("--clip", help="Largest norm of the gradient.")]
BestBy = Annotated[
    str | None,
    typer.Option("--best-by", help="Epoch to keep: last, or by validation nll (as --patience does) or error."),
]
Device = Annotated[str | None, typer.Option("--device", help="auto, cpu (if not said), cuda, cuda:1 or mps.")]
Augment = Annotated[
    list[str] | None,
    typer.Option("--augment", help="crop, flip, rotate:20, resized-crop, cutout:8, mixup:0.2, …; repeatable."),
]


def given(*, milestones: str | None = None, **values: object) -> dict[str, object]:
    """Return what was typed as fields of ``Config``; what was not is left out, so that its defaults hold.

    Args:
        milestones: epochs separated by commas.
        values: of other fields, None where nothing was typed.

    Example:
        >>> given(milestones="40, 80", momentum=0.0, gamma=None)
        {'momentum': 0.0, 'milestones': [40, 80]}
    """
    typed = {name: value for name, value in values.items() if value is not None}
    if milestones is None:
        return typed
    parts = [part.strip() for part in milestones.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError("", "--milestones", "epochs separated by commas, such as 40,80", repr(milestones))
    return {**typed, "milestones": [int(part) for part in parts]}
