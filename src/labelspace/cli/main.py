"""The command line: thin; each command parses, calls the library and prints."""

import typer

from labelspace.cli import data
from labelspace.cli.train import train

HELLO = """labelspace: labels that know how classes relate.

  labelspace data list                                   what can be trained on
  labelspace data check PATH                             look at data before training on it
  labelspace train digits --method lls                   train one model
  labelspace train digits --method semantic --space ordinal --smoothing 0.3
  labelspace --help                                      everything else
"""

app = typer.Typer(add_completion=False, no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(data.app, name="data", help="List datasets, and look at data before training on it.")
app.command()(train)


@app.callback(invoke_without_command=True)
def hello(context: typer.Context) -> None:
    """Labels that know how classes relate."""
    if context.invoked_subcommand is None:
        print(HELLO, end="")
