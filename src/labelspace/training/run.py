"""train() and the Run it gives back."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from labelspace import _checks, _devices, _distributed
from labelspace._checks import DamagedError, InputError
from labelspace.criteria import criterion_class
from labelspace.criteria.layout import likeliest
from labelspace.learner import Learner
from labelspace.records import CONFIG, RunFolder, RunResult, whole
from labelspace.space import LabelSpace
from labelspace.training import predict
from labelspace.training.asked import asked
from labelspace.training.build import Job, Outline, make_learner, prepare
from labelspace.training.config import Config, recorded_config
from labelspace.training.feed import preprocessing_of
from labelspace.training.loop import Loop, Report
from labelspace.training.preprocessed import Preprocessing, checked
from labelspace.training.restored import Teacher, held, restored
from labelspace.training.sentences import feed_of, measured, searched, translated


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: its configuration, what it measured, and the model.

    Args:
        config: every choice that determined it.
        result: accuracy and negative log-likelihood of validation and test data (nothing of a part without samples),
            epochs trained, which one was kept (``best_epoch``, from 0), its key.
        epochs: one dict of numbers per epoch.
        scores: ``validation_scores``, ``validation_y``, ``test_scores``, ``test_y``.
        space: the label space it used or learned.
        read_weights: gives the weights of model and criterion; a run on disk holds none until they are asked for.
        preprocessing: what a batch goes through, and the names and shapes needed to build the model again.
        option_spaces: the label spaces among the method's options, such as a pre-trained embedding.
        folder: where it is on disk, if anywhere.
        times: ``train_seconds`` (its steps) and ``evaluation_seconds`` (what followed, but for the test curve) of each
            epoch, where ``record`` asked for the test curve; not part of what two equal runs have in common.
        translations: of sequences, what the model made of the sources of ``validation`` and ``test``.
    """

    config: Config
    result: RunResult
    epochs: list[dict[str, float]]
    scores: dict[str, Tensor]
    space: LabelSpace
    read_weights: Callable[[], dict[str, Tensor]]
    preprocessing: Preprocessing
    option_spaces: Mapping[str, LabelSpace] = field(default_factory=dict)
    folder: Path | None = None
    times: list[dict[str, float]] = field(default_factory=list)
    translations: Mapping[str, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return one line: what was trained and how well."""
        test = self.result.get("test") or {}  # nothing without samples, or in a damaged record
        said = [f"{name} {test[name]:.4f}" for name in ("accuracy", "nll") if name in test]
        what = f"{self.config.method} {self.config.model} seed {self.config.seed}"
        return f"Run({what}: test {', '.join(said) or 'without samples'})"

    @classmethod
    def load(cls, folder: str | Path, *, allow_damaged: bool = False) -> "Run":
        """Read a finished run; nothing in the folder is executed.

        Every file must be what the run was finished with, and all of them of one run; a folder that is replaced
        meanwhile is read again. What was read is held: the folder may go, or become another run, afterwards.

        Args:
            folder: of the run.
            allow_damaged: read also what is damaged, as far as it goes, and warn.
        """
        return whole(folder, partial(cls.of_folder, hold=True), allow_damaged)

    @classmethod
    def of_folder(cls, stored: RunFolder, hold: bool = False) -> "Run":
        """Return the run of a folder; its weights are read when they are asked for, unless they are to be held."""
        config = _stored_config(stored)
        result = stored.result()  # first: it is what a run that is not finished lacks
        space, preprocessing = stored.label_space(), checked(stored.preprocessing(), stored.path)
        if list(space.names) != preprocessing["names"]:
            got = f"classes {list(space.names)[:5]} where preprocessing.json has {str(preprocessing['names'])[:200]}"
            stored.damaged("label_space.safetensors", got)
        weights = stored.weights()  # sound, or refused here
        return cls(
            config=config,
            result=result,
            epochs=stored.epochs(),
            scores=stored.scores(),
            space=space,
            read_weights=partial(dict[str, Tensor], weights) if hold else stored.weights,
            preprocessing=preprocessing,
            option_spaces={name: stored.option_space(name) for name in config.option_keys},
            folder=stored.path,
            times=stored.times(),
            translations=stored.translations(),
        )

    @property
    def weights(self) -> dict[str, Tensor]:
        """The weights of model and criterion, read anew where the run is on disk."""
        return self.read_weights()

    @property
    def test_curve(self) -> list[float]:
        """Test accuracy after each epoch, recorded where ``record`` asked for it and used for no choice.

        Example:
            >>> run = train("digits", model="linear", epochs=3, limit=100, record="test-curve")
            >>> len(run.test_curve), run.test_curve[-1] == run.result["test"]["accuracy"]
            (3, True)
        """
        if "test-curve" not in self.config.record:
            remedy = "Train it with record='test-curve' (--record test-curve)."
            raise _checks.fail("train", "record", "'test-curve' for a test curve", list(self.config.record), remedy)
        return [line["test_accuracy"] for line in self.epochs]

    def learner(self) -> Learner:
        """Build the trained model and criterion again, from the record alone: files that it names are not read."""
        return restored(self)

    def predict(self, x: object, *, device: str = "cpu") -> Tensor:
        """Return class indices ``(N,)``.

        Args:
            x: a tensor in the form of the dataset (uint8 images, columns, token ids), or raw samples, prepared as the
                training data were: a path (CSV, Parquet, NPZ, a picture or a folder of pictures), a dict of columns or
                of one row, a DataFrame, a list of texts or of pictures' files. What cannot be read, or has
                scores that are not finite, stops it; a category that training did not have is told by a warning.
            device: where to compute: auto, cpu, cuda, cuda:1 or mps, wherever it was trained. Results are on the CPU.

        Example:
            >>> rows, labels = [[float(value)] for value in range(40)], ["low"] * 20 + ["tall"] * 20
            >>> run = train((rows, labels), model="linear", epochs=20, learning_rate=0.1)
            >>> run.predict(torch.tensor([[3.0], [35.0]]))
            tensor([0, 1])
        """
        return likeliest("Run.predict", self.scores_of(x, device=device), 1)

    def translate(self, texts: Sequence[str], *, beam: int | None = None, device: str = "cpu") -> list[str]:
        """Return what a model of sequences makes of texts: their translations, or summaries.

        Args:
            texts: as those that it was trained on. Longer ones than the data's ``longest`` allowed are refused; where
                the data were cut so are these, and a warning tells how many.
            beam: the width of the search; by default that of the configuration.
            device: as for ``predict``.
        """
        return predict.translator(self, beam, device)(predict.source_ids(self, texts))

    def scores_of(self, x: object, *, device: str = "cpu") -> Tensor:
        """Return scores ``(N, K)``; ``x`` and ``device`` are as for ``predict``."""
        return predict.scores_of(self, x, device)

    def features(self, x: object, layer: str | None = None, *, device: str = "cpu") -> Tensor:
        """Return what a layer makes of samples, ``(N, F)``; maps and sequences are flattened.

        Args:
            x: as for ``predict``.
            layer: its name in the model, as ``analysis.layer_names(run.learner().model)`` lists them; by default the
                features, the input of the head.
            device: as for ``predict``.

        Example:
            >>> run = train("digits", model="mlp-16-8", epochs=1, limit=100)
            >>> samples = torch.zeros(3, 1, 8, 8, dtype=torch.uint8)
            >>> run.features(samples).shape, run.features(samples, layer="body.1").shape
            (torch.Size([3, 8]), torch.Size([3, 16]))
        """
        return predict.features_of(self, x, layer, device)


def train(
    data: object = "digits",
    *,
    space: str | Path | LabelSpace | None = None,
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
            file of lines ``pets: cat, dog``), a taxonomy or a label file.
        smoothing: shorthand for ``method_options={"smoothing": …}``.
        out: the folder that holds runs.
        checkpoint_seconds: how often to write a checkpoint.
        report: called with an event's name and its numbers.
        options: the fields of ``Config``: method (a name, a ``Criterion`` class or a factory of one), model (a name, a
            torch module or a function ``(input_shape, output_dim) -> module``), epochs, seed, learning_rate, …; and
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
        job = prepare(config, dataset, space if isinstance(space, LabelSpace) else None, spaces)
        return train_job(job, out, checkpoint_seconds=checkpoint_seconds, report=report)


def _stored_config(stored: RunFolder) -> Config:
    facts = stored.config()
    try:
        config = recorded_config(facts)
        for name in config.option_keys:  # names of files follow from them
            _checks.choice("Run.load", "option_keys", name, criterion_class(config.method).space_options)
    except DamagedError:
        raise
    except InputError as error:
        raise stored.unsound(CONFIG, str(error)) from error
    return config


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


def _trained(job: Job, out: str | Path | None, seconds: float, report: Report | None) -> Run:
    teacher = None if job.config.teacher is None else Teacher(Run.load(job.config.teacher), job.dataset)
    if out is None:
        loop = Loop(job, None, report=report, teacher=teacher)
        return _finished(job, loop, loop.run(), None)
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
    loop = Loop(job, folder.path, seconds=seconds, report=report, teacher=teacher)
    run = _finished(job, loop, loop.run(), folder.path)
    if first:
        keep(run, folder)
    _distributed.wait()
    # other ranks may be on machines that do not see the folder
    return replace(run, read_weights=RunFolder(folder.path).weights) if first else run


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


def _finished(job: Job, loop: Loop, learner: Learner, folder: Path | None) -> Run:
    learner.criterion.gather()
    scores, numbers = {}, {}
    texts: dict[str, list[str]] = {}
    for part in ("validation", "test"):
        split = job.dataset.parts[part]
        numbers[part], kept = measured(learner, feed_of(split, job.dataset, job.config), job.config)
        scores.update({f"{part}_{name}": value for name, value in kept.items()})
        if job.dataset.kind == "sequences":
            texts[part], quality = translated(learner, split, job)
            numbers[part] |= quality
    learner.cpu()  # what a record holds can be read anywhere
    state = loop.progress
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
