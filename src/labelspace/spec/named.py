"""A label space as the command line and configurations write it: a word, an order, or a file; and back into words."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelspace import _checks
from labelspace._tables import is_there
from labelspace.sources.lda import lda
from labelspace.sources.text import text
from labelspace.sources.tree import ROOT
from labelspace.sources.uniform import uniform
from labelspace.sources.wordnet import wordnet
from labelspace.space import LabelSpace
from labelspace.spec.grouping import PREFIX, grouping, groups_in
from labelspace.spec.naming import OWNER, suggestion
from labelspace.spec.order import by_value, order, order_of, with_order
from labelspace.spec.prices import cost_words
from labelspace.spec.taxonomy import taxonomy

NAMES = ("ordinal", "uniform", "wordnet", "text", "lda")
BUILDERS = {"ordinal": by_value, "uniform": uniform, "wordnet": wordnet, "text": text}
MOST_SHOWN = 12
RUN_LABELS = "label_space.safetensors"  # what a finished run leaves in its folder


def named(
    spec: str | Path | LabelSpace,
    names: Sequence[str] | None = None,
    x: Any = None,
    y: Any = None,
    among: Sequence[str] | None = None,
) -> LabelSpace:
    """Return the label space that a word, an order or a file stands for, in the order of ``names``.

    Args:
        spec: ``low<mid<high``, an order that names every class once; ``ordinal``, for class names that are numbers,
            by value (an order is never guessed from the alphabet); ``uniform``, ``wordnet``, ``text``, ``lda``; the
            path of a taxonomy, in any form that ``taxonomy`` reads, which gives mass to all classes; groups, which
            keep it inside: the path of a file of lines ``pets: cat, dog``, or ``groups:`` and what ``grouping``
            reads; the path of a label file (.safetensors), or the folder of a run, whose labels are then meant. A
            label space does as well.
        names: the classes of the data; an order, a taxonomy, groups and a label file bring their own where they are
            left out.
        x: training samples, for ``lda``.
        y: their class indices, for ``lda``.
        among: all classes of the data, where ``names`` are some of them: an order, a taxonomy or groups may speak of
            all, and are cut.

    Example:
        >>> space = named("low<mid<high", ["high", "low", "mid"])
        >>> words(space), space.nearest("low", k=1)[0][0]
        ('order: low < mid < high', 'mid')
        >>> words(named("groups:cat,dog|car,bus", ["bus", "car", "cat", "dog"]))
        'groups: 4 classes in 2 groups'
    """
    if isinstance(spec, LabelSpace):
        return _aligned(spec, names)
    title = str(spec).strip()
    if title in NAMES:
        return _built(title, names, x, y)
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


def words(space: LabelSpace) -> str:
    """Return in a few words what a space says and where it came from.

    Example:
        >>> from labelspace import tree
        >>> words(tree({"pets": ["cat", "dog"], "vehicles": {"cars": ["taxi"]}}))
        'tree: 3 classes in 2 groups, depth 3'
    """
    try:
        return _words(space)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        # a source may say anything: what its builder does not write is not put into words
        return f"{space.source.get('builder', 'a matrix')}: {len(space)} classes"


def _words(space: LabelSpace) -> str:
    builder, count = space.source.get("builder"), f"{len(space)} classes"
    if space.kind == "cost":
        return f"prices: {cost_words(space)[0]}"
    if builder == "ordinal":
        found = order_of(space)
        return f"order of {count}" if found is None else f"order: {_chain(found)}"
    if builder == "tree":
        return _tree_words(space)
    if builder == "permuted":
        return f"shuffled: {count} of {space.source['of'].get('builder', 'a matrix')}, under wrong names"
    return _said(space.source, count, space.names)


def _said(source: Mapping[str, Any], count: str, names: Sequence[str]) -> str:
    builder = str(source.get("builder", "a matrix"))
    if builder == "wordnet":
        return f"WordNet: {sum(name in source['senses'] for name in names)} of {len(names)} names mapped"
    if builder == "groups":
        used = [members for members in source["groups"].values() if set(members) & set(names)]
        return f"groups: {count} in {_counted(len(used), 'group')}"
    if builder in ("random_like", "relations"):
        how = "random rows, as flat as those" if builder == "random_like" else "relations"
        return f"{how} of {source['of'].get('builder', 'a matrix')}: {count}"
    return {
        "uniform": f"uniform: {count}, all equally near",
        "text": f"text: {count} by their names, read by {source.get('encoder')}",
        "lda": f"LDA: {count} by their means on {_counted(source.get('components', 0), 'discriminant')}",
        "confusion": f"confusion: {count} by the mistakes of a model",
    }.get(builder, f"{builder}: {count}")


def _tree_words(space: LabelSpace) -> str:
    parents: Mapping[str, str] = space.source["parents"]
    groups = {parents[name] for name in space.names} - {ROOT}
    depth = 0
    for name in space.names:
        steps, node = 0, name
        while node != ROOT:
            steps, node = steps + 1, parents[node]
            if steps > len(parents):
                raise ValueError("a tree whose parents form a circle")
        depth = max(depth, steps)
    return f"tree: {_counted(len(space), 'class')} in {_counted(len(groups), 'group')}, depth {depth}"


def _counted(number: int, word: str) -> str:
    return f"1 {word}" if number == 1 else f"{number} {word}{'es' if word.endswith('s') else 's'}"


def _chain(order: Sequence[str]) -> str:
    if len(order) <= MOST_SHOWN:
        return " < ".join(order)
    return " < ".join([*order[: MOST_SHOWN // 2], "…", *order[-MOST_SHOWN // 4 :]])


def _built(title: str, names: Sequence[str] | None, x: Any, y: Any) -> LabelSpace:
    if names is None:
        raise _checks.fail(
            OWNER, "space", "given with the classes", f"{title!r} alone", "Name the classes or the data."
        )
    if title != "lda":
        return BUILDERS[title](names)
    if x is None or y is None:
        raise _checks.fail(OWNER, "space", "'lda' only where there are samples", "none", "Give the data.")
    return lda(x, y, names=names)


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
        raise _checks.fail(OWNER, "space", "a label space with every class of the data", got, hint)
    found = order_of(space)
    return (space if found is None else with_order(space, found)).subset(list(names))
