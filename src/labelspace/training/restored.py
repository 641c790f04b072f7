"""The model of a finished run, built from its record alone: to be used, or to teach another."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from labelspace import _checks, _plugins, models
from labelspace._checks import DamagedError, InputError
from labelspace.criteria import criterion_class
from labelspace.data.dataset import Dataset
from labelspace.data.normalize import Normalize
from labelspace.decisions.decision import Decision
from labelspace.learner import Learner
from labelspace.records import CONFIG, RunFolder
from labelspace.space import LabelSpace
from labelspace.training.build import Outline, make_learner
from labelspace.training.config import Config, recorded_config
from labelspace.training.preprocessed import Preprocessing

STATISTICS = ("mean", "std", "own_mean", "own_std")


class Finished(Protocol):
    """What is asked of a finished run here and by those who predict with it; ``Run`` is one."""

    @property
    def config(self) -> Config:
        """Every choice that determined it."""

    @property
    def preprocessing(self) -> Preprocessing:
        """What its samples go through, and the shapes of its model."""

    @property
    def space(self) -> LabelSpace:
        """The label space it used or learned."""

    @property
    def option_spaces(self) -> Mapping[str, LabelSpace]:
        """The label spaces among the method's options."""

    @property
    def weights(self) -> dict[str, Tensor]:
        """Of model and criterion."""

    @property
    def folder(self) -> Path | None:
        """Where it is on disk, if anywhere."""

    @property
    def members(self) -> "Sequence[Finished]":
        """The runs that it is made of, where it is several."""

    @property
    def shares(self) -> Sequence[float]:
        """What each of them counts."""

    @property
    def deciding(self) -> Decision:
        """How it decides."""

    def learner(self) -> Learner:
        """Build its model and criterion."""


def restored(run: Finished) -> Learner:
    """Return the trained model and criterion of a run; what its record names outside of its folder is not looked at.

    Args:
        run: a finished run, which may have come from anywhere: sizes are compared before memory is taken for them.
    """
    changed = False
    try:
        given = is_estimator(run) and not models.is_fitted(
            run.config.model
        )  # in Python, elsewhere: whole in its record
        changed = not given and _plugins.code_key(run.config.parts()) != run.config.code_key
        outline, weights = Outline.stored(run.preprocessing), run.weights
        space = run.space if run.config.space_key else None
        _check_sizes(weights, _sizes(run, outline))
        learner = make_learner(run.config, outline, space, run.option_spaces)
        learner.load_state_dict(weights)
    except (ImportError, DamagedError):
        raise
    except Exception as error:  # networks of other libraries, and wrong values, raise all sorts
        raise _unfit(run, error, changed) from error
    if changed:
        what = f"method {run.config.method!r} or of model {run.config.model!r}"
        warnings.warn(
            f"The code of {what} is not what {_place(run)} was trained with: its scores may be others. "
            "Use that code again, or train it anew.",
            stacklevel=3,
        )
    return learner.eval()


def is_estimator(run: Finished) -> bool:
    """Return whether a run fitted an estimator, which is no network."""
    return models.ESTIMATOR in (run.preprocessing.get("architecture") or {})


def _sizes(run: Finished, outline: Outline) -> dict[str, Tensor]:
    """Return the tensors that the run's model and criterion have, without their content; nothing where that is unknown.

    A record may ask for a network of any size: on this device it costs nothing to find out.
    """
    try:
        with torch.device("meta"):
            space = run.space if run.config.space_key else None
            return make_learner(run.config, outline, space, run.option_spaces).state_dict()
    except (NotImplementedError, RuntimeError):  # networks of other libraries may look at numbers
        return {}


def _check_sizes(weights: dict[str, Tensor], built: dict[str, Tensor]) -> None:
    if not built:
        return
    for name in sorted({*built, *weights}):
        mine, theirs = (tensors.get(name) for tensors in (built, weights))
        if mine is None or theirs is None:
            raise ValueError(f"{name!r} is {'only in the file' if mine is None else 'not in the file'}")
        if mine.shape != theirs.shape:
            raise ValueError(f"{name!r} has shape {tuple(theirs.shape)} in the file and {tuple(mine.shape)} here")


def _place(run: Finished) -> str:
    return "the run given in Python" if run.folder is None else str(run.folder)


def _unfit(run: Finished, error: Exception, changed: bool) -> ValueError:
    expected = f"a run whose weights fit {run.config.method!r} on {run.config.model!r} as they are built here"
    remedy = "An earlier version built one of them differently: train it again."
    if isinstance(error, models.Untrusted):
        remedy = "Nothing in it was executed."
    elif changed:
        remedy = "The code of one of them is not what it was trained with: use that again, or train it anew."
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return _checks.fail("Run.load", "folder", expected, f"{_place(run)} ({reason[:300]})", remedy)


class Teacher(nn.Module):
    """The model of a finished run, given batches that were normalised for a student.

    Args:
        run: the teacher's run.
        dataset: the student's data.
    """

    def __init__(self, run: Finished, dataset: Dataset) -> None:
        """Check that the two speak of the same things."""
        super().__init__()
        facts = run.preprocessing
        mine = {"names": list(dataset.names), "kind": dataset.kind, "input_shape": list(dataset.input_shape)}
        theirs = {"names": facts["names"], "kind": facts["kind"], "input_shape": facts["input_shape"]}
        for name, value in mine.items():
            if theirs[name] != value:
                expected = f"a run whose {name} are those of the data ({value})"
                raise _checks.fail("train", "teacher", expected, theirs[name])
        spoilt = next((name for name, value in run.weights.items() if not bool(value.isfinite().all())), None)
        if spoilt is not None:
            got = f"{run.folder or 'a run given in Python'} with others in {spoilt!r}"
            raise _checks.fail("train", "teacher", "a run whose weights are finite numbers", got, "Train it again.")
        self.learner = run.learner().requires_grad_(False)
        self.in_float64 = run.config.precision == "float64"
        student, own = dataset.normalize, Normalize.stored(facts)
        self.alike = torch.equal(student.mean, own.mean) and torch.equal(student.std, own.std)
        # buffers, so that they move to the student's device once
        for name, tensor in zip(STATISTICS, (student.mean, student.std, own.mean, own.std), strict=True):
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the teacher's scores per class."""
        dtype = x.dtype
        if x.is_floating_point():
            x = self._as_taught(x).to(torch.float64 if self.in_float64 else torch.float32)
        scores: Tensor = self.learner(x)
        return scores.to(dtype) if dtype.is_floating_point else scores

    def _as_taught(self, x: Tensor) -> Tensor:
        """Undo the student's normalisation and apply the teacher's."""
        if self.alike:
            return x
        shape = (1, -1) + (1,) * (x.ndim - 2)
        mean, std, own_mean, own_std = (self.get_buffer(name).to(x).reshape(shape) for name in STATISTICS)
        return (x * std + mean - own_mean) / own_std


def held(learner: Learner) -> Callable[[], dict[str, Tensor]]:
    """Return what gives the weights that a learner has now."""
    weights = {name: value.detach().clone().contiguous() for name, value in learner.state_dict().items()}
    return partial(dict[str, Tensor], weights)


def stored_config(stored: RunFolder) -> Config:
    """Return the configuration in the folder of a run; one that is none is damage."""
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
