"""Many runs: methods × options × seeds, each computed once, through any executor."""

import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict

from labelspace import _plugins
from labelspace._checks import WorkError
from labelspace._plugins import Plugin
from labelspace.data import given
from labelspace.data.dataset import Dataset
from labelspace.data.given import as_dataset
from labelspace.data.loading import warnings_of
from labelspace.records import RunFolder, whole
from labelspace.space import LabelSpace
from labelspace.sweeps.executors import Executor, InProcess, Outcome, Processes, WorkerDied
from labelspace.sweeps.members import partition, train_together
from labelspace.sweeps.present import Present, alike, forget, known_device, known_model, named_dataset
from labelspace.training.asked import named_parts
from labelspace.training.build import Job, prepare
from labelspace.training.config import Config, make_config
from labelspace.training.loop import Numbers, Report
from labelspace.training.run import Run, own_threads_and_draws, train_job

PROGRESS = ".progress.part"  # the ending that finishing a run sweeps away


class FinishedRun(TypedDict):
    """What is told of a run that is finished: the event ``run``."""

    done: int  # how many are
    of: int
    name: str  # of its folder
    accuracy: NotRequired[float]  # on test data, where there are any
    nll: NotRequired[float]
    there: bool  # it was finished before


RunReport = Callable[[str, FinishedRun], None]


class Done(NamedTuple):
    """What a task leaves: of each run its folder's name and, if it failed, why; and what was warned of on the way."""

    runs: list[tuple[str, str | None]]
    warnings: list[str]


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


class Part(NamedTuple):
    """Places of configurations that make one task, and whether they train together, also where one alone is left."""

    members: list[int]
    together: bool


class Task(NamedTuple):
    """One run to do, or several that train together; dataset and space are given where they have no name."""

    configs: tuple[Config, ...]
    together: bool
    dataset: Dataset | Path | None = None  # where ``data.given`` wrote it, for a task that goes to another process
    space: LabelSpace | None = None
    plugins: tuple[Plugin, ...] = ()  # methods and models that were registered in the parent alone


def grid(base: Mapping[str, object], **axes: Iterable[object]) -> list[Config]:
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
    done = outcomes(configs, out, **options)
    failures = [each for each in done if isinstance(each, Failure)]
    if failures:
        raise SweepError(failures)
    return [each for each in done if isinstance(each, Run)]


def outcomes(
    configs: Sequence[Config],
    out: str | Path,
    *,
    dataset: object = None,
    space: LabelSpace | None = None,
    executor: Executor | None = None,
    checkpoint_seconds: float = 30.0,
    report: RunReport | None = None,
    vectorise: bool = True,
    job: Job | None = None,
    elsewhere: Sequence[Path] = (),
) -> list[Run | Failure]:
    """Do all runs and return, in the order of the configurations, each run or why it failed.

    What is finished in ``out`` is read, not computed; where all is, no worker is started.

    Args:
        configs: what to run; see ``grid``.
        out: the folder of the runs.
        dataset: the data, where it is not to be had by name: anything that ``labelspace.data.load`` takes, with the
            ``data_options`` of the first configuration.
        space: the label space, where it is not to be had by name.
        executor: where to compute; processes of one thread each by default.
        checkpoint_seconds: how often a run writes a checkpoint.
        report: called with ``"run"`` and its numbers as each one finishes.
        vectorise: train options and seeds of a small network together where that is faster (their ``path`` says so);
            on the CPU only. A run that is there already is taken whichever way it was computed.
        job: prepared from a configuration of the same data, where there is one: they are then not read again.
        elsewhere: other folders of runs: what is finished there is taken over into ``out``, not computed.
    """
    forget()
    folder, executor = Path(out), executor or Processes()
    folder.mkdir(parents=True, exist_ok=True)
    if dataset is not None and not isinstance(dataset, Dataset):
        dataset = as_dataset(dataset, configs[0].data_options if configs else None)
    configs = [known_device(config) for config in configs]
    grouped = [[number] for number in range(len(configs))]
    if vectorise:
        grouped = partition([known_model(config, dataset) for config in configs], getattr(executor, "workers", 1))
    parts = [Part(numbers, len(numbers) > 1) for numbers in grouped]
    runs = _present(parts, configs, Present(folder, dataset, space, job, elsewhere), vectorise, report)
    # how a run is computed depends on all that were asked for, not on which of them are left
    left = [part._replace(members=[number for number in part.members if number not in runs]) for part in parts]
    left = [part for part in left if part.members]
    failures: dict[int, Failure] = {}
    found: dict[int, str] = {}
    with _tasks(left, configs, dataset, space, folder, executor) as tasks:
        work = partial(_do, str(folder.resolve()), checkpoint_seconds)  # workers may be elsewhere
        known = () if job is None else warnings_of(job.dataset.source)
        with _closed(executor.run(work, tasks) if tasks else iter(())) as done:
            for number, (name, reason) in _each(done, left, known):
                if reason is not None:
                    failures[number] = Failure(configs[number], reason)
                    continue
                found[number] = name
                if report is not None:
                    test = RunFolder(folder / name).result()["test"]
                    report("run", _finished(len(runs) + len(found), len(configs), name, test, there=False))
    runs |= {number: whole(folder / name, Run.of_folder) for number, name in found.items()}
    return [failures.get(number) or runs[number] for number in range(len(configs))]


def _present(
    parts: Sequence[Part], configs: Sequence[Config], present: Present, vectorise: bool, report: RunReport | None
) -> dict[int, Run]:
    """Return the runs that are there already."""
    runs: dict[int, Run] = {}
    for members, together in parts:
        paths = ("vectorised", "loop") if together else ("loop", "vectorised")
        found = present.runs([configs[number] for number in members], paths if vectorise else ("loop",))
        for place, run in found.items():
            runs[members[place]] = run
            if report is not None:
                name = run.config.run_name()
                report("run", _finished(len(runs), len(configs), name, run.result["test"], there=True))
    return runs


def _finished(done: int, of: int, name: str, test: Mapping[str, float], there: bool) -> FinishedRun:
    told: FinishedRun = {"done": done, "of": of, "name": name, "there": there}
    if "accuracy" in test:
        told["accuracy"] = test["accuracy"]
    if "nll" in test:
        told["nll"] = test["nll"]
    return told


@contextmanager
def _tasks(
    parts: Sequence[Part],
    configs: Sequence[Config],
    dataset: Dataset | None,
    space: LabelSpace | None,
    folder: Path,
    executor: Executor,
) -> Iterator[list[Task]]:
    """Give the tasks; data in memory are on disk meanwhile, unless this very process does them."""
    elsewhere = parts and not isinstance(executor, InProcess)
    with given.on_disk(dataset if elsewhere else None, folder) as place:
        yield [
            _task([configs[number] for number in members], together, place or dataset, space)
            for members, together in parts
        ]


def _task(configs: list[Config], together: bool, dataset: Dataset | Path | None, space: LabelSpace | None) -> Task:
    used = [part for config in configs for part in config.parts().items()]
    # which parts a teacher is made of is in its record
    taught = any(config.teacher for config in configs)
    return Task(tuple(configs), together, dataset, space, _plugins.snapshot(None if taught else used))


@contextmanager
def _closed(done: Iterator[Outcome[Done]]) -> Iterator[Iterator[Outcome[Done]]]:
    """End the work at once where its results are no longer wanted, not when somebody lets go of the exception."""
    try:
        yield done
    finally:
        if hasattr(done, "close"):
            done.close()


def _each(
    done: Iterable[Outcome[Done]], parts: Sequence[Part], known: Iterable[str]
) -> Iterator[tuple[int, tuple[str, str | None]]]:
    """Yield the number and the outcome of every run of every task; what workers were warned of is said once here.

    Args:
        done: what comes of the tasks.
        parts: the tasks.
        known: what was said when this process read the data; a worker that reads them too is told the same.
    """
    said = set(known)
    for task, left in done:
        if isinstance(left, WorkerDied):
            left = Done([("", left.reason)] * len(parts[task].members), [])
        for text in dict.fromkeys(left.warnings):
            if text not in said:
                warnings.warn(text, stacklevel=4)
        said.update(left.warnings)
        yield from zip(parts[task].members, left.runs, strict=True)


def _do(folder: str, checkpoint_seconds: float, task: Task) -> Done:
    """Do a task in a worker."""
    # kept for the parent: a worker has no screen, and would say them in the form of Python
    with warnings.catch_warnings(record=True) as caught:
        try:
            _plugins.install(task.plugins)
            with own_threads_and_draws(task.configs[0]):
                runs = _done(folder, checkpoint_seconds, task)
        except Exception as error:  # one failed run must not end the others; the parent reports it
            runs = [(config.run_name(), _reason(error)) for config in task.configs]
    return Done(runs, [str(each.message) for each in caught if issubclass(each.category, UserWarning)])


def _done(folder: str, checkpoint_seconds: float, task: Task) -> list[tuple[str, str | None]]:
    dataset = (
        given.taken(task.dataset) if isinstance(task.dataset, Path) else task.dataset or named_dataset(task.configs[0])
    )
    jobs = alike(prepare(task.configs[0], dataset, task.space), task.configs)
    if not task.together:
        name = jobs[0].config.run_name()
        place = Path(folder) / name
        try:
            train_job(jobs[0], folder, checkpoint_seconds=checkpoint_seconds, report=_progress(place))
        finally:
            (place / PROGRESS).unlink(missing_ok=True)  # also of a run that failed
        return [(name, None)]
    outcomes = zip(jobs, train_together(jobs, folder), strict=True)
    return [
        (run.config.run_name(), None) if isinstance(run, Run) else (job.config.run_name(), _reason(run))
        for job, run in outcomes
    ]


def _progress(folder: Path) -> Report:
    """Return a report that leaves a note in the run's folder about once a second, for whoever watches from outside."""
    last = [time.monotonic()]

    def report(event: str, numbers: Numbers) -> None:
        if event != "epoch" or time.monotonic() - last[0] < 1:
            return
        last[0] = time.monotonic()
        with suppress(OSError):  # a note that cannot be written is no reason to stop
            (folder / PROGRESS).write_text(f"{int(numbers['epoch']) + 1} {numbers['epochs']}")

    return report


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
