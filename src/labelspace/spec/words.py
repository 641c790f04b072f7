"""What a label space says and where its soft mass goes, in words."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from labelspace.sources.tree import ROOT
from labelspace.space import LabelSpace
from labelspace.spec.named import order_of
from labelspace.spec.prices import cost_words

MOST_SHOWN = 12  # classes of an order
FEW = 4  # classes whose sense is doubtful
NEAR = {"tree": "stays in a class's own group", "wordnet": "goes to the nearest relatives"}
FAR = {"tree": "leaves it", "wordnet": "farther"}


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
    void = "; no other is possible, so that it is no control" if space.source.get("same") is True else ""
    if builder == "permuted":
        return f"shuffled: {count} of {_facts(space.source, 'of').get('builder', 'a matrix')}, under wrong names{void}"
    return _said(space.source, count, space.names) + void


def _said(source: Mapping[str, object], count: str, names: Sequence[str]) -> str:
    builder = str(source.get("builder", "a matrix"))
    if builder == "wordnet":
        return _wordnet_words(source, names)
    if builder == "groups":
        members = [part for part in _facts(source, "groups").values() if isinstance(part, list)]
        used = [part for part in members if set(part) & set(names)]
        return f"groups: {count} in {_counted(len(used), 'group')}"
    if builder in ("random_like", "relations"):
        how = "random rows, as flat as those" if builder == "random_like" else "relations"
        return f"{how} of {_facts(source, 'of').get('builder', 'a matrix')}: {count}"
    return {
        "uniform": f"uniform: {count}, all equally near",
        "text": f"text: {count} by their names, read by {source.get('encoder')}",
        "lda": f"LDA: {count} by their means on {_counted(source.get('components', 0), 'discriminant')}",
        "confusion": f"confusion: {count} by the mistakes of a model",
    }.get(builder, f"{builder}: {count}")


def _wordnet_words(source: Mapping[str, object], names: Sequence[str]) -> str:
    senses = {name: sense for name, sense in _facts(source, "senses").items() if name in set(names)}
    parts = [f"WordNet: {len(senses)} of {len(names)} names mapped"]
    how = {name: str(sense.get("how", "")) for name, sense in senses.items() if isinstance(sense, Mapping)}
    parts += [f"{given} by given senses"] if (given := sum(each.startswith("given") for each in how.values())) else []
    foreign = [name for name, each in how.items() if each == "given, another word's"]
    parts += [f"{_few(foreign)} by another word's"] if foreign else []
    # files of earlier versions do not say what is doubtful
    doubtful = [name for name in names if name in _facts({"doubtful": {}, **source}, "doubtful")]
    return ", ".join(parts) + (f"; doubtful: {_few(doubtful)} (see `labels show`)" if doubtful else "")


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def _facts(source: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return facts inside a source, which may say anything."""
    found = source[name]
    if not isinstance(found, Mapping):
        raise TypeError(f"{name!r} of a source must be names and values, not {found!r:.60}")
    return found


def _parents(space: LabelSpace) -> dict[str, str]:
    return {name: str(parent) for name, parent in _facts(space.source, "parents").items()}


def _tree_words(space: LabelSpace) -> str:
    parents = _parents(space)
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


def _counted(number: object, word: str) -> str:
    return f"1 {word}" if number == 1 else f"{number} {word}{'es' if word.endswith('s') else 's'}"


def _chain(order: Sequence[str]) -> str:
    if len(order) <= MOST_SHOWN:
        return " < ".join(order)
    return " < ".join([*order[: MOST_SHOWN // 2], "…", *order[-MOST_SHOWN // 4 :]])


def spread_words(space: LabelSpace) -> str:
    """Return how a taxonomy, WordNet or groups spread mass; nothing for other spaces.

    A taxonomy gives mass to every class, less with every edge between them; groups keep all of it inside.

    Example:
        >>> from labelspace import groups, tree
        >>> spread_words(tree({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}))
        "of the mass, 67 % stays in a class's own group and 33 % leaves it; groups:FILE keeps it all inside"
        >>> spread_words(groups({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}))
        'all mass stays inside the groups'
    """
    builder = str(space.source.get("builder"))
    if builder == "groups":
        return "all mass stays inside the groups"
    if builder not in NEAR or space.kind != "relations" or len(space) < 2:
        return ""
    near, far = _shares(space, _siblings(space) if builder == "tree" else _nearest(space.matrix))
    hint = "; groups:FILE keeps it all inside" if builder == "tree" and far > 0 else ""
    return f"of the mass, {near:.0%} {NEAR[builder]} and {far:.0%} {FAR[builder]}{hint}".replace("%", " %")


def spoken_space(space: LabelSpace) -> str:
    """Return what a space is and where its mass goes, in one line.

    Example:
        >>> from labelspace import groups
        >>> spoken_space(groups([["cat", "dog"], ["car", "bus"]]))
        'groups: 4 classes in 2 groups; all mass stays inside the groups'
    """
    return "; ".join(part for part in (words(space), spread_words(space)) if part)


def _shares(space: LabelSpace, near: Tensor) -> tuple[float, float]:
    """Return which share of what classes give away goes to those that are near, and which to the others."""
    others = space.matrix.double().fill_diagonal_(0)
    total = others.sum().item()
    share = (others * near).sum().item() / total if total else 1.0
    return share, 1 - share


def _siblings(space: LabelSpace) -> Tensor:
    """Return which classes have the same lowest parent; a class at the top has none."""
    above = _parents(space)
    parents = [above[name] or name for name in space.names]
    number = {parent: place for place, parent in enumerate(dict.fromkeys(parents))}
    codes = torch.tensor([number[parent] for parent in parents])
    return codes[:, None] == codes[None, :]


def _nearest(relations: Tensor) -> Tensor:
    """Return which classes are the nearest: mass falls with every edge, so they have the most of it."""
    others = relations.clone().fill_diagonal_(0)
    most = others.amax(dim=1, keepdim=True)
    return (others >= most * (1 - 1e-6)) & (most > 0)
