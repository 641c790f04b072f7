"""Every error message: one sentence on what was expected and what came, then the remedy.

Each function raises an ``InputError`` (also a ``TypeError`` where it is the wrong kind of thing) and returns what it
checked in the form the caller wants.
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar

import torch
from torch import Tensor

MOST_CLASSES = 2**20  # larger numbers are ids that were taken for class indices
Option = TypeVar("Option")
LONGEST_HINT = 200  # characters of a name that is worth a suggestion


class Setting(NamedTuple):
    """An argument and a value that would help, inside of a remedy: a command line shows it as a flag."""

    name: str
    value: object = ...  # whatever fits

    def __str__(self) -> str:
        """Return it as it is written in Python."""
        return f"{self.name}={'…' if self.value is ... else repr(self.value)}"


Remedy = str | tuple[str | Setting, ...]


class InputError(ValueError):
    """What was given cannot be used: the message names the argument, what was expected, what came and the remedy.

    Args:
        owner: whose argument it is: a class or function; empty where the argument says it all.
        argument: its name.
        expected: what it must be.
        got: what came.
        remedy: what to do about it, if known; parts of it may be settings.

    Example:
        >>> try:
        ...     number("Focal", "gamma", -1, low=0)
        ... except InputError as error:
        ...     print(error.argument, error.got, error, sep=" | ")
        gamma | -1 | `gamma` of Focal must be a number in [0, inf). Got -1.
    """

    def __init__(self, owner: str, argument: str, expected: str, got: object, remedy: Remedy = "") -> None:
        """Keep the parts; they are the arguments of the exception, so that it can be pickled."""
        super().__init__(owner, argument, expected, str(got), remedy)
        self.owner, self.argument, self.expected, self.got = owner, argument, expected, str(got)
        self.parts = (remedy,) if isinstance(remedy, str) else remedy
        self.file = ""

    @property
    def remedy(self) -> str:
        """What to do about it, in the words of Python."""
        return "".join(map(str, self.parts))

    def __str__(self) -> str:
        """Return the sentence in the words of Python."""
        name = f"`{self.argument}` of {self.owner}" if self.owner else f"`{self.argument}`"
        return self.said(name, str)

    def said(self, name: str, setting: Callable[[Setting], str]) -> str:
        """Return the sentence in other words.

        Args:
            name: what the argument is called.
            setting: how a setting is written.
        """
        file = f"{self.file}: " if self.file else ""
        text = f"{file}{name} must be {self.expected}. Got {self.got}."
        remedy = "".join(setting(part) if isinstance(part, Setting) else part for part in self.parts)
        return f"{text} {remedy}" if remedy else text

    def about(self, *, owner: str | None = None, argument: str | None = None, file: str = "") -> "InputError":
        """Return the same error about an argument that the caller knows by another name, or that came from a file."""
        kind = InputTypeError if isinstance(self, TypeError) else InputError
        other = kind(owner or self.owner, argument or self.argument, self.expected, self.got, self.parts)
        other.file = file or self.file
        return other


class WorkError(RuntimeError):
    """The input was sound, but the work could not be done; the message says why and what is kept."""


class InputTypeError(InputError, TypeError):
    """The wrong kind of thing was given."""


class DamagedError(InputError):
    """A file that is no longer what was written, or that belongs to something else than the files beside it.

    Args:
        owner: who reads it.
        argument: that named it, or its folder.
        expected: what it should be.
        path: the file, for whoever can make it again.
        why: what is wrong with it.
        remedy: how to come by a sound one.
    """

    def __init__(self, owner: str, argument: str, expected: str, path: Path, why: str, remedy: Remedy = "") -> None:
        """Keep the parts."""
        super().__init__(owner, argument, expected, f"{path}: {why}", remedy)
        self.path, self.why = path, why
        self.args = (owner, argument, expected, path, why, remedy)


def damaged(owner: str, argument: str, expected: str, path: Path, why: str, remedy: str, allowed: bool = False) -> None:
    """Refuse a file that is not what it should be; warn where the caller wants it as it is.

    Args:
        owner: as in ``DamagedError``, and so the others.
        argument: that named it.
        expected: what it should be.
        path: the file.
        why: what is wrong with it.
        remedy: how to come by a sound one.
        allowed: whether it is to be read all the same.
    """
    if allowed:
        warnings.warn(f"{path} is damaged ({why}); it is read as it is.", stacklevel=4)
        return
    reading = "To read it as it is: --allow-damaged (allow_damaged=True)."
    raise DamagedError(owner, argument, expected, path, why, f"{remedy} {reading}")


class LabelFileError(InputError):
    """A label file that is truncated, of another version, or not a label file at all.

    Args:
        path: the file.
        why: what is wrong with it.
        remedy: what to do about it.
    """

    def __init__(self, path: object, why: str, remedy: Remedy = "") -> None:
        """Keep the parts."""
        super().__init__("LabelSpace.load", "path", "a sound label file", f"{path}: {why}", remedy)
        self.why = why
        self.args = (str(path), why, remedy)


class Interval(TypedDict, total=False):
    """The ends that ``number`` takes, for functions that pass them on."""

    low: float
    high: float
    open_low: bool
    open_high: bool


def fail(owner: str, argument: str, expected: str, got: object, remedy: Remedy = "") -> InputError:
    """Return the error of a wrong value, to be raised by the caller."""
    return InputError(owner, argument, expected, got, remedy)


def fail_type(owner: str, argument: str, expected: str, got: object, remedy: Remedy = "") -> InputError:
    """Return the error of a wrong kind of thing, to be raised by the caller."""
    return InputTypeError(owner, argument, expected, got, remedy)


def number(
    owner: str,
    argument: str,
    value: object,
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


def whole(owner: str, argument: str, value: object, *, low: int = 0) -> int:
    """Return ``value`` as an int of at least ``low``."""
    expected = f"a whole number of at least {low}"
    number = integer(owner, argument, value, expected)
    if number < low:
        raise fail(owner, argument, expected, number)
    return number


def integer(owner: str, argument: str, value: object, expected: str = "a whole number") -> int:
    """Return ``value`` as an int; numpy's count, floats and booleans do not."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise fail_type(owner, argument, expected, repr(value))
    return int(value)


def choice(owner: str, argument: str, value: object, options: Iterable[Option]) -> Option:
    """Return ``value`` if it is one of ``options``; suggest the nearest one otherwise."""
    allowed = list(options)
    if value in allowed:
        return value
    near = get_close_matches(str(value), [str(option) for option in allowed], n=1)
    listed = ", ".join(repr(option) for option in allowed)
    raise fail(owner, argument, f"one of {listed}", repr(value), f"Did you mean {near[0]!r}?" if near else "")


def class_names(owner: str, classes: object) -> tuple[str, ...]:
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
        remedy = f"Did you mean {near[0]!r}?" if near else f"The classes are: {listed(known)}."
        raise fail(owner, argument, "names of classes", f"{unknown[0]!r}, which is none", remedy)


def same_names(owner: str, argument: str, given: Sequence[str], known: Sequence[str], fewer: str) -> None:
    """Refuse names that are not all of the known ones, in whatever order.

    Args:
        owner: the function that was called.
        argument: what it calls the names.
        given: the names.
        known: what they must be.
        fewer: the remedy where names are left out and none is unknown.
    """
    present, wanted = set(given), set(known)
    surplus, missing = [name for name in given if name not in wanted], [name for name in known if name not in present]
    if not surplus and not missing:
        return
    got = " and ".join(
        f"{words} {listed(names)}" for words, names in (("unknown", surplus), ("without", missing)) if names
    )
    remedy = fewer if not surplus else f"The classes are: {listed(known)}."
    raise fail(owner, argument, f"all {len(known)} names, in any order", got, remedy)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the first names and how many follow."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def matrix(owner: str, argument: str, value: object, *, rows: int | None = None, square: bool = False) -> Tensor:
    """Return a finite two-dimensional float64 tensor (a copy)."""
    tensor = table(owner, argument, value, rows=rows, square=square).to(torch.float64, copy=True)
    check_finite(owner, argument, tensor)
    return tensor


def table(owner: str, argument: str, value: object, *, rows: int | None = None, square: bool = False) -> Tensor:
    """Return a two-dimensional tensor of real numbers on the CPU, in their own type and where they are."""
    try:
        tensor = _dense(value).to("cpu")
        if tensor.is_complex():
            raise ValueError("numbers that are not real")
        if tensor.dtype in (torch.uint16, torch.uint32, torch.uint64):
            tensor = tensor.to(torch.float64)  # torch can do little else with them
    except (TypeError, ValueError, RuntimeError) as error:
        raise fail_type(owner, argument, "a two-dimensional array of numbers", _kind(value)) from error
    if tensor.ndim != 2 or tensor.shape[1] == 0:
        raise fail(owner, argument, "a two-dimensional array", f"shape {tuple(tensor.shape)}")
    if rows is not None and tensor.shape[0] != rows:
        remedy = "Give one row per class, in the order of the names."
        raise fail(owner, argument, f"an array of {rows} rows", f"shape {tuple(tensor.shape)}", remedy)
    if square and tensor.shape[0] != tensor.shape[1]:
        raise fail(owner, argument, "a square array (classes × classes)", f"shape {tuple(tensor.shape)}")
    return tensor


def check_finite(owner: str, argument: str, tensor: Tensor, first: int = 0) -> None:
    """Refuse what is not finite in rows of a table; ``first`` is the place of the first of them."""
    bad = (~torch.isfinite(tensor)).nonzero()
    if len(bad):
        row, column = bad[0].tolist()
        raise fail(owner, argument, "finite", f"{tensor[row, column].item()} at row {first + row}, column {column}")


def _dense(value: object) -> Tensor:
    # numbers that are no tensor yet go to the CPU, whatever device is the default: their values are looked at
    tensor = value.detach() if isinstance(value, Tensor) else torch.as_tensor(value, device="cpu")
    if tensor.is_meta:
        raise ValueError("a tensor without content")
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def _kind(value: object) -> str:
    return "a tensor on the meta device, which holds none" if getattr(value, "is_meta", False) else type(value).__name__


def class_vector(owner: str, argument: str, value: object, classes: int) -> Tensor:
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
