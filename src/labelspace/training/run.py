"""train() and the Run it gives back."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from labelspace import _devices, _distributed, models
from labelspace._checks import DamagedError
from labelspace.learner import Learner
from labelspace.records import RunFolder, RunResult, whole
from labelspace.spec.named import SpaceSpec
from labelspace.training.asked import asked
from labelspace.training.build import Job, Outline, make_learner, prepare
from labelspace.training.checkpoint import Progress
from labelspace.training.config import Config
from labelspace.training.feed import Extracting, preprocessing_of
from labelspace.training.finished import Run as Run
from labelspace.training.fitting import fitted
from labelspace.training.loop import Loop, Report
from labelspace.training.restored import Teacher, held
from labelspace.training.sentences import Measured, feed_of, measured, searched, translated


def train(
    data: object = "digits",
    *,
    space: SpaceSpec | None = None,
    smoothing: float | None = None,
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    report: Report | None = None,
    **options: object,
) -> Run:
    """Train one model with one method and return the finished run.

    With ``out`` the run is kept in a folder there, named by its configuration and seed: killed and called again it goes
    on where it was and ends bit-identical to an uninterrupted run; finished, it is read instead of computed.

    Args:
        data: anything that ``labelspace.data.load`` takes: a name, a folder or file, or something in memory: a pair
            ``(x, y)``, a DataFrame with ``label="column"``, a torch or Hugging Face Dataset, a dict of ready parts
            ``{"train": …, "test": …}``, a Dataset of labelspace.
        space: for methods that need one, a LabelSpace or what ``labelspace.spec.named`` takes: ordinal, uniform,
            wordnet, text, lda, an order ``low<mid<high``, groups (``groups:cat,dog|car,bus``, ``groups:cifar10-3``, a
            file of lines ``pets: cat, dog``), a taxonomy or a label file; a list of names is an order, lists
            of names are groups.
        smoothing: shorthand for ``method_options={"smoothing": …}``.
        out: the folder that holds runs.
        checkpoint_seconds: how often to write a checkpoint.
        report: called with an event's name and its numbers.
        options: the fields of ``Config``: method (a name, a ``Criterion`` class or a factory of one), model (a name, a
            torch module, a function ``(input_shape, output_dim) -> module``, or an estimator with ``fit`` and
            ``predict_proba``), epochs, seed, learning_rate, …; and
            the options of ``labelspace.data.load`` but for its seed: ``label="grade"``, ``classes=["cat", "dog"]``,
            ``validation="first 5000"``. Among ``method_options`` a label space (``pretrained`` of labelemb) is one, or
            anything that ``space`` may be.

    Example:
        >>> run = train("digits", method="uniform", model="linear", epochs=2, limit=100)
        >>> sorted(run.result)
        ['best_epoch', 'epochs', 'key', 'test', 'train_samples', 'validation']
    """
    config, dataset, spaces = asked(data, space, smoothing, options)
    with own_threads_and_draws(config):
        given = None if isinstance(space, str | Path) else space
        job = prepare(config, dataset, given, spaces, None if report is None else _reading(report))
        return train_job(job, out, checkpoint_seconds=checkpoint_seconds, report=report)


def _reading(report: Report) -> Extracting:
    def told(done: int, of: int) -> None:
        report("features", {"done": done, "of": of})

    return told


@contextmanager
def own_threads_and_draws(config: Config) -> Iterator[None]:
    """Compute with the configuration's threads, and leave the caller's threads and random state as they were."""
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        with _devices.own_draws(config.device):
            yield
    finally:
        torch.set_num_threads(threads)


def train_job(
    job: Job,
    out: str | Path | None = None,
    *,
    checkpoint_seconds: float = 30.0,
    report: Report | None = None,
) -> Run:
    """Train a prepared job; see ``train``."""
    with own_threads_and_draws(job.config):
        return _trained(job, out, checkpoint_seconds, report)


def learned(job: Job, teacher: nn.Module | None = None) -> Learner:
    """Train a prepared job and return the model and its criterion alone, on the CPU: no record, nothing measured.

    Args:
        job: what to train; its samples may have weights.
        teacher: a model whose outputs are passed to methods that need them.
    """
    with own_threads_and_draws(job.config):
        learner, *_ = _computed(job, None, 0.0, None, teacher)
        learner.criterion.gather()
        return learner.cpu().eval()


def _trained(job: Job, out: str | Path | None, seconds: float, report: Report | None) -> Run:
    teacher = None if job.config.teacher is None else Teacher(Run.load(job.config.teacher), job.dataset)
    if out is None:
        return _finished(job, *_computed(job, None, seconds, report, teacher), None)
    folder = RunFolder(Path(out) / job.config.run_name())
    make_learner(job.config, Outline.of(job.dataset), job.space, job.options)  # what cannot be built leaves no folder
    first, alone = _distributed.rank() == 0, _distributed.world_size() == 1
    # read without a lock, also where nothing can be written
    run = finished_run(folder) if alone else None
    if run is None:
        if first:
            folder.make()
        with folder.locked() if first else nullcontext():
            _distributed.wait()
            run = finished_run(folder)
            _distributed.wait()  # nobody writes before all have looked
            if run is None:
                return _resumed(job, folder, seconds, report, teacher)
    if report is not None:
        report("finished", {"folder": str(folder.path)})
    return run


def finished_run(folder: RunFolder) -> Run | None:
    """Return the run of a folder, or None where it is not finished or damaged; what killed processes left there goes.

    Args:
        folder: of the run, which may not be there.
    """
    if folder.mark() is None:
        return None
    try:
        run = whole(folder.path, Run.of_folder)
    except DamagedError as error:
        warnings.warn(f"{error.path} is damaged; the run is computed again.", stacklevel=2)
        return None
    folder.sweep()
    return run


def _resumed(
    job: Job,
    folder: RunFolder,
    seconds: float,
    report: Report | None,
    teacher: nn.Module | None,
) -> Run:
    """Go on with a run to its end."""
    first = _distributed.rank() == 0
    if first:
        folder.create(job.config.model_dump(mode="json"))
    run = _finished(job, *_computed(job, folder.path, seconds, report, teacher), folder.path)
    if first:
        keep(run, folder)
    _distributed.wait()
    # other ranks may be on machines that do not see the folder
    return replace(run, read_weights=RunFolder(folder.path).weights) if first else run


def _computed(
    job: Job, folder: Path | None, seconds: float, report: Report | None, teacher: nn.Module | None
) -> tuple[Learner, Progress, Measured | None]:
    """Train a network, or fit an estimator; return also what it did on validation data, where that is known."""
    if models.is_fitted(job.config.model):
        return *fitted(job), None
    loop = Loop(job, folder, seconds=seconds, report=report, teacher=teacher)
    return loop.run(), loop.progress, loop.judged


def keep(run: Run, folder: RunFolder) -> None:
    """Write everything a finished run leaves into its folder."""
    folder.finish(
        epochs=run.epochs,
        weights=run.weights,
        scores=run.scores,
        space=run.space,
        preprocessing=run.preprocessing,
        option_spaces=run.option_spaces,
        result=run.result,
        times=run.times,
        translations=run.translations,
    )


def _finished(job: Job, learner: Learner, state: Progress, judged: Measured | None, folder: Path | None) -> Run:
    learner.criterion.gather()
    known = {"validation": judged}
    scores, numbers = {}, {}
    texts: dict[str, list[str]] = {}
    for part in ("validation", "test"):
        split = job.dataset.parts[part]
        found = known.get(part) or measured(learner, feed_of(split, job.dataset, job.config), job.config)
        numbers[part], kept = dict(found.numbers), found.kept
        scores.update({f"{part}_{name}": value for name, value in kept.items()})
        if job.dataset.kind == "sequences":
            texts[part], quality = translated(learner, split, job)
            numbers[part] |= quality
    learner.cpu()  # what a record holds can be read anywhere
    return Run(
        config=job.config,
        result=result_of(job, numbers, state.epoch, state.best_epoch, searched(learner, job)),
        epochs=state.history,
        times=state.times,
        scores=scores,
        space=learner.criterion.label_space(),
        read_weights=held(learner),
        preprocessing=preprocessing_of(job.dataset, learner.model),
        option_spaces=job.options,
        folder=folder,
        translations=texts,
    )


def result_of(
    job: Job,
    measured: Mapping[str, dict[str, float]],
    epochs: int,
    best_epoch: int,
    search: dict[str, float] | None = None,
) -> RunResult:
    """Return what a run measured, over how many epochs, and how it looked for texts."""
    found: RunResult = {
        "key": job.config.key(),
        "validation": measured["validation"],
        "test": measured["test"],
        "epochs": epochs,
        "best_epoch": best_epoch,
        "train_samples": len(job.dataset.train),
    }
    return {**found, "search": search} if search else found
