"""Comparison: the finished answer, from Python; with pictures of the costliest mistakes where somebody asks."""

import io
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from labelspace import _checks, models, results
from labelspace.comparison.plan import Plan
from labelspace.comparison.question import IN_MEMORY
from labelspace.data import digests
from labelspace.data.dataset import Dataset
from labelspace.data.loading import loaded
from labelspace.report.html import write_html
from labelspace.report.methods_text import methods_text
from labelspace.report.table import markdown_table, text_table
from labelspace.results import Best, Options, Result, Row, Verdict
from labelspace.serving.predictions import ready
from labelspace.training.config import Config
from labelspace.training.run import Run

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Comparison:
    """What a comparison found; its folder holds everything.

    Args:
        folder: where it is; None for scores alone.
        result: everything that was found, as ``comparison.json`` holds it.
    """

    folder: Path | None
    result: Result

    @classmethod
    def load(cls, folder: str | Path, *, allow_damaged: bool = False) -> "Comparison":
        """Read a finished comparison.

        Args:
            folder: where it is.
            allow_damaged: read also what is not what was written, and warn.
        """
        return cls(Path(folder), results.read("Comparison.load", Path(folder), allow_damaged)[0])

    def save(self, folder: str | Path) -> "Comparison":
        """Write it into a folder that ``Comparison.load`` and ``labelspace report`` take, and return it from there.

        Everything that belongs to it goes along, its runs and the best model too; of scores alone there is nothing
        but what was found.

        Args:
            folder: which is made, or is empty.
        """
        place = Path(folder)
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            expected = "a folder that is empty or not there yet"
            raise _checks.fail("Comparison.save", "folder", expected, f"{place}, which holds something")
        try:
            if self.folder is not None:
                shutil.copytree(self.folder, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
            place.mkdir(parents=True, exist_ok=True)
            self.result.write(place)
        except OSError as error:
            expected = "a folder that can be written"
            raise _checks.fail("Comparison.save", "folder", expected, f"{place} ({error.strerror or error})") from error
        return Comparison(place, self.result)

    @property
    def content(self) -> Options:
        """Everything that was found as JSON data, as ``comparison.json`` holds it."""
        return self.result.plain()

    def __repr__(self) -> str:
        """Return the verdict in one line."""
        return f"Comparison({self.verdict.kind}: {self.verdict.sentences[0]})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.table())}</pre>"

    @property
    def verdict(self) -> Verdict:
        """The answer: kind, estimate, interval, and sentences."""
        return self.result.verdict

    @property
    def rows(self) -> tuple[Row, ...]:
        """The lines of the table, the reference first."""
        return self.result.rows

    @property
    def recommendation(self) -> Best | None:
        """What to take home: whose labels or scores, which run, and how it decides."""
        return self.result.best

    @property
    def best(self) -> Run:
        """The run to take home: of the best method on validation data, its best seed."""
        if self.result.model is None:
            remedy = "Where it was kept with out=…, best/decision.json is how to decide."
            raise _checks.fail("Comparison", "best", "asked of a trained comparison", "one of scores alone", remedy)
        return Run.load(self._kept("best") / "best")

    @property
    def warnings(self) -> list[str]:
        """What a reader should know."""
        return list(self.result.warnings)

    def table(self, width: int = 100) -> str:
        """Return the table and the verdict as text."""
        return text_table(self.result, width)

    def markdown(self) -> str:
        """Return the table and the verdict as Markdown."""
        return markdown_table(self.result)

    def methods_text(self) -> str:
        """Return how it was made, for a paper: a paragraph and the table, as LaTeX."""
        return methods_text(self.result)

    def to_frame(self) -> "pandas.DataFrame":
        """Return one row per method and decision rule as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError('to_frame() needs pandas: pip install "labelspace[pandas]".') from error
        return pandas.DataFrame(self.records())

    def records(self) -> list[dict[str, str | float | None]]:
        """Return one dict per method and decision rule."""
        found: list[dict[str, str | float | None]] = []
        for row in self.rows:
            strength = None if row.strength is None else row.strength.value
            for rule in ("argmax", "min_cost"):
                numbers = row.under(rule)
                if numbers is None:
                    continue
                # the change is that of the headline rule
                moved = row.change if rule == self.result.decision else None
                found.append(
                    {
                        "label": row.label,
                        "method": row.method,
                        "role": row.role,
                        "strength": strength,
                        "decision": rule,
                        "cost": numbers.cost,
                        "accuracy": numbers.accuracy,
                        **numbers.others,
                        "ece_after": row.ece_after,
                        "change": None if moved is None else moved.estimate,
                        "low": None if moved is None else moved.low,
                        "high": None if moved is None else moved.high,
                        "unit": None if moved is None else moved.unit,
                    }
                )
        return found

    def save_html(self, path: str | Path | None = None, examples: int = 0, *, allow_damaged: bool = False) -> Path:
        """Write the report as one self-contained page and return where it is.

        Args:
            path: the file, ``report.html`` in the folder by default.
            examples: how many of the costliest mistakes to show as pictures; they may be private, so none by default.
            allow_damaged: read also what is not what was written, and warn.
        """
        folder = self._kept("save_html")
        pictures = costly_pictures(folder, self.result, examples, allow_damaged) if examples else []
        return write_html(folder, path, pictures, allow_damaged=allow_damaged)

    def _kept(self, what: str) -> Path:
        if self.folder is None:
            remedy = "Scores are kept with out=…, or after .save(folder)."
            raise _checks.fail("Comparison", what, "asked of a comparison with a folder", "one of scores alone", remedy)
        return self.folder


SMALLEST = 96  # pixels of the shorter side, so that a digit of 8×8 can be seen


def costly_pictures(folder: Path, result: Result, count: int, allow_damaged: bool = False) -> list[tuple[bytes, str]]:
    """Return the costliest mistakes of the best run on test data as PNG, each with a caption: one of each kind first.

    Args:
        folder: of the comparison.
        result: what it found.
        count: how many at most.
        allow_damaged: take also a best run that is not what was written, and warn.
    """
    _checks.whole("report", "examples", count, low=1)
    if result.model is None:
        raise _checks.fail("report", "examples", "left out: only images can be shown", "scores alone")
    config = Plan.load(folder / "plan.toml").config
    if config.data == IN_MEMORY:
        raise _checks.fail("report", "examples", "left out: the pictures are not on disk", f"data {IN_MEMORY}")
    if result.data.kind != "images" and config.backbone is None:
        raise _checks.fail("report", "examples", "left out: only images can be shown", result.data.kind)
    dataset = loaded(config.data, config.data_options)
    if dataset.kind != "images":
        raise _checks.fail("report", "examples", "left out: only images can be shown", dataset.kind)
    if _key(config, dataset) != result.data.key:
        # a plan is a file that may have come from anywhere: pictures that it merely names are not for the report
        expected = "left out: what the plan names as its data are not the data that were compared"
        raise _checks.fail("report", "examples", expected, config.data)
    run, decision = ready(folder / "best", allow_damaged=allow_damaged)
    y, names = run.scores["test_y"], result.data.names
    prices = decision.cost if isinstance(decision.cost, Tensor) else None
    judged = decision.judge(run.scores["test_scores"], y, prices, run.scores.get("test_factors"))
    called, costs, done = judged.actions, judged.costs, decision.action_names
    worst = [place for place in costs.argsort(descending=True, stable=True).tolist() if costs[place] > 0]
    pairs = [(int(y[place]), int(called[place])) for place in worst]
    return [
        (_png(dataset.test.x[place]), f"{names[y[place]]} called {done[called[place]]} (cost {costs[place]:g})")
        for place in varied(worst, pairs)[:count]
    ]


def varied(places: Sequence[int], kinds: Sequence[tuple[int, int]]) -> list[int]:
    """Return places so that the first of every kind come first, then the second ones, each in the given order.

    Args:
        places: of samples, the costliest first.
        kinds: of each of them, what is mistaken for what.

    Example:
        >>> varied([7, 4, 9, 2], [(0, 1), (0, 1), (2, 1), (0, 1)])
        [7, 9, 4, 2]
    """
    seen: Counter[tuple[int, int]] = Counter()
    ranked = []
    for place, kind in zip(places, kinds, strict=True):
        ranked.append((seen[kind], place))
        seen[kind] += 1
    return [place for _, place in sorted(ranked, key=lambda each: each[0])]


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
