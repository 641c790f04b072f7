"""`labelspace export`: a finished run as a file that runs without labelspace."""

from pathlib import Path
from typing import Annotated

import typer

from labelspace.cli.flags import speaks_of_flags
from labelspace.cli.options import AllowDamaged
from labelspace.cli.screen import bad_input_exits, console, errors, print_json


@bad_input_exits
@speaks_of_flags()
def export(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or `best` of a comparison.")],
    onnx: Annotated[Path, typer.Option(help="The ONNX file to write.")],
    allow_damaged: AllowDamaged = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write preprocessing, network or networks, temperature and decision as one ONNX graph; check it against torch.

    The graph takes x in the form of the dataset and gives probabilities, class and decision (−1: it abstains). Class
    names, prices, temperature and all that is needed to encode raw rows are in the file's metadata, as JSON.

    Example: labelspace export runs/digits-1a2b3c4d/best --onnx model.onnx
    """
    from labelspace.serving.onnx import OUTPUTS, export_onnx
    from labelspace.serving.predictions import ready

    prepared = ready(run, allow_damaged=allow_damaged)
    with errors.status("writing and checking the graph …"):
        done = export_onnx(prepared.run, prepared.decision, onnx)
    if as_json:
        facts: dict[str, object] = {"onnx": str(done.path), "bytes": done.path.stat().st_size, "input": done.input}
        facts["needed"] = done.needed.facts
        checked = {"largest_difference": done.difference, "checked_samples": done.samples}
        print_json({**facts, "outputs": list(OUTPUTS), **checked})
        return
    console.print(f"{done.path} ({done.path.stat().st_size / 1e6:.2f} MB)", soft_wrap=True)
    console.print(f"x {done.input} → {', '.join(OUTPUTS)}")
    if done.needed.words:
        console.print(done.needed.words, soft_wrap=True)
    difference = f"largest difference {done.difference:.2g} on {done.samples} random samples"
    console.print(f"checked with onnxruntime against torch: {difference}")
