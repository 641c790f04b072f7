"""`labelspace compare`: would better labels make mistakes cheaper, and is it more than luck?"""

import inspect
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelspace._cells import names_in
from labelspace._checks import InputError
from labelspace.cli import options as shared
from labelspace.cli.action_options import shares_of, tree_only
from labelspace.cli.flags import speaks_of_flags
from labelspace.cli.found import form_of, print_all, print_found, print_splits
from labelspace.cli.options import of_methods, of_settings, seeds_of
from labelspace.cli.progress import ComparisonBars
from labelspace.cli.screen import bad_input_exits
from labelspace.spec.prices import RULES
from labelspace.spec.senses import with_senses

if TYPE_CHECKING:
    from labelspace.comparison import Comparison

EXAMPLES = """Example: labelspace compare

Example: labelspace compare reviews.csv --label stars --cost squared --budget 10m

Example: labelspace compare lesions.csv --label grade --space "mild<moderate<severe" --cost "under=5,over=1"

Example: labelspace compare lesions.csv --label grade --cost actions.csv --capacity "send to a person=5%"

Example: labelspace compare cifar-10 --space groups:cifar10-semantic --limit 5000

Example: labelspace compare mnist --limit 2000 --label-noise pairwise:0.2 --seeds 12,123,1234

Example: labelspace compare --methods 'lls,ce=lls,wide=lwal' --option 'ce.terms=["H(t,p)"]' --option wide.dim=100

Example: labelspace compare --epochs 90 --optimizer sgd --momentum 0 --schedule step --milestones 45,70 --clip 1

Example: labelspace compare stones.csv wine.csv digits --cost squared

Example: labelspace compare stones.csv --label grade --cost squared --splits 5

Example: labelspace compare multi30k --model seq2seq-256 --seeds 3 --epochs 12

Example: labelspace compare --scores val.npz test.npz --cost prices.csv"""

PRINTED = ("as_json", "as_markdown", "methods_text")
# what is heeded beside these two flags
OF_TABLES = ("label", "group_by", "ignore", "cost_column")
WITH_SCORES = frozenset(
    [
        *OF_TABLES,
        "scores",
        "data",
        "cost",
        "actions",
        "capacity",
        "calibration",
        "space",
        "senses",
        "names",
        "logits",
        "margin",
        "level",
        "out",
        *PRINTED,
    ]
)
WITH_PLAN = frozenset(["plan", "out", "fresh", "workers", "examples", *PRINTED])


@bad_input_exits
@speaks_of_flags("seeds")
def compare(
    context: typer.Context,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="A dataset's name, a folder or a file; several for what they say together; with --scores, files of"
            " scores."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods, with commas between: uniform,semantic,lls; NAME=lls is another form of one."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="METHOD.NAME=VALUE",
            help="An option of a method, such as lwal.dim=100; its strength, if given so, is not tuned. Repeatable.",
        ),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(
            help='What you know: "low<mid<high"; groups (a file of lines pets: cat, dog, or "groups:cat,dog|car,bus"), '
            "which keep all mass inside; a taxonomy file (Pets > cat), which gives some to every class; wordnet, lda, "
            "text or a label file."
        ),
    ] = None,
    senses: shared.Senses = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help=f'What mistakes cost: a CSV of prices, {", ".join(RULES[1:])} or "under=5,over=1". Columns of'
            " a CSV that are no classes are actions."
        ),
    ] = None,
    actions: Annotated[
        str | None,
        typer.Option(
            help="tree: answer with a node of the taxonomy where that is cheapest. A CSV names other actions."
        ),
    ] = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ACTION=SHARE",
            help='The largest share of samples for an action, kept on validation data: "send to a person=5%".',
        ),
    ] = None,
    calibration: shared.Calibrated = None,
    model: Annotated[str | None, typer.Option(help="A model's name, or auto.", show_default="auto")] = None,
    backbone: Annotated[
        str | None, typer.Option(help="Train on features of a frozen network: efficientnet-lite0 or minilm.")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N|LIST",
            help="How many trainings of every method (fewer than 6 are indicative), or with which seeds: 12,123,1234."
            " Strengths are tuned with others.",
            show_default="6",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="Time to spend, such as 2m or 1h: sets epochs and trials.", show_default="2m"),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training data, instead of a budget.")] = None,
    limit: Annotated[str | None, typer.Option(help="Cap on training samples: 5000, or a share: 50%.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Samples per step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of the optimizer.")] = None,
    optimizer: Annotated[str | None, typer.Option(help="sgd, adam or adamw.")] = None,
    momentum: shared.Momentum = None,
    schedule: Annotated[
        str | None, typer.Option(help="Of the rate, as in train: constant, linear, step, …", show_default="linear")
    ] = None,
    milestones: shared.Milestones = None,
    gamma: shared.Gamma = None,
    warmup_epochs: shared.WarmupEpochs = None,
    weight_decay: Annotated[float | None, typer.Option(help="Of everything but learned labels.")] = None,
    clip: shared.Clip = None,
    augment: shared.Augment = None,
    label_noise: Annotated[
        str | None, typer.Option(help="pairwise:RATE or symmetric:RATE, in training labels only.")
    ] = None,
    best_by: shared.BestBy = None,
    rehearse: Annotated[
        bool | None,
        typer.Option(
            "--rehearse/--no-rehearse",
            help="Choose rate, decay and epochs for one-hot labels on validation data first; done where --budget sets"
            " the epochs.",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting of the training or the plan: head_l2=0.1, patience=5, precision=bfloat16, …",
        ),
    ] = None,
    device: shared.Device = None,
    margin: Annotated[
        float | None, typer.Option(help="Relative changes (of texts: points) within ± this do not matter.")
    ] = None,
    level: Annotated[float | None, typer.Option(help="Of the intervals.", show_default="0.95")] = None,
    inverted: Annotated[bool, typer.Option("--inverted", help="Undo a known smoothing before decisions.")] = False,
    rivals: Annotated[
        str | None,
        typer.Option(
            metavar="auto|none|LIST",
            help="Classifiers of scikit-learn as further rows: SVC,GaussianNB. The cheapest of all is taken home.",
            show_default="auto",
        ),
    ] = None,
    splits: Annotated[
        int | None, typer.Option(metavar="N", help="Repeat all of it over N splits of the data, each with the budget.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="Repeat the comparison of this plan.toml exactly.")] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Compare scores of models trained anywhere; nothing is trained.")
    ] = False,
    logits: Annotated[
        bool | None,
        typer.Option(
            "--logits/--probabilities",
            help="What --scores are. Left out, rows that all sum to 1 are probabilities; what is nearly so is refused.",
        ),
    ] = None,
    names: Annotated[str | None, typer.Option(help="Class names for --scores, with commas between.")] = None,
    label: shared.Label = None,
    text: shared.Text = None,
    group_by: shared.GroupBy = None,
    cost_column: shared.CostColumn = None,
    missing: shared.Missing = None,
    ignore: shared.Ignore = None,
    resize: shared.Resize = None,
    delimiter: shared.Delimiter = None,
    classes: shared.Classes = None,
    validation: shared.Validation = None,
    data_option: shared.DataOption = None,
    data_dir: shared.DataDir = None,
    examples: Annotated[int, typer.Option(help="Put so many pictures of costly mistakes into the report.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Runs at a time; all cores by default.")] = None,
    out: Annotated[
        Path, typer.Option(help="Folder that holds comparisons: the same command resumes, others share its runs.")
    ] = Path("runs"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over: train everything anew.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    methods_text: Annotated[
        bool, typer.Option("--methods-text", help="Print how it was made, for a paper: a paragraph and a table, LaTeX.")
    ] = False,
) -> None:
    """Compare label methods on your data: cost, accuracy and calibration, with intervals, rivals and a report.

    With --scores it takes validation and test scores of any model and says what temperature and minimum-cost decisions
    save: NPZ files with arrays `scores`, `y` and `names`, or CSV and Parquet files with a column for each class and one
    of labels, `y`. One file may hold both parts (`validation_scores`, …; in tables a column `part`). NAME=FILE, or
    NAME=VALIDATION,TEST, compares models, the first one being the reference.
    """
    from labelspace.comparison import compare as compare_labels
    from labelspace.comparison import compare_scores
    from labelspace.comparison.knowledge import Doing
    from labelspace.comparison.plan import OWN, TRAINING
    from labelspace.comparison.scored import LEVEL, MARGIN
    from labelspace.comparison.together import check_together
    from labelspace.sweeps.executors import Processes

    given = data or []
    shown = form_of(as_json, as_markdown, methods_text)
    if scores:
        _refuse_beside(context, "--scores", WITH_SCORES, "Nothing is trained there, so that they would change nothing.")
        kinds: dict[bool | None, Literal["logits", "probabilities"]] = {True: "logits", False: "probabilities"}
        found = compare_scores(
            _by_name(given),
            cost=cost,
            space=with_senses(space, senses or []),
            names=None if names is None else names_in("compare", "names", names),
            kind=kinds.get(logits),
            label=label or "y",
            group_by=group_by or "groups",
            ignore=ignore or (),
            cost_column=cost_column,
            margin=MARGIN if margin is None else margin,
            level=LEVEL if level is None else level,
            actions=tree_only(actions),
            capacity=shares_of(capacity),
            calibration=calibration or "auto",
            out=out,
            command=_command(),
        )
        print_found(found, shown, found.save_html())
        return
    if logits is not None:
        raise InputError("", "--logits` and `--probabilities", "given with --scores", "one of them without")
    if names is not None:
        raise InputError("", "--names", "given with --scores", "it without", "Data name their classes themselves.")
    if plan is not None:
        _refuse_beside(context, "--plan", WITH_PLAN, "The plan decides these: edit a copy of it.")
    reader = shared.reader_options(
        label=label,
        text=text,
        group_by=group_by,
        cost_column=cost_column,
        missing=missing,
        ignore=ignore,
        resize=resize,
        delimiter=delimiter,
        classes=classes,
        validation=validation,
        data_option=data_option,
        data_dir=data_dir,
    )
    settings: dict[str, object] = {
        "backbone": backbone,
        "epochs": epochs,
        "limit": limit,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "optimizer": optimizer,
        **shared.training_fields(
            momentum=momentum,
            milestones=milestones,
            gamma=gamma,
            warmup_epochs=warmup_epochs,
            clip=clip,
            best_by=best_by,
        ),
        "schedule": schedule,
        "label_noise": label_noise,
        "weight_decay": weight_decay,
        "augment": augment,
        "device": device,
        "margin": margin,
        "level": level,
        "probabilities": "inverted" if inverted else None,
        "actions": tree_only(actions),
        "capacity": shares_of(capacity),
        "calibration": calibration,
        "rehearse": rehearse,
        "data_options": reader or None,
        "method_options": of_methods(option or []) or None,
    }
    more = of_settings(setting or [], (*TRAINING, *OWN), {*inspect.signature(compare).parameters, *settings})
    known = with_senses(space, senses or [])
    if splits is not None and len(given) > 1:
        raise InputError("", "--splits", "given with one dataset", f"it with {len(given)}", "Repeat it for each alone.")
    if len(given) > 1:
        doing = Doing(tree_only(actions), shares_of(capacity))
        check_together(given, known, cost, reader, doing, calibration or "auto")

    def asked(bars: ComparisonBars) -> dict[str, Any]:
        return {
            "methods": methods,
            "space": known,
            "cost": cost,
            "model": model,
            "seeds": None if seeds is None else seeds_of(seeds),
            "budget": budget,
            "rivals": rivals,
            "plan": plan,
            "out": out,
            "fresh": fresh,
            "executor": Processes(workers),
            "report": bars.report,
            "command": _command(),
            **{name: value for name, value in settings.items() if value is not None},
            **more,
        }

    def compared(name: str | None) -> tuple["Comparison", Path]:
        with ComparisonBars() as bars:
            result = compare_labels(name, splits=None, **asked(bars))
            return result, result.save_html(examples=examples)

    first = given[0] if given else None
    if splits is not None:
        with ComparisonBars() as bars:
            together = compare_labels(first, splits=splits, **asked(bars))
        print_splits(together, shown, examples)
        return
    if len(given) < 2:
        result, page = compared(first)
        print_found(result, shown, page)
        return
    print_all([compared(name)[0] for name in given], shown, level)


def _refuse_beside(context: typer.Context, flag: str, allowed: frozenset[str], remedy: str) -> None:
    """Refuse flags that would not be heeded beside another."""
    typed = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE" and parameter.name not in allowed:
            typed.append(parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.name).upper())
    if typed:
        raise InputError("", flag, f"given without {', '.join(typed)}", "both", remedy)


def _by_name(given: list[str]) -> list[str] | dict[str, list[str]]:
    """Return files of scores, of each model where there are names."""
    if not given:
        remedy = "For example --scores val.npz test.npz."
        raise InputError("", "--scores", "followed by NPZ, CSV or Parquet files", "none", remedy)
    named = [entry.partition("=") for entry in given]
    if not any(equals for _, equals, _ in named):
        return given
    if not all(equals and name for name, equals, _ in named):
        raise InputError("", "--scores", "VALIDATION TEST, or NAME=FILE for every model", "both forms")
    models = {name: files.split(",") for name, _, files in named}
    if len(models) < len(named):
        raise InputError("", "--scores", "given with a different name for every model", "one twice")
    return models


def _command() -> str:
    return shlex.join(["labelspace", *sys.argv[1:]])


compare.__doc__ = f"{inspect.cleandoc(compare.__doc__ or '')}\n\n{EXAMPLES}"
