"""Many runs: methods × options × seeds, each computed once, through any executor."""

import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from labelspace import _plugins, data
from labelspace._checks import WorkError
from labelspace._devices import resolved
from labelspace._plugins import Plugin
from labelspace.data.dataset import Dataset
from labelspace.engine.build import automatic_model, prepare
from labelspace.engine.config import Config, make_config
from labelspace.engine.executors import Executor, Processes, WorkerDied
from labelspace.engine.run import Run, named_parts, own_threads_and_draws, train_job
from labelspace.engine.vectorised import partition, train_together
from labelspace.records import RunFolder
from labelspace.space import LabelSpace

PROGRESS = ".progress.part"  # the ending that finishing a run sweeps away
Report = Callable[[str, dict[str, Any]], None]


class Failure(NamedTuple):
    """A run that could not be finished, and why."""

    config: Config
    reason: str


class SweepError(WorkError):
    """Some runs of a sweep failed; the others are finished and kept."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        """Name the first few."""
        self.failures = list(failures)
        shown = "\n".join(f"  {failure.config.run_name()}: {failure.reason}" for failure in self.failures[:5])
        super().__init__(f"{len(self.failures)} runs failed; the finished ones are kept.\n{shown}")


class Task(NamedTuple):
    """One run to do, or several that train together; dataset and space are given where they have no name."""

    configs: tuple[Config, ...]
    dataset: Dataset | None = None
    space: LabelSpace | None = None
    plugins: tuple[Plugin, ...] = ()  # methods and models that were registered in the parent alone


def grid(base: Mapping[str, Any], **axes: Iterable[Any]) -> list[Config]:
    """Return the configurations of a grid: every combination of the axes, each once.

    Example:
        >>> configs = grid({"data": "digits"}, method=["onehot", "lls"], seed=range(3))
        >>> len(configs), configs[0].method, configs[-1].seed
        (6, 'onehot', 2)
    """
    combinations = itertools.product(*axes.values())
    points = [{**base, **dict(zip(axes, values, strict=True))} for values in combinations]
    configs = [make_config(**{**point, **named_parts(point)}) for point in points]
    return list({config.run_name() + config.model_dump_json(): config for config in configs}.values())


def sweep(configs: Sequence[Config], out: str | Path, **options: Any) -> list[Run]:
    """Do all runs and return them in the order of the configurations; if some failed, raise when the others are done.

    Args:
        configs: what to run; see ``grid``.
        out: the folder of the runs.
        options: those of ``outcomes``.
    """
    found = outcomes(configs, out, **options)
    failures = [each for each in found if isinstance(each, Failure)]
    if failures:
        raise SweepError(failures)
    return [each for each in found if isinstance(each, Run)]


def outcomes(
    configs: Sequence[Config],
    out: str | Path,
    *,
    dataset: Dataset | None = None,
    space: LabelSpace | None = None,
    executor: Executor | None = None,
    checkpoint_seconds: float = 30.0,
    report: Report | None = None,
    vectorise: bool = True,
) -> list[Run | Failure]:
    """Do all runs and return, in the order of the configurations, each run or why it failed.

    What is finished in ``out`` is read, not computed.

    Args:
        configs: what to run; see ``grid``.
        out: the folder of the runs.
        dataset: the data, where it is not to be had by name.
        space: the label space, where it is not to be had by name.
        executor: where to compute; processes of one thread each by default.
        checkpoint_seconds: how often a run writes a checkpoint.
        report: called with ``"run"`` and its numbers as each one finishes.
        vectorise: train options and seeds of a small network together where that is faster (their ``path`` says so);
            on the CPU only.
    """
    folder, executor = Path(out), executor or Processes()
    folder.mkdir(parents=True, exist_ok=True)
    configs = [_known_device(config) for config in configs]
    parts = [[number] for number in range(len(configs))]
    if vectorise:
        parts = partition([_known_model(config, dataset) for config in configs], getattr(executor, "workers", 1))
    brought = tuple(_plugins.snapshot())
    tasks = [Task(tuple(configs[number] for number in part), dataset, space, brought) for part in parts]
    work = partial(_do, str(folder), checkpoint_seconds)
    found: dict[int, str] = {}
    failures: dict[int, Failure] = {}
    with _closed(executor.run(work, tasks)) as done:
        for number, (name, reason) in _each(done, parts):
            if reason is not None:
                failures[number] = Failure(configs[number], reason)
                continue
            found[number] = name
            if report is not None:
                test = RunFolder(folder / name).result()["test"]
                report("run", {"done": len(found), "of": len(configs), "name": name, **test})
    return [failures.get(number) or Run.load(folder / found[number]) for number in range(len(configs))]


@contextmanager
def _closed(done: Iterator[tuple[int, Any]]) -> Iterator[Iterator[tuple[int, Any]]]:
    """End the work at once where its results are no longer wanted, not when somebody lets go of the exception."""
    try:
        yield done
    finally:
        if hasattr(done, "close"):
            done.close()


def _each(done: Iterable[tuple[int, Any]], parts: list[list[int]]) -> Iterator[tuple[int, tuple[str, str | None]]]:
    """Yield the number and the outcome of every run of every task."""
    for task, outcomes in done:
        if isinstance(outcomes, WorkerDied):
            outcomes = [("", outcomes.reason)] * len(parts[task])
        yield from zip(parts[task], outcomes, strict=True)


def _known_device(config: Config) -> Config:
    """Return a configuration whose device is no longer "auto"; a worker says whether it is there."""
    return config if config.device != "auto" else config.model_copy(update={"device": resolved("train", "auto")})


def _known_model(config: Config, dataset: Dataset | None) -> Config:
    """Return a configuration whose model is no longer "auto"; nothing else is filled in."""
    if config.model != "auto" or config.backbone is not None:
        return config
    return config.model_copy(update={"model": automatic_model(dataset or _named(config))})


def _do(folder: str, checkpoint_seconds: float, task: Task) -> list[tuple[str, str | None]]:
    """Do a task in a worker; return for each of its runs the folder's name, and why it failed if it did."""
    try:
        _plugins.install(task.plugins)
        with own_threads_and_draws(task.configs[0]):
            return _done(folder, checkpoint_seconds, task)
    except Exception as error:  # one failed run must not end the others; the parent reports it
        return [(config.run_name(), _reason(error)) for config in task.configs]


def _done(folder: str, checkpoint_seconds: float, task: Task) -> list[tuple[str, str | None]]:
    first = prepare(task.configs[0], task.dataset or _named(task.configs[0]), task.space)
    if len(task.configs) == 1:
        place = Path(folder) / first.config.run_name()
        try:
            train_job(first, folder, checkpoint_seconds=checkpoint_seconds, report=_progress(place))
        finally:
            (place / PROGRESS).unlink(missing_ok=True)  # also of a run that failed
        return [(first.config.run_name(), None)]
    filled = first.config.model_dump(
        include={
            "data_key",
            "data_options",
            "space_key",
            "option_keys",
            "code_key",
            "limit",
            "model",
            "augment",
            "label_noise",
        }
    )
    jobs = [first._replace(config=config.model_copy(update=filled)) for config in task.configs]
    outcomes = zip(jobs, train_together(jobs, folder), strict=True)
    return [
        (run.config.run_name(), None) if isinstance(run, Run) else (job.config.run_name(), _reason(run))
        for job, run in outcomes
    ]


def _progress(folder: Path) -> Report:
    """Return a report that leaves a note in the run's folder about once a second, for whoever watches from outside."""
    last = [time.monotonic()]

    def report(event: str, numbers: dict[str, Any]) -> None:
        if event != "epoch" or time.monotonic() - last[0] < 1:
            return
        last[0] = time.monotonic()
        with suppress(OSError):  # a note that cannot be written is no reason to stop
            (folder / PROGRESS).write_text(f"{numbers['epoch'] + 1} {numbers['epochs']}")

    return report


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _named(config: Config) -> Dataset:
    place = Path(config.data)
    # a file that has changed since is read again
    changed = place.stat().st_mtime_ns if place.is_file() else 0
    return _loaded(config.data, json.dumps(config.data_options, sort_keys=True), changed)


@lru_cache(maxsize=2)
def _loaded(name: str, options: str, changed: int) -> Dataset:
    """Return a dataset; a worker reads it once for all its runs."""
    return data.load(name, **json.loads(options))
