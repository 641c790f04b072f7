"""`labelspace bench`: what methods cost on this machine, beside plain cross-entropy."""

import warnings
from typing import Annotated

import torch
import typer

from labelspace import _checks
from labelspace._checks import InputError
from labelspace._devices import environment
from labelspace.analysis.timing import Timing, built, loss_timings
from labelspace.cli.screen import bad_input_exits, console, errors, print_json
from labelspace.criteria import criterion_class

USUAL = "onehot,uniform,semantic,lls,ols,focal,maxent"


@bad_input_exits
def bench(
    methods: Annotated[str, typer.Option(help="Names of methods, with commas.")] = USUAL,
    classes: Annotated[str, typer.Option(help="Numbers of classes, with commas.")] = "10,1000",
    batch: Annotated[int, typer.Option(help="Samples of one call.")] = 128,
    seconds: Annotated[float, typer.Option(help="About how long each method is measured.")] = 0.5,
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time the losses of methods on this machine: forward and backward, as ratios to F.cross_entropy.

    All take turns, so that other work on the machine slows all of them. Quartiles are those of the rounds.

    Example: labelspace bench --classes 10,1000 --methods semantic,lls
    """
    counts = [_checks.whole("bench", "classes", _number(each), low=2) for each in classes.split(",")]
    asked: dict[str, dict[str, object]] = {name.strip(): {} for name in methods.split(",") if name.strip()}
    torch.set_num_threads(_checks.whole("bench", "threads", threads, low=1))
    size = _checks.whole("bench", "batch", batch, low=1)
    for name in asked:
        criterion_class(name)  # a wrong name is a mistake, whatever else is asked for
    found: list[Timing] = []
    refused: list[dict[str, object]] = []
    with errors.status("measuring …"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # batches that are small for so many classes: none is trained on
        for count in counts:
            apart = {name: _refused(name, count) for name in asked}
            refused += [{"name": name, "classes": count, "why": why} for name, why in apart.items() if why]
            kept = {name: options for name, options in asked.items() if not apart[name]}
            found += loss_timings(kept, count, batch=size, seconds=_checks.number("bench", "seconds", seconds, low=0))
    if as_json:
        timings = [one._asdict() for one in found]
        print_json({"batch": size, "threads": threads, **environment(), "timings": timings, "refused": refused})
        return
    console.print(f"{'':<16} {'classes':>8} {'ratio':>7}  {'quartiles':<13} {'µs':>10}")
    for one in found:
        quartiles = f"{one.low:.2f}–{one.high:.2f}"
        console.print(f"{one.name:<16} {one.classes:>8} {one.ratio:>7.2f}  {quartiles:<13} {one.microseconds:>10.1f}")
    for each in refused:
        console.print(f"{each['name']:<16} {each['classes']:>8} refused: {each['why']}")


def _refused(name: str, classes: int) -> str:
    """Return why a method does without so many classes; nothing where it does not."""
    try:
        built(name, classes, {})
    except InputError as error:
        return str(error)
    return ""


def _number(text: str) -> object:
    return int(text) if text.strip().isdecimal() else text
