"""What a report is made of, read from a comparison's folder or from the folders of plain runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from torch import Tensor

from labelspace import _checks, _files, results
from labelspace.decisions import Temperature
from labelspace.records import ConfigRecord, RunFolder
from labelspace.results import Best, Measure, Options, Result, Role, Row, Rule, Strength, Trial
from labelspace.space import LabelSpace

Made = TypeVar("Made")

COST, SPACE, GEOMETRY = results.DRAWN_FROM
# a temperature hardly changes with more samples than this, and fitting it takes the longest of all
FITTED = 1000


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run on disk, of which parts may be absent: scores that came from elsewhere have no epochs and no weights."""

    folder: RunFolder

    def epochs(self) -> list[dict[str, float]]:
        """Return the epoch lines, none where there are none."""
        return self.folder.epochs() if self._has("epochs.jsonl") else []

    def scores(self) -> dict[str, Tensor]:
        """Return the scores of validation and test data that are there."""
        return self.folder.scores() if self._has("scores.safetensors") else {}

    def space(self) -> LabelSpace | None:
        """Return what the run used or learned."""
        return self.folder.label_space() if self._has("label_space.safetensors") else None

    def _has(self, name: str) -> bool:
        return (self.folder.path / name).is_file()

    @cached_property
    def fitted(self) -> float:
        """Return the temperature that validation data ask for; 1 without such data."""
        scores = self.scores()
        if not len(scores.get("validation_y", ())):
            return 1.0
        step = -(-len(scores["validation_y"]) // FITTED)
        return Temperature().fit(scores["validation_scores"][::step], scores["validation_y"][::step]).value


@dataclass(frozen=True, eq=False)
class Drawn:
    """A row with its runs, one for each seed, as far as they are on disk.

    Args:
        label: how it is shown.
        role: reference, method or control.
        runs: one per seed.
        temperatures: one per run.
        calibrations: what each run's probabilities have beside it, None for nothing.
        row: what was found of it; None for plain runs, which nothing has compared.
    """

    label: str
    role: Role
    runs: tuple[StoredRun, ...]
    temperatures: tuple[float, ...]
    row: Row | None = None
    calibrations: tuple[Options | None, ...] = ()

    def calibration(self, place: int) -> Options | None:
        """Return what the probabilities of the run at a place have beside the temperature."""
        return self.calibrations[place] if self.calibrations else None

    @property
    def winner(self) -> bool:
        """Whether it is the method of least validation cost."""
        return self.row is not None and self.row.winner

    @property
    def of(self) -> str | None:
        """Whose control it is."""
        return None if self.row is None else self.row.of

    @property
    def strength(self) -> Strength | None:
        """What was tuned, and the value that was chosen."""
        return None if self.row is None else self.row.strength

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The strengths that were tried, the weakest first."""
        tried = [] if self.row is None else [trial for trial in self.row.trials if trial.value is not None]
        return tuple(sorted(tried, key=lambda trial: trial.value or 0))


@dataclass(frozen=True, eq=False)
class Material:
    """Everything the figures are drawn from."""

    names: tuple[str, ...]
    rows: tuple[Drawn, ...]
    rule: Rule
    cost: LabelSpace | None = None
    space: LabelSpace | None = None
    geometry: dict[str, Tensor] = field(default_factory=dict)
    runs: Mapping[str, StoredRun] = field(default_factory=dict)
    measure: Measure | None = None  # of sequences, what texts are judged by
    best: Best | None = None  # the model to take home
    _made: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    @property
    def reference(self) -> Drawn:
        """Return the row that the others are compared with."""
        return next((row for row in self.rows if row.role == "reference"), self.rows[0])

    def once(self, make: Callable[["Material"], Made]) -> Made:
        """Return what a function makes of this, made once for all figures that share it."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(Made, self._made[make])


def row_facts(row: Drawn | Row) -> dict[str, object]:
    """Return what every figure says of a row."""
    return {"label": row.label, "role": row.role, "winner": row.winner}


def read_comparison(folder: Path, allow_damaged: bool = False) -> tuple[Result, Material]:
    """Read the folder of a finished comparison: what it found, and what its figures are drawn from.

    Args:
        folder: of the comparison.
        allow_damaged: read also what is not what was written, and warn.
    """
    result, digests = results.read("write_html", folder, allow_damaged)
    names = result.data.names

    def content(name: str) -> bytes | None:
        path = folder / name
        if not path.is_file():
            return None
        found = path.read_bytes()
        if name in digests and _files.digest(found) != digests[name]:
            why = "its content is not what the comparison was finished with"
            _checks.damaged("write_html", "folder", f"a sound {name}", path, why, results.REMEDY, allow_damaged)
        return found

    runs = _runs(folder, result, allow_damaged)
    material = Material(
        names=names,
        # several models that are one have no run of their own to draw
        rows=tuple(_drawn(row, runs) for row in result.rows if row.role != "ensemble"),
        rule=result.decision,
        cost=_space(folder / COST, content(COST), names) if result.cost.priced else None,
        space=_space(folder / SPACE, content(SPACE), names),
        geometry=_geometry(content(GEOMETRY)),
        runs=runs,
        measure=result.measure,
        best=result.best,
    )
    return result, material


def _runs(folder: Path, result: Result, allow_damaged: bool) -> dict[str, StoredRun]:
    """Return the runs by their names; a comparison may have been moved without them, and is then drawn without."""
    named = {name for row in result.rows for name in (*row.runs, *(trial.run for trial in row.trials)) if name}
    there = {name: folder / "runs" / name for name in sorted(named)}
    return {name: StoredRun(RunFolder(path, allow_damaged)) for name, path in there.items() if path.is_dir()}


def _drawn(row: Row, stored: Mapping[str, StoredRun]) -> Drawn:
    runs = tuple(stored[name] for name in row.runs if name in stored)
    given = row.temperatures or ()
    temperatures = given if len(given) == len(runs) else tuple(run.fitted for run in runs)
    kept = row.calibrations or ()
    return Drawn(row.label, row.role, runs, temperatures, row, kept if len(kept) == len(runs) else ())


def _space(path: Path, content: bytes | None, names: Sequence[str]) -> LabelSpace | None:
    if content is None:
        return None
    space = LabelSpace.from_bytes(content, path)
    if space.names != tuple(names):
        expected = f"a {path.name} with the comparison's classes"
        raise _checks.fail("write_html", "folder", expected, path, results.REMEDY)
    return space


def _geometry(content: bytes | None) -> dict[str, Tensor]:
    try:
        return {} if content is None else from_bytes(content)
    except SafetensorError as error:
        remedy = "Remove the file, or let the same compare command write it again."
        raise _checks.fail("write_html", "folder", f"a sound {GEOMETRY}", str(error), remedy) from error


def read_runs(folders: Sequence[Path], allow_damaged: bool = False) -> Material:
    """Read finished runs; those that differ in their seed only become one row.

    Args:
        folders: of runs, or that hold some.
        allow_damaged: read also what is not what was written, and warn.
    """
    found = [RunFolder(path, allow_damaged) for folder in folders for path in _run_folders(folder)]
    grouped: dict[str, list[RunFolder]] = {}
    for run in found:
        grouped.setdefault(run.result()["key"], []).append(run)
    spaces = [run.label_space() for run in found]
    names = spaces[0].names
    for run, space in zip(found, spaces, strict=True):
        if space.names != names:
            got = f"{found[0].path.name} and {run.path.name}, whose classes differ"
            raise _checks.fail("report", "runs", "runs on the same classes", got, "Make one report for each.")
    groups = [sorted(runs, key=lambda run: run.config()["seed"]) for runs in grouped.values()]
    configs = [runs[0].config() for runs in groups]
    # one-hot labels are what others are looked at beside, else whatever comes first
    first = next((place for place, config in enumerate(configs) if config["method"] == "onehot"), 0)
    rows = []
    for place, (label, group) in enumerate(zip(_labels(configs), groups, strict=True)):
        runs = tuple(StoredRun(run) for run in group)
        role: Role = "reference" if place == first else "method"
        rows.append(Drawn(label, role, runs, tuple(run.fitted for run in runs)))
    return Material(names, tuple(rows), "argmax")


def _run_folders(folder: Path) -> list[Path]:
    """Return the folder itself if it is a run, else the runs in it."""
    if (folder / "result.json").is_file():
        return [folder]
    inside = sorted(path.parent for path in [*folder.glob("*/result.json"), *folder.glob("runs/*/result.json")])
    if not inside:
        remedy = "Train some with: labelspace train DATA --out runs"
        raise _checks.fail("report", "runs", "folders of finished runs", f"{folder}, which holds none", remedy)
    return inside


def _labels(configs: Sequence[ConfigRecord]) -> list[str]:
    """Return a label for each configuration: its method, and as much of what differs as tells them apart."""
    flat = [{**config, **config.get("method_options", {})} for config in configs]
    skipped = {"seed", "method_options", "data", "data_key", "space_key", "option_keys", "teacher_key", "method"}
    keys = sorted(set().union(*flat) - skipped)
    differing = [key for key in keys if len({repr(config.get(key)) for config in flat}) > 1]
    labels = []
    for config in flat:
        parts = [f"{key.replace('_', ' ')} {config[key]}" for key in differing if config.get(key) is not None]
        labels.append(", ".join([str(config["method"]), *parts]))
    # those that differ only in what is not shown, such as the digest of their space, are numbered
    numbered = [f"{label} #{labels[: place + 1].count(label)}" for place, label in enumerate(labels)]
    return [label if labels.count(label) == 1 else numbered[place] for place, label in enumerate(labels)]


def mean(values: Sequence[Tensor]) -> Tensor:
    """Return the mean of tensors of one shape."""
    return torch.stack(list(values)).mean(dim=0)
