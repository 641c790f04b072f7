"""Whether several datasets can be asked one question; seen before anything is trained."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from labelspace import _checks
from labelspace.comparison.knowledge import Doing, factor_of, gather
from labelspace.comparison.refitted import check_fits
from labelspace.data.loading import loaded
from labelspace.decisions.choosing import CALIBRATIONS, Calibration
from labelspace.spec.named import SpaceSpec
from labelspace.spec.prices import CostSpec


def check_together(
    data: Sequence[str],
    space: SpaceSpec | None,
    cost: CostSpec,
    options: Mapping[str, object],
    doing: Doing | None = None,
    calibration: str = "auto",
) -> None:
    """Refuse datasets that cannot be asked one question, before anything is trained.

    Args:
        data: names or paths.
        space: what is known about the classes of each, as ``compare`` takes it.
        cost: what mistakes cost, as ``compare`` takes it.
        options: of the reader of data.
        doing: what can be done beside calling classes, and how often.
        calibration: how scores become probabilities.
    """
    twice = [name for name, count in Counter(data).items() if count > 1]
    if twice:
        raise _checks.fail("compare", "data", "different datasets", f"{twice[0]} twice")
    how = cast(Calibration, _checks.choice("compare", "calibration", calibration, CALIBRATIONS))
    said: dict[str, str] = {}
    keys: dict[str, str] = {}
    for name in data:
        dataset = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they are said when the dataset is compared on
                dataset = loaded(name, options)
            if dataset.kind == "sequences":
                raise _checks.fail("compare", "data", "one dataset where it is of texts to texts", name)
            asked = (doing or Doing())._replace(factor=factor_of(dataset))
            known = gather(space, cost, dataset, dataset.train.y, asked)
            judge = known.judge(dataset.names, dataset.test.y, calibration=how)
            check_fits(judge, dataset.validation.y, dataset.validation.groups)
        except _checks.InputError as error:
            raise _about(error, name, unread=dataset is None) from error
        if dataset.key in keys:
            got = f"the same samples in {keys[dataset.key]} and {name}"
            remedy = "They would count twice: leave one out."
            raise _checks.fail("compare", "data", "different datasets", got, remedy)
        said[name], keys[dataset.key] = known.spoken.cost, name
    (first, words), *others = said.items()
    for name, other in others:
        if other != words:
            got = f"{first} ({words}) and {name} ({other})"
            remedy = 'Say what mistakes cost in all of them: cost="uniform" (--cost uniform), or another rule.'
            raise _checks.fail("compare", "data", "datasets whose mistakes are priced alike", got, remedy)


def _about(error: _checks.InputError, name: str, unread: bool) -> _checks.InputError:
    """Return the same error, which names the dataset; of a file that cannot be read it may hold scores."""
    if unread and Path(name).is_file():
        hint = "Files of scores are compared with --scores."
        parts = (*error.parts, " ", hint) if error.remedy else (hint,)
        error = _checks.fail(error.owner, error.argument, error.expected, error.got, parts).about(file=error.file)
    return error.about(file=error.file or name)
