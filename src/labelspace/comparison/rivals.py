"""What people have anyway: classifiers of scikit-learn beside the methods of a comparison, on the same samples."""

import importlib
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from labelspace import _checks, models
from labelspace.comparison.entries import REFERENCE_METHOD, Entry, fewer
from labelspace.criteria.base import Tuned
from labelspace.data.dataset import Dataset
from labelspace.models.estimator_files import first_line
from labelspace.models.fitted import is_estimator
from labelspace.models.registry import LIBRARIES, model_name

AUTO, NONE = "auto", "none"
UNSAID = (AUTO,)  # where nothing is said of rivals
SAMPLES = 200_000  # of training; with more, nothing untuned of scikit-learn ends in good time
INPUTS = 1_000  # numbers of a picture: what has more is for networks
WITHOUT_DRAWS = 10_000  # samples up to which boosting holds none back to see when to stop, and so draws nothing


class Rival(NamedTuple):
    """A classifier that stands beside methods unless something else is said.

    Args:
        model: its name.
        kinds: of data that it suits.
        options: where its own defaults do not do.
        draws: samples above which what it learns depends on the seed.
        tuned: the one number that is tried, its own default where there is only one trial.
        slow: samples × classes, above which it is fitted with its default alone.
        soft: whether it fits probabilities to weighted samples, so that weights can say how much of each class one is.
        samples: of training, above which it takes too long.
        classes: above which it takes too long.
        sizes: samples × classes, above which it takes too much memory.
    """

    model: str
    kinds: tuple[str, ...]
    options: Mapping[str, JsonValue] = MappingProxyType({})
    draws: int | None = None
    tuned: Tuned | None = None
    slow: int = 100_000
    soft: bool = True
    samples: int = SAMPLES
    classes: int = 1000
    sizes: int = SAMPLES * 1000


BOOSTING, LOGISTIC, FOREST, VECTORS = "HistGradientBoosting", "LogisticRegression", "ExtraTrees", "SVC"
NUMBERS = ("table", "features")
# of pictures it makes a hundred trees for every class, which took longer than all others together
BOOSTED = Rival(
    "sklearn:HistGradientBoostingClassifier",
    NUMBERS,
    draws=WITHOUT_DRAWS,
    tuned=Tuned("learning_rate", "rate", (0.02, 0.05, 0.1, 0.2, 0.4)),
    classes=50,
)
USUAL = {
    BOOSTING: BOOSTED,
    LOGISTIC: Rival(
        "sklearn:StandardScaler+LogisticRegression",
        (*NUMBERS, "images"),
        {"max_iter": 1000},
        tuned=Tuned("C", "C", (0.001, 0.01, 0.1, 1.0, 10.0)),
        samples=100_000,
        classes=200,
    ),
    # a leaf for nearly every sample, and in it a number for every class, a hundred times
    FOREST: Rival(
        "sklearn:ExtraTreesClassifier",
        (*NUMBERS, "images"),
        draws=0,
        tuned=Tuned("min_samples_leaf", "leaf", (1, 2, 3, 5, 10)),
        sizes=250_000,
    ),
    VECTORS: Rival(
        "sklearn:SVC",
        (*NUMBERS, "images"),
        tuned=Tuned("C", "C", (0.1, 0.3, 1.0, 10.0, 100.0)),
        slow=50_000,
        soft=False,
        samples=10_000,
        classes=200,
    ),
}
# of texts there are TF-IDF vectors, which a scaler would fill with numbers
OF_TEXTS = {
    LOGISTIC: Rival(
        "sklearn:LogisticRegression",
        ("text",),
        {"max_iter": 1000},
        tuned=Tuned("C", "C", (0.1, 1.0, 3.0, 10.0, 100.0)),
        classes=200,
    )
}


def asked(rivals: object) -> tuple[str, ...]:
    """Return rivals by their names; they may be estimators, one or several.

    Args:
        rivals: None for what is usual, ``"none"``, names with commas between, an estimator, or a list. A name is that
            of a class of scikit-learn, or ``module:Estimator``, which is imported.

    Example:
        >>> asked("auto"), asked("none"), asked("SVC, sklearn:GaussianNB")
        (('auto',), (), ('SVC', 'sklearn:GaussianNB'))
    """
    if rivals is None:
        return UNSAID
    parts = rivals.split(",") if isinstance(rivals, str) else rivals if isinstance(rivals, list | tuple) else [rivals]
    try:
        names = [_imported(each.strip()) if isinstance(each, str) else model_name(each) for each in parts]
    except _checks.InputError as error:
        raise error.about(owner="compare", argument="rivals") from error
    if NONE in names and len(names) > 1:
        raise _checks.fail("compare", "rivals", "none, or some", ", ".join(names))
    return tuple(dict.fromkeys(name for name in names if name and name != NONE))


def entries_of(names: Sequence[str], dataset: Dataset, trials: int = 1) -> tuple[list[Entry], list[str]]:
    """Return a row for every rival, and sentences on those that were left out, or are not tuned.

    Args:
        names: from ``asked``.
        dataset: as it is trained on.
        trials: of each, where it has something to tune and is soon fitted.
    """
    if dataset.kind == "sequences":
        if set(names) - {AUTO}:
            raise _checks.fail("compare", "rivals", "left out for sequences", ", ".join(names))
        return [], []
    usual = {**USUAL, **(OF_TEXTS if dataset.kind == "text" else {})}
    found: dict[str, Entry] = {}
    notes: list[str] = []
    for name in names:
        if name == AUTO:
            fit = {label: each for label, each in usual.items() if dataset.kind in each.kinds}
            reasons = {label: _hopeless(each, dataset) for label, each in fit.items()}
            kept = {label: fit[label] for label, reason in reasons.items() if not reason}
            found |= {label: _entry(label, each, dataset, trials) for label, each in kept.items()}
            notes += _said({label: reason for label, reason in reasons.items() if reason})
            notes += _untuned([label for label, each in kept.items() if trials > 1 and _is_slow(each, dataset)])
        else:
            entry = _named(name, usual, dataset, trials)
            found[entry.label] = entry
    return list(found.values()), notes


def _imported(name: str) -> str:
    """Return the name of a rival; the estimator that ``module:Estimator`` names is imported, and known by it then."""
    module, colon, wanted = name.partition(":")
    if not colon or module in LIBRARIES:
        return name
    here = str(Path.cwd())
    sys.path += [] if here in sys.path else [here]  # as every tool does that is given a module
    try:
        found = getattr(importlib.import_module(module), wanted)
        found = found() if isinstance(found, type) else found
    except Exception as error:  # the code of somebody else
        got = f"{name!r}, which fails: {type(error).__name__}: {first_line(error)}"
        expected = "a classifier that can be imported, such as sklearn.svm:SVC"
        raise _checks.fail("compare", "rivals", expected, got) from error
    if not is_estimator(found) or not hasattr(found, "predict"):
        expected = "a classifier with fit, and predict_proba or decision_function"
        raise _checks.fail("compare", "rivals", expected, f"{name!r}, which is none")
    return model_name(found)


def _named(name: str, usual: Mapping[str, Rival], dataset: Dataset, trials: int) -> Entry:
    """Return the row of a rival that was asked for, whatever it takes; one that is not usual has its own settings."""
    if name in usual:
        return _entry(name, usual[name], dataset, trials)
    model = name if ":" in name or models.is_fitted(name) else f"sklearn:{name}"
    if not models.is_fitted(model):
        expected = "auto, none, classifiers of scikit-learn by the names of their classes, or module:Estimator"
        remedy = "Networks are given as model=… (--model); a plan imports nothing."
        raise _checks.fail("compare", "rivals", expected, repr(name), remedy)
    tokens = None if dataset.vocabulary is None else len(dataset.vocabulary)
    try:
        built = models.build(
            model, dataset.input_shape, len(dataset.names), **({} if tokens is None else {"vocabulary": tokens})
        )
    except _checks.InputError as error:
        raise error.about(owner="compare", argument="rivals") from error
    assert isinstance(built, models.Fitted)
    label = built.name.removeprefix("sklearn:").removesuffix("Classifier")
    return _entry(label, Rival(model, (dataset.kind,), draws=0, soft=built.takes_shares), dataset, 1)


def _entry(label: str, rival: Rival, dataset: Dataset, trials: int) -> Entry:
    once = rival.draws is None or len(dataset.train) <= rival.draws
    entry = Entry(label, REFERENCE_METHOD, "rival", None, None, "", (), model=rival.model, settings=rival.options)
    entry = entry._replace(once=once, takes="model", weighted=rival.soft)
    if rival.tuned is None or trials < 2 or _is_slow(rival, dataset):
        return entry
    tuned = rival.tuned
    values = fewer(tuned.values, trials)
    return entry._replace(option=tuned.option, symbol=tuned.symbol, values=values, extends=True)


def _is_slow(rival: Rival, dataset: Dataset) -> bool:
    """Return whether several fits would take too long."""
    return len(dataset.train) * len(dataset.names) > rival.slow


def _untuned(labels: Sequence[str]) -> list[str]:
    return [f"Too slow to be tuned on so many samples, and fitted with their defaults: {', '.join(labels)}."] * bool(
        labels
    )


def _hopeless(rival: Rival, dataset: Dataset) -> str:
    """Return why a rival is not tried on such data; nothing where it is."""
    samples, classes, inputs = len(dataset.train), len(dataset.names), math.prod(dataset.input_shape)
    if dataset.kind == "images" and inputs > INPUTS:
        return f"pictures of {inputs:,} numbers"
    if samples > rival.samples:
        return f"{samples:,} samples"
    if classes > rival.classes:
        return f"{classes:,} classes"
    return f"{samples:,} samples of {classes:,} classes" if samples * classes > rival.sizes else ""


def _said(reasons: Mapping[str, str]) -> list[str]:
    """Return a sentence for each reason."""
    why = dict.fromkeys(reasons.values())
    grouped = {reason: [label for label, each in reasons.items() if each == reason] for reason in why}
    return [
        f"{' and '.join([', '.join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)} would take too long on"
        f" {reason} and {'was' if len(labels) == 1 else 'were'} left out; --rivals NAME tries it all the same."
        for reason, labels in grouped.items()
    ]
