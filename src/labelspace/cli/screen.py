"""What commands share: one way to print, one progress bar, and one way to say that the input was bad.

Everything that is printed goes through ``shown``: names of classes, files and columns come from data, and must not be
able to move the cursor, to change colours, or to look like something else.
"""

import functools
import json
import sys
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from labelspace._checks import InputError, WorkError
from labelspace.cli.stopping import exit_code, farewell, kept

if TYPE_CHECKING:
    from labelspace.training.loop import Numbers

# control and format characters, halves of characters, and what ends a line without looking like it
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")

NO_MEMORY = (
    "this takes more memory than there is. Give fewer samples (--limit), smaller pictures (--resize), fewer columns "
    "(--ignore) or smaller batches (--batch-size), or use a machine with more memory."
)

OUR_FAULT = "a fault of ours; please report what follows, with the output of `labelspace doctor`."

Arguments = ParamSpec("Arguments")


def shown(text: object) -> str:
    r"""Return a text in which characters that steer a terminal, or that nobody sees, are written out.

    Example:
        >>> print(shown("\x1b[31mred\x1b[0m [bold] \u202etxt.exe"))
        \x1b[31mred\x1b[0m [bold] \u202etxt.exe
    """
    return "".join(letter if _is_seen(letter) else _escape(letter) for letter in str(text))


def in_one_line(text: object) -> str:
    r"""Return a message in one line: a name that holds a break could otherwise say something in our name.

    Example:
        >>> print(in_one_line("no class 'a\nlabelspace: all is well'"))
        no class 'a\nlabelspace: all is well'
    """
    return shown(text).replace("\n", r"\n")


def _is_seen(letter: str) -> bool:
    return letter in "\n\t" or unicodedata.category(letter) not in UNSEEN


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()


class Screen(Console):
    """A console on which a text is a text: no markup, no emoji names, nothing that steers the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return what is printed for a text, by itself or in a cell of a table."""
        kept = {name: options[name] for name in ("style", "justify", "overflow") if options.get(name) is not None}
        return Text(shown(text), **kept)


# piped output is 100 columns wide, whatever the terminal's width was
console = Screen(width=None if sys.stdout.isatty() else 100, highlight=False)
errors = Screen(stderr=True, highlight=False)


def print_json(content: object) -> None:
    """Print plain data as JSON; what ``shown`` would write out is escaped as JSON does it."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    # such letters are only inside of strings, where JSON has an escape for every sixteen bits
    typer.echo("".join(letter if _is_seen(letter) else _json_escape(letter) for letter in text))


def _json_escape(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def print_file(text: str) -> None:
    """Print the content of a file: as it is into a pipe or a file, and written out on a terminal."""
    sys.stdout.write(shown(text) if sys.stdout.isatty() else text)


class Words(TextColumn):
    """A column of a bar whose text is a text."""

    def render(self, task: Task) -> Text:
        """Return what stands there."""
        return Text(shown(self.text_format.format(task=task)))


def bars(*more: str) -> Progress:
    """Return bars on stderr, with further texts behind them; quiet where that is no terminal."""
    columns = (Words("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, *map(Words, more), console=errors, transient=True, disable=not errors.is_terminal)


def bad_input_exits(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Turn bad input into one clear line and exit code 2, and work that failed into exit code 1.

    Anything else is a fault of ours: it keeps its traceback, and exits with 1 too.
    """

    @functools.wraps(command)
    def wrapped(*arguments: Arguments.args, **options: Arguments.kwargs) -> None:
        warnings.showwarning = _note  # type: ignore[assignment]
        try:
            command(*arguments, **options)
        except typer.Exit:  # which is a RuntimeError
            raise
        except (InputError, FileNotFoundError, PermissionError, IsADirectoryError, ImportError) as error:
            raise _said(in_one_line(error), 2) from error
        except (WorkError, OSError) as error:
            raise _said(error, 1) from error
        except KeyboardInterrupt as error:
            errors.print(farewell(), style="yellow")
            raise typer.Exit(exit_code(error)) from error
        except Exception as error:
            if _is_of_memory(error):
                raise _said(NO_MEMORY, 1) from error
            errors.print(f"labelspace: {OUR_FAULT}", style="red", soft_wrap=True)
            raise

    return wrapped


def _said(what: object, code: int) -> typer.Exit:
    errors.print(f"labelspace: {what}", style="red", soft_wrap=True)
    return typer.Exit(code)


def _is_of_memory(error: BaseException) -> bool:
    """Return whether something did not fit into memory, which torch says in an error of its own."""
    text = str(error)
    return isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text


def _note(message: Warning | str, *place: object) -> None:
    """Say a warning of the library in one line; where in the code it was raised helps nobody here."""
    errors.print(f"labelspace: {in_one_line(message)}", style="yellow", soft_wrap=True)


class TrainingBar:
    """A bar of epochs with the time left, on stderr; quiet where that is no terminal.

    Args:
        title: what is being trained.
        tensorboard: a folder for TensorBoard events, or None.
    """

    def __init__(self, title: str, tensorboard: Path | None = None) -> None:
        """Make the bar and, where asked for, the writer."""
        self.bar = bars("{task.fields[note]}")
        self.task = self.bar.add_task(title, total=None, note="")
        self.writer = None if tensorboard is None else _writer(tensorboard)

    def __enter__(self) -> Self:
        """Show it."""
        kept(False)
        self.bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        """Take it away."""
        if problem[0] is None:
            kept(True)
        self.bar.stop()
        if self.writer is not None:
            self.writer.close()

    def report(self, event: str, numbers: "Numbers") -> None:
        """Take a report of the training loop."""
        if event in ("resumed", "saved", "finished", "features"):
            kept(True)
        if event == "features":
            self.bar.update(self.task, completed=int(numbers["done"]), total=int(numbers["of"]), note="features")
        if event == "resumed":
            errors.print(f"going on at epoch {numbers['epoch']}, step {numbers['step']}", style="yellow")
        if event == "finished":
            errors.print(f"already finished, read from {numbers['folder']}", style="yellow", soft_wrap=True)
        if event != "epoch":
            return
        note = f"loss {numbers['train_loss']:.3f}"
        if "validation_accuracy" in numbers:
            note += f"  validation {numbers['validation_accuracy']:.3f}"
        self.bar.update(self.task, completed=int(numbers["epoch"]) + 1, total=int(numbers["epochs"]), note=note)
        if self.writer is not None:
            for name in ("train_loss", "validation_nll", "validation_accuracy", "learning_rate"):
                if name in numbers:
                    self.writer.add_scalar(name, numbers[name], numbers["epoch"])


def _writer(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ImportError('TensorBoard is not installed: pip install "labelspace[tensorboard]".') from error
    return SummaryWriter(str(folder))
