"""A picture of the labels for TensorBoard, Weights & Biases or Trackio: what a method has learned, epoch by epoch.

log_labels(writer, criterion, epoch)    # a SummaryWriter, a run of W&B or Trackio, or these modules themselves
"""

import sys
from typing import Any

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.criteria.base import Criterion
from labelspace.space import LabelSpace

# from white, nothing, over blue to black: lightness alone tells the order
COLOURS = ((255, 255, 255), (158, 202, 225), (33, 113, 181), (8, 29, 88))
SIDE = 256  # pixels at least, and at most one per class above


def label_picture(labels: Criterion | LabelSpace) -> Tensor:
    """Return how classes relate as a picture: row k is how class k's mass is spread, the darker the more.

    What a class keeps for itself is left out of the scale (and drawn as the darkest), since it would outshine the rest.

    Args:
        labels: a criterion, of which it is the label space; or a label space. Vectors and prices are turned into
            relations.

    Shape:
        ``(3, H, W)``, uint8: at least 256 pixels high, whole ones for each class.

    Example:
        >>> from labelspace import ordinal
        >>> label_picture(ordinal(4)).shape
        torch.Size([3, 256, 256])
    """
    space = labels.label_space() if isinstance(labels, Criterion) else labels
    if not isinstance(space, LabelSpace):
        raise _checks.fail_type("label_picture", "labels", "a criterion or a LabelSpace", type(labels).__name__)
    mass = space.relations().matrix.double()
    own = torch.eye(len(mass), dtype=torch.bool)
    most = mass.masked_fill(own, 0).amax().clamp_min(torch.finfo(torch.float64).tiny)
    shade = torch.where(own & (mass > 0), 1.0, (mass / most).clamp(0, 1))
    picture = _coloured(shade)
    size = max(1, SIDE // len(mass))
    return picture.repeat_interleave(size, dim=1).repeat_interleave(size, dim=2)


def log_labels(tracker: Any, labels: Criterion | LabelSpace, step: int, *, name: str = "labels") -> None:
    """Send the picture of the labels to whatever keeps track of a training.

    Args:
        tracker: a ``SummaryWriter`` of TensorBoard; a run of W&B (``wandb.init()``) or of Trackio, or one of their
            modules, where a run has been started: whatever has ``add_image``, or ``log`` and an ``Image``.
        labels: a criterion or a label space.
        step: the epoch, or the step.
        name: what the picture is called.

    Example:
        >>> class Writer:
        ...     def add_image(self, name, picture, step):
        ...         print(name, tuple(picture.shape), step)
        >>> from labelspace import ordinal
        >>> log_labels(Writer(), ordinal(4), 2)
        labels (3, 256, 256) 2
    """
    picture = label_picture(labels)
    if hasattr(tracker, "add_image"):
        tracker.add_image(name, picture, step)
        return
    package = sys.modules.get(type(tracker).__module__.partition(".")[0])
    image = getattr(tracker, "Image", None) or getattr(package, "Image", None)
    if not hasattr(tracker, "log") or image is None:
        expected = "a SummaryWriter, or a run of W&B or Trackio"
        raise _checks.fail_type("log_labels", "tracker", expected, type(tracker).__name__)
    tracker.log({name: image(picture.permute(1, 2, 0).numpy())}, step=step)


def _coloured(shade: Tensor) -> Tensor:
    """Return ``(3, K, K)`` colours of shades from 0 to 1, between the nearest two of the scale."""
    scale = torch.tensor(COLOURS, dtype=torch.float64)
    place = shade * (len(scale) - 1)
    low = place.floor().long().clamp_max(len(scale) - 2)
    part = (place - low).unsqueeze(-1)
    return ((1 - part) * scale[low] + part * scale[low + 1]).round().to(torch.uint8).permute(2, 0, 1)
