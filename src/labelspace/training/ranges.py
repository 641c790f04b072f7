"""How far the numbers of training reached, and samples far beyond: a model says something of them too, but what?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from labelspace.data.columns import Encoding
from labelspace.data.dataset import Dataset
from labelspace.training.preprocessed import Preprocessing

BEYOND = 0.5  # of the width of a range: so far outside it is far
SHOWN = 3  # so many columns are named of one sample
SCALE = 10.0  # so many times as large or as small, a whole picture is of another scale, not only a bright or a dark one


def ranges_of(dataset: Dataset) -> list[list[float]] | None:
    """Return the smallest and the largest training value of each feature; None of pictures, texts and the like."""
    x = dataset.train.x
    if dataset.kind not in ("table", "features") or x.ndim != 2 or not len(x):
        return None
    return [x.amin(dim=0).tolist(), x.amax(dim=0).tolist()]


@dataclass(frozen=True, eq=False)
class Ranges:
    """The ranges that a run recorded.

    Args:
        low: the smallest value of each feature.
        high: the largest.
        names: of the features that are numbers, by their place; others are categories and marks.

    Example:
        >>> Ranges(torch.tensor([0.2, 50.0]), torch.tensor([5.2, 70.0]), {0: "carat", 1: "depth"}).far(
        ...     torch.tensor([[1.0, 61.0], [250.0, 61.0]])
        ... )
        {1: "'carat' is 250, training had 0.2 to 5.2"}
    """

    low: Tensor
    high: Tensor
    names: dict[int, str]

    @classmethod
    def stored(cls, preprocessing: Preprocessing, encoding: Encoding | None) -> "Ranges | None":
        """Return what a run recorded; None where it recorded nothing, as of pictures and texts.

        Args:
            preprocessing: of the run.
            encoding: of its table, if it has one.
        """
        found = preprocessing.get("ranges")
        if found is None:
            return None
        low, high = (torch.tensor(side, dtype=torch.float64) for side in found)
        return cls(low, high, _numbers(encoding, len(low)))

    def far(self, x: object) -> dict[int, str]:
        """Return which samples have a number far outside the range of training, and which number that is.

        Args:
            x: samples in the form of the dataset, ``(N, features)``; of any other form none is far.
        """
        if not isinstance(x, Tensor) or x.ndim != 2 or x.shape[1] != len(self.low) or not self.names:
            return {}
        places = torch.tensor(list(self.names))
        low, high, own = self.low[places], self.high[places], x[:, places].double()
        reach = BEYOND * (high - low)
        outside = (own < low - reach) | (own > high + reach)
        rows = outside.any(dim=1).nonzero().flatten().tolist()
        return {row: self._said(x[row], places[outside[row]].tolist()) for row in rows}

    def _said(self, sample: Tensor, places: Sequence[int]) -> str:
        parts = [
            f"{self.names[place]!r} is {sample[place].item():g}, "
            f"training had {self.low[place].item():g} to {self.high[place].item():g}"
            for place in places[:SHOWN]
        ]
        return "; ".join([*parts, f"and {len(places) - SHOWN} more"] if len(places) > SHOWN else parts)


@dataclass(frozen=True, eq=False)
class Scale:
    """How large the numbers of pictures, or of other samples with several axes, were in training.

    Args:
        size: their root mean square.

    Example:
        >>> Scale(140.0).far(torch.ones(1, 1, 8, 8))
        {0: 'its numbers are 140 times as small as those of training: 0 to 1 in place of 0 to 255?'}
    """

    size: float

    def far(self, x: object) -> dict[int, str]:
        """Return which samples are of another scale than those of training.

        Args:
            x: samples in the form of the dataset, ``(N, C, …)``; of any other form none is far.
        """
        if not isinstance(x, Tensor) or x.ndim < 3 or not len(x):
            return {}
        sizes = x.flatten(1).double().square().mean(dim=1).sqrt().tolist()
        return {row: self._said(size) for row, size in enumerate(sizes) if not 1 / SCALE < size / self.size < SCALE}

    def _said(self, size: float) -> str:
        if size == 0:
            return "all of its numbers are 0"
        small, times = size < self.size, max(size / self.size, self.size / size)
        ends = ("small", "0 to 1 in place of 0 to 255") if small else ("large", "0 to 255 in place of 0 to 1")
        return f"its numbers are {times:.3g} times as {ends[0]} as those of training: {ends[1]}?"


def reach_of(preprocessing: Preprocessing, encoding: Encoding | None) -> Ranges | Scale | None:
    """Return what says whether samples are far from those of training; None of texts and frozen networks' pictures.

    Args:
        preprocessing: of the run.
        encoding: of its table, if it has one.
    """
    if len(preprocessing["input_shape"]) < 2 or preprocessing["kind"] not in ("images", "features"):
        return Ranges.stored(preprocessing, encoding)
    pairs = zip(preprocessing["mean"], preprocessing["std"], strict=True)
    # a spread of exactly 1 stands for that of a channel that is the same everywhere
    squares = [mean**2 + (0.0 if std == 1 else std**2) for mean, std in pairs]
    size = math.sqrt(sum(squares) / len(squares)) * (255 if preprocessing["kind"] == "images" else 1)
    return Scale(size) if size > 0 else None


def _numbers(encoding: Encoding | None, features: int) -> dict[int, str]:
    if encoding is None:
        return {place: f"feature {place}" for place in range(features)}
    found, place = {}, 0
    for column in encoding.columns:
        if column.categories is None:
            found[place] = column.name
        place += len(column.features)
    return found


def about_far(far: Sequence[tuple[str, str]]) -> list[str]:
    """Return a sentence about samples that are far from those of training, if there are any.

    Args:
        far: the name of each, and what is far.

    Example:
        >>> about_far([("7", "'carat' is 250, training had 0.2 to 5.2")])
        ["1 sample far from those of training: 7 ('carat' is 250, training had 0.2 to 5.2)."]
    """
    if not far:
        return []
    name, why = far[0]
    count = "1 sample" if len(far) == 1 else f"{len(far):,} samples"
    return [f"{count} far from those of training{':' if len(far) == 1 else ', first'} {name} ({why})."]
