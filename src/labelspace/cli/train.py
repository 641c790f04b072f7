"""`labelspace train`: one model, one method, one seed."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace import _devices, _distributed
from labelspace._checks import InputError
from labelspace.cli import options as shared
from labelspace.cli.flags import speaks_of_flags
from labelspace.cli.options import parsed_options
from labelspace.cli.screen import TrainingBar, bad_input_exits, console, errors, print_json
from labelspace.cli.translations import tell_search
from labelspace.criteria import criterion_class, methods
from labelspace.criteria.registry import PLUGINS
from labelspace.spec.named import NAMES, named, order_of
from labelspace.spec.senses import with_senses
from labelspace.spec.words import spoken_space, spread_words

EXAMPLES = """Example: labelspace train digits --method semantic --space ordinal --smoothing 0.3 --epochs 20

Example: labelspace train mnist --validation "first 5000" --method labelemb

Example: labelspace train cifar-10 --classes "first 50%" --method semantic --space runs/lls-…/label_space.safetensors

Example: labelspace train digits --method labelemb --option pretrained=labels.safetensors

Example: labelspace train patients.csv --label diagnosis --group-by patient --missing median --method lls"""

UNORDERED = tuple(name for name in NAMES if name != "ordinal")  # not worth building again to learn that


@bad_input_exits
@speaks_of_flags()
def train(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A dataset's name, or a folder or file.")] = "digits",
    method: Annotated[
        str, typer.Option(help="Registry name of the method: onehot, uniform, semantic, lls, …")
    ] = "onehot",
    space: Annotated[
        str | None,
        typer.Option(
            help='Label space: ordinal, uniform, wordnet, text, lda, "low<mid<high", groups (a file of lines '
            'pets: cat, dog, or "groups:cat,dog|car,bus"), a taxonomy file (Pets > cat) or a label file.'
        ),
    ] = None,
    senses: shared.Senses = None,
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
    limit: Annotated[str | None, typer.Option(help="Cap on training samples: 5000, or a share: 50%.")] = None,
    batch_size: Annotated[int, typer.Option(help="Samples per step.")] = 128,
    learning_rate: Annotated[float, typer.Option(help="Of the optimizer.")] = 1e-3,
    optimizer: shared.Optimizer = "adam",
    momentum: shared.Momentum = None,
    schedule: shared.Schedule = "constant",
    milestones: shared.Milestones = None,
    gamma: shared.Gamma = None,
    warmup_epochs: shared.WarmupEpochs = None,
    weight_decay: Annotated[float, typer.Option(help="Of everything but learned labels.")] = 0.0,
    head_l2: Annotated[float, typer.Option(help="λ of a penalty λ·Σw² on the last linear layer's weights.")] = 0.0,
    clip: shared.Clip = None,
    augment: shared.Augment = None,
    label_noise: Annotated[str | None, typer.Option(help="pairwise:RATE or symmetric:RATE.")] = None,
    patience: Annotated[int | None, typer.Option(help="Stop after so many epochs without a better one.")] = None,
    best_by: shared.BestBy = None,
    record: Annotated[
        list[str] | None,
        typer.Option(help="test-curve: test accuracy and seconds of every epoch, which no choice looks at."),
    ] = None,
    device: shared.Device = None,
    threads: Annotated[int, typer.Option(help="Of torch; results depend on it.")] = 1,
    teacher: Annotated[str | None, typer.Option(help="Run folder whose model teaches (kd).")] = None,
    label: shared.Label = None,
    text: shared.Text = None,
    group_by: shared.GroupBy = None,
    missing: shared.Missing = None,
    ignore: shared.Ignore = None,
    resize: shared.Resize = None,
    delimiter: shared.Delimiter = None,
    classes: shared.Classes = None,
    validation: shared.Validation = None,
    data_option: shared.DataOption = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting: precision=bfloat16, channels_last=true, …"),
    ] = None,
    data_dir: shared.DataDir = None,
    tensorboard: Annotated[bool, typer.Option(help="Write TensorBoard events into OUT/tensorboard.")] = False,
    out: Annotated[Path, typer.Option(help="Folder that holds runs; the same command resumes there.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train one model with one method; killed and started again, it goes on where it was.

    One large model on several processes: torchrun --nproc-per-node 2 -m labelspace train …
    """
    from labelspace.training.config import FILLED_IN, Config
    from labelspace.training.run import train as train_run

    options: dict[str, Any] = {  # as they were typed; ``train`` checks each
        "method": method,
        "method_options": parsed_options(option or []),
        "model": model,
        "backbone": backbone,
        "epochs": epochs,
        "seed": seed,
        "limit": limit,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "optimizer": optimizer,
        "schedule": schedule,
        "weight_decay": weight_decay,
        "head_l2": head_l2,
        "augment": augment or [],
        "record": record or [],
        **shared.training_fields(
            momentum=momentum,
            milestones=milestones,
            gamma=gamma,
            warmup_epochs=warmup_epochs,
            clip=clip,
            best_by=best_by,
            device=device,
        ),
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
            classes=classes,
            validation=validation,
            data_option=data_option,
            data_dir=data_dir,
        ),
    }
    fields = [name for name in (*Config.model_fields, "smoothing") if name not in FILLED_IN]
    options |= shared.of_settings(setting or [], fields, {*inspect.signature(train).parameters, *options})
    space = with_senses(space, senses or [])
    warning = _check_space(space, method, options["method_options"])
    there = _devices.resolved("train", options.get("device", "cpu"))
    joined = _distributed.join(_devices.placed(there))  # under torchrun every rank comes here
    first = _distributed.rank() == 0
    if warning and first:
        errors.print(warning, style="yellow", soft_wrap=True)
    events = out / "tensorboard" / f"{method}-seed{seed}" if tensorboard and first else None
    with TrainingBar(f"{method} on {data}", tensorboard=events) as bar:
        run = train_run(data, space=space, smoothing=smoothing, out=out, report=bar.report, **options)
    if joined:
        _distributed.leave()
    if not first:
        return
    if as_json:
        print_json({"folder": str(run.folder), **run.result})
        return
    epoch_word = "epoch" if run.result["epochs"] == 1 else "epochs"
    kept = "" if run.config.best_by == "last" else f" (kept: {run.result['best_epoch'] + 1})"
    console.print(
        f"{run.config.model} · {method} · {run.result['epochs']} {epoch_word}{kept} · seed {seed}", soft_wrap=True
    )
    order = _order(space, method, options["method_options"], run.preprocessing["names"])
    if order is not None:
        console.print(f"order       {' < '.join(order)}", soft_wrap=True)
    if uses_space(method, options["method_options"]) and spread_words(run.space):
        console.print(f"space       {spoken_space(run.space)}", soft_wrap=True)
    for part, numbers in (("validation", run.result["validation"]), ("test", run.result["test"])):
        if not numbers:
            console.print(f"{part:<11} none: nothing was held out")
            continue
        console.print(f"{part:<11} {_measured(numbers)}")
    if run.translations:
        tell_search(run)
    if run.config.record:
        console.print("recorded    test accuracy in epochs.jsonl, seconds in times.jsonl")
    console.print(f"folder      {run.folder}", soft_wrap=True)


def _measured(numbers: Mapping[str, float]) -> str:
    """Return accuracy and nll; of sequences, where they are those of tokens, the scores of whole texts first."""
    plain = f"accuracy {numbers['accuracy']:.4f}   nll {numbers['nll']:.4f}"
    if "bleu" not in numbers:
        return plain
    others = {"bleu": "BLEU", "chrf": "chrF", "rouge-l": "ROUGE-L"}
    texts = "   ".join(f"{title} {numbers[name]:.2f}" for name, title in others.items())
    return f"{texts}   token {plain}"


def uses_space(method: str, options: Mapping[str, object]) -> bool:
    """Return whether a method looks at the label space it is given, with these options.

    Example:
        >>> uses_space("semantic", {}), uses_space("onehot", {})
        (True, False)
    """
    return criterion_class(method).looks_at_space(options)


def _order(space: str | None, method: str, options: Mapping[str, object], names: list[str]) -> tuple[str, ...] | None:
    """Return the classes from lowest to highest, where the method was given an order of them and looked at it."""
    if space is None or not uses_space(method, options) or space in UNORDERED:
        return None
    try:
        return order_of(named(space, names))
    except ValueError:  # written for all classes of the data, of which only some were trained on
        return None


def _check_space(space: str | None, method: str, options: Mapping[str, object]) -> str:
    """Refuse a method that lacks its space, and return a warning of a space that the method does not look at."""
    used = uses_space(method, options)
    if used and space is None:
        remedy = "Such as ordinal, wordnet, text, lda, an order, groups, or a label file."
        raise InputError("", "--space", f"given for {method}", "nothing", remedy)
    if used or space is None:
        return ""
    # those of installed packages would have to be imported for it
    ours = [name for name in methods() if name not in PLUGINS.names()]
    others = ", ".join(name for name in ours if uses_space(name, {}) and name != method)
    return f"labelspace: --space {space} changes nothing: {method} does not look at a label space ({others} do)."


train.__doc__ = f"{inspect.cleandoc(train.__doc__ or '')}\n\n{EXAMPLES}"
