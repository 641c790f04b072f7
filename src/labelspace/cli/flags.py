"""What the library says of its arguments, said of the flags that were typed."""

import functools
import inspect
import json
import shlex
from collections.abc import Callable
from typing import ParamSpec

from labelspace._checks import InputError, Setting

# options of data that have a flag of their own; everything else goes through --data-option
OF_DATA = (
    "label",
    "text",
    "group_by",
    "cost_column",
    "missing",
    "ignore",
    "resize",
    "delimiter",
    "classes",
    "validation",
    "data_dir",
)
COMMANDS = (
    "train",
    "compare",
    "compare_scores",
    "predict",
    "Processes",
)  # functions whose arguments are flags of the command of that name

PLACES = ("data", "path", "run", "new")  # parameters that are typed without a flag
# what other parts of the library call it (owner and argument, all where that is empty), and where it may be typed
TYPED_AT = {
    ("Run.load", "folder"): ("run", "teacher"),
    ("Run", "x"): ("new",),
    ("Decision", "abstain_cost"): ("abstain_cost",),
    ("Decision", "capacity"): ("capacity",),
    ("labelspace", "actions"): ("actions",),
    ("labelspace", "capacity"): ("capacity",),
    ("Decision", "prior"): ("prior",),
    ("label_noise", ""): ("label_noise",),
    ("LabelNoise", ""): ("label_noise",),
    ("augmentation", ""): ("augment",),
    ("Augment", ""): ("augment",),
    ("labelspace", "senses"): ("senses",),
    ("wordnet", "senses"): ("senses",),
    ("make_criterion", "name"): ("method", "methods"),
    ("make_criterion", "option name"): ("option",),
    ("models.build", "name"): ("model",),
    ("train", "method"): ("method", "methods"),
    ("train", "method_options"): ("option",),
    ("compare", "method_options"): ("option",),
    ("compare", "probabilities"): ("inverted",),
}

Arguments = ParamSpec("Arguments")


def speaks_of_flags(*own: str) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """Decorate a command: errors about arguments of the library are raised about its flags.

    Args:
        own: further options of data that are flags of this command, such as ``seed``.
    """

    def decorate(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
        @functools.wraps(command)
        def wrapped(*arguments: Arguments.args, **options: Arguments.kwargs) -> None:
            try:
                command(*arguments, **options)
            except InputError as error:
                raise Flags(command, *own).translated(error) from error

        return wrapped

    return decorate


class Flags:
    """The flags of a command.

    Args:
        command: whose parameters they are.
        own: as in ``speaks_of_flags``.

    Example:
        >>> def command(data, label=None, missing=None, data_option=None): ...
        >>> Flags(command).setting(Setting("missing", "drop")), Flags(command).setting(Setting("colour", True))
        ('--missing drop', '--data-option colour=true')
        >>> Flags(command).translated(InputError("data.load", "label", "given", "nothing"))
        InputError('', '--label', 'given', 'nothing', '')
    """

    def __init__(self, command: Callable[..., None], *own: str) -> None:
        """Look at the command's parameters."""
        self.typed = tuple(inspect.signature(command).parameters)
        self.of_data = {name for name in (*OF_DATA, *own) if name in self.typed}

    def translated(self, error: InputError) -> InputError:
        """Return the same error about a flag; arguments without one stay as they are."""
        name = self._name(error.owner, error.argument)
        parts = tuple(self.setting(part) if isinstance(part, Setting) else part for part in error.parts)
        owner, argument = (error.owner, error.argument) if name is None else ("", name)
        translated = InputError(owner, argument, error.expected, error.got, "".join(parts))
        translated.file = error.file
        return translated

    def setting(self, setting: Setting) -> str:
        """Return a setting of data as people type it."""
        if setting.name in self.of_data and setting.value is ...:
            return flag(setting.name)
        if setting.name in self.of_data:
            return _typed(flag(setting.name), setting.value)
        if "data_option" not in self.typed:
            return str(setting)
        value = str(setting).partition("=")[2] if setting.value is ... else _json(setting.value)
        return f"--data-option {shlex.quote(f'{setting.name}={value}')}"

    def _name(self, owner: str, argument: str) -> str | None:
        begins = owner.partition("(")[0].partition(" ")[0]  # `make_criterion('lls')`, `label_noise 'pairwise:2'`
        places = TYPED_AT.get((begins, argument)) or TYPED_AT.get((begins, ""), ())
        typed = next((place for place in places if place in self.typed), None)
        if typed is not None:
            return typed.upper() if typed in PLACES else flag(typed)
        if argument == "name_or_path":
            return next((place.upper() for place in ("data", "path") if place in self.typed), None)
        if owner in COMMANDS:
            return flag(argument) if argument in self.typed and argument != "data" else None
        if owner != "data.load":
            return None
        if argument in self.of_data:
            return flag(argument)
        return f"--data-option {argument}" if "data_option" in self.typed else None


def flag(name: str) -> str:
    """Return the flag of a parameter."""
    return f"--{name.replace('_', '-')}"


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _typed(name: str, value: object) -> str:
    """Return a flag with its value as people type it."""
    if isinstance(value, tuple):
        return f"{name} {'x'.join(str(size) for size in value)}"
    texts = value if isinstance(value, list) else [value]
    return " ".join(f"{name} {shlex.quote(str(text))}" for text in texts)
