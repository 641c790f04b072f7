"""Where the soft mass of a label space goes, in words."""

import torch
from torch import Tensor

from labelspace.space import LabelSpace
from labelspace.spec.named import words

NEAR = {"tree": "stays in a class's own group", "wordnet": "goes to the nearest relatives"}
FAR = {"tree": "leaves it", "wordnet": "farther"}


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
    parents = [space.source["parents"][name] or name for name in space.names]
    number = {parent: place for place, parent in enumerate(dict.fromkeys(parents))}
    codes = torch.tensor([number[parent] for parent in parents])
    return codes[:, None] == codes[None, :]


def _nearest(relations: Tensor) -> Tensor:
    """Return which classes are the nearest: mass falls with every edge, so they have the most of it."""
    others = relations.clone().fill_diagonal_(0)
    most = others.amax(dim=1, keepdim=True)
    return (others >= most * (1 - 1e-6)) & (most > 0)
