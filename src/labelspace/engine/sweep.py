"""Many runs: methods × options × seeds, each computed once, through any executor."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from labelspace import data
from labelspace.data.dataset import Dataset
from labelspace.engine.build import Job, prepare
from labelspace.engine.config import Config, make_config
from labelspace.engine.executors import Executor, Processes
from labelspace.engine.run import Run, train_job
from labelspace.records import Index, RunFolder
from labelspace.space import LabelSpace

Report = Callable[[str, dict[str, Any]], None]


class Failure(NamedTuple):
    """A run that could not be finished, and why."""

    config: Config
    reason: str


class SweepError(RuntimeError):
    """Some runs of a sweep failed; the others are finished and kept."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        """Name the first few."""
        self.failures = list(failures)
        shown = "\n".join(f"  {failure.config.run_name()}: {failure.reason}" for failure in self.failures[:5])
        super().__init__(f"{len(self.failures)} runs failed; the finished ones are kept.\n{shown}")


class Task(NamedTuple):
    """One run to do; dataset and space are given where they are not to be had by name."""

    config: Config
    dataset: Dataset | None = None
    space: LabelSpace | None = None


def grid(base: Mapping[str, Any], **axes: Iterable[Any]) -> list[Config]:
    """Return the configurations of a grid: every combination of the axes, each once.

    Example:
        >>> configs = grid({"data": "digits"}, method=["onehot", "lls"], seed=range(3))
        >>> len(configs), configs[0].method, configs[-1].seed
        (6, 'onehot', 2)
    """
    combinations = itertools.product(*axes.values())
    configs = [make_config(**{**base, **dict(zip(axes, values, strict=True))}) for values in combinations]
    return list({config.run_name() + config.model_dump_json(): config for config in configs}.values())


def sweep(
    configs: Sequence[Config],
    out: str | Path,
    *,
    dataset: Dataset | None = None,
    space: LabelSpace | None = None,
    executor: Executor | None = None,
    checkpoint_seconds: float = 30.0,
    report: Report | None = None,
) -> list[Run]:
    """Do all runs and return them in the order of the configurations.

    What is finished in ``out`` is read, not computed. Only this process writes the index.

    Args:
        configs: what to run; see ``grid``.
        out: the folder of the runs.
        dataset: the data, where it is not to be had by name.
        space: the label space, where it is not to be had by name.
        executor: where to compute; processes of one thread each by default.
        checkpoint_seconds: how often a run writes a checkpoint.
        report: called with ``"run"`` and its numbers as each one finishes.
    """
    folder, index = Path(out), Index(out)
    tasks = [Task(config, dataset, space) for config in configs]
    work = partial(_do, str(folder), checkpoint_seconds)
    found: dict[int, str] = {}
    failures: list[Failure] = []
    for number, (name, reason) in (executor or Processes()).run(work, tasks):
        if reason is not None:
            failures.append(Failure(configs[number], reason))
            continue
        found[number] = name
        run = RunFolder(folder / name)
        index.record(run, run.result()["key"])
        if report is not None:
            report("run", {"done": len(found), "of": len(tasks), "name": name, **run.result()["test"]})
    if failures:
        raise SweepError(failures)
    return [Run.load(folder / found[number]) for number in range(len(tasks))]


def _do(folder: str, checkpoint_seconds: float, task: Task) -> tuple[str, str | None]:
    """Do one run in a worker; return its folder's name, or why it failed."""
    try:
        job = _job(task)
        train_job(job, folder, checkpoint_seconds=checkpoint_seconds)
        return job.config.run_name(), None
    except Exception as error:  # one failed run must not end the others; the parent reports it
        return task.config.run_name(), f"{type(error).__name__}: {error}"


def _job(task: Task) -> Job:
    if task.dataset is not None:
        return prepare(task.config, task.dataset, task.space)
    options = tuple(sorted(task.config.data_options.items()))
    return prepare(task.config, _loaded(task.config.data, options), task.space)


@lru_cache(maxsize=2)
def _loaded(name: str, options: tuple[tuple[str, Any], ...]) -> Dataset:
    """Return a dataset; a worker reads it once for all its runs."""
    return data.load(name, **dict(options))
