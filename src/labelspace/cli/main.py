"""The command line: thin; each command parses, calls the library and prints."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import labelspace
from labelspace import InputError
from labelspace.cli import data, labels
from labelspace.cli.bench import bench
from labelspace.cli.compare import compare
from labelspace.cli.doctor import doctor
from labelspace.cli.export import export
from labelspace.cli.predict import predict
from labelspace.cli.report import report
from labelspace.cli.screen import bad_input_exits, in_one_line, shown
from labelspace.cli.stopping import leave_if_stopped, stop_on_signals
from labelspace.cli.train import train
from labelspace.criteria.registry import method_summary

HELLO = """labelspace: labels that know how classes relate.

  labelspace compare                        would better labels make mistakes cheaper? (on digits, two minutes)
  labelspace data check PATH                look at your own data before training on it
  labelspace compare PATH --cost squared    the same question, on your data, with your prices
  labelspace compare --scores val.npz test.npz --cost prices.csv     without training anything
  labelspace predict RUN/best NEW           use what was found
  labelspace --help                         everything else: train, labels, report, export, bench, doctor, methods, …
"""


class Commands(TyperGroup):
    """The commands, with errors about flags that repeat what was typed without sending it to the terminal."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read what stands before the command."""
        with _readable_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, context: Any) -> object:
        """Read what stands after the command, and do it."""
        with _readable_errors():
            return super().invoke(context)


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own kind, which typer brings under another name since 0.20
            error.message = shown(error.message)  # type: ignore[attr-defined]
        raise


class App(typer.Typer):
    """The commands; called, they are a process of their own, which a signal stops."""

    def __call__(self, *arguments: object, **options: object) -> object:
        """Do what the command line says, and exit."""
        stop_on_signals()
        try:
            return super().__call__(*arguments, **options)
        except SystemExit as end:
            leave_if_stopped(int(end.code or 0))
            raise


app = App(
    cls=Commands, add_completion=False, no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False
)
app.add_typer(data.app, name="data", help="List datasets, and look at data before training on it.")
app.add_typer(labels.app, name="labels", help="Build, show, compare and cut label spaces; files to fill in.")
for command in (compare, train, predict, report, export, bench, doctor):
    app.command()(command)


@app.callback(invoke_without_command=True)
def hello(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Labels that know how classes relate."""
    if version:
        print(f"labelspace {labelspace.__version__}")
    elif context.invoked_subcommand is None:
        print(HELLO, end="")


@app.command()
@bad_input_exits
def methods() -> None:
    """List the methods that train takes, one a line.

    Example: labelspace methods
    """
    for name in labelspace.methods():
        try:
            said = method_summary(name)
        except InputError as error:  # of an installed package that is broken; the others are sound
            said = in_one_line(error)
        print(f"{name:<10} {said}")


@app.command()
@bad_input_exits
def models() -> None:
    """List the models that train takes, one a line.

    Example: labelspace models
    """
    print(*labelspace.models.names(), sep="\n")
