"""What commands share: one console, one progress bar, and one way to say that the input was bad."""

import functools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from labelspace.cli.stopping import exit_code, farewell

# piped output is 100 columns wide, whatever the terminal's width was
console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
errors = Console(stderr=True, highlight=False)

NO_MEMORY = (
    "this takes more memory than there is. Give fewer samples (--limit), smaller pictures (--resize), fewer columns "
    "(--ignore) or smaller batches (--batch-size), or use a machine with more memory."
)

Command = TypeVar("Command", bound=Callable[..., None])


def bad_input_exits(command: Command) -> Command:
    """Turn bad input into one clear line and exit code 2, and work that failed into exit code 1; never a traceback."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        warnings.showwarning = _note  # type: ignore[assignment]
        try:
            command(*arguments, **options)
        except typer.Exit:  # which is a RuntimeError
            raise
        except (ValueError, TypeError, FileNotFoundError, PermissionError, IsADirectoryError, ImportError) as error:
            errors.print(f"labelspace: {error}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(2) from error
        except (MemoryError, RuntimeError, OSError) as error:
            said = NO_MEMORY if _is_of_memory(error) else error
            errors.print(f"labelspace: {said}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as error:
            errors.print(farewell(), style="yellow")
            raise typer.Exit(exit_code(error)) from error

    return wrapped  # type: ignore[return-value]


def _is_of_memory(error: BaseException) -> bool:
    """Return whether something did not fit into memory, which torch says in an error of its own."""
    text = str(error)
    return isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text


def _note(message: Warning | str, *place: Any) -> None:
    """Say a warning of the library in one line; where in the code it was raised helps nobody here."""
    errors.print(f"labelspace: {message}", style="yellow", markup=False, soft_wrap=True)


class TrainingBar:
    """A bar of epochs with the time left, on stderr; quiet where that is no terminal.

    Args:
        title: what is being trained.
        tensorboard: a folder for TensorBoard events, or None.
    """

    def __init__(self, title: str, tensorboard: Path | None = None) -> None:
        """Make the bar and, where asked for, the writer."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, TextColumn("{task.fields[note]}"), console=errors, transient=True)
        self.bar.disable = not errors.is_terminal
        self.task = self.bar.add_task(title, total=None, note="")
        self.writer = None if tensorboard is None else _writer(tensorboard)

    def __enter__(self) -> Self:
        """Show it."""
        self.bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        """Take it away."""
        self.bar.stop()
        if self.writer is not None:
            self.writer.close()

    def report(self, event: str, numbers: dict[str, Any]) -> None:
        """Take a report of the training loop."""
        if event == "resumed":
            errors.print(f"going on at epoch {numbers['epoch']}, step {numbers['step']}", style="yellow")
        if event == "finished":
            errors.print(f"already finished, read from {numbers['folder']}", style="yellow", soft_wrap=True)
        if event != "epoch":
            return
        note = f"loss {numbers['train_loss']:.3f}"
        if "validation_accuracy" in numbers:
            note += f"  validation {numbers['validation_accuracy']:.3f}"
        self.bar.update(self.task, completed=numbers["epoch"] + 1, total=numbers["epochs"], note=note)
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
