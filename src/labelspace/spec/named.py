"""A label space as the command line and configurations write it: a word, an order, or a file."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from labelspace import _checks
from labelspace._cells import names_in
from labelspace._inputs import Numbers
from labelspace._tables import is_there
from labelspace.sources.lda import lda
from labelspace.sources.matrices import ordinal, uniform
from labelspace.sources.text import text
from labelspace.sources.wordnet import wordnet
from labelspace.space import LabelSpace
from labelspace.spec import senses
from labelspace.spec.grouping import PREFIX, grouped, grouping, groups_in
from labelspace.spec.lists import Lists, in_lists
from labelspace.spec.naming import OWNER, matched, suggestion
from labelspace.spec.taxonomy import taxonomy

SpaceSpec = str | Path | LabelSpace | Lists  # what is known about the classes, as it may be given
NAMES = ("ordinal", "uniform", "wordnet", "text", "lda")
RUN_LABELS = "label_space.safetensors"  # what a finished run leaves in its folder
STEEPEST = 1e6  # a power beyond which only the nearest count
EXPECTED = "an order that names every class once, lowest first"


def order(text: str, names: Sequence[str] | None = None) -> LabelSpace:
    """Return ordinal relations from an order in one line, the classes in the order of ``names``.

    Args:
        text: every class once, lowest first, with ``<`` between them.
        names: the classes of the data; by default those of the text.

    Example:
        >>> space = order("low < mid < high", ["high", "low", "mid"])
        >>> space.names, space.nearest("low", k=1)[0][0]
        (('high', 'low', 'mid'), 'mid')
        >>> order_of(space)
        ('low', 'mid', 'high')
    """
    parts = _parts(text, [] if names is None else names)
    if len(parts) < 2 or not all(parts):
        remedy = "Write for example 'low<mid<high'."
        raise _checks.fail(OWNER, "space", EXPECTED, repr(text), remedy)
    return _in_order(parts, names)


def _in_order(parts: Sequence[str], names: Sequence[str] | None) -> LabelSpace:
    remedy = "Put it where it belongs; an order is never guessed."
    return ordered(matched("space", EXPECTED, parts, parts if names is None else names, remedy=remedy), names)


def numeric_order(names: Sequence[str]) -> list[str] | None:
    """Return class names that are numbers, by value, or None where some name is not or two are equal.

    Example:
        >>> numeric_order(["10", "9", "-1.5"])
        ['-1.5', '9', '10']
    """
    values = {name: _number(name) for name in names}
    numbers = {name: value for name, value in values.items() if value is not None}
    if len(numbers) < len(values) or len(set(numbers.values())) < len(numbers):
        return None
    return sorted(numbers, key=lambda name: numbers[name])


def by_value(names: Sequence[str]) -> LabelSpace:
    """Return ordinal relations of classes whose names are numbers, by value wherever they stand in ``names``.

    Example:
        >>> by_value(["10", "2", "1"]).nearest("10", k=1)[0][0]
        '2'
    """
    found = numeric_order(names)
    if found is None:
        remedy = "Text has no order of its own: write it, lowest first, as in 'low<mid<high'."
        expected = "'ordinal' only where class names are different numbers"
        raise _checks.fail(OWNER, "space", expected, _checks.listed(list(names), most=6), remedy)
    return ordered(found, names)


def ordered(order: Sequence[str], names: Sequence[str] | None = None) -> LabelSpace:
    """Return ``ordinal(order)`` with its classes in the order of ``names``; the source keeps the order."""
    space = ordinal(order)
    placed = space if names is None or tuple(names) == space.names else space.subset(list(names))
    return with_order(placed, order)


def with_order(space: LabelSpace, order: Sequence[str]) -> LabelSpace:
    """Return the same space with the order of its classes written into its source."""
    return LabelSpace(space.names, space.matrix, space.kind, {**space.source, "order": list(order)}, space.hops)


def order_of(space: LabelSpace | None) -> tuple[str, ...] | None:
    """Return the classes of an ordinal space from lowest to highest, or None where a space knows of no order.

    Example:
        >>> order_of(ordinal(["low", "mid", "high"]))
        ('low', 'mid', 'high')
    """
    if space is None or space.source.get("builder") != "ordinal":
        return None
    written = space.source.get("order")
    if isinstance(written, list) and set(space.names) <= {name for name in written if isinstance(name, str)}:
        present = set(space.names)
        return tuple(dict.fromkeys(name for name in written if isinstance(name, str) and name in present))
    power = space.source.get("power", 1.0)
    if isinstance(power, bool) or not isinstance(power, int | float) or not 0 <= power < math.inf:
        return None
    # a source without an order: that of the names, unless a subset has moved them
    as_built = ordinal(space.names, power=min(power, STEEPEST))
    same = space.kind == "relations" and torch.allclose(space.matrix, as_built.matrix, rtol=0, atol=1e-6)
    return space.names if same else None


def _parts(text: str, names: Sequence[str]) -> list[str]:
    """Return the names between ``<``; a class may itself hold one, as "<50K" does."""
    if any("<" in name for name in names):
        found, rest = [], text.strip()
        while rest:
            fitting = [name for name in names if rest.startswith(name) and rest[len(name) :].lstrip()[:1] in ("", "<")]
            if not fitting:
                break
            found.append(max(fitting, key=len))
            rest = rest[len(found[-1]) :].lstrip()
            if not rest:
                return found
            rest = rest[1:].lstrip()
    return [part.strip() for part in text.split("<")]


def _number(name: str) -> float | None:
    try:
        value = float(name)
    except ValueError:
        return None
    # Python reads 1_000 as a number, which as a name is more likely a code
    return value if math.isfinite(value) and "_" not in name else None


BUILDERS = {"ordinal": by_value, "uniform": uniform, "wordnet": wordnet, "text": text}


def named(
    spec: SpaceSpec,
    names: Sequence[str] | None = None,
    x: Numbers | None = None,
    y: Numbers | None = None,
    among: Sequence[str] | None = None,
) -> LabelSpace:
    """Return the label space that a word, an order or a file stands for, in the order of ``names``.

    Args:
        spec: ``low<mid<high``, an order that names every class once; ``ordinal``, for class names that are numbers,
            by value (an order is never guessed from the alphabet); ``uniform``, ``wordnet``, ``text``, ``lda``;
            ``wordnet:saw=saw.n.02,bat=bat.n.05``, or ``wordnet:`` and a file of such lines, with senses of names; the
            path of a taxonomy, in any form that ``taxonomy`` reads, which gives mass to all classes; groups, which
            keep it inside: the path of a file of lines ``pets: cat, dog``, or ``groups:`` and what ``grouping``
            reads; the path of a label file (.safetensors), or the folder of a run, whose labels are then meant. In
            Python a list of names is an order, lists of names (or a dict of them) are groups, and a label space does
            as well.
        names: the classes of the data; an order, a taxonomy, groups and a label file bring their own where they are
            left out.
        x: training samples, for ``lda``.
        y: their class indices, for ``lda``.
        among: all classes of the data, where ``names`` are some of them: an order, a taxonomy or groups may speak of
            all, and are cut.

    Example:
        >>> from labelspace.spec.words import words
        >>> space = named("low<mid<high", ["high", "low", "mid"])
        >>> words(space), space.nearest("low", k=1)[0][0]
        ('order: low < mid < high', 'mid')
        >>> words(named("groups:cat,dog|car,bus", ["bus", "car", "cat", "dog"]))
        'groups: 4 classes in 2 groups'
        >>> words(named(["low", "mid", "high"], ["high", "low", "mid"]))
        'order: low < mid < high'
    """
    if isinstance(spec, LabelSpace):
        return _aligned(spec, names)
    if not isinstance(spec, str | Path):
        return _cut(partial(_of_lists, in_lists(spec)), names, among)
    title = str(spec).strip()
    if title in NAMES:
        return _built(title, names, x, y)
    if title.startswith(senses.PREFIX):
        return _cut(lambda classes: _nouns(title, classes), names, among)
    if title.startswith(PREFIX):
        return _cut(lambda classes: _aligned(grouping(title.removeprefix(PREFIX), classes), classes), names, among)
    path = Path(title).expanduser()
    path = path / RUN_LABELS if is_there(path / RUN_LABELS) else path
    if path.suffix == ".safetensors":
        return _aligned(LabelSpace.load(path), names)
    if "<" in title and not is_there(path):
        return _cut(lambda classes: order(title, classes), names, among)
    if is_there(path) or path.suffix or "/" in title:
        return _cut(lambda classes: groups_in(path, classes) or taxonomy(path, classes), names, among)
    expected = f"one of {', '.join(NAMES)}, an order such as 'low<mid<high', groups, a taxonomy or a label file"
    remedy = suggestion(title, NAMES) or "No file has this name either."
    raise _checks.fail(OWNER, "space", expected, repr(title), remedy)


def _of_lists(lists: list[str] | dict[str, list[str]], names: Sequence[str] | None) -> LabelSpace:
    return grouped(lists, names) if isinstance(lists, dict) else _in_order(lists, names)


def _built(title: str, names: Sequence[str] | None, x: Numbers | None, y: Numbers | None) -> LabelSpace:
    if names is None:
        raise _checks.fail(
            OWNER, "space", "given with the classes", f"{title!r} alone", "Name the classes or the data."
        )
    if title != "lda":
        return BUILDERS[title](names)
    if x is None or y is None:
        raise _checks.fail(OWNER, "space", "'lda' only where there are samples", "none", "Give the data.")
    return lda(x, y, names=names)


def _nouns(title: str, names: Sequence[str] | None) -> LabelSpace:
    items = names_in(OWNER, "senses", title.removeprefix(senses.PREFIX))
    picked = senses.senses_in(items)
    if names is None:
        return _built(senses.WORD, None, None, None)  # which says that classes are needed
    return wordnet(names, senses=picked)


def _cut(
    build: Callable[[Sequence[str] | None], LabelSpace], names: Sequence[str] | None, among: Sequence[str] | None
) -> LabelSpace:
    """Return a space that was written for these classes, or for all of the data and is cut to these."""
    if names is None or among is None or set(names) == set(among):
        return build(names)
    try:
        return build(names)
    except ValueError:
        # what is wrong with it for all classes is what is wrong: the others are no slip
        return _aligned(build(among), names)


def _aligned(space: LabelSpace, names: Sequence[str] | None) -> LabelSpace:
    """Return a space with the classes of the data, in their order; other classes that it has are left out."""
    if names is None or tuple(names) == space.names:
        return space
    known = set(space.names)
    absent = [name for name in names if name not in known]
    if absent:
        hint = suggestion(absent[0], space.names)
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        got = f"nothing for {absent[0]!r}{more}"
        raise _checks.fail(OWNER, "space", "a label space with every class", got, hint)
    found = order_of(space)
    return (space if found is None else with_order(space, found)).subset(list(names))
