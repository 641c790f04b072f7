"""`labelspace train`: one model, one method, one seed."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace import _checks, _distributed
from labelspace.cli.screen import TrainingBar, bad_input_exits, console

EXAMPLE = "Example: labelspace train digits --method semantic --space ordinal --smoothing 0.3 --epochs 20"


@bad_input_exits
def train(
    data: Annotated[str, typer.Argument(help="A dataset's name, or a folder or file.")] = "digits",
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
        list[str] | None, typer.Option(help="An option of the method, such as repel=10; repeatable.")
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
    data_option: Annotated[
        list[str] | None, typer.Option(help="An option of the reader: label=COLUMN, resize=64, missing=median, …")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting: clip=1.0, precision=bfloat16, milestones=[40,80], …"),
    ] = None,
    data_dir: Annotated[str | None, typer.Option(help="Where datasets are.")] = None,
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
        "data_options": {**parsed_options(data_option or []), **({} if data_dir is None else {"data_dir": data_dir})},
        **parsed_options(setting or []),
    }
    joined = _distributed.join()  # under torchrun every rank comes here
    first = _distributed.rank() == 0
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


def parsed_options(texts: list[str]) -> dict[str, Any]:
    """Read ``name=value`` texts; values are JSON, and text where they are not.

    Example:
        >>> parsed_options(["repel=10", "grad=detached", "both=true"])
        {'repel': 10, 'grad': 'detached', 'both': True}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise _checks.fail("train", "option", "NAME=VALUE", repr(text), "For example --option repel=10.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


train.__doc__ = f"{train.__doc__}\n\n{EXAMPLE}"
