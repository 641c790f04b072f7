"""Every error message: one sentence on what was expected and what came, then the remedy.

Each function raises ``ValueError`` (a wrong value), ``TypeError`` (a wrong kind of thing) or ``LabelFileError``
(a label file that cannot be trusted), and returns what it checked in the form the caller wants.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

MOST_CLASSES = 2**20  # larger numbers are ids that were taken for class indices
LONGEST_HINT = 200  # characters of a name that is worth a suggestion


class LabelFileError(ValueError):
    """A label file that is truncated, of another version, or not a label file at all."""


def fail(owner: str, argument: str, expected: str, got: object, remedy: str = "") -> ValueError:
    """Return a ``ValueError`` in the house form, to be raised by the caller."""
    return ValueError(_sentence(owner, argument, expected, got, remedy))


def fail_type(owner: str, argument: str, expected: str, got: object, remedy: str = "") -> TypeError:
    """Return a ``TypeError`` in the house form, to be raised by the caller."""
    return TypeError(_sentence(owner, argument, expected, got, remedy))


def _sentence(owner: str, argument: str, expected: str, got: object, remedy: str) -> str:
    text = f"`{argument}` of {owner} must be {expected}. Got {got}."
    return f"{text} {remedy}" if remedy else text


def number(
    owner: str,
    argument: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return ``value`` as a float inside the interval, whose ends may be left out."""
    left, right = "(" if open_low or math.isinf(low) else "[", ")" if open_high or math.isinf(high) else "]"
    interval = f"a number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, Tensor) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        raise fail_type(owner, argument, interval, repr(value))
    checked = _as_float(value)
    inside_low = checked > low if open_low else checked >= low
    inside_high = checked < high if open_high else checked <= high
    if not (inside_low and inside_high) or not math.isfinite(checked):
        raise fail(owner, argument, interval, f"{checked:g}")
    return checked


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if value > 0 else -math.inf


def whole(owner: str, argument: str, value: Any, *, low: int = 0) -> int:
    """Return ``value`` as an int of at least ``low``."""
    expected = f"a whole number of at least {low}"
    number = integer(owner, argument, value, expected)
    if number < low:
        raise fail(owner, argument, expected, number)
    return number


def integer(owner: str, argument: str, value: Any, expected: str = "a whole number") -> int:
    """Return ``value`` as an int; numpy's count, floats and booleans do not."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise fail_type(owner, argument, expected, repr(value))
    return int(value)


def choice(owner: str, argument: str, value: Any, options: Iterable[Any]) -> Any:
    """Return ``value`` if it is one of ``options``; suggest the nearest one otherwise."""
    allowed = list(options)
    if value in allowed:
        return value
    near = get_close_matches(str(value), [str(option) for option in allowed], n=1)
    listed = ", ".join(repr(option) for option in allowed)
    raise fail(owner, argument, f"one of {listed}", repr(value), f"Did you mean {near[0]!r}?" if near else "")


def class_names(owner: str, classes: Any) -> tuple[str, ...]:
    """Return unique class names from a number of classes or a sequence of names."""
    if isinstance(classes, bool):
        raise fail_type(owner, "classes", "a number of classes or a list of names", repr(classes))
    if isinstance(classes, Integral):
        count = whole(owner, "classes", classes, low=1)
        if count > MOST_CLASSES:
            raise fail(owner, "classes", f"at most {MOST_CLASSES} classes", count if count < 10**30 else "far more")
        return tuple(str(index) for index in range(count))
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise fail_type(owner, "classes", "a number of classes or a list of names", repr(classes))
    names = tuple(classes)
    for name in names:
        if not isinstance(name, str) or not name:
            remedy = "Turn it into text first, for example with str()."
            raise fail_type(owner, "names", "non-empty strings", repr(name), remedy)
    if not names:
        raise fail(owner, "names", "at least one class", "none")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise fail(owner, "names", "unique", f"{repeated[0]!r} more than once", "Rename or merge the classes.")
    writable_names(owner, "names", names)
    return names


def writable_names(owner: str, argument: str, names: Iterable[str]) -> None:
    """Refuse names that are not Unicode text, as those of some old folders: no result could be written with them."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            shown = name.encode("utf-8", "backslashreplace").decode()
            remedy = "Rename the class, or the folder that it is called after."
            raise fail(owner, argument, "names of classes that are Unicode text", f"'{shown}'", remedy) from error


def known_names(owner: str, argument: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    """Refuse names that are not classes, and suggest the nearest class."""
    present = set(known)
    unknown = [name for name in wanted if name not in present]
    if unknown:
        # comparing long texts takes the product of their lengths
        short = [name for name in known if len(name) <= LONGEST_HINT]
        near = get_close_matches(unknown[0], short, n=1) if len(unknown[0]) <= LONGEST_HINT else []
        remedy = f"Did you mean {near[0]!r}?" if near else f"The classes are: {_some(known)}."
        raise fail(owner, argument, "names of classes", f"{unknown[0]!r}, which is none", remedy)


def _some(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def matrix(owner: str, argument: str, value: Any, *, rows: int | None = None, square: bool = False) -> Tensor:
    """Return a finite two-dimensional float64 tensor (a copy)."""
    try:
        tensor = _dense(value).to("cpu", torch.float64).clone()
    except (TypeError, ValueError, RuntimeError) as error:
        raise fail_type(owner, argument, "a two-dimensional array of numbers", _kind(value)) from error
    if tensor.ndim != 2 or tensor.shape[1] == 0:
        raise fail(owner, argument, "a two-dimensional array", f"shape {tuple(tensor.shape)}")
    if rows is not None and tensor.shape[0] != rows:
        remedy = "Give one row per class, in the order of the names."
        raise fail(owner, argument, f"an array of {rows} rows", f"shape {tuple(tensor.shape)}", remedy)
    if square and tensor.shape[0] != tensor.shape[1]:
        raise fail(owner, argument, "a square array (classes × classes)", f"shape {tuple(tensor.shape)}")
    bad = (~torch.isfinite(tensor)).nonzero()
    if len(bad):
        row, column = bad[0].tolist()
        raise fail(owner, argument, "finite", f"{tensor[row, column].item()} at row {row}, column {column}")
    return tensor


def _dense(value: Any) -> Tensor:
    # numbers that are no tensor yet go to the CPU, whatever device is the default: their values are looked at
    tensor = value.detach() if isinstance(value, Tensor) else torch.as_tensor(value, device="cpu")
    if tensor.is_meta:
        raise ValueError("a tensor without content")
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def _kind(value: Any) -> str:
    return "a tensor on the meta device, which holds none" if getattr(value, "is_meta", False) else type(value).__name__


def class_vector(owner: str, argument: str, value: Any, classes: int) -> Tensor:
    """Return one finite non-negative number per class, in float32, or float64 where it comes so."""
    try:
        tensor = _dense(value).clone()
        tensor = tensor if tensor.dtype == torch.float64 else tensor.to(torch.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise fail_type(owner, argument, "one number per class", _kind(value)) from error
    if tensor.shape != (classes,):
        raise fail(owner, argument, f"of shape ({classes},), one number per class", f"shape {tuple(tensor.shape)}")
    if not bool(torch.isfinite(tensor).all()) or bool((tensor < 0).any()):
        raise fail(owner, argument, "finite and not negative", tensor.tolist())
    return tensor
