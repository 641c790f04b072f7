"""Fitted estimators as bytes that execute nothing when they are read: skops, and a list of what may be in them."""

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from labelspace._packages import optional

# what fitted estimators of scikit-learn are made of beyond its public classes, which skops trusts by itself
PARTS = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.metrics._dist_metrics.EuclideanDistance",
    "sklearn.metrics._dist_metrics.EuclideanDistance32",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
)
OWNER = "an estimator's file"
SCHEMA = "schema.json"  # of skops: what stands where


class Untrusted(ValueError):
    """A file, or an estimator, with something in it that is not known to be harmless."""


def dumped(estimator: object, also: Iterable[str] = ()) -> bytes:
    """Return an estimator as bytes; one that could not be read again is refused.

    Args:
        estimator: fitted or not.
        also: names of further types, and beginnings of names that end with a dot, that may be in it.
    """
    skops = optional(OWNER, "skops.io", "compare")
    try:
        content = skops.dumps(estimator)
    except Exception as error:  # it looks at every object inside, which may be anything
        raise Untrusted(f"it cannot be written down: {first_line(error)}") from error
    _check(content, also)
    return _settled(content)


def loaded(content: bytes, also: Iterable[str] = ()) -> object:
    """Return the estimator in bytes that may have come from anywhere.

    Args:
        content: from ``dumped``.
        also: as for ``dumped``.
    """
    skops = optional(OWNER, "skops.io", "compare")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # nothing is packed, so that a small file cannot become a large one
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise Untrusted("its file is packed")
        return skops.loads(content, trusted=_check(content, also))
    except Untrusted:
        raise
    except Exception as error:  # what it did not write raises all sorts
        raise Untrusted(f"it cannot be read: {first_line(error)}") from error


def unknown(content: bytes) -> list[str]:
    """Return the names of types in an estimator's bytes that neither skops nor we trust."""
    found = optional(OWNER, "skops.io", "compare").get_untrusted_types(data=content)
    return sorted(set(found) - set(PARTS))


def _check(content: bytes, also: Iterable[str]) -> list[str]:
    """Return the names of types that are trusted with this content; refuse what has others."""
    names = tuple(also)
    beginnings = tuple(name for name in names if name.endswith("."))
    found = unknown(content)
    strange = [name for name in found if name not in names and not name.startswith(beginnings)]
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise Untrusted(f"it holds {strange[0]}{more}, which is not known to be harmless")
    return [*PARTS, *found]


def _settled(content: bytes) -> bytes:
    """Return the same archive without what differs from call to call: addresses in memory, and the time of day."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    schema, numbers, files = json.loads(parts[SCHEMA]), dict[object, int](), dict[str, str]()
    _renumber(schema, numbers, files)
    named = {files.get(name, name): part for name, part in parts.items()} | {SCHEMA: json.dumps(schema).encode()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, part in sorted(named.items()):
            archive.writestr(zipfile.ZipInfo(name), part)  # which has a date of its own, the same for all
    return buffer.getvalue()


def _renumber(node: object, numbers: dict[object, int], files: dict[str, str]) -> None:
    """Number objects, and name their files, in the order in which they come."""
    if isinstance(node, list):
        for part in node:
            _renumber(part, numbers, files)
    if not isinstance(node, dict):
        return
    if "__id__" in node and "__loader__" in node:
        node["__id__"] = numbers.setdefault(node["__id__"], len(numbers))
        if isinstance(node.get("file"), str):
            ending = Path(node["file"]).suffix
            node["file"] = files.setdefault(node["file"], f"{len(files)}{ending}")
    for part in node.values():
        _renumber(part, numbers, files)


def first_line(error: object) -> str:
    """Return the beginning of what an error or a warning says; its type where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
