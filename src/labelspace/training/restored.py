"""The model of a finished run, built from its record alone."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.learner import Learner
from labelspace.training.build import Outline, make_learner

if TYPE_CHECKING:
    from labelspace.training.run import Run


def restored(run: "Run") -> Learner:
    """Return the trained model and criterion of a run; what its record names outside of its folder is not looked at.

    Args:
        run: a finished run, which may have come from anywhere: sizes are compared before memory is taken for them.
    """
    try:
        outline = Outline.stored(run.preprocessing)
        space = run.space if run.config.space_key else None
        _check_sizes(run, _sizes(run, outline))
        learner = make_learner(run.config, outline, space, run.option_spaces)
        learner.load_state_dict(run.weights)
    except ImportError:
        raise
    except Exception as error:  # networks of other libraries, and wrong values, raise all sorts
        raise _unfit(run, error) from error
    return learner.eval()


def _sizes(run: "Run", outline: Outline) -> dict[str, Tensor]:
    """Return the tensors that the run's model and criterion have, without their content; nothing where that is unknown.

    A record may ask for a network of any size: on this device it costs nothing to find out.
    """
    try:
        with torch.device("meta"):
            space = run.space if run.config.space_key else None
            return make_learner(run.config, outline, space, run.option_spaces).state_dict()
    except (NotImplementedError, RuntimeError):  # networks of other libraries may look at numbers
        return {}


def _check_sizes(run: "Run", built: dict[str, Tensor]) -> None:
    if not built:
        return
    for name in sorted({*built, *run.weights}):
        mine, theirs = (tensors.get(name) for tensors in (built, run.weights))
        if mine is None or theirs is None:
            raise ValueError(f"{name!r} is {'only in the file' if mine is None else 'not in the file'}")
        if mine.shape != theirs.shape:
            raise ValueError(f"{name!r} has shape {tuple(theirs.shape)} in the file and {tuple(mine.shape)} here")


def _unfit(run: "Run", error: Exception) -> ValueError:
    expected = f"a run whose weights fit {run.config.method!r} on {run.config.model!r} as they are built here"
    remedy = "An earlier version built one of them differently: train it again."
    place = "given in Python" if run.folder is None else str(run.folder)
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return _checks.fail("Run.load", "folder", expected, f"{place} ({reason[:300]})", remedy)
