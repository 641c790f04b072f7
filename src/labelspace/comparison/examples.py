"""Pictures of the costliest mistakes, only where somebody asked for them."""

import io
from pathlib import Path

from torch import Tensor

from labelspace import _checks, data, models
from labelspace.comparison.plan import Plan
from labelspace.comparison.planning import IN_MEMORY
from labelspace.data import digests
from labelspace.data.dataset import Dataset
from labelspace.results import Result
from labelspace.serving.predictions import ready
from labelspace.training.config import Config

SMALLEST = 96  # pixels of the shorter side, so that a digit of 8×8 can be seen


def costly_pictures(folder: Path, result: Result, count: int, allow_damaged: bool = False) -> list[tuple[bytes, str]]:
    """Return the costliest mistakes of the best run on test data as PNG, each with a caption.

    Args:
        folder: of the comparison.
        result: what it found.
        count: how many at most.
        allow_damaged: take also a best run that is not what was written, and warn.
    """
    _checks.whole("report", "examples", count, low=1)
    config = Plan.load(folder / "plan.toml").config
    if config.data == IN_MEMORY:
        raise _checks.fail("report", "examples", "left out: the pictures are not on disk", f"data {IN_MEMORY}")
    if result.data.kind != "images" and config.backbone is None:
        raise _checks.fail("report", "examples", "left out: only images can be shown", result.data.kind)
    dataset = data.load(config.data, **config.data_options)
    if dataset.kind != "images":
        raise _checks.fail("report", "examples", "left out: only images can be shown", dataset.kind)
    if _key(config, dataset) != result.data.key:
        # a plan is a file that may have come from anywhere: pictures that it merely names are not for the report
        expected = "left out: what the plan names as its data are not the data that were compared"
        raise _checks.fail("report", "examples", expected, config.data)
    run, decision = ready(folder / "best", allow_damaged=allow_damaged)
    y, names = run.scores["test_y"], result.data.names
    prices = decision.cost if isinstance(decision.cost, Tensor) else None
    judged = decision.judge(run.scores["test_scores"], y, prices)
    called, costs = judged.classes, judged.costs
    worst = [place for place in costs.argsort(descending=True, stable=True).tolist() if costs[place] > 0][:count]
    return [
        (_png(dataset.test.x[place]), f"{names[y[place]]} called {names[called[place]]} (cost {costs[place]:g})")
        for place in worst
    ]


def _key(config: Config, dataset: Dataset) -> str:
    """Return the key of the data as a comparison trains on them."""
    key = dataset.key if config.limit is None else dataset.limit(config.limit).key
    return key if config.backbone is None else digests.of_values(key, models.backbone(config.backbone).key)


def _png(image: Tensor) -> bytes:
    from PIL import Image

    pixels = image.permute(1, 2, 0).numpy()
    picture = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    factor = -(-SMALLEST // min(picture.size))
    if factor > 1:
        picture = picture.resize((picture.width * factor, picture.height * factor), Image.Resampling.NEAREST)
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()
