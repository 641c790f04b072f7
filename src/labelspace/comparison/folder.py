"""Where a comparison lives, one folder per question, and what it leaves there: the best model, and how classes lie."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from labelspace import _checks, _files, analysis, results
from labelspace.comparison.judging import Trained
from labelspace.compressed import fits
from labelspace.data.dataset import Dataset
from labelspace.records import option_file
from labelspace.results import Row
from labelspace.serving.take_home import WRITTEN as TAKEN_HOME
from labelspace.serving.take_home import tidy
from labelspace.training.config import generator
from labelspace.training.decided import FOLDER as MEMBERS
from labelspace.training.run import Run

BEST = "best"
OWN = ("plan.toml", "bought.json", results.NAME, "report.html", *results.DRAWN_FROM, "given-*")


def folder_of(out: str | Path, data: str, request: Mapping[str, object]) -> Path:
    """Return the folder of a comparison: its name holds the data's name and a digest of what was asked."""
    text = json.dumps(request, sort_keys=True, default=repr)
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(data).name).strip("-.") or "data"
    return Path(out) / f"{slug}-{digest}"


@contextmanager
def opened(folder: Path, fresh: bool) -> Iterator[None]:
    """Make the folder, see that it can be written to, and work in it; what killed processes left there goes first.

    Args:
        folder: of the comparison.
        fresh: remove what a comparison left there (and nothing else).
    """
    with ExitStack() as stack:
        try:
            (folder / "runs").mkdir(parents=True, exist_ok=True)
            stack.enter_context(_files.sharing(folder, lambda: _sweep(folder)))
            if fresh:
                _remove_own(folder)
                (folder / "runs").mkdir(exist_ok=True)
            mark = _files.beside(folder / "writable")
            _files.write_bytes(mark, b"")
            mark.unlink(missing_ok=True)
        except OSError as error:
            remedy = "Choose another folder with out=… (--out), or make this one writable."
            expected = "a folder that can be written to"
            raise _checks.fail("compare", "out", expected, f"{folder} ({error.strerror})", remedy) from error
        yield


def others(folder: Path) -> list[Path]:
    """Return where the runs of other comparisons are that lie beside a folder."""
    return sorted(runs for runs in folder.parent.glob("*/runs") if runs.parent.name != folder.name)


def _sweep(folder: Path) -> None:
    """Remove what killed processes left in the folder of a comparison; runs see to their own folders."""
    tidy(folder / BEST)
    for inside in (folder, folder / "spaces"):
        for stale in inside.glob(".*.part"):
            stale.unlink(missing_ok=True)


def _remove_own(folder: Path) -> None:
    for name in ("runs", "spaces"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for pattern in OWN:
        for path in folder.glob(pattern):
            path.unlink()
    best = folder / BEST
    shutil.rmtree(best / MEMBERS, ignore_errors=True)
    for path in (*(best / name for name in TAKEN_HOME), *best.glob(option_file("*"))):
        path.unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps something there, or it is not there
        best.rmdir()


SAMPLES = 600  # as many points as a picture shows well; t-SNE takes seconds for them
EMBEDDED_FROM = 100  # samples: fewer are drawn on their principal components, where neighbourhoods would mean little


def write_geometry(folder: Path, trained: Sequence[Trained], rows: Sequence[Row], dataset: Dataset) -> None:
    """Write distances for every method, and pictures for the reference and the winner, of the first seed's models."""
    chosen = _some(dataset)
    y = dataset.test.y[chosen]
    found: dict[str, Tensor] = {"projection_y": y}
    for each, row in zip(trained, rows, strict=False):  # the row of shuffled forms is the last, and of no one training
        if row.role in ("control", "rival"):  # the latter have no features
            continue
        run, label = each.runs[0], row.label
        features = _features(run, dataset, chosen)
        if not bool(torch.isfinite(features).all()):
            continue
        if fits(len(dataset.names)):
            found[f"naa/{label}"] = analysis.naa_distances(features, y, dataset.names).float()
            target = _targets(run)
            if target is not None:
                found[f"target/{label}"] = target.float()
        if row.winner or row.role == "reference":
            found[f"projection/{label}"] = _picture(features)
    content = save({name: value.contiguous() for name, value in found.items()})
    _files.write_bytes(folder / "geometry.safetensors", content)


def _some(dataset: Dataset) -> Tensor:
    order = torch.randperm(len(dataset.test), generator=generator(0, "order", 0))
    return order[:SAMPLES].sort().values


@torch.no_grad()
def _features(run: Run, dataset: Dataset, chosen: Tensor) -> Tensor:
    learner = run.learner()
    x = dataset.normalize(dataset.test.x[chosen])
    dtype = next(learner.parameters()).dtype
    parts = [learner.model(part.to(dtype) if part.is_floating_point() else part)[1] for part in torch.split(x, 250)]
    return torch.cat(parts).flatten(1)


def _targets(run: Run) -> Tensor | None:
    """Return distances between the targets that the loss saw, at the strength it had; None where there are none.

    Vectors are compared as the method compares them, targets of a softmax as the features are, by ``1 − cos²``.
    """
    if run.space.metric is not None:
        return run.space.distances()
    targets = run.learner().criterion.target_matrix()
    return None if targets is None else analysis.target_distances(targets)


def _picture(features: Tensor) -> Tensor:
    if features.shape[1] <= 2:
        flat = torch.zeros(len(features), 2)
        flat[:, : features.shape[1]] = features
        return flat
    return analysis.projection(features, "tsne" if len(features) > EMBEDDED_FROM else "pca").float()
