"""What people have anyway: classifiers of scikit-learn beside the methods of a comparison, on the same samples."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from labelspace import _checks, models
from labelspace.comparison.entries import REFERENCE_METHOD, Entry
from labelspace.data.dataset import Dataset
from labelspace.models.registry import model_name

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
        samples: of training, above which it takes too long.
        classes: above which it takes too long.
        sizes: samples × classes, above which it takes too much memory.
    """

    model: str
    kinds: tuple[str, ...]
    options: Mapping[str, JsonValue] = MappingProxyType({})
    draws: int | None = None
    samples: int = SAMPLES
    classes: int = 1000
    sizes: int = SAMPLES * 1000


BOOSTING, LOGISTIC, FOREST, VECTORS = "HistGradientBoosting", "LogisticRegression", "ExtraTrees", "SVC"
NUMBERS = ("table", "features")
USUAL = {
    # of pictures it makes a hundred trees for every class, which took longer than all others together
    BOOSTING: Rival("sklearn:HistGradientBoostingClassifier", NUMBERS, draws=WITHOUT_DRAWS, classes=50),
    LOGISTIC: Rival(
        "sklearn:StandardScaler+LogisticRegression",
        (*NUMBERS, "images"),
        {"max_iter": 1000},
        samples=100_000,
        classes=200,
    ),
    # a leaf for nearly every sample, and in it a number for every class, a hundred times
    FOREST: Rival("sklearn:ExtraTreesClassifier", (*NUMBERS, "images"), draws=0, sizes=250_000),
    VECTORS: Rival("sklearn:SVC", (*NUMBERS, "images"), samples=10_000, classes=200),
}
# of texts there are TF-IDF vectors, which a scaler would fill with numbers
OF_TEXTS = {LOGISTIC: Rival("sklearn:LogisticRegression", ("text",), {"max_iter": 1000}, classes=200)}


def asked(rivals: object) -> tuple[str, ...]:
    """Return rivals by their names; they may be estimators, one or several.

    Args:
        rivals: None for what is usual, ``"none"``, names with commas between, an estimator, or a list.

    Example:
        >>> asked("auto"), asked("none"), asked("SVC, sklearn:GaussianNB")
        (('auto',), (), ('SVC', 'sklearn:GaussianNB'))
    """
    if rivals is None:
        return UNSAID
    parts = rivals.split(",") if isinstance(rivals, str) else rivals if isinstance(rivals, list | tuple) else [rivals]
    try:
        names = [each.strip() if isinstance(each, str) else model_name(each) for each in parts]
    except _checks.InputError as error:
        raise error.about(owner="compare", argument="rivals") from error
    if NONE in names and len(names) > 1:
        raise _checks.fail("compare", "rivals", "none, or some", ", ".join(names))
    return tuple(dict.fromkeys(name for name in names if name and name != NONE))


def entries_of(names: Sequence[str], dataset: Dataset) -> tuple[list[Entry], list[str]]:
    """Return a row for every rival, and sentences on those that were left out.

    Args:
        names: from ``asked``.
        dataset: as it is trained on.
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
            found |= {label: _entry(label, fit[label], dataset) for label, reason in reasons.items() if not reason}
            notes += _said({label: reason for label, reason in reasons.items() if reason})
        else:
            entry = _named(name, usual, dataset)
            found[entry.label] = entry
    return list(found.values()), notes


def _named(name: str, usual: Mapping[str, Rival], dataset: Dataset) -> Entry:
    """Return the row of a rival that was asked for, whatever it takes."""
    if name in usual:
        return _entry(name, usual[name], dataset)
    model = name if ":" in name or models.is_fitted(name) else f"sklearn:{name}"
    if not models.is_fitted(model):
        expected = "auto, none, or classifiers of scikit-learn by the names of their classes"
        raise _checks.fail("compare", "rivals", expected, repr(name), "Networks are given as model=… (--model).")
    tokens = None if dataset.vocabulary is None else len(dataset.vocabulary)
    try:
        built = models.build(
            model, dataset.input_shape, len(dataset.names), **({} if tokens is None else {"vocabulary": tokens})
        )
    except _checks.InputError as error:
        raise error.about(owner="compare", argument="rivals") from error
    assert isinstance(built, models.Fitted)
    label = built.name.removeprefix("sklearn:").removesuffix("Classifier")
    return _entry(label, Rival(model, (dataset.kind,), draws=0), dataset)


def _entry(label: str, rival: Rival, dataset: Dataset) -> Entry:
    once = rival.draws is None or len(dataset.train) <= rival.draws
    return Entry(
        label, REFERENCE_METHOD, "rival", None, None, "", (), model=rival.model, settings=rival.options, once=once
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
