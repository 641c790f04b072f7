"""What people type: options of data and of training that commands share, and those of methods, seeds and plans."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from labelspace import _checks
from labelspace._checks import InputError
from labelspace.cli.flags import flag as flag_of
from labelspace.data.chosen import plain
from labelspace.decisions.choosing import CALIBRATIONS

AllowDamaged = Annotated[
    bool, typer.Option("--allow-damaged", help="Read files also where they are not what was written, and warn.")
]
Label = Annotated[
    str | None, typer.Option("--label", help="Column of labels, for tables; guessed only where it is clear.")
]
Text = Annotated[str | None, typer.Option("--text", help="Column of texts, for tables.")]
GroupBy = Annotated[
    str | None,
    typer.Option("--group-by", help="Column of groups (for folders of pictures a pattern) kept on one side."),
]
CostColumn = Annotated[
    str | None,
    typer.Option("--cost-column", help="Column of numbers that multiply each sample's prices (an amount); no feature."),
]
Missing = Annotated[
    str | None,
    typer.Option("--missing", help="Rule for missing values: error, indicator (filled and marked), median or drop."),
]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", help="Column to leave out; may be repeated.")]
Resize = Annotated[
    str | None, typer.Option("--resize", help="Size of pictures: 64, or 48x64 for height x width.", metavar="SIZE")
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="What separates the cells of a table, if not found by looking: space, ^, …"),
]
Classes = Annotated[
    str | None,
    typer.Option("--classes", help='Only these classes, in this order: cat,dog,bird; or "first 5", "first 50%".'),
]
Validation = Annotated[
    str | None,
    typer.Option(
        "--validation",
        help='Which training samples choices are made on: a share (0.1), "first 5000", "last 10%"; none trains on all.',
    ),
]
DataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--data-option", metavar="NAME=VALUE", help="Any other option of the reader: skip_unreadable=true, test=0.3, …"
    ),
]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Where datasets lie; else $LABELSPACE_DATA, else the cache folder.")
]

Calibrated = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(CALIBRATIONS),
        help="How scores become probabilities; auto chooses on validation data, as far as there are rows enough.",
        show_default="auto",
    ),
]
Senses = Annotated[
    list[str] | None,
    typer.Option(
        "--senses",
        metavar="NAME=SENSE|FILE",
        help="With the space wordnet: the sense of a class, such as saw=saw.n.02, or a file of such lines. Repeatable.",
    ),
]

CHARACTERS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
# how a model is trained; what they may be is for ``Config`` to say
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
    typer.Option(
        "--best-by", help="Epoch to keep: last, or by validation nll (as --patience does), calibrated nll or error."
    ),
]
Device = Annotated[str | None, typer.Option("--device", help="auto, cpu (if not said), cuda, cuda:1 or mps.")]
Augment = Annotated[
    list[str] | None,
    typer.Option("--augment", help="crop, flip, rotate:20, resized-crop, cutout:8, mixup:0.2, …; repeatable."),
]

OTHER_FLAGS = {"method_options": "--option", "data_options": "--data-option", "probabilities": "--inverted"}


def reader_options(
    *,
    label: str | None = None,
    text: str | None = None,
    group_by: str | None = None,
    cost_column: str | None = None,
    missing: str | None = None,
    ignore: list[str] | None = None,
    resize: str | None = None,
    delimiter: str | None = None,
    classes: str | None = None,
    validation: str | None = None,
    data_option: list[str] | None = None,
    data_dir: Path | None = None,
) -> dict[str, object]:
    """Return what was typed as the options of ``labelspace.data.load``, as plain data; what was not is left out.

    Example:
        >>> reader_options(label="diagnosis", resize="48x64", data_option=["test=0.3"])
        {'label': 'diagnosis', 'resize': [48, 64], 'test': 0.3}
    """
    flags = {
        "label": label,
        "text": text,
        "group_by": group_by,
        "cost_column": cost_column,
        "missing": missing,
        "ignore": list(ignore) if ignore else None,
        "resize": None if resize is None else _size(resize),
        "delimiter": None if delimiter is None else CHARACTERS.get(delimiter.lower(), delimiter),
        "classes": classes,
        "validation": validation,
        "data_dir": None if data_dir is None else str(data_dir),
    }
    given = {name: value for name, value in flags.items() if value is not None}
    others = parsed_options(data_option or [], "--data-option", "test=0.3")
    for name in others:
        if name in given:
            raise InputError("", flag_of(name), f"given once, without --data-option {name}", "both")
    return plain({**given, **others})


def parsed_options(texts: list[str], flag: str = "--option", example: str = "repel=10") -> dict[str, object]:
    """Read ``name=value`` texts; values are JSON, and text where they are not.

    Args:
        texts: what was typed.
        flag: after which it was typed, for the message.
        example: for the message.

    Example:
        >>> parsed_options(["repel=10", "grad=detached", "both=true"])
        {'repel': 10, 'grad': 'detached', 'both': True}
    """
    parsed: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError("", flag, "NAME=VALUE", repr(text), f"For example {flag} {example}.")
        try:
            parsed[name] = json.loads(value)
        except ValueError:
            parsed[name] = value
    return parsed


def _size(text: str) -> int | list[int]:
    parts = text.lower().replace("×", "x").split("x")
    if not all(part.strip().isdecimal() for part in parts) or len(parts) > 2:
        raise InputError("", "--resize", "a size such as 64 or 48x64", repr(text))
    sizes = [int(part) for part in parts]
    return sizes[0] if len(sizes) == 1 else sizes


def training_fields(*, milestones: str | None = None, **values: object) -> dict[str, object]:
    """Return what was typed as fields of ``Config``; what was not is left out, so that its defaults hold.

    Args:
        milestones: epochs separated by commas.
        values: of other fields, None where nothing was typed.

    Example:
        >>> training_fields(milestones="40, 80", momentum=0.0, gamma=None)
        {'momentum': 0.0, 'milestones': [40, 80]}
    """
    typed = {name: value for name, value in values.items() if value is not None}
    if milestones is None:
        return typed
    parts = [part.strip() for part in milestones.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError("", "--milestones", "epochs separated by commas, such as 40,80", repr(milestones))
    return {**typed, "milestones": [int(part) for part in parts]}


def of_methods(texts: list[str]) -> dict[str, dict[str, object]]:
    """Read ``METHOD.NAME=VALUE`` texts.

    Example:
        >>> of_methods(["lwal.dim=100", "lwal.repel=10", "mixed.learn=class"])
        {'lwal': {'dim': 100, 'repel': 10}, 'mixed': {'learn': 'class'}}
    """
    found: dict[str, dict[str, object]] = {}
    for text in texts:
        parsed = parsed_options([text], "--option", "lwal.dim=100")
        for place, value in parsed.items():
            # a name may hold a dot, an option does not
            method, dot, name = place.rpartition(".")
            if not dot or not method or not name:
                remedy = "For example --option lwal.dim=100."
                if name and not method:
                    remedy = f"Say of which method: --option labelemb.{text}, if it is of labelemb."
                raise _checks.fail("", "--option", "METHOD.NAME=VALUE", repr(text), remedy)
            if name in found.setdefault(method, {}):
                raise _checks.fail("", "--option", "given once for each option", f"{place} twice")
            found[method][name] = value
    return found


def of_settings(texts: list[str], fields: Collection[str], flags: Collection[str]) -> dict[str, object]:
    """Read ``NAME=VALUE`` texts of fields of a plan or of a configuration.

    Args:
        texts: what was typed.
        fields: names of all fields.
        flags: names that have a flag of their own.
    """
    found = parsed_options(texts, "--set", "head_l2=0.1")
    for name in found:
        if name in flags and name in fields:
            instead = OTHER_FLAGS.get(name, f"--{name.replace('_', '-')}")
            raise _checks.fail("", f"--set {name}", f"left out: it is {instead}", "it")
        _checks.choice("", "--set", name, [each for each in fields if each not in flags])
    return found


def seeds_of(text: str) -> int | list[int]:
    """Read a number of seeds, or seeds with commas between.

    Example:
        >>> seeds_of("6"), seeds_of("12, 123"), seeds_of("12,")
        (6, [12, 123], [12])
    """
    parts = [part.strip() for part in text.split(",")]
    listed = parts[:-1] if len(parts) > 1 and not parts[-1] else parts
    try:
        numbers = [int(part) for part in listed]
    except ValueError as error:
        raise _checks.fail("", "--seeds", "a number of seeds, or seeds such as 12,123,1234", repr(text)) from error
    return numbers if len(parts) > 1 else numbers[0]
