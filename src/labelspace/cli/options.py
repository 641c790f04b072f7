"""Options that commands share: how data are to be read."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace._checks import InputError
from labelspace.cli.flags import flag as flag_of
from labelspace.data.chosen import plain

AllowDamaged = Annotated[
    bool, typer.Option("--allow-damaged", help="Read files also where they are not what was written, and warn.")
]
Label = Annotated[str | None, typer.Option("--label", help="Column of labels, for tables.")]
Text = Annotated[str | None, typer.Option("--text", help="Column of texts, for tables.")]
GroupBy = Annotated[
    str | None,
    typer.Option("--group-by", help="Column of groups (for folders of pictures a pattern) kept on one side."),
]
Missing = Annotated[str | None, typer.Option("--missing", help="Rule for missing values: error, median or drop.")]
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

CHARACTERS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


def reader_options(
    *,
    label: str | None = None,
    text: str | None = None,
    group_by: str | None = None,
    missing: str | None = None,
    ignore: list[str] | None = None,
    resize: str | None = None,
    delimiter: str | None = None,
    classes: str | None = None,
    validation: str | None = None,
    data_option: list[str] | None = None,
    data_dir: Path | None = None,
) -> dict[str, Any]:
    """Return what was typed as the options of ``labelspace.data.load``, as plain data; what was not is left out.

    Example:
        >>> reader_options(label="diagnosis", resize="48x64", data_option=["test=0.3"])
        {'label': 'diagnosis', 'resize': [48, 64], 'test': 0.3}
    """
    flags = {
        "label": label,
        "text": text,
        "group_by": group_by,
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


def parsed_options(texts: list[str], flag: str = "--option", example: str = "repel=10") -> dict[str, Any]:
    """Read ``name=value`` texts; values are JSON, and text where they are not.

    Args:
        texts: what was typed.
        flag: after which it was typed, for the message.
        example: for the message.

    Example:
        >>> parsed_options(["repel=10", "grad=detached", "both=true"])
        {'repel': 10, 'grad': 'detached', 'both': True}
    """
    parsed: dict[str, Any] = {}
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
