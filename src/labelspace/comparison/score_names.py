"""What the columns of scores are called: by the files themselves, by whoever asks, or by the prices; never by silence.

Columns that something names are put in one order by their names. Where nothing names them, that is said aloud.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._opening import Asked
from labelspace._tables import is_there
from labelspace.data.missing import is_blank
from labelspace.serving.score_files import Sheet, label_of, labels_of
from labelspace.space import LabelSpace
from labelspace.spec.named import numeric_order
from labelspace.spec.naming import canonical
from labelspace.spec.price_tables import names_in
from labelspace.spec.prices import CostSpec

ASKED = Asked("compare", "scores")
SAY = "Say it: names=… in the order of the columns (--names a,b,c), or an array names in the files."


class Priced(NamedTuple):
    """The classes that prices or files name, and where.

    Args:
        names: as they stand there.
        origin: where that is.
        ordered: whether columns may have that order too.
        whole: whether they must be the classes of the scores; a space of prices may know more.
    """

    names: tuple[str, ...]
    origin: str
    ordered: bool = True
    whole: bool = True


class Naming(NamedTuple):
    """The classes, how they are spoken of, what a reader should know of that, and whether somebody vouches for them."""

    classes: tuple[str, ...]
    words: str
    notes: tuple[str, ...] = ()
    vouched: bool = True


def priced_names(cost: CostSpec) -> Priced | None:
    """Return the classes that prices name; None of rules and of numbers without names.

    Args:
        cost: as ``labelspace.spec.prices`` takes it.
    """
    if isinstance(cost, LabelSpace):
        return Priced(cost.names, "the prices", whole=False)
    columns, index = getattr(cost, "columns", None), getattr(cost, "index", None)
    if columns is not None and index is not None:  # a DataFrame, which may also only count its rows
        across, down = ([label_of(name) for name in axis.tolist()] for axis in (columns, index))
        if {*across} == {*down}:
            return Priced(tuple(across), "the prices")
        counted = down == list(map(str, range(len(down))))
        return None if counted else Priced(tuple(down), "the prices")  # columns are actions, or something is wrong
    if not isinstance(cost, str | Path) or not is_there(Path(cost).expanduser()):
        return None
    path = Path(cost).expanduser()
    if path.suffix == ".safetensors":
        return Priced(LabelSpace.load(path).names, path.name, whole=False)
    names, ordered = names_in(path)
    return Priced(tuple(names), path.name, ordered)


def name_columns(
    sheets: Sequence[Sheet], count: int, names: Sequence[str] | None = None, priced: Priced | None = None
) -> Naming:
    """Return the classes of scores: as they were said to be, else as files name them, else as the prices do.

    Args:
        sheets: of all parts of all models.
        count: how many columns they have.
        names: what the caller says.
        priced: what the prices name.
    """
    own = _own_names(sheets)
    usual = tuple(map(str, range(count)))
    naming = Naming(usual, f"{count} classes, 0…{count - 1} by column")
    if names is not None:
        naming = Naming(_said(names, count, own), f"{count} classes")
    elif own is not None:
        unnamed = [sheet.origin for sheet in sheets if sheet.names is None]
        said = f"Nothing names the columns of {_some(unnamed)}: they are taken to be as in {own.origin}."
        headed = any(sheet.by_name for sheet in sheets)
        naming = Naming(own.names, f"{len(own.names)} classes", (said,) if unnamed else (), vouched=not headed)
    elif priced is not None and priced.ordered and not _same(priced.names, usual):
        naming = _as_priced(priced, count, any(labels_of(sheet.y) is not None for sheet in sheets))
    _checks.class_names("compare", naming.classes)
    if priced is None:
        return naming
    _check_priced(naming, priced, own is None and names is None)
    return naming._replace(vouched=True)


def shared_names(sheets: Sequence[Sheet]) -> tuple[list[Sheet], list[str]]:
    """Return the parts of one model with the names that one of them has, and what a reader should know of that.

    Args:
        sheets: of one model, whose columns have one order.
    """
    source = next((sheet for sheet in sheets if sheet.names is not None), None)
    unnamed = [sheet.origin for sheet in sheets if sheet.names is None]
    if source is None or not unnamed:
        return list(sheets), []
    said = f"Nothing names the columns of {_some(unnamed)}: they are taken to be as in {source.origin}."
    return [sheet._replace(names=sheet.names or source.names) for sheet in sheets], [said]


def class_places(sheets: Sequence[Sheet], samples: Sequence[int], classes: Sequence[str]) -> list[Tensor]:
    """Return the classes of a model's samples, one tensor for each sheet.

    Text, and whatever stands in a table, names the classes. Whole numbers beside an array count its columns; where
    the classes are other numbers themselves, they may name them instead, and what could be either is refused.

    Args:
        sheets: of one model.
        samples: how many each has.
        classes: as ``name_columns`` found them.
    """
    named = any(sheet.by_name or labels_of(sheet.y) is not None for sheet in sheets) or _are_names(sheets, classes)
    return [
        _by_name(sheet, count, classes) if named else _by_place(sheet, count, classes)
        for sheet, count in zip(sheets, samples, strict=True)
    ]


def strays(tables: Sequence[Tensor], y: Sequence[Tensor], naming: Naming) -> list[str]:
    """Return what to say of columns that are no sample's class; refuse those that spoil probabilities.

    Args:
        tables: scores ``(seeds, N, K)``, in the order of the classes.
        y: the classes of all samples.
        naming: of the columns.
    """
    if naming.vouched:
        return []
    seen = torch.zeros(len(naming.classes), dtype=torch.bool).scatter(0, torch.cat(list(y)), True)
    absent = [name for name, there in zip(naming.classes, seen.tolist(), strict=True) if not there]
    if not absent:
        return []
    rest = [table.double()[:, :, seen] for table in tables]
    if all(bool(((part.sum(dim=2) - 1).abs() <= 1e-3).all() & (part >= 0).all()) for part in rest):
        others = [table.double()[:, :, ~seen] for table in tables]
        if any(bool((part.sum(dim=2).abs() > 1e-3).any()) for part in others):
            got = f"{_some(absent)}, which no label is, beside columns that sum to 1 without"
            remedy = ("Leave out columns that are no classes with ", _checks.Setting("ignore", absent[:3]), ".")
            raise _checks.fail(*ASKED, "a table in which every column but those of labels is a class", got, remedy)
    return [f"No label is of class {_some(absent)}: a column that is no class is left out with --ignore."]


def _own_names(sheets: Sequence[Sheet]) -> Priced | None:
    found = [Priced(sheet.names, sheet.origin) for sheet in sheets if sheet.names is not None]
    for other in found[1:]:
        if not _same(other.names, found[0].names):
            expected = "of the same classes in every part of every model"
            raise _checks.fail(*ASKED, expected, _both(found[0], other))
    return found[0] if found else None


def _said(names: Sequence[str], count: int, own: Priced | None) -> tuple[str, ...]:
    given = tuple(names)
    if len(given) != count:
        raise _checks.fail("compare", "names", f"{count} names, one per column of the scores", str(len(given)))
    if own is not None and not _same(given, own.names):
        got = _both(Priced(given, "names"), own)
        raise _checks.fail("compare", "names", "the classes that the files themselves name", got)
    return given


def _as_priced(priced: Priced, count: int, in_text: bool) -> Naming:
    """Return names in the order of the prices, where no other order is as likely for the columns."""
    names = priced.names
    if len(names) != count:
        got = f"{len(names)} classes in {priced.origin} for {count} columns"
        raise _checks.fail("compare", "cost", "prices of as many classes as the scores have columns", got)
    ordered = numeric_order(names)
    usual = list(ordered) if ordered is not None else sorted(names) if in_text else list(names)
    if usual != list(names):
        got = f"nothing that names them, and {_checks.listed(names)} in {priced.origin}, which need not be their order"
        raise _checks.fail(*ASKED, "of columns with names", got, SAY)
    said = f"Nothing names the columns of the scores: they are taken in the order of {priced.origin}"
    note = f"{said}, {_some(list(names))}. --names says otherwise."
    return Naming(names, f"{count} classes by column as in {priced.origin}", (note,))


def _check_priced(naming: Naming, priced: Priced, unnamed: bool) -> None:
    """Refuse prices of other classes, naming both; lines of mistakes need not name all, a space may name more."""
    mine, theirs = ({*map(canonical, names)} for names in (naming.classes, priced.names))
    # in lines of mistakes, what is called something else may be an action
    if mine == theirs or (not priced.ordered and theirs & mine) or (not priced.whole and mine <= theirs):
        return
    got = _both(Priced(naming.classes, "the scores"), priced)
    raise _checks.fail("compare", "cost", "prices of the classes of the scores", got, SAY if unnamed else "")


def _are_names(sheets: Sequence[Sheet], classes: Sequence[str]) -> bool:
    """Return whether whole numbers are names of classes that are numbers; refuse what may also count the columns."""
    own = [sheet.names or classes for sheet in sheets]
    usual = [str(place) for place in range(len(classes))]
    if numeric_order(classes) is None or all(list(names) == usual for names in own):
        return False
    values = {int(value) for sheet in sheets for value in _inputs.tensor(*ASKED, sheet.y).flatten().tolist()}
    if not {str(value) for value in values} <= {*classes}:
        return False
    if all(0 <= value < len(classes) for value in values):
        got = f"numbers that may be names ({_checks.listed(classes)}) or count the columns from 0"
        raise _checks.fail(
            "compare", "y of scores", "labels of one meaning", got, "Write names as text: y.astype(str)."
        )
    return True


def _by_name(sheet: Sheet, samples: int, classes: Sequence[str]) -> Tensor:
    place = {canonical(name): number for number, name in enumerate(classes)}
    values = sheet.y if isinstance(sheet.y, list) and sheet.by_name else labels_of(sheet.y)
    if values is None:
        values = list(map(label_of, _inputs.tensor(*ASKED, sheet.y).tolist()))
    if len(values) != samples:
        expected = f"of shape ({samples},), one per sample"
        raise _checks.fail("compare", "y of scores", expected, f"shape ({len(values)},) in {sheet.origin}")
    texts = ["" if is_blank(value) else canonical(label_of(value)) for value in values]
    wrong = next((row for row, text in enumerate(texts) if text not in place), None)
    if wrong is not None:
        got = f"{texts[wrong]!r} in row {wrong}" if texts[wrong] else f"nothing in row {wrong}"
        unnamed = sheet.names is None and list(classes) == [str(number) for number in range(len(classes))]
        remedy = f"Nothing names the columns. {SAY}" if unnamed else f"The classes are {_checks.listed(list(classes))}."
        raise _checks.fail("compare", "y of scores", "names of classes", f"{got} of {sheet.origin}", remedy)
    return torch.tensor([place[text] for text in texts])


def _by_place(sheet: Sheet, samples: int, classes: Sequence[str]) -> Tensor:
    y = _inputs.class_indices("compare", "y of scores", sheet.y, samples=samples, classes=len(classes))
    if sheet.names is None:
        return y
    place = {canonical(name): number for number, name in enumerate(classes)}
    return torch.tensor([place[canonical(name)] for name in sheet.names])[y]


def _same(some: Sequence[str], others: Sequence[str]) -> bool:
    return sorted(map(canonical, some)) == sorted(map(canonical, others))


def _both(one: Priced, other: Priced) -> str:
    """Return two lists of names, those first that the other does not have."""
    lists = []
    for mine, theirs in ((one, other), (other, one)):
        known = {*map(canonical, theirs.names)}
        names = sorted(mine.names, key=lambda name: canonical(name) in known)
        lists.append(f"{_checks.listed(names)} in {mine.origin}")
    return " and ".join(lists)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
