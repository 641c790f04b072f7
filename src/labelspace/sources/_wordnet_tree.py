"""The groups of WordNet above some classes: a tree of the nodes at which they part, named by their words."""

from collections.abc import Mapping

from labelspace.sources._wordnet_graph import NounGraph
from labelspace.sources._wordnet_names import Reading
from labelspace.sources.tree import ROOT


def groups_above(graph: NounGraph, readings: Mapping[str, Reading | None]) -> dict[str, str]:
    """Return the parent of every class and group, as ``tree`` has them; tops and unmapped classes are under no name.

    WordNet's nouns may have several hypernyms; groups follow the first of each, so that they form a tree. A node above
    which nothing else branches off is left out. Groups are called by their first word, or where a class or another
    group is called so, by their full name: ``dog.n.01``.
    """
    up: dict[int, int | None] = {}
    branches: dict[int, set[int | str]] = {}
    for name, reading in readings.items():
        child: int | str = name
        node = None if reading is None else reading.synsets[0]
        while node is not None:
            branches.setdefault(node, set()).add(child)
            if node in up:
                break
            above = graph.hypernyms_of(node)
            up[node] = above[0] if above else None
            child, node = node, up[node]
    kept = {node for node, children in branches.items() if len(children) > 1}
    titles = _titles(graph, kept, set(readings))

    def parent(node: int | None) -> str:
        while node is not None and node not in kept:
            node = up[node]
        return ROOT if node is None else titles[node]

    classes = {name: ROOT if reading is None else parent(reading.synsets[0]) for name, reading in readings.items()}
    return classes | {titles[node]: parent(up[node]) for node in sorted(kept)}


def _titles(graph: NounGraph, nodes: set[int], taken: set[str]) -> dict[int, str]:
    """Return a name for each group that no class and no other group has."""
    titles = {}
    used = {name.casefold() for name in taken}
    for node in sorted(nodes):
        short = graph.lemmas[graph.first_lemmas[node]].replace("_", " ")
        titles[node] = graph.synset_name(node) if short in used else short
        used.add(short)
    return titles
