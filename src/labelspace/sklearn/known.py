"""What is known about classes and samples that an estimator is fitted to: names, spaces and prices by name, weights.

A fold of a search may lack classes that a space or a table of prices names; those are left out of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight

from labelspace import _checks
from labelspace._inputs import Numbers
from labelspace.space import LabelSpace
from labelspace.spec.frames import Frame
from labelspace.spec.named import NAMES, SpaceSpec, named
from labelspace.spec.price_tables import TRUE_WORDS
from labelspace.spec.prices import ActionSpec, CostSpec, prices

Priced: TypeAlias = CostSpec | Mapping[object, Mapping[object, float]]  # prices, as they may be given


def names_of(classes: ArrayLike) -> list[str]:
    """Return the names by which spaces and prices know classes: text as it is, numbers as people write them.

    Args:
        classes: as in ``classes_``.

    Example:
        >>> names_of(np.array([0.0, 1.0, 2.5])), names_of(np.array(["low", "high"]))
        (['0', '1', '2.5'], ['low', 'high'])
    """
    return [_name(each) for each in np.asarray(classes).tolist()]


def _name(label: object) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def known_space(
    owner: str, space: SpaceSpec, names: Sequence[str], x: Numbers | None = None, y: Numbers | None = None
) -> LabelSpace:
    """Return a label space for these classes, in their order.

    Args:
        owner: whose argument ``space`` it is.
        space: what ``labelspace.spec.named`` takes.
        names: of the classes.
        x: training samples, for ``"lda"``.
        y: places of their classes, for ``"lda"``.

    Example:
        >>> known_space("SoftLabelClassifier", "low<mid<high", ["high", "low"]).names
        ('high', 'low')
    """
    try:
        try:
            return named(space, names, x, y)
        except _checks.InputError:
            if isinstance(space, LabelSpace) or (isinstance(space, str) and space in NAMES):
                raise
            whole = named(space)  # as it was written, for more classes than there are here
            if not set(names) <= set(whole.names):
                raise
            return named(whole, names)
    except _checks.InputError as error:
        raise error.about(owner=owner) from error


def known_prices(
    owner: str, cost: Priced, names: Sequence[str], actions: ActionSpec = None, space: SpaceSpec | None = None
) -> LabelSpace:
    """Return prices for these classes, in their order.

    Args:
        owner: whose argument ``cost`` it is.
        cost: an array whose rows are the classes in their order; a DataFrame, or a dict of dicts, by the names of true
            classes and of what is done; a cost space; or what ``labelspace.spec.prices`` takes in words.
        names: of the classes.
        actions: of the columns of an array, or ``"tree"``.
        space: that knows an order or a tree, for prices in words.

    Example:
        >>> table = {"low": {"low": 0, "high": 2}, "high": {"low": 7, "high": 0}}
        >>> known_prices("cost_scorer", table, ["high", "low"]).matrix
        tensor([[0., 7.],
                [2., 0.]])
    """
    if isinstance(cost, Mapping):
        cost = _Table.of(owner, cost)
    found = None if space is None else known_space(owner, space, names)
    try:
        if isinstance(cost, Frame):
            cost, actions = _named(_cut(owner, cost, names), names, actions)
        elif cost is not None and not isinstance(cost, str | LabelSpace) and not hasattr(cost, "suffix"):
            cost = _shaped(owner, cost, names, actions)
        return prices(cost, names, found, actions)
    except _checks.InputError as error:
        raise error.about(owner=owner) from error


def positive_weights(owner: str, given: ArrayLike, x: object) -> NDArray[np.float64]:
    """Return weights of samples, 0 or more, of which some are more.

    Args:
        owner: whose argument ``sample_weight`` it is.
        given: the weights.
        x: the samples.
    """
    found: NDArray[np.float64] = _check_sample_weight(given, x, dtype=np.float64, ensure_non_negative=True)
    if not found.any():
        raise _checks.fail(owner, "sample_weight", "more than 0 for some sample", "zeros only")
    return found


def indexable_rows(x: Any) -> Any:
    """Return samples in a form whose rows can be taken, sparse or not; DataFrames and lists stay what they are."""
    if sparse.issparse(x):
        return x.tocsr()
    return x if hasattr(x, "__getitem__") else np.asarray(x)


def _shaped(owner: str, cost: Numbers, names: Sequence[str], actions: ActionSpec) -> NDArray[np.float64]:
    """Return an array of prices with a row for each class, all of them numbers."""
    columns = len(actions) if actions is not None and not isinstance(actions, str) else len(names)
    try:
        table = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        expected = "an array of prices, a DataFrame, a dict of dicts, a cost space or words such as 'squared'"
        raise _checks.fail_type(owner, "cost", expected, type(cost).__name__) from error
    if table.shape != (len(names), columns):
        shown = _checks.listed(names, most=6)
        expected = f"of shape ({len(names)}, {columns}) for the classes {shown}"
        remedy = "A DataFrame or a dict of dicts names its classes, of which some may be missing in the data."
        raise _checks.fail(owner, "cost", expected, f"shape {table.shape}", remedy)
    bad = np.argwhere(~np.isfinite(table)).tolist()
    if bad:
        got = f"{table[tuple(bad[0])]} for true {names[bad[0][0]]!r}"
        raise _checks.fail(owner, "cost", "prices that are numbers", got)
    return table


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of prices in the form of a DataFrame."""

    index: list[str]
    columns: list[str]
    cells: NDArray[np.object_]

    def to_numpy(self) -> NDArray[np.object_]:
        return self.cells

    @classmethod
    def of(cls, owner: str, cost: Mapping[object, Mapping[object, float]]) -> "_Table":
        """Return prices by true class, then by what is done; being right may be left out."""
        for true, row in cost.items():
            if not isinstance(row, Mapping):
                expected = "a dict of dicts: prices by true class, then by what is done"
                raise _checks.fail_type(owner, "cost", expected, f"{row!r} for {true!r}")
        index = [_name(true) for true in cost]
        rows = [{_name(done): price for done, price in row.items()} for row in cost.values()]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        cells = [[row.get(name, "") for name in columns] for row in rows]
        return cls(index, columns, np.array(cells, dtype=object).reshape(len(index), len(columns)))


def _named(frame: Frame, names: Sequence[str], actions: ActionSpec) -> tuple[CostSpec, ActionSpec]:
    """Return a table as it is, or where classes are called 0, 1, … as an array: its index looks as if it counted."""
    columns = [_name(label) for label in frame.columns]
    counting = [str(place) for place in range(len(names))]
    index = [_name(label) for label in getattr(frame, "index", [])]
    if actions is not None or not index == list(names) == counting or set(columns) == set(names):
        return frame, actions
    if columns[0].casefold() in TRUE_WORDS:
        return frame, actions
    return frame.to_numpy().tolist(), columns


def _cut(owner: str, frame: Frame, names: Sequence[str]) -> Frame:
    """Return a table of prices without the classes that are not here, where it has all that are.

    Where classes are what is done, a class that is not here has a column too: a row without one is no class.
    """
    index = [_name(label) for label in getattr(frame, "index", [])]
    columns = [_name(label) for label in frame.columns]
    if not set(names) < set(index):
        return frame
    absent = set(index) - set(names)
    strange = [name for name in index if name in absent and name not in columns]
    if strange and set(names) <= set(columns):
        expected = f"a row for each class, {_checks.listed(names, most=6)}, and a column for each that is done"
        remedy = "Rows are true classes: a table the other way round is cost.T."
        raise _checks.fail(owner, "cost", expected, f"a row {strange[0]!r}", remedy)
    rows = [place for place, name in enumerate(index) if name not in absent]
    kept = [place for place, name in enumerate(columns) if name not in absent]
    cells = np.array(frame.to_numpy().tolist(), dtype=object)[np.ix_(rows, kept)]
    return _Table([index[place] for place in rows], [columns[place] for place in kept], cells)
