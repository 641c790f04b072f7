"""train() and the Run it gives back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from labelspace import _checks, _distributed
from labelspace.criteria.registry import space_options
from labelspace.data import digests
from labelspace.data import load as load_data
from labelspace.data.dataset import Dataset
from labelspace.engine import evaluate, predict
from labelspace.engine.build import Job, Outline, make_learner, prepare
from labelspace.engine.config import FILLED_IN, Config, make_config
from labelspace.engine.feed import Feed
from labelspace.engine.inputs import described
from labelspace.engine.loop import Loop, Report
from labelspace.engine.teacher import Teacher
from labelspace.learner import Learner
from labelspace.records import Index, RunFolder
from labelspace.space import LabelSpace


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: its configuration, what it measured, and the model.

    Args:
        config: every choice that determined it.
        result: accuracy and negative log-likelihood of validation and test data, epochs trained, its key.
        epochs: one dict per epoch.
        scores: ``validation_scores``, ``validation_y``, ``test_scores``, ``test_y``.
        space: the label space it used or learned.
        weights: of model and criterion.
        preprocessing: what a batch goes through, and the names and shapes needed to build the model again.
        option_spaces: the label spaces among the method's options, such as a pre-trained embedding.
        folder: where it is on disk, if anywhere.
    """

    config: Config
    result: dict[str, Any]
    epochs: list[dict[str, Any]]
    scores: dict[str, Tensor]
    space: LabelSpace
    weights: dict[str, Tensor]
    preprocessing: dict[str, Any]
    option_spaces: Mapping[str, LabelSpace] = field(default_factory=dict)
    folder: Path | None = None

    def __repr__(self) -> str:
        """Return one line: what was trained and how well."""
        test = self.result["test"]
        what = f"{self.config.method} {self.config.model} seed {self.config.seed}"
        return f"Run({what}: test accuracy {test['accuracy']:.4f}, nll {test['nll']:.4f})"

    @classmethod
    def load(cls, folder: str | Path) -> "Run":
        """Read a finished run; nothing in the folder is executed."""
        stored = RunFolder(folder)
        config = make_config(**stored.config())
        return cls(
            config=config,
            result=stored.result(),
            epochs=stored.epochs(),
            scores=stored.scores(),
            space=stored.label_space(),
            weights=stored.weights(),
            preprocessing=stored.preprocessing(),
            option_spaces={name: stored.option_space(name) for name in config.option_keys},
            folder=Path(folder),
        )

    def learner(self) -> Learner:
        """Build the trained model and criterion again."""
        space = self.space if self.config.space_key else None
        learner = make_learner(self.config, Outline.stored(self.preprocessing), space, self.option_spaces)
        learner.load_state_dict(self.weights)
        return learner.eval()

    def predict(self, x: Any) -> Tensor:
        """Return class indices ``(N,)``.

        Args:
            x: a tensor in the form of the dataset (uint8 images, columns, token ids), or raw samples, prepared as the
                training data were: a path (CSV, Parquet, NPZ, a picture or a folder of pictures), a dict of columns or
                of one row, a DataFrame, a list of texts or of pictures' files. What cannot be read stops it; a
                category that training did not have is told by a warning.

        Example:
            >>> rows, labels = [[float(value)] for value in range(40)], ["low"] * 20 + ["tall"] * 20
            >>> run = train((rows, labels), model="linear", epochs=20, learning_rate=0.1)
            >>> run.predict(torch.tensor([[3.0], [35.0]]))
            tensor([0, 1])
        """
        return self.scores_of(x).argmax(dim=1)

    def scores_of(self, x: Any) -> Tensor:
        """Return scores ``(N, K)``; ``x`` is as for ``predict``."""
        return predict.scores_of(self, x)


def train(
    data: Any = "digits",
    *,
    space: str | LabelSpace | None = None,
    smoothing: float | None = None,
    out: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    report: Report | None = None,
    **options: Any,
) -> Run:
    """Train one model with one method and return the finished run.

    With ``out`` the run is kept in a folder there, named by its configuration and seed: killed and called again it goes
    on where it was and ends bit-identical to an uninterrupted run; finished, it is read instead of computed.

    Args:
        data: a dataset's name, a folder or file, a Dataset, or a pair ``(x, y)``.
        space: a LabelSpace, its name (ordinal, uniform, wordnet, text, lda) or a label file, for methods that need one.
        smoothing: shorthand for ``method_options={"smoothing": …}``.
        out: the folder that holds runs.
        checkpoint_seconds: how often to write a checkpoint.
        report: called with an event's name and its numbers.
        options: the fields of ``Config``: method, model, epochs, seed, learning_rate, … Among ``method_options`` a
            label space (``pretrained`` of labelemb) is one, or anything that ``space`` may be.

    Example:
        >>> run = train("digits", method="uniform", model="linear", epochs=2, limit=100)
        >>> sorted(run.result)
        ['epochs', 'key', 'test', 'train_samples', 'validation']
    """
    given = dict(options)
    for name in FILLED_IN:
        if name in given:
            raise _checks.fail("train", name, "left out: it is filled in", repr(given[name]))
    if smoothing is not None:
        given["method_options"] = {**given.get("method_options", {}), "smoothing": smoothing}
    given["method_options"], spaces = _taken_out(given.get("method", "onehot"), given.get("method_options", {}))
    dataset = None if isinstance(data, str | Path) else as_dataset(data)
    name = str(data) if dataset is None else str(dataset.source.get("path", "given in Python"))
    named_space = space if isinstance(space, str) else None
    config = make_config(**given, data=name, space=named_space, world=_distributed.world_size())
    with own_threads_and_draws(config):
        job = prepare(config, dataset, space if isinstance(space, LabelSpace) else None, spaces)
        return train_job(job, out, checkpoint_seconds=checkpoint_seconds, report=report)


def _taken_out(method: Any, options: Any) -> tuple[Any, dict[str, LabelSpace]]:
    """Return the options as a configuration can hold them, and those that are label spaces."""
    if not isinstance(options, dict) or not any(isinstance(value, LabelSpace) for value in options.values()):
        return options, {}
    spaces = {name: options[name] for name in space_options(method) if isinstance(options.get(name), LabelSpace)}
    return {**options, **dict.fromkeys(spaces, "given in Python")}, spaces


def as_dataset(data: Any) -> Dataset:
    """Return a Dataset whose key is that of its content: parts may have been replaced since it was read."""
    dataset = data if isinstance(data, Dataset) else load_data(data)
    parts = [part for split in dataset.parts.values() for part in (split.x.numpy(), split.y.numpy())]
    return replace(dataset, key=digests.of_values(dataset.key, list(dataset.names), *parts))


@contextmanager
def own_threads_and_draws(config: Config) -> Iterator[None]:
    """Compute with the configuration's threads, and leave the caller's threads and random state as they were."""
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def train_job(
    job: Job,
    out: str | Path | None = None,
    *,
    checkpoint_seconds: float = 30.0,
    report: Report | None = None,
    index: bool = True,
) -> Run:
    """Train a prepared job; see ``train``. A sweep writes the index itself."""
    with own_threads_and_draws(job.config):
        return _trained(job, out, checkpoint_seconds, report, index)


def _trained(job: Job, out: str | Path | None, seconds: float, report: Report | None, index: bool) -> Run:
    teacher = None if job.config.teacher is None else Teacher(Run.load(job.config.teacher), job.dataset)
    if out is None:
        loop = Loop(job, None, report=report, teacher=teacher)
        return _finished(job, loop, loop.run(), None)
    folder = RunFolder(Path(out) / job.config.run_name())
    make_learner(job.config, Outline.of(job.dataset), job.space, job.options)  # what cannot be built leaves no folder
    first, alone = _distributed.rank() == 0, _distributed.world_size() == 1
    if alone and folder.finished:  # read without a lock, also where nothing can be written
        return _resumed(job, folder, seconds, report, teacher)
    if first and not folder.finished:  # the record of a finished run says what it was made with
        folder.create(job.config.model_dump(mode="json"))
    with folder.locked() if first else nullcontext():
        _distributed.wait()
        run = _resumed(job, folder, seconds, report, teacher)
        _distributed.wait()
    if first and index:
        Index(out).record(folder, job.config.key())
    return run


def _resumed(
    job: Job,
    folder: RunFolder,
    seconds: float,
    report: Report | None,
    teacher: nn.Module | None,
) -> Run:
    """Read a finished run, or go on with it to its end."""
    if folder.finished:
        if report is not None:
            report("finished", {"folder": str(folder.path)})
        return Run.load(folder.path)
    loop = Loop(job, folder.path, seconds=seconds, report=report, teacher=teacher)
    run = _finished(job, loop, loop.run(), folder.path)
    if _distributed.rank() == 0:
        keep(run, folder)
    return run


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
    )


def _finished(job: Job, loop: Loop, learner: nn.Module, folder: Path | None) -> Run:
    assert isinstance(learner, Learner)
    learner.criterion.gather()
    scores, result = {}, {}
    for part in ("validation", "test"):
        feed = Feed(getattr(job.dataset, part), job.dataset, job.config)
        scores[f"{part}_scores"] = evaluate.scores_of(learner, feed, job.config)
        scores[f"{part}_y"] = feed.y.clone()
        result[part] = evaluate.summary(scores[f"{part}_scores"], feed.y)
    facts = {"key": job.config.key(), "epochs": loop.progress.epoch, "train_samples": len(job.dataset.train)}
    return Run(
        config=job.config,
        result={**result, **facts},
        epochs=loop.progress.history,
        scores=scores,
        space=learner.criterion.label_space(),
        weights={name: value.detach().clone().contiguous() for name, value in learner.state_dict().items()},
        preprocessing=preprocessing_of(job.dataset),
        option_spaces=job.options,
        folder=folder,
    )


def preprocessing_of(dataset: Dataset) -> dict[str, Any]:
    """Return what a record must hold to build the model again and to prepare its samples."""
    return {
        **dataset.normalise.plain(),
        **Outline.of(dataset).plain(),
        "vocabulary": None if dataset.vocabulary is None else list(dataset.vocabulary),
        "input": described(dataset),
    }
