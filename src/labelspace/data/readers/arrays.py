"""Arrays: NPZ files, pairs of NPY files, embeddings with labels, or arrays in memory; and scikit-learn's digits."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from labelspace import _checks, _inputs
from labelspace.data import digests, factors, labels, memory
from labelspace.data.columns import check_finite
from labelspace.data.digests import Array
from labelspace.data.files import OWNER
from labelspace.data.found import Found, Shares, ranges, rows_of
from labelspace.data.npy import Stored
from labelspace.data.source import Kind, ReaderOptions, Source

# how the parts may be called, after x_, y_, groups_ and cost_factors_
SUFFIXES = {"train": ("train",), "validation": ("validation", "valid", "val"), "test": ("test",)}
FEATURES = ("x", "X", "features", "embeddings")
LABELS = ("y", "labels")
DIGITS = tuple(str(digit) for digit in range(10))
# so many images for choices and for the last measurement, which leaves 800 to learn from: a usual share of so small a
# pool would be a test part in which differences between methods drown
VALIDATION, TEST = 300, 697


def recognises(folder: Path) -> bool:
    """Return whether a folder holds NPY files of features."""
    return any((folder / f"{name}{end}.npy").is_file() for name in FEATURES for end in ("", "_train"))


def read(
    source: object,
    *,
    names: Sequence[str] | None = None,
    groups: object = None,
    cost_factors: object = None,
) -> Found:
    """Return a dataset from arrays. Nothing is ever unpickled.

    Bytes (uint8) of three or four axes are images, ``(N, H, W)``, ``(N, C, H, W)`` or ``(N, H, W, C)``; all other
    numbers, also images of floats, are features, kept as float32 in their own shape.

    Args:
        source: an NPZ file or a folder of NPY files with ``x`` and ``y`` (or ``x_train``, ``y_train``, ``x_test`` …;
            ``features`` or ``embeddings`` and ``labels`` are names for the same), a pair ``(x, y)``, or a dict of
            pairs ``{"train": (x, y), "test": (x, y)}``.
        names: class names in the order of the labels; an array ``names`` in the file says the same.
        groups: a group per sample, for a pair, and for a dict of pairs a dict of groups; in a file it is an array
            ``groups`` (or ``groups_train`` …).
        cost_factors: what a comparison multiplies the prices of each sample by, 0 or more, such as the amount at stake;
            given as groups are.
    """
    if isinstance(source, str | Path):
        _in_the_file({"groups": groups, "cost_factors": cost_factors})
        stored: Mapping[str, Array] = Stored(Path(source))
        if names is None and "names" in stored:
            names = [str(name) for name in stored["names"].ravel().tolist()]
        return found_in(stored, names, Path(source).name)
    pairs = {name: pair(part) for name, part in memory.parts(source).items()}
    given = beside("groups", groups, pairs) | beside("cost_factors", cost_factors, pairs)
    for name, (x, y) in pairs.items():
        end = "" if name == "all" else f"_{name}"
        given |= {f"x{end}": x, f"y{end}": y}
    return found_in(given, names, "arrays")


def read_digits() -> Found:
    """Return scikit-learn's digits; their values 0 to 16 are stored as 0 to 240 (×15), so nothing is rounded.

    Unless shares are asked for, they are split into 800 images for training, 300 for validation and 697 for test.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    x = (bunch.images * 15).astype(np.uint8)[:, None]
    y = bunch.target.astype(np.int64)
    found = digests.of_rows(x)
    source: Source = {"reader": "digits", "path": "digits", "options": {}}
    content = digests.of_values(x, y)
    shares = Shares(VALIDATION / len(y), TEST / len(y))
    given = ranges({"all": len(y)})
    return Found("images", y, DIGITS, given, found, content, source, rows_of(x, found), shares=shares)


def found_in(
    stored: Mapping[str, Array],
    names: Sequence[str] | None,
    title: str,
    options: ReaderOptions | None = None,
) -> Found:
    """Return the dataset that arrays by their names are.

    Args:
        stored: ``x`` and ``y``, or ``x_train``, ``y_train`` … and perhaps groups and factors of costs.
        names: class names in the order of the labels.
        title: what the data goes by.
        options: others than ``names`` that it was read with.
    """
    spelled = (FEATURES, LABELS, ("groups",), ("cost_factors",))
    x_parts, y_parts, group_parts, factor_parts = (_parts(stored, spellings) for spellings in spelled)
    _check_parts(x_parts, y_parts, group_parts)
    _check_lengths(factor_parts, y_parts)
    x, kind = _features(np.concatenate(list(x_parts.values())))
    y, classes = labels.encode(np.concatenate(list(y_parts.values())), names)
    codes = None
    if group_parts:
        codes = np.unique(np.concatenate(list(group_parts.values())).ravel(), return_inverse=True)[1].astype(np.int64)
    found = digests.of_rows(x)
    said: ReaderOptions = {"names": None if names is None else list(names), **(options or {})}
    facts: Source = {"reader": "arrays", "path": title, "options": said}
    weights = None
    if factor_parts:
        values = [value for part in factor_parts.values() for value in factors.listed(part)]
        weights = factors.checked(OWNER, "cost_factors", values)
    told = [] if weights is None else [weights]
    content = digests.of_values(x, y, list(classes), codes if codes is not None else [], *told)
    given = ranges({part: len(values) for part, values in y_parts.items()})
    return Found(kind, y, classes, given, found, content, facts, rows_of(x, found), codes, factors=weights)


def pair(source: object) -> tuple[Array, Array]:
    """Return a pair ``(x, y)`` as arrays."""
    assert isinstance(source, tuple)
    if len(source) != 2:
        raise _checks.fail(OWNER, "name_or_path", "a pair (x, y)", f"{len(source)} things")
    return as_array("x", source[0]), as_array("y", source[1])


def beside(what: str, values: object, parts: Collection[str]) -> dict[str, Array]:
    """Return what each sample has beside its label, by the names that arrays go by; nothing where that is nothing.

    Args:
        what: the option: ``"groups"`` or ``"cost_factors"``.
        values: one per sample; for several parts a dict of such.
        parts: of the data.
    """
    if values is None:
        return {}
    given = values if isinstance(values, Mapping) else {"all": values}
    if isinstance(values, Mapping) and "all" not in parts:
        given = memory.parts(values)
    if set(given) != set(parts):
        got = f"those of {', '.join(map(str, given))}"
        raise _checks.fail(OWNER, what, f"one per sample for each of {', '.join(parts)}", got)
    return {what if name == "all" else f"{what}_{name}": as_array(what, own) for name, own in given.items()}


def as_array(argument: str, value: object) -> Array:
    """Return an array of what holds numbers or texts.

    Args:
        argument: what it was given as, for the message.
        value: an array, a tensor, or lists.
    """
    if isinstance(value, torch.Tensor):
        dense = _inputs.tensor(OWNER, argument, value).cpu()
        # numpy has no bfloat16 and the like
        value = dense.float() if dense.is_floating_point() and dense.dtype.itemsize < 4 else dense
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        expected = "an array, a tensor, or lists of one length"
        raise _checks.fail_type(OWNER, argument, expected, f"{type(value).__name__} ({error})") from error


def _parts(stored: Mapping[str, Array], spellings: Sequence[str]) -> dict[str, Array]:
    for name in spellings:
        if name in stored:
            return {"all": stored[name]}
    return {
        part: stored[f"{name}_{suffix}"]
        for part, suffixes in SUFFIXES.items()
        for suffix in suffixes
        for name in spellings
        if f"{name}_{suffix}" in stored
    }


def _check_parts(x: Mapping[str, Array], y: Mapping[str, Array], groups: Mapping[str, Array]) -> None:
    if not x or set(x) != set(y) or (groups and set(groups) != set(x)):
        got = (
            f"x for {sorted(x) or 'nothing'}, y for {sorted(y) or 'nothing'}, groups for {sorted(groups) or 'nothing'}"
        )
        remedy = "Call the arrays x and y, or x_train, y_train, x_test, y_test (x_validation, y_validation)."
        raise _checks.fail(OWNER, "name_or_path", "arrays x and y of the same parts", got, remedy)
    if "all" not in x and not ("train" in x and len(x) > 1):
        remedy = "Add x_test and y_test, or call the arrays x and y to have them split."
        raise _checks.fail(OWNER, "name_or_path", "a training part and a held-out part", f"only {sorted(x)}", remedy)
    for part, values in x.items():
        beside = [y[part], *([groups[part]] if groups else [])]
        flat = all(other.ndim == 1 or other.shape[1:] == (1,) for other in beside[1:]) and y[part].ndim > 0
        if values.ndim < 2 or not flat or any(len(other) != len(values) for other in beside):
            got = f"x of shape {values.shape} and y of shape {y[part].shape}"
            raise _checks.fail(OWNER, "x", f"one row per label (part {part!r})", got)
        if 0 in values.shape:
            raise _checks.fail(OWNER, "x", f"samples with numbers in them (part {part!r})", f"shape {values.shape}")
        if values.shape[1:] != next(iter(x.values())).shape[1:]:
            raise _checks.fail(OWNER, "x", "samples of one shape in all parts", f"{values.shape[1:]} in {part!r}")
        if (values.dtype == np.uint8) != (next(iter(x.values())).dtype == np.uint8):
            remedy = "Bytes are pictures, anything else is features."
            raise _checks.fail(OWNER, "x", "samples of one type in all parts", f"{values.dtype} in {part!r}", remedy)


def _check_lengths(factors: Mapping[str, Array], y: Mapping[str, Array]) -> None:
    """Refuse factors of other parts or of another number of samples."""
    if factors and set(factors) != set(y):
        got = f"those of {', '.join(factors)}"
        raise _checks.fail(OWNER, "cost_factors", f"one per sample for each of {', '.join(y)}", got)
    for part, values in factors.items():
        if values.ndim == 0 or values.size != len(values) or len(values) != len(y[part]):
            expected = f"of shape ({len(y[part])},), one per sample (part {part!r})"
            raise _checks.fail(OWNER, "cost_factors", expected, f"shape {values.shape}")


def _in_the_file(given: Mapping[str, object]) -> None:
    """Refuse what a file has to say itself."""
    for name, values in given.items():
        if values is not None:
            remedy = f"Save an array {name} in the file."
            raise _checks.fail(OWNER, name, "left out for arrays in a file", "it", remedy)


def _features(x: Array) -> tuple[Array, Kind]:
    """Return images as uint8 ``(N, C, H, W)``, and anything else as float32."""
    if x.dtype == np.uint8 and x.ndim == 3:
        return x[:, None], "images"
    if x.dtype == np.uint8 and x.ndim == 4:
        channels_last = x.shape[3] in (1, 3) and x.shape[1] not in (1, 3)
        return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if channels_last else x, "images"
    if not (np.issubdtype(x.dtype, np.number) or x.dtype == bool) or np.iscomplexobj(x):
        raise _checks.fail(OWNER, "x", "numbers", f"an array of {x.dtype}")
    with np.errstate(over="ignore"):  # what is too large for single precision is said below
        values = x.astype(np.float32)
    check_finite(values)
    return values, "features"
