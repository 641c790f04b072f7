"""Options that commands share: how data are to be read, and errors that speak of flags where flags were typed."""

import ast
import functools
import inspect
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from labelspace.data.chosen import plain
from labelspace.data.loading import option_names

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
    str | None, typer.Option("--delimiter", help="What separates the cells of a CSV file: ';', '|', tab, …")
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

# those that have a flag of their own; everything else goes through --data-option
FLAGS = ("label", "text", "group_by", "missing", "ignore", "resize", "delimiter", "classes", "validation", "data_dir")
CHARACTERS = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}

Command = TypeVar("Command", bound=Callable[..., None])


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
            raise ValueError(f"{_flag(name)} and --data-option {name} say the same thing: give one of them.")
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
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"`{flag}` must be NAME=VALUE. Got {text!r}. For example {flag} {example}.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def speaks_of_flags(*own: str) -> Callable[[Command], Command]:
    """Decorate a command: what the library says of its arguments is said of the flags that were typed.

    Args:
        own: further options of data that are flags of this command, such as ``seed``.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*arguments: Any, **options: Any) -> None:
            try:
                command(*arguments, **options)
            except (ValueError, TypeError) as error:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(in_flags(str(error), command, *own)) from error

        return wrapped  # type: ignore[return-value]

    return decorate


def in_flags(text: str, command: Callable[..., None], *own: str) -> str:
    """Return a message of the library in the words of a command.

    Args:
        text: the message.
        command: whose parameters are its flags.
        own: as in ``speaks_of_flags``.

    Example:
        >>> def command(data, label=None, missing=None, data_option=None): ...
        >>> in_flags("`label` of data.load must be given. Or say missing='drop', or colour=True.", command)
        '`--label` must be given. Or say --missing drop, or --data-option colour=true.'
    """
    typed = tuple(inspect.signature(command).parameters)
    data_flags = {name for name in (*FLAGS, *own) if name in typed}

    def named(match: re.Match[str]) -> str:
        name, owner = match.groups()
        if name == "name_or_path":
            return next((f"`{place.upper()}`" for place in ("data", "path") if place in typed), match[0])
        if owner == "train":
            return f"`{_flag(name)}`" if name in typed else match[0]
        if name in data_flags:
            return f"`{_flag(name)}`"
        return f"`--data-option {name}`" if "data_option" in typed else match[0]

    def assigned(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name in data_flags:
            return _typed(_flag(name), value)
        return f"--data-option {_quoted(name, value)}" if "data_option" in typed else match[0]

    text = re.sub(r"`(\w+)` of (data\.load|train)\b", named, text)
    names = "|".join(sorted(option_names()))
    value = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|\d+(?:\.\d+)?|\w+"
    return re.sub(rf"(?<![\w'\"`./\\-])({names})=({value})?(?![\w=])", assigned, text)


def _typed(flag: str, value: str | None) -> str:
    """Return a flag with its value as people type it."""
    if value is None:
        return flag
    content = _literal(value)
    if isinstance(content, tuple):
        return f"{flag} {'x'.join(str(size) for size in content)}"
    texts = content if isinstance(content, list) else [content]
    return " ".join(f"{flag} {shlex.quote(str(text))}" for text in texts)


def _quoted(name: str, value: str | None) -> str:
    if value is None:
        return f"{name}=…"
    content = _literal(value)
    return shlex.quote(f"{name}={content if isinstance(content, str) else json.dumps(content)}")


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _size(text: str) -> int | list[int]:
    parts = text.lower().replace("×", "x").split("x")
    if not all(part.strip().isdecimal() for part in parts) or len(parts) > 2:
        raise ValueError(f"`--resize` must be a size such as 64 or 48x64. Got {text!r}.")
    sizes = [int(part) for part in parts]
    return sizes[0] if len(sizes) == 1 else sizes
