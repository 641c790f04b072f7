"""The numbers of a label space: read, checked and kept in single precision, a few rows at a time."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from labelspace import _checks

AT_ONCE = 2**22  # numbers that are looked at together
LONGEST_PATH = 2**24  # whole numbers up to it are exact in single precision
ROUNDING = {torch.float64: 1e-12}  # of the largest entry: what lies below came of arithmetic, not of anybody's mind
COARSE = 5e-7  # the same of what was computed in single precision or less


@runtime_checkable
class Frame(Protocol):
    """What is used of a DataFrame of pandas, or of anything like it."""

    @property
    def index(self) -> Iterable[object]:
        """The names of the rows."""

    @property
    def columns(self) -> Iterable[object]:
        """The names of the columns."""

    def to_numpy(self) -> object:
        """Return the cells."""


def frame_names(owner: str, frame: object) -> tuple[str, ...]:
    """Return the classes that the index of a DataFrame names."""
    if not isinstance(frame, Frame):
        raise _checks.fail_type(owner, "frame", "a DataFrame whose index names the classes", type(frame).__name__)
    return _checks.class_names(owner, [str(name) for name in frame.index])


def unframed(owner: str, given: object, names: Sequence[str], square: bool) -> object:
    """Return a DataFrame's cells with classes in the order of the names; whatever is none comes back.

    Args:
        owner: the function that was given it.
        given: a DataFrame, or anything else.
        names: of the classes.
        square: whether columns are classes too.
    """
    if not isinstance(given, Frame):
        return given
    table = torch.as_tensor(_numbers(owner, given), device="cpu")
    rows = _places(owner, "index", frame_names(owner, given), names)
    if not square:
        return table[rows]
    columns = _checks.class_names(owner, [str(name) for name in given.columns])
    return table[rows][:, _places(owner, "columns", columns, names)]


def _numbers(owner: str, frame: Frame) -> object:
    cells = frame.to_numpy()
    kind = getattr(getattr(cells, "dtype", None), "kind", "f")
    if kind not in "fiub":
        remedy = "Its index names the classes, every column holds numbers: frame.set_index(…) first."
        raise _checks.fail_type(owner, "matrix", "a DataFrame of numbers", "one with other columns", remedy)
    return cells.copy() if hasattr(cells, "copy") else cells  # torch warns of memory that cannot be written to


def _places(owner: str, axis: str, found: Sequence[str], names: Sequence[str]) -> list[int]:
    place = {name: number for number, name in enumerate(found)}
    missing, surplus = [name for name in names if name not in place], sorted(place.keys() - set(names))
    if missing or surplus:
        got = " and ".join(
            f"{what} {_checks.listed(which)}" for what, which in (("no", missing), ("also", surplus)) if which
        )
        raise _checks.fail(owner, "matrix", f"a DataFrame whose {axis} names the classes", got)
    return [place[name] for name in names]


def checked_matrix(given: object, names: tuple[str, ...], kind: str) -> Tensor:
    """Return the matrix of a space in single precision; what is rounding below zero, or beside it, is zero.

    Args:
        given: an array, or a DataFrame, which is put into the order of the names.
        names: of the classes.
        kind: of the space.
    """
    square = kind != "vectors"
    table = _checks.table(
        "LabelSpace", "matrix", unframed("LabelSpace", given, names, square), rows=len(names), square=square
    )
    held = torch.empty(table.shape, dtype=torch.float32)
    rounding = ROUNDING.get(table.dtype, COARSE) * max(abs(number.item()) for number in table.aminmax())
    for rows in slices(*table.shape):
        part = table[rows].to(torch.float64, copy=True)
        _checks.check_finite("LabelSpace", "matrix", part, rows.start)
        if square:
            _check_sign(part, kind, rounding)
        if kind == "relations":
            _normalise(part, names[rows])
        if kind == "cost":
            _clear_diagonal(part, rows.start, names, rounding)
        held[rows] = part
        _check_range(held[rows], part, rows.start)
    return held


def slices(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows, so few at once that they take little memory."""
    step = max(AT_ONCE // width, 1)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _check_sign(part: Tensor, kind: str, rounding: float) -> None:
    low = part.min().item()
    if low < -rounding:
        raise _checks.fail("LabelSpace", "matrix", f"non-negative ({kind})", f"{low:g}")
    if low < 0:
        part.clamp_min_(0)


def _clear_diagonal(part: Tensor, start: int, names: Sequence[str], rounding: float) -> None:
    diagonal = part.diagonal(start)  # of these rows
    wrong = (diagonal > rounding).nonzero()
    if len(wrong):
        got = f"{diagonal[wrong[0, 0]].item():g} for {names[start + int(wrong[0, 0])]!r}"
        raise _checks.fail("LabelSpace", "matrix", "zero on its diagonal (being right costs nothing)", got)
    diagonal.zero_()


def _check_range(held: Tensor, part: Tensor, start: int) -> None:
    beyond = (~torch.isfinite(held)).nonzero()
    if len(beyond):
        row, column = beyond[0].tolist()
        got = f"{part[row, column].item():g} at row {start + row}, column {column}"
        raise _checks.fail("LabelSpace", "matrix", "within the range of single precision, ±3.4e38", got)


def _normalise(part: Tensor, names: Sequence[str]) -> None:
    """Check that rows sum to 1 (as well as float32 can) and let them do so in float64."""
    total = part.sum(dim=1, keepdim=True)
    worst = int((total - 1).abs().argmax())
    if abs(total[worst].item() - 1) > 1e-4:
        got = f"{total[worst].item():.6g} for {names[worst]!r}"
        remedy = "Divide each row by its sum, or use labelspace.confusion() for counts and cost() for prices."
        raise _checks.fail("LabelSpace", "matrix", "rows that sum to 1 (relations)", got, remedy)
    # a second normalisation of rows already right would change their last bits, and a file must load as it was saved
    part /= torch.where((total - 1).abs() < 1e-6, 1, total)


def checked_hops(given: object, names: tuple[str, ...]) -> Tensor:
    """Return path lengths as whole numbers; −1 is no path."""
    table = _checks.table("LabelSpace", "hops", given, rows=len(names), square=True)
    held = torch.empty(table.shape, dtype=torch.int64)
    for rows in slices(*table.shape):
        part = table[rows].to(torch.float64)
        _checks.check_finite("LabelSpace", "hops", part, rows.start)
        wrong = (part != part.round()) | (part < -1) | (part > LONGEST_PATH) | (part != table[:, rows].T)
        wrong.diagonal(rows.start).logical_or_(part.diagonal(rows.start) != 0)
        if bool(wrong.any()):
            row, column = wrong.nonzero()[0].tolist()
            got = f"{part[row, column].item():g} from {names[rows.start + row]!r} to {names[column]!r}"
            reached = f"whole path lengths up to {LONGEST_PATH} (−1: no path)"
            expected = f"{reached}, 0 to itself and the same in both directions"
            raise _checks.fail("LabelSpace", "hops", expected, got)
        held[rows] = part.to(torch.int64)
    return held
