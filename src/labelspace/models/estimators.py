"""Classifiers of scikit-learn by the names of their classes, and objects that are fitted like them."""

import importlib
import inspect
from difflib import get_close_matches
from typing import Any

from labelspace import _checks
from labelspace.models.fitted import Fitted, check_scores, joined

# where classifiers, and what may stand before them, are looked for
ROOMS = (
    "ensemble", "linear_model", "svm", "neighbors", "naive_bayes", "tree", "discriminant_analysis", "neural_network",
    "preprocessing", "decomposition", "kernel_approximation", "gaussian_process", "calibration", "semi_supervised",
    "dummy", "feature_extraction.text",
)  # fmt: skip


def from_sklearn(
    name: str, input_shape: tuple[int, ...], output_dim: int, *, vocabulary: int | None = None, **options: object
) -> Fitted:
    """Return a classifier of scikit-learn by the name of its class, with others of its classes before it.

    Args:
        name: ``LogisticRegression``, or ``StandardScaler+LogisticRegression`` for one after the other.
        input_shape: of one sample.
        output_dim: how many classes there are.
        vocabulary: of texts, how many token ids there are.
        options: of the classifier, the last one.
    """
    owner = f"models.build('sklearn:{name}')"
    *before, last = [_class(owner, each.strip()) for each in name.split("+")]
    known = [each for each in inspect.signature(last).parameters if each not in ("args", "kwargs")]
    for option in options:
        _checks.choice(owner, "option name", option, known)
    try:
        parts = [*(each() for each in before), last(**options)]
    except TypeError as error:
        remedy = "Give the object itself: model=estimator."
        raise _checks.fail(owner, "name", "a class that needs nothing but plain options", str(error), remedy) from error
    if not hasattr(parts[-1], "predict"):
        raise _checks.fail(owner, "name", "that of a classifier", repr(last.__name__))
    check_scores(owner, parts[-1])
    return Fitted(joined(parts), f"sklearn:{name}", input_shape, output_dim, vocabulary)


def from_object(
    content: object, input_shape: tuple[int, ...], output_dim: int, *, vocabulary: int | None = None, **options: object
) -> Fitted:
    """Return an estimator that was given as an object; it is copied, not changed.

    Args:
        content: it has ``fit`` and ``predict_proba`` or ``decision_function``.
        input_shape: of one sample.
        output_dim: how many classes there are.
        vocabulary: of texts, how many token ids there are.
        options: none: the object has its own.
    """
    if options:
        raise _checks.fail("train", "model_options", "left out for an estimator, which has its own", list(options))
    return Fitted(content, type(content).__name__, input_shape, output_dim, vocabulary)


def sklearn_version() -> str:
    """Return which scikit-learn fits: another may fit otherwise."""
    return f"sklearn{importlib.import_module('sklearn').__version__}"


def _class(owner: str, name: str) -> type[Any]:
    """Return a public class of scikit-learn; nothing else can be named."""
    offered: dict[str, type[Any]] = {}
    for module in map(importlib.import_module, (f"sklearn.{room}" for room in ROOMS)):
        offered |= {each: found for each, found in vars(module).items() if _is_public(each, found)}
        if name in offered:
            return offered[name]
    near = get_close_matches(name, offered, n=1, cutoff=0.5)
    remedy = f"Did you mean {near[0]!r}?" if near else "Such as 'sklearn:HistGradientBoostingClassifier'."
    raise _checks.fail(owner, "name", "the name of a class of scikit-learn", repr(name), remedy)


def _is_public(name: str, found: object) -> bool:
    """Return whether something is a class that classifies, or may stand before one that does."""
    own = isinstance(found, type) and found.__module__.startswith("sklearn.") and hasattr(found, "fit")
    useful = any(hasattr(found, each) for each in ("predict_proba", "decision_function", "transform"))
    return own and useful and not name.startswith(("_", "Base"))
