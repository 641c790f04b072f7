"""The command line: thin; each command parses, calls the library and prints."""

from typing import Annotated

import typer

import labelspace
from labelspace.cli import data
from labelspace.cli.train import train

HELLO = """labelspace: labels that know how classes relate.

  labelspace data list                                   what can be trained on
  labelspace data check PATH                             look at data before training on it
  labelspace train digits --method lls                   train one model
  labelspace train digits --method semantic --space ordinal --smoothing 0.3
  labelspace methods · labelspace models                 what to choose from
  labelspace --help                                      everything else
"""

app = typer.Typer(add_completion=False, no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(data.app, name="data", help="List datasets, and look at data before training on it.")
app.command()(train)


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
def methods() -> None:
    """List the methods that train takes, one a line.

    Example: labelspace methods
    """
    for name in labelspace.methods():
        summary = (labelspace.criterion_class(name).__doc__ or "").splitlines()[0]
        print(f"{name:<10} {summary}")


@app.command()
def models() -> None:
    """List the models that train takes, one a line.

    Example: labelspace models
    """
    print(*labelspace.models.names(), sep="\n")
