"""A finished run: what it measured, its model, and what it says of new samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, overload

from torch import Tensor

from labelspace import _checks
from labelspace._checks import InputError
from labelspace.criteria.layout import likeliest
from labelspace.decisions.decision import Decision
from labelspace.learner import Learner
from labelspace.records import RunFolder, RunResult, whole
from labelspace.space import LabelSpace
from labelspace.training import decided, predict
from labelspace.training.config import Config
from labelspace.training.preprocessed import Preprocessing, checked
from labelspace.training.restored import restored, stored_config


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: its configuration, what it measured, and the model.

    Args:
        config: every choice that determined it.
        result: accuracy and negative log-likelihood of validation and test data (nothing of a part without samples),
            epochs trained, which one was kept (``best_epoch``, from 0), its key.
        epochs: one dict of numbers per epoch.
        scores: ``validation_scores``, ``validation_y``, ``test_scores``, ``test_y``; where the data have them,
            ``validation_factors`` and ``test_factors``, which prices are multiplied by.
        space: the label space it used or learned.
        read_weights: gives the weights of model and criterion; a run on disk holds none until they are asked for.
        preprocessing: what a batch goes through, and the names and shapes needed to build the model again.
        option_spaces: the label spaces among the method's options, such as a pre-trained embedding.
        folder: where it is on disk, if anywhere.
        times: ``train_seconds`` (its steps) and ``evaluation_seconds`` (what followed, but for the test curve) of each
            epoch, where ``record`` asked for the test curve, and of a fit; not part of what two equal runs
            have in common.
        translations: of sequences, what the model made of the sources of ``validation`` and ``test``.
        decision: temperature, prices and rule that it was taken home with, as ``best`` of a comparison is.
        members: where several models are one: runs with how each becomes honest. Its scores are then logarithms of the
            mean of their probabilities; weights and learner are those of the first.
        shares: what each of them counts in that mean.
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
    decision: Decision | None = None
    members: "tuple[Run, ...]" = ()
    shares: tuple[float, ...] = ()

    def __repr__(self) -> str:
        """Return one line: what was trained and how well."""
        test = self.result.get("test") or {}  # nothing without samples, or in a damaged record
        said = [f"{name} {test[name]:.4f}" for name in ("accuracy", "nll") if name in test]
        models = [f"{run.config.method} {run.config.model} seed {run.config.seed}" for run in self.members or (self,)]
        what = f"{len(models)} models as one, {'; '.join(models)}" if self.members else models[0]
        return f"Run({what}: test {', '.join(said) or 'without samples'})"

    @classmethod
    def load(cls, folder: str | Path, *, allow_damaged: bool = False) -> "Run":
        """Read a finished run; nothing in the folder is executed.

        Every file must be what the run was finished with, and all of them of one run; a folder that is replaced
        meanwhile is read again. What was read is held: the folder may go, or become another run, afterwards.

        Args:
            folder: of the run, or of a comparison, whose ``best`` is then meant.
            allow_damaged: read also what is damaged, as far as it goes, and warn.
        """
        place = decided.home(folder)
        try:
            return whole(place, partial(cls.of_folder, hold=True), allow_damaged)
        except InputError as error:
            if place.exists():
                raise
            expected = "the folder of a run or a comparison"
            got, remedy = repr(str(folder)), f"There is no folder {folder}."
            raise _checks.fail("Run.load", "folder", expected, got, remedy) from error

    @classmethod
    def of_folder(cls, stored: RunFolder, hold: bool = False) -> "Run":
        """Return the run of a folder; its weights are read when they are asked for, unless they are to be held.

        How it decides is read only of a run that is held: training and comparing look at scores.
        """
        config = stored_config(stored)
        result = stored.result()  # first: it is what a run that is not finished lacks
        space, preprocessing = stored.label_space(), checked(stored.preprocessing(), stored.path)
        if list(space.names) != preprocessing["names"]:
            got = f"classes {list(space.names)[:5]} where preprocessing.json has {str(preprocessing['names'])[:200]}"
            stored.damaged("label_space.safetensors", got)
        weights = stored.weights()  # sound, or refused here
        members, shares = decided.members(stored) if hold else ([], [])
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
            decision=decided.beside(stored, preprocessing["names"]) if hold else None,
            members=tuple(cls.of_folder(each, hold=True) for each in members),
            shares=tuple(shares),
        )

    @property
    def weights(self) -> dict[str, Tensor]:
        """The weights of model and criterion, read anew where the run is on disk."""
        return self.read_weights()

    @property
    def names(self) -> tuple[str, ...]:
        """The classes, in the order of scores, probabilities and indices."""
        return tuple(self.preprocessing["names"])

    @property
    def deciding(self) -> Decision:
        """How it decides: as it was taken home, else for the likeliest class."""
        return self.decision or Decision("argmax", 1.0, None, self.names)

    @property
    def test_curve(self) -> list[float]:
        """Test accuracy after each epoch, recorded where ``record`` asked for it and used for no choice.

        Example:
            >>> from labelspace import train
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

    @overload
    def predict(self, x: object, *, names: Literal[False] = False, device: str = "cpu") -> Tensor: ...

    @overload
    def predict(self, x: object, *, names: Literal[True], device: str = "cpu") -> list[str]: ...

    def predict(self, x: object, *, names: bool = False, device: str = "cpu") -> Tensor | list[str]:
        """Return the likeliest class of each sample: its index, ``(N,)``, or its name.

        Args:
            x: a tensor in the form of the dataset (uint8 images, columns, token ids), or raw samples, prepared as the
                training data were: a path (CSV, Parquet, NPZ, a picture or a folder of pictures), an array, a
                DataFrame or a row of one, a dict of columns or of one row, a list of rows (without names they are in
                the order of training), of texts or of pictures' files. What cannot be read, or has scores that are
                not finite, stops it; a category that training did not have is told by a warning.
            names: return a list of names.
            device: where to compute: auto, cpu, cuda, cuda:1 or mps, wherever it was trained. Results are on the CPU.

        Example:
            >>> from labelspace import train
            >>> rows, labels = [[float(value)] for value in range(40)], ["low"] * 20 + ["tall"] * 20
            >>> run = train((rows, labels), model="linear", epochs=20, learning_rate=0.1)
            >>> run.predict([[3.0], [35.0]]), run.predict([[3.0], [35.0]], names=True)
            (tensor([0, 1]), ['low', 'tall'])
        """
        found = likeliest("Run.predict", self.scores_of(x, device=device), 1)
        return [self.names[index] for index in found.tolist()] if names else found

    def predict_proba(self, x: object, *, device: str = "cpu") -> Tensor:
        """Return the probability of each class ``(N, K)``, in the order of ``names``.

        They are after the temperature that was fitted on validation data, where the run was taken home with one.

        Args:
            x: as for ``predict``.
            device: as for ``predict``.
        """
        return self.deciding.probabilities(self.scores_of(x, device=device))

    def decide(
        self, x: object, decision: Decision | str | Path | None = None, *, device: str = "cpu"
    ) -> list[str | None]:
        """Return what is cheapest to do with each sample: a class or an action, None where it is left to somebody.

        Args:
            x: as for ``predict``.
            decision: how to decide: a ``Decision``, its file, or the folder of a comparison; by default the run's own,
                which is that of the comparison it was taken home from, else the likeliest class.
            device: as for ``predict``.

        Example:
            >>> from labelspace import train
            >>> rows, labels = [[float(value)] for value in range(40)], ["well"] * 20 + ["ill"] * 20
            >>> run = train((rows, labels), model="linear", epochs=20, learning_rate=0.1)
            >>> prices = [[0.0, 50.0], [1.0, 0.0]]  # rows are true, as in run.names: overlooking an illness costs 50
            >>> run.names, run.predict([[19.0]], names=True)
            (('ill', 'well'), ['well'])
            >>> run.decide([[19.0]], Decision("min_cost", 1.0, prices, run.names))
            ['ill']
        """
        how = self.deciding if decision is None else decided.given(decision, self.names)
        return how.named(how.decide(self.scores_of(x, device=device)))

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
            >>> from labelspace import data, train
            >>> run, samples = train("digits", model="mlp-16-8", epochs=1, limit=100), data.load("digits").test.x[:3]
            >>> run.features(samples).shape, run.features(samples, layer="body.1").shape
            (torch.Size([3, 8]), torch.Size([3, 16]))
        """
        return predict.features_of(self, x, layer, device)
