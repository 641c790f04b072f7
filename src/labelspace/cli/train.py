"""`labelspace train`: one model, one method, one seed."""

import inspect
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace import _distributed
from labelspace.cli import options as shared
from labelspace.cli.options import parsed_options
from labelspace.cli.screen import TrainingBar, bad_input_exits, console, errors
from labelspace.criteria import criterion_class, methods
from labelspace.space import LabelSpace

EXAMPLES = """Example: labelspace train digits --method semantic --space ordinal --smoothing 0.3 --epochs 20

Example: labelspace train digits --method labelemb --option pretrained=labels.safetensors

Example: labelspace train patients.csv --label diagnosis --group-by patient --missing median --method lls"""


@bad_input_exits
@shared.speaks_of_flags()
def train(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A dataset's name, or a folder or file.")] = "digits",
    method: Annotated[
        str, typer.Option(help="Registry name of the method: onehot, uniform, semantic, lls, …")
    ] = "onehot",
    space: Annotated[
        str | None, typer.Option(help="Label space: ordinal, uniform, wordnet, text, lda or a label file.")
    ] = None,
    model: Annotated[str, typer.Option(help="A model's name, or auto.")] = "auto",
    backbone: Annotated[
        str | None, typer.Option(help="Train on features of a frozen network: efficientnet-lite0 or minilm.")
    ] = None,
    epochs: Annotated[int, typer.Option(help="Passes over the training data.")] = 20,
    seed: Annotated[int, typer.Option(help="Start, order and augmentation follow from it.")] = 0,
    smoothing: Annotated[float | None, typer.Option(help="Strength of methods that smooth.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the method, such as repel=10 or pretrained=LABELS; repeatable."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Cap on training samples.")] = None,
    batch_size: Annotated[int, typer.Option(help="Samples per step.")] = 128,
    learning_rate: Annotated[float, typer.Option(help="Of the optimiser.")] = 1e-3,
    optimiser: Annotated[str, typer.Option(help="sgd, adam or adamw.")] = "adam",
    schedule: Annotated[str, typer.Option(help="constant, linear or step.")] = "constant",
    weight_decay: Annotated[float, typer.Option(help="Of everything but learned labels.")] = 0.0,
    augment: Annotated[list[str] | None, typer.Option(help="crop, flip, cutout:8, mixup:0.2, …; repeatable.")] = None,
    label_noise: Annotated[str | None, typer.Option(help="pairwise:RATE or symmetric:RATE.")] = None,
    patience: Annotated[int | None, typer.Option(help="Stop after so many epochs without a better one.")] = None,
    threads: Annotated[int, typer.Option(help="Of torch; results depend on it.")] = 1,
    teacher: Annotated[str | None, typer.Option(help="Run folder whose model teaches (kd).")] = None,
    label: shared.Label = None,
    text: shared.Text = None,
    group_by: shared.GroupBy = None,
    missing: shared.Missing = None,
    ignore: shared.Ignore = None,
    resize: shared.Resize = None,
    delimiter: shared.Delimiter = None,
    data_option: shared.DataOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting: clip=1.0, precision=bfloat16, milestones=[40,80], …"),
    ] = None,
    data_dir: shared.DataDir = None,
    tensorboard: Annotated[bool, typer.Option(help="Write TensorBoard events into OUT/tensorboard.")] = False,
    out: Annotated[Path, typer.Option(help="Folder that holds runs; the same command resumes there.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train one model with one method; killed and started again, it goes on where it was.

    One large model on several processes: torchrun --nproc-per-node 2 -m labelspace train …
    """
    from labelspace.engine.run import train as train_run

    options: dict[str, Any] = {
        "method": method,
        "method_options": parsed_options(option or []),
        "model": model,
        "backbone": backbone,
        "epochs": epochs,
        "seed": seed,
        "limit": limit,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "optimiser": optimiser,
        "schedule": schedule,
        "weight_decay": weight_decay,
        "augment": augment or [],
        "label_noise": label_noise,
        "patience": patience,
        "threads": threads,
        "teacher": teacher,
        "data_options": shared.reader_options(
            label=label,
            text=text,
            group_by=group_by,
            missing=missing,
            ignore=ignore,
            resize=resize,
            delimiter=delimiter,
            data_option=data_option,
            data_dir=data_dir,
        ),
        **parsed_options(setting or [], "--set", "clip=1.0"),
    }
    warning = _check_space(space, method, options["method_options"])
    joined = _distributed.join()  # under torchrun every rank comes here
    first = _distributed.rank() == 0
    if warning and first:
        errors.print(warning, style="yellow", markup=False, soft_wrap=True)
    events = out / "tensorboard" / f"{method}-seed{seed}" if tensorboard and first else None
    with TrainingBar(f"{method} on {data}", tensorboard=events) as bar:
        run = train_run(data, space=space, smoothing=smoothing, out=out, report=bar.report, **options)
    if joined:
        _distributed.leave()
    if not first:
        return
    if as_json:
        print(json.dumps({"folder": str(run.folder), **run.result}, indent=2))
        return
    epoch_word = "epoch" if run.result["epochs"] == 1 else "epochs"
    console.print(f"{run.config.model} · {method} · {run.result['epochs']} {epoch_word} · seed {seed}")
    if space is not None and run.config.space == "ordinal":
        console.print(f"order       {' < '.join(run.preprocessing['names'])}", soft_wrap=True)
    for part in ("validation", "test"):
        numbers = run.result[part]
        console.print(f"{part:<11} accuracy {numbers['accuracy']:.4f}   nll {numbers['nll']:.4f}")
    console.print(f"folder      {run.folder}", soft_wrap=True)


def uses_space(method: str, options: dict[str, Any]) -> bool:
    """Return whether a method looks at the label space it is given, with these options.

    Example:
        >>> uses_space("semantic", {}), uses_space("onehot", {})
        (True, False)
    """
    # a method that cannot do without says so in its type; lls looks at one to know which classes are near
    labels = inspect.signature(criterion_class(method)).parameters["labels"].annotation
    return labels is LabelSpace or options.get("top") is not None


def _check_space(space: str | None, method: str, options: dict[str, Any]) -> str:
    """Refuse a method that lacks its space, and return a warning of a space that the method does not look at."""
    used = uses_space(method, options)
    if used and space is None:
        raise ValueError(f"`--space` must be given for {method}: ordinal, wordnet, text, lda, … or a label file.")
    if used or space is None:
        return ""
    others = ", ".join(name for name in methods() if uses_space(name, {}))
    return f"labelspace: --space {space} changes nothing: {method} does not look at a label space ({others} do)."


train.__doc__ = f"{inspect.cleandoc(train.__doc__ or '')}\n\n{EXAMPLES}"
