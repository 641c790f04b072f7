"""Runs of a sweep that are there already, and what all runs of one task have in common."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import final

from labelspace._devices import resolved
from labelspace.augment.named import Augment
from labelspace.data.dataset import Dataset
from labelspace.data.loading import loaded
from labelspace.records import RunFolder
from labelspace.space import LabelSpace
from labelspace.sweeps.taken import take_over
from labelspace.training.build import Job, automatic_model, completed, placed, trained_on
from labelspace.training.config import Config
from labelspace.training.run import Run, finished_run, own_threads_and_draws

# of a configuration, what is the same for all members of a group and filled in once
FILLED = {
    "data_key",
    "data_options",
    "space_key",
    "option_keys",
    "code_key",
    "limit",
    "model",
    "label_noise",
}


@final
class Present:
    """Runs that are finished already: they are known by their names, which the content of data and space decides.

    Args:
        folder: of the runs.
        dataset: the data, where it is not to be had by name.
        space: the label space, where it is not to be had by name.
        job: of the same data, if there is one.
        elsewhere: other folders of runs, from which those that are finished are taken over.
    """

    def __init__(
        self,
        folder: Path,
        dataset: Dataset | None,
        space: LabelSpace | None,
        job: Job | None,
        elsewhere: Sequence[Path] = (),
    ) -> None:
        """Look which runs there are."""
        self.folder, self.dataset, self.space, self.job = folder, dataset, space, job
        self.places: dict[str, list[Path]] = {}  # of each name
        for each in (folder, *elsewhere):
            for path in each.glob("*/result.json"):
                self.places.setdefault(path.parent.name, []).append(path.parent)
        # nearly always empty for new runs, which then cost nothing here
        self.likely = {(name.split("-")[0], name.rpartition("-seed")[2]) for name in self.places}
        self.read: dict[str, tuple[Config, Dataset]] = {}

    def runs(self, configs: Sequence[Config], paths: Sequence[str]) -> dict[int, Run]:
        """Return the runs of a task that are finished and sound, by their places in it.

        Args:
            configs: of the task.
            paths: how a run may have been computed, what is preferred first.
        """
        if not any((config.method.split("-")[0], str(config.seed)) in self.likely for config in configs):
            return {}
        try:
            with own_threads_and_draws(configs[0]):
                jobs = alike(self._first(placed(configs[0])), configs)
        except Exception:  # the worker meets it too, and says which run it is
            return {}
        names = [[job.config.model_copy(update={"path": path}).run_name() for path in paths] for job in jobs]
        found = {number: self._run(each) for number, each in enumerate(names)}
        return {number: run for number, run in found.items() if run is not None}

    def _run(self, names: Sequence[str]) -> Run | None:
        """Return a sound run of one of these names; one of another folder is taken over."""
        places = [place for name in names for place in self.places.get(name, ())]
        # those of this folder first, so that what was taken over once is the answer ever after
        for place in sorted(places, key=lambda place: place.parent != self.folder):
            here = place.parent == self.folder
            run = finished_run(RunFolder(place)) if here else take_over(place, self.folder)
            if run is not None:
                return run
        return None

    def _first(self, config: Config) -> Job:
        """Return the first job of a task; data that several tasks share are prepared once."""
        known, dataset = self._data(config) if self.job is None else (self.job.config, self.job.dataset)
        filled = {name: getattr(known, name) for name in ("data_key", "data_options", "limit")}
        return completed(config.model_copy(update=filled), dataset, self.space)

    def _data(self, config: Config) -> tuple[Config, Dataset]:
        said = [getattr(config, name) for name in ("data", "data_options", "limit", "backbone")]
        key = json.dumps(said, sort_keys=True)
        if key not in self.read:
            self.read[key] = trained_on(config, named_dataset(config) if self.dataset is None else self.dataset)
        return self.read[key]


def alike(first: Job, configs: Sequence[Config]) -> list[Job]:
    """Return the jobs of a task: what the first one filled in holds for all of them, but for spaces of their own."""
    filled = first.config.model_dump(include=FILLED)
    kind = first.dataset.kind
    mixed = [{"augment": Augment.parse(config.augment, kind).specs} for config in configs[1:]]  # each has its own
    others = [config.model_copy(update={**filled, **own}) for config, own in zip(configs[1:], mixed, strict=True)]
    jobs = [first._replace(config=config) for config in others]
    spaced = [
        each if each.config.space == first.config.space else completed(each.config, each.dataset) for each in jobs
    ]
    return [first, *spaced]


def named_dataset(config: Config) -> Dataset:
    """Return the dataset that a configuration names."""
    place = Path(config.data)
    # a file that has changed since is read again
    changed = place.stat().st_mtime_ns if place.is_file() else 0
    return _loaded(config.data, json.dumps(config.data_options, sort_keys=True), changed)


def known_device(config: Config) -> Config:
    """Return a configuration whose device is no longer "auto"; a worker says whether it is there."""
    return config if config.device != "auto" else config.model_copy(update={"device": resolved("train", "auto")})


def known_model(config: Config, dataset: Dataset | None) -> Config:
    """Return a configuration whose model is no longer "auto"; nothing else is filled in."""
    if config.model != "auto" or config.backbone is not None:
        return config
    return config.model_copy(update={"model": automatic_model(dataset or named_dataset(config))})


def forget() -> None:
    """Forget the data that were read: they may have changed since."""
    _loaded.cache_clear()


@lru_cache(maxsize=2)
def _loaded(name: str, options: str, changed: int) -> Dataset:
    """Return a dataset; a worker reads it once for all its runs."""
    return loaded(name, json.loads(options))
