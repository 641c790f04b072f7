"""How classes lie inside the trained networks, kept for the report: distances, their targets, and pictures."""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from labelspace import _files, analysis
from labelspace.comparison.rows import Judged
from labelspace.comparison.training import Trained
from labelspace.compressed import fits
from labelspace.data.dataset import Dataset
from labelspace.training.config import generator
from labelspace.training.run import Run

SAMPLES = 600  # as many points as a picture shows well; t-SNE takes seconds for them


def write_geometry(folder: Path, trained: Sequence[Trained], rows: Sequence[Judged], dataset: Dataset) -> None:
    """Write distances for every method, and pictures for the reference and the winner, of the first seed's models."""
    chosen = _some(dataset)
    y = dataset.test.y[chosen]
    found: dict[str, Tensor] = {"projection_y": y}
    for each, row in zip(trained, rows, strict=True):
        if row.role == "control":
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
    return analysis.projection(features, "tsne" if len(features) > 100 else "pca").float()
