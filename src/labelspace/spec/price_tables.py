"""Prices in tables: a matrix with the names of classes and actions, or one line per kind of mistake.

A column that is no class is an action. Of classes alone, being right is free and nothing is a gain, unless the table
says that its columns are actions.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from labelspace import _checks
from labelspace._cells import guarded, unguarded
from labelspace._tables import Row, pointed, read_text, table
from labelspace.spec.actions import Actions
from labelspace.spec.naming import OWNER, canonical, matched, suggestion

Pair = tuple[int | None, int | None]  # places of a class and an action; None is every one
ANY = ("*", "default")
TRUE_WORDS = ("true", "truth", "actual")
ACTION = "action"
PREDICTED_WORDS = ("predicted", "prediction", "called", ACTION)
TITLES = (TRUE_WORDS, PREDICTED_WORDS, ("cost", "price"))
MATRIX = "a matrix whose first row and column are the classes"
# beyond this, sums of prices leave what float32 can hold
LARGEST = 1e30
NAMED = "Write its name above its prices, or take the column out."
WRITTEN = "Write a price there, 0 for what costs nothing."
SLIP = 2  # letters that a misspelt name may be longer or shorter
MEANT = "If it is meant, say that columns are actions: true\\action in the corner, or a column `action`."
TEMPLATE = "`labelspace labels template DATA --cost` writes a file to fill in."


def read_prices(path: Path, names: Sequence[str]) -> Actions:
    """Return prices ``(K, A)`` from a file, rows in the order of ``names``, as are columns that are the classes."""
    written, separator = table("cost", path, read_text("cost", path))
    cells = {cell for row in written for cell in row.cells}
    # a name that stands there guarded does not stand there as it is too: that is another's guarded form
    known = {name for name in names if guarded(name) == name or guarded(name) not in cells}
    rows = [Row(row.line, [unguarded(cell, known) for cell in row.cells]) for row in written]
    try:
        return prices_in(rows, names, separator == ";")
    except _checks.InputError as error:
        raise error.about(file=path.name) from error


def prices_in(rows: Sequence[Row], names: Sequence[str], decimal_comma: bool = False) -> Actions:
    """Return prices ``(K, A)`` from the rows of a table in either form, see ``read_prices``."""
    columns = _titled_columns(rows[0].cells)
    if columns is not None:
        meant = rows[0].cells[columns[1]].casefold().startswith(ACTION)
        return _from_lines(rows[1:], columns, names, decimal_comma, meant)
    if _is_list(rows, names):
        return _from_lines(rows, (0, 1, 2), names, decimal_comma)
    return _from_matrix(rows, names, decimal_comma)


def names_in(path: Path) -> tuple[list[str], bool]:
    """Return the classes that a table of prices names, and whether in an order: lines of mistakes have none.

    Args:
        path: of a table in either form.
    """
    written, _ = table("cost", path, read_text("cost", path))
    rows = [[unguarded(cell, ()) for cell in row.cells] for row in written]
    columns = _titled_columns(rows[0])
    across, down = rows[0][1:], [row[0] for row in rows[1:]]
    says = ACTION in rows[0][0].casefold()
    if columns is None and (says or {*map(canonical, across)} & {*map(canonical, down)}):
        same = {*map(canonical, across)} == {*map(canonical, down)}
        return across if same or _says_predicted_first(rows[0][0]) else down, True
    true, predicted = (0, 1) if columns is None else columns[:2]
    body = rows[columns is not None :]
    named = [row[true] for row in body if true < len(row)]
    called = [cell for row in body for cell in row[predicted:][:1]]
    acts = columns is not None and rows[0][predicted].casefold().startswith(ACTION)
    cells = named if acts else [cell for pair in zip(named, called, strict=False) for cell in pair]
    return list(dict.fromkeys(cell for cell in cells if cell and cell.casefold() not in ANY)), False


def _from_matrix(rows: Sequence[Row], names: Sequence[str], decimal_comma: bool) -> Actions:
    header, body = rows[0], rows[1:]
    _check_shape(header, body, names)
    where = [f"line {row.line}" for row in body]
    sides = [(header.cells[1:], ["first row"] * len(header.cells[1:])), ([row.cells[0] for row in body], where)]
    turned = _says_predicted_first(header.cells[0])
    (called, places), (true, lines) = sides[::-1] if turned else sides
    true = matched("cost", MATRIX, true, names, lines, TEMPLATE)
    across = [row.cells[1:] for row in body]
    slip = _is_slip(called, names, true, across if turned else list(zip(*across, strict=True)))
    free = ACTION in header.cells[0].casefold() or (_has_actions(called, names) and not slip)
    called = _actions(called, names, places) if free else matched("cost", MATRIX, called, names, places, TEMPLATE)
    actions = _ordered(called, names)
    row_of, column_of = ({name: index for index, name in enumerate(side)} for side in (names, actions))
    # lists: writing into a tensor one by one takes seconds for many classes
    prices = [[0.0] * len(actions) for _ in names]
    for place, row in enumerate(body):
        for other, cell in enumerate(row.cells[1:]):
            name, action = (true[other], called[place]) if turned else (true[place], called[other])
            prices[row_of[name]][column_of[action]] = _price(cell, name, action, row.line, decimal_comma, free)
    return Actions(tuple(actions), torch.tensor(prices, dtype=torch.float64))


def _has_actions(called: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether some of these are no classes, and none of those is one misspelt."""
    known = {canonical(name) for name in names}
    others = [cell for cell in called if canonical(cell) not in known]
    near = [[name for name in names if abs(len(name) - len(other)) <= SLIP] for other in others]
    return bool(others) and not any(suggestion(other, some) for other, some in zip(others, near, strict=True))


def _is_slip(called: Sequence[str], names: Sequence[str], true: Sequence[str], cells: Sequence[Sequence[str]]) -> bool:
    """Return whether a column stands where a class would: as many as classes, and free for one that has no column.

    Args:
        called: names of the columns.
        names: of the classes.
        true: the classes of the rows.
        cells: of each column, in the order of the rows.
    """
    known, given = {canonical(name) for name in names}, {canonical(name) for name in called}
    if len(called) != len(names) or not known & given:
        return False
    missing = [row for row, name in enumerate(true) if canonical(name) not in given]
    others = [column for name, column in zip(called, cells, strict=True) if canonical(name) not in known]
    return any(not column[row].strip(" 0.,") for column in others for row in missing)


def _actions(called: Sequence[str], names: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return the actions that columns name: classes as they are spelt elsewhere, others as they stand there."""
    classes = {canonical(name): name for name in names}
    found = [classes.get(canonical(cell), canonical(cell)) for cell in called]
    for index, name in enumerate(found):
        if not name:
            raise _checks.fail(
                OWNER, "cost", "a table with a name for every action", f"none in the {places[index]}", NAMED
            )
        if name in found[:index]:
            got = f"{name!r} ({places[found.index(name)]}) again ({places[index]})"
            raise _checks.fail(OWNER, "cost", "a table that names every action once", got, "Keep one of them.")
    return found


def _ordered(actions: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return classes first, in their order, then other actions as they come."""
    chosen, classes = set(actions), set(names)
    return [*(name for name in names if name in chosen), *(name for name in actions if name not in classes)]


def _check_shape(header: Row, body: Sequence[Row], names: Sequence[str]) -> None:
    known = {canonical(name) for name in names}
    found = {canonical(cell) for cell in [*header.cells, *(row.cells[0] for row in body)]}
    bare = re.fullmatch(r"[\d.,+-]+", header.cells[0]) is not None
    if bare or not known & found:
        expected = "a matrix whose first row and column are the classes, or columns true,predicted,cost"
        got = f"{header.cells[0]!r} in its corner" if bare else f"no class in either, but {header.cells[-1]!r}"
        raise _checks.fail(OWNER, "cost", expected, got, TEMPLATE)
    for row in body:
        if len(row.cells) != len(header.cells):
            got = f"{len(row.cells) - 1} for {row.cells[0]!r} in line {row.line} under {len(header.cells) - 1} names"
            raise _checks.fail(OWNER, "cost", f"a matrix of {len(names)} prices per class", got, TEMPLATE)


def _says_predicted_first(corner: str) -> bool:
    r"""Return whether the corner cell says that rows are predictions, as in ``predicted\true``."""
    places = [
        min((corner.casefold().find(word) for word in words if word in corner.casefold()), default=None)
        for words in (PREDICTED_WORDS, TRUE_WORDS)
    ]
    return places[0] is not None and places[1] is not None and places[0] < places[1]


def _titled_columns(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Return the columns of true, predicted and cost where the first row names them ("true class" does too)."""
    words = [re.split(r"[\s_]", cell.casefold())[0] for cell in cells]
    found = [[words.index(word) for word in kind if word in words] for kind in TITLES]
    return (found[0][0], found[1][0], found[2][0]) if all(found) else None


def _is_list(rows: Sequence[Row], names: Sequence[str]) -> bool:
    """Return whether a table without titles has one mistake per line: two classes and a price."""
    known = {canonical(name) for name in names} | set(ANY)
    return all(len(row.cells) == 3 and {canonical(cell) for cell in row.cells[:2]} <= known for row in rows)


def _from_lines(
    rows: Sequence[Row], columns: tuple[int, int, int], names: Sequence[str], decimal_comma: bool, meant: bool = False
) -> Actions:
    padded = [Row(row.line, [*row.cells, *[""] * (max(columns) + 1 - len(row.cells))]) for row in rows]
    actions, free = _actions_in([Row(row.line, [row.cells[columns[1]]]) for row in padded], names, meant)
    places = [{canonical(name): index for index, name in enumerate(side)} for side in (names, actions)]
    given: dict[Pair, tuple[float, int]] = {}
    for row in padded:
        pair = _pair([row.cells[column] for column in columns[:2]], places, row.line)
        if pair in given:
            got = f"lines {given[pair][1]} and {row.line} for the same mistake, {_said(pair, names, actions)}"
            raise _checks.fail(OWNER, "cost", "one price per mistake", got, "Keep one of them.")
        true = "*" if pair[0] is None else names[pair[0]]
        action = "*" if pair[1] is None else actions[pair[1]]
        given[pair] = (_price(row.cells[columns[2]], true, action, row.line, decimal_comma, free), row.line)
    prices = [[_chosen(given, i, j, names, actions) for j in range(len(actions))] for i in range(len(names))]
    return Actions(tuple(actions), torch.tensor(prices, dtype=torch.float64))


def _actions_in(called: Sequence[Row], names: Sequence[str], meant: bool) -> tuple[list[str], bool]:
    """Return the actions that lines name, and whether they are more than classes, which a * stands for all."""
    known = {canonical(name) for name in names}
    # classes first: one may be called "default"
    said = [row for row in called if canonical(row.cells[0]) in known or row.cells[0].casefold() not in ANY]
    cells = [row.cells[0] for row in said]
    if not meant and not _has_actions([cell for cell in cells if cell], names):
        return list(names), False
    first = {canonical(row.cells[0]): f"column of actions, line {row.line}" for row in reversed(said)}
    named = _actions(list(reversed(first)), names, list(reversed(first.values())))
    return _ordered([*(names if len(said) < len(called) else ()), *named], names), True


def _pair(cells: Sequence[str], places: Sequence[Mapping[str, int]], line: int) -> Pair:
    pair: list[int | None] = []
    for cell, column, known in zip(cells, ("true", "predicted"), places, strict=True):
        if canonical(cell) in known:
            pair.append(known[canonical(cell)])
        elif cell.casefold() in ANY or (not cell and pair == [None]):
            pair.append(None)
        else:
            hint = suggestion(cell, known) or "A * stands for every class."
            got = f"{cell!r} as {column} class in line {line}, which is none of the classes"
            raise _checks.fail(OWNER, "cost", "prices of mistakes between classes", got, hint)
    return pair[0], pair[1]


def _chosen(
    given: Mapping[Pair, tuple[float, int]], i: int, j: int, names: Sequence[str], actions: Sequence[str]
) -> float:
    """Return the price of an action from the line that says most about it: class and action, one of them, or none."""
    if (i, j) in given:
        return given[i, j][0]
    if names[i] == actions[j]:
        return 0.0
    half = [given[pair] for pair in ((i, None), (None, j)) if pair in given]
    if len({price for price, _ in half}) > 1:
        lines = " and ".join(str(line) for _, line in half)
        got = f"two for {_said((i, j), names, actions)}, in lines {lines}"
        remedy = f"Add the line {names[i]},{actions[j]},PRICE."
        raise _checks.fail(OWNER, "cost", "one price per mistake", got, remedy)
    if half:
        return half[0][0]
    if (None, None) in given:
        return given[None, None][0]
    remedy = "Add the line *,*,1 for all mistakes that have no line of their own."
    raise _checks.fail(OWNER, "cost", "a price for every mistake", f"none for {_said((i, j), names, actions)}", remedy)


def _price(cell: str, true: str, predicted: str, line: int, decimal_comma: bool, free: bool) -> float:
    """Return a price; of classes alone, unless actions are spoken of, being right is free and nothing is a gain."""
    right = true == predicted != "*"
    if right and not cell:
        return 0.0
    text = pointed(cell) if decimal_comma else cell
    try:
        price = math.nan if "_" in text else float(text)
    except ValueError:
        price = math.nan
    if (-LARGEST if free else 0) <= price <= (0 if right and not free else LARGEST):
        return price
    pair = f"for true {true!r} called {predicted!r} (line {line})"
    if not -LARGEST <= price <= LARGEST:
        raise _checks.fail(
            OWNER, "cost", "prices that are numbers", f"{cell!r} {pair}" if cell else f"nothing {pair}", WRITTEN
        )
    if price < 0:
        raise _checks.fail(OWNER, "cost", "prices of 0 or more", f"{price:g} {pair}", MEANT)
    raise _checks.fail(OWNER, "cost", "prices of 0 for being right", f"{price:g} {pair}", MEANT)


def _said(pair: Pair, names: Sequence[str], actions: Sequence[str]) -> str:
    sides = zip(pair, (names, actions), strict=True)
    true, predicted = ("anything" if index is None else repr(side[index]) for index, side in sides)
    return f"true {true} called {predicted}"
