"""What the columns of a table are for: an index that nobody learns from, labels, texts, groups, and the rest."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from labelspace import _checks
from labelspace.data.files import OWNER
from labelspace.data.missing import is_missing
from labelspace.data.numbers import is_number, number
from labelspace.data.remarks import BY_CLASSES, BY_NAME
from labelspace.data.tables import Columns, check_columns

# what columns of labels are called, the surest names first
LABELS = (
    ("label", "labels", "class", "target"),
    ("y", "species", "category", "diagnosis", "outcome", "grade", "rating", "stars", "sentiment"),
)
TEXTS = ("text", "sentence")
# as pandas writes an index (also when it reads one back), R the names of rows, and pandas again into Parquet
INDEX = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")
# a column of more different values than this is not taken for labels unless someone says so
MOST_CLASSES = 100
SHOWN = 8
NEARLY_ALL = 0.9
ALONE = "as the only column with few different values"


@dataclass(frozen=True)
class Roles:
    """What each column is for.

    Args:
        label: the column of labels.
        text: the column of texts, if there is one.
        group_by: the column of groups, if there is one.
        cost_column: the column that prices are multiplied by, if there is one.
        features: what is learned from beside a text.
        guessed: how the label was found where nobody named it, else None.
        unused: columns beside a text, which nothing is learned from.
    """

    label: str
    text: str | None
    group_by: str | None
    cost_column: str | None
    features: list[str]
    guessed: str | None
    unused: list[str]


def roles(
    table: Columns,
    *,
    known: Collection[str],
    label: str | None,
    text: str | None,
    group_by: str | None,
    cost_column: str | None,
    ignore: Sequence[str],
) -> Roles:
    """Return what each column is for.

    Args:
        table: all columns.
        known: columns that say which classes they hold.
        label: as it was asked for, like the following ones.
        text: of texts.
        group_by: of groups.
        cost_column: of what prices are multiplied by.
        ignore: to leave out.
    """
    named = {"label": label, "text": text, "group_by": group_by, "cost_column": cost_column}
    for option, wanted in named.items():
        check_columns(option, [] if wanted is None else [wanted], table)
    other = next((option for option, wanted in named.items() if option != "cost_column" and wanted == cost_column), "")
    if cost_column is not None and other:
        raise _checks.fail(OWNER, "cost_column", f"another column than that of {other}", repr(cost_column))
    check_columns("ignore", ignore, table)
    guessed = None
    if label is None:
        free = [name for name in table if name not in {text, group_by, cost_column, *ignore}]
        of_classes = [name for name in free if name in known]
        label, guessed = (label_of(of_classes, {})[0], BY_CLASSES) if of_classes else label_of(free, table)
    rest = [name for name in table if name not in {label, group_by, cost_column, *ignore}]
    if text is None and len(rest) == 1 and rest[0].lower() in TEXTS:
        text = rest[0]
    unused = [name for name in rest if name != text] if text is not None else []
    return Roles(label, text, group_by, cost_column, [] if text is not None else rest, guessed, unused)


def label_of(free: Sequence[str], table: Columns) -> tuple[str, str]:
    """Return which of the columns that nothing was said of holds the labels, and how that was found.

    Args:
        free: names of columns.
        table: their values, where those may tell.

    Example:
        >>> label_of(["size", "Class", "colour"], {})
        ('Class', 'by its name')
        >>> label_of(["size", "colour"], {"size": [1.5, 2.5, 3.5, 4.5], "colour": ["red", "blue"] * 2})
        ('colour', 'as the only column with few different values')
    """
    if not free:
        raise _checks.fail(OWNER, "label", "a column", "no column left for it")
    able = {name: count for name in free if name in table and (count := _classes(table[name]))}
    for names in LABELS:
        called = [name for name in free if name.strip().lower() in names]
        if names is not LABELS[0] and able:
            called = [name for name in called if not _measured(table[name])]  # y beside x and z is a length
        if len(called) == 1:
            return called[0], BY_NAME
        if called:
            raise _which(called, able)
    if len(free) == 1:
        return free[0], ALONE
    # a few whole numbers may as well be a measurement, unless they stand where labels usually do
    if len(able) == 1 and ((only := next(iter(able))) == free[-1] or not all(map(is_number, table[only]))):
        return only, ALONE
    if len(free) == 2 and all(_sentences(table.get(name, ())) for name in free):
        remedy = ("Read them as pairs of texts with ", _checks.Setting("kind", "sequences"))
        raise _checks.fail(
            OWNER,
            "label",
            "given for two columns of texts",
            ", ".join(map(repr, free)),
            (*remedy, ", or name the labels: ", _checks.Setting("label")),
        )
    raise _which(list(able) if len(able) > 1 else free, able)


def without_index(parts: Mapping[str, Columns]) -> tuple[dict[str, Columns], dict[str, str]]:
    """Return the parts of a table without columns that only number or name the rows, and what those held.

    Example:
        >>> without_index({"all": {"": ["1", "2"], "size": ["5", "5"]}})
        ({'all': {'size': ['5', '5']}}, {'': '1 … 2'})
    """
    left_out: dict[str, str] = {}
    kept: dict[str, Columns] = {}
    for part, table in parts.items():
        found = {name: _index(values) for name, values in table.items() if INDEX.fullmatch(name)}
        blank = next((name for name, held in found.items() if held is None and not name.strip()), None)
        if blank is not None:
            expected = "a table whose columns have names"
            got = "a first column without one, whose values are no index: they repeat, or are fractions"
            raise _checks.fail(OWNER, "name_or_path", expected, got, "The first line must name the columns.")
        indices = {name: held for name, held in found.items() if held is not None}
        left_out = {**indices, **left_out}
        kept[part] = {name: values for name, values in table.items() if name not in indices}
    return kept, left_out


def _index(values: Sequence[object]) -> str | None:
    """Return the ends of values that are all different and no measurements; None for others."""
    texts = [str(value).strip() for value in values]
    if len(set(texts)) < len(texts) or _measured(values):
        return None
    return f"{texts[0]} … {texts[-1]}"


def _classes(values: Sequence[object]) -> int:
    """Return how many classes a column would be; 0 where it holds measurements, texts, or the same everywhere."""
    different: set[str] = set()
    for value in values:
        if is_missing(value):
            continue
        if _measured([value]):
            return 0
        different.add(str(value).strip())
        if len(different) > MOST_CLASSES:
            return 0
    return len(different) if 2 <= len(different) <= len(values) / 2 else 0


def _sentences(values: Sequence[object]) -> bool:
    """Return whether a column holds texts of several words, nearly all of them different."""
    texts = [str(value) for value in values]
    several = sum(len(text.split()) > 1 for text in texts)
    return bool(texts) and several > len(texts) / 2 and len(set(texts)) > NEARLY_ALL * len(texts)


def _measured(values: Sequence[object]) -> bool:
    return any(is_number(value) and not is_missing(value) and not _is_whole(value) for value in values)


def _is_whole(value: object) -> bool:
    return number(value).is_integer()


def _which(names: Sequence[str], counts: Mapping[str, int]) -> _checks.InputError:
    listed = [f"{name!r} ({counts[name]} classes)" if name in counts else repr(name) for name in names]
    shown = ", ".join(listed[:SHOWN]) + (" …" if len(listed) > SHOWN else "")
    remedy = ("Say which it is, for example ", _checks.Setting("label", names[-1]), ".")
    return _checks.fail(OWNER, "label", "given, because it is not clear which column it is", shown, remedy)
