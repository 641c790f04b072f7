"""``labelspace labels``: build label spaces and prices, look at them, compare them, and get files to fill in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from labelspace import _checks
from labelspace.cli import options as shared
from labelspace.cli.flags import speaks_of_flags
from labelspace.cli.label_input import (
    OWNER,
    Known,
    chosen_classes,
    known_classes,
    load,
    prices_of,
    space_of,
)
from labelspace.cli.label_views import (
    cheapest,
    cost_template,
    difference,
    heat_map,
    nearest,
    shortened,
    space_template,
    summary,
    title,
)
from labelspace.cli.options import DataDir, DataOption, Label, reader_options
from labelspace.cli.screen import bad_input_exits, console, print_file, print_json
from labelspace.cli.sense_views import sense_lines, senses_of
from labelspace.space import LabelSpace
from labelspace.spec.prices import RULES
from labelspace.spec.senses import with_senses
from labelspace.spec.words import words

MOST_SQUARES = 20
MOST_CLASSES, FEW = 1000, 10  # up to so many classes all are listed, of more a few
# what the number beside a class is; vectors are compared by their metric
NUMBERS = {"relations": "mass", "cosine": "cosine", "cos2": "squared cosine", "euclidean": "distance", "cost": "cost"}

app = typer.Typer(
    name="labels", help="Build, show, compare and cut label spaces; files to fill in.", no_args_is_help=True
)

Spec = Annotated[
    str,
    typer.Argument(
        help="low<mid<high, ordinal, wordnet, text, lda, uniform, groups:…; or a file: groups, a taxonomy, labels."
    ),
]
Classes = Annotated[str | None, typer.Option(help="The classes: cat,dog,car, or how many.")]
Data = Annotated[str | None, typer.Option(help="Take the classes from a dataset: a name, folder or file.")]
Cost = Annotated[
    bool, typer.Option("--cost", help=f"Read it as prices: {', '.join(RULES[1:])}, under=5,over=1 or a CSV file.")
]
Beside = Annotated[str | None, typer.Option("--space", help="With --cost: the space whose order or tree is priced.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
@bad_input_exits
@speaks_of_flags()
def build(
    spec: Spec,
    classes: Classes = None,
    data: Data = None,
    cost: Cost = False,
    space: Beside = None,
    senses: shared.Senses = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write (.safetensors).")] = None,
    label: Label = None,
    data_option: DataOption = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Build a label space, or prices, and write it to a file.

    A taxonomy (lines Pets > cat) gives mass to every class, less with every step between them; groups (lines
    pets: cat, dog, or groups:TAXONOMY for the lowest level of one) keep all of it inside.

    Example: labelspace labels build wordnet --data fashion-mnist -o clothes.safetensors

    Example: labelspace labels build "groups:cat,dog|car,bus" -o groups.safetensors

    Example: labelspace labels build squared --cost --space "low<mid<high" -o prices.safetensors
    """
    options = reader_options(label=label, data_option=data_option, data_dir=data_dir)
    built = _read(spec, known_classes(classes, data, options), cost, space, senses or ())
    if out is not None:
        _save(built, out)
    if as_json:
        print_json({"file": None if out is None else str(out), **summary(built)})
        return
    _print(*title(built))
    _print("nothing is written without -o FILE.safetensors" if out is None else f"written to {out}")


@app.command()
@bad_input_exits
@speaks_of_flags()
def show(
    spec: Spec,
    class_name: Annotated[str | None, typer.Option("--class", help="Only this class.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many of the nearest classes.")] = 5,
    classes: Classes = None,
    data: Data = None,
    cost: Cost = False,
    space: Beside = None,
    senses: shared.Senses = None,
    label: Label = None,
    data_option: DataOption = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show a label space: what it is, the nearest classes of each class, and a picture of it if it is small.

    Of WordNet every class is listed with its sense and the nearest other class, doubtful ones first: where only a part
    of the name is a noun, or where another sense is as near to the three nearest other classes or nearer.

    Of more than 1,000 classes the first ten are shown, or the one you name.

    Example: labelspace labels show clothes.safetensors --class Coat -k 3

    Example: labelspace labels show taxonomy.txt

    Example: labelspace labels show groups:taxonomy.txt

    Example: labelspace labels show wordnet --classes crane,heron,saw,hammer --senses saw=saw.n.02
    """
    options = reader_options(label=label, data_option=data_option, data_dir=data_dir)
    shown = _read(spec, known_classes(classes, data, options), cost, space, senses or ())
    many = len(shown) > MOST_CLASSES
    chosen = shown.names[: FEW if many else None] if class_name is None else (shown.names[shown.index(class_name)],)
    priced = shown.kind == "cost"
    number = NUMBERS[shown.metric or shown.kind]
    others_of = cheapest(shown, chosen, k) if priced else nearest(shown, chosen, k)
    if as_json:
        near = {name: [{"class": other, number: value} for other, value in others_of[name]] for name in chosen}
        told = [sense.to_json() for sense in senses_of(shown, chosen)]
        listed = {"senses": told} if told else {}
        print_json({**summary(shown), **listed, "source": dict(shown.source), "nearest": near})
        return
    _print(
        *title(shown),
        *sense_lines(senses_of(shown, chosen)),
        "",
        "cheapest mistakes" if priced else f"nearest classes ({number})",
    )
    width = max(len(shortened(name)) for name in chosen)
    for name in chosen:
        others = "  ".join(f"{shortened(other)} ({value:.3g})" for other, value in others_of[name])
        _print(f"  {shortened(name):<{width}}  {others}".rstrip())
    if len(chosen) < len(shown) and class_name is None:
        _print(f"  … and {len(shown) - len(chosen):,} more: see one with --class NAME")
    if class_name is None and 1 < len(shown) <= MOST_SQUARES:
        _print("", *heat_map(shown))


@app.command()
@bad_input_exits
@speaks_of_flags()
def diff(
    first: Spec,
    second: Spec,
    k: Annotated[int, typer.Option("-k", help="How many of the classes that differ most.")] = 5,
    classes: Classes = None,
    data: Data = None,
    cost: Cost = False,
    label: Label = None,
    data_option: DataOption = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Say how far two label spaces agree, and for which classes they differ most.

    Example: labelspace labels diff learned.safetensors wordnet
    """
    _checks.whole(OWNER, "k", k, low=1)
    options = reader_options(label=label, data_option=data_option, data_dir=data_dir)
    known = known_classes(classes, data, options)
    one = _read_as("first", first, known, cost)
    # a word such as wordnet has no classes of its own: they are those of the first space
    two = _read_as("second", second, Known(one.names, known.dataset), cost)
    found = difference(one, two)
    if as_json:
        print_json({"first": summary(one), "second": summary(two), **found.to_json(k)})
        return
    _print(f"first   {words(one)}", f"second  {words(two)}", *found.lines(k))


@app.command()
@bad_input_exits
@speaks_of_flags()
def subset(
    file: Annotated[str, typer.Argument(help="A label file.")],
    names: Annotated[list[str], typer.Argument(help="The classes to keep, in this order: cat,dog or cat dog.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write (.safetensors).")],
    as_json: AsJson = False,
) -> None:
    """Write the label space of some of its classes; what they share is made to sum to 1 again.

    Example: labelspace labels subset clothes.safetensors Shirt,Coat,Dress -o tops.safetensors
    """
    whole = _read(file, Known())
    part = whole.subset(chosen_classes(names, whole))
    _save(part, out)
    if as_json:
        print_json({"file": str(out), **summary(part)})
        return
    _print(f"{len(part)} of {len(whole)} classes written to {out}")


@app.command()
@bad_input_exits
@speaks_of_flags()
def template(
    data: Annotated[str, typer.Argument(help="A dataset: a name, folder or file.")],
    cost: Annotated[bool, typer.Option("--cost", help="Prices: a row per true class, a column per predicted.")] = False,
    space: Annotated[bool, typer.Option("--space", help="A taxonomy: lines GROUP > class.")] = False,
    long: Annotated[bool, typer.Option("--long", help="Prices one by one: lines true,predicted,cost.")] = False,
    label: Label = None,
    text: shared.Text = None,
    group_by: shared.GroupBy = None,
    missing: shared.Missing = None,
    ignore: shared.Ignore = None,
    resize: shared.Resize = None,
    delimiter: shared.Delimiter = None,
    classes: shared.Classes = None,
    data_option: DataOption = None,
    data_dir: DataDir = None,
) -> None:
    """Print a file to fill in: the price of every mistake, or a taxonomy; data are read as by train and data check.

    Example: labelspace labels template digits --cost > prices.csv

    Example: labelspace labels template patients.csv --label grade --group-by patient --ignore id --cost > prices.csv

    Example: labelspace labels template fashion-mnist --space > taxonomy.txt
    """
    if cost == space:
        raise _checks.fail(OWNER, "template", "--cost or --space", "both" if cost else "neither")
    options = reader_options(
        label=label,
        text=text,
        group_by=group_by,
        missing=missing,
        ignore=ignore,
        resize=resize,
        delimiter=delimiter,
        classes=classes,
        data_option=data_option,
        data_dir=data_dir,
    )
    names = load(data, options).names
    print_file(cost_template(names, long) if cost else space_template(names))


def _read(
    spec: str, known: Known, cost: bool = False, beside: str | None = None, senses: Sequence[str] = ()
) -> LabelSpace:
    if cost:
        return prices_of(spec, known, with_senses(beside, senses))
    if beside is not None:
        raise _checks.fail(OWNER, "space", "left out without --cost", repr(beside))
    return space_of(with_senses(spec, senses) or spec, known)


def _read_as(argument: str, spec: str, known: Known, cost: bool) -> LabelSpace:
    """Return a space; an error says which of two it is about."""
    try:
        return _read(spec, known, cost)
    except _checks.InputError as error:
        raise error.about(owner="labels diff", argument=argument) from error


def _save(space: LabelSpace, out: Path) -> None:
    if out.suffix != ".safetensors":
        raise _checks.fail(OWNER, "out", "a file that ends in .safetensors", repr(str(out)))
    try:
        space.save(out)
    except OSError as error:
        if error.errno is None:  # the library's own message about the folder
            raise
        raise _checks.fail(OWNER, "out", "a file that can be written", f"{out}: {error.strerror}") from error


def _print(*lines: str) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)
