"""WordNet: classes whose names are nouns, related by the steps between their senses."""

import os
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks
from labelspace.sources._wordnet_folder import read_folder
from labelspace.sources._wordnet_graph import NounGraph, shipped_graph
from labelspace.sources._wordnet_names import Reading, read_given, read_name
from labelspace.sources.tree import hop_relations
from labelspace.space import LabelSpace


def wordnet(
    names: Sequence[str],
    senses: Mapping[str, str | int] | None = None,
    folder: str | os.PathLike[str] | None = None,
    decay: float = 0.5,
) -> LabelSpace:
    """Return relations from WordNet: ``A_ij ∝ decay^hops(i, j)``, hops being the steps between two nouns.

    A step goes to a hypernym ("a cat is a feline") or back; a path goes up to a common ancestor and down
    again. A name means its first noun sense unless ``senses`` says otherwise. Singulars, other spellings, the
    parts of ``"T-shirt/top"`` and the last words of ``"aquarium fish"`` are tried when a name is no noun.

    ``.source`` reports the sense of every class and how it was found, how many other senses there were, which
    classes are ambiguous and which are unmapped. An unmapped class has no relatives (−1 hops).

    Args:
        names: the class names, in order; WordNet ids such as ``"n02123045"`` too.
        senses: the sense of some names: ``"crane.n.05"``, an id, or the number of the sense, counted from 1.
        folder: a folder with WordNet's ``index.noun`` and ``data.noun``, to be read instead of the nouns of
            WordNet 3.0 that come with the package.
        decay: the factor by which mass falls with every step, in (0, 1].

    Example:
        >>> space = wordnet(["cat", "dog", "truck"])
        >>> space.hops.tolist()
        [[0, 4, 17], [4, 0, 12], [17, 12, 0]]
        >>> space.source["senses"]["cat"]
        {'alternatives': 7, 'how': 'exact', 'id': 'n02121620', 'synset': 'cat.n.01'}

    Reference:
        Fellbaum (ed.), WordNet: An Electronic Lexical Database, MIT Press 1998.
    """
    classes = _class_names(names)
    picked = _picked(senses, classes)
    factor = _checks.number("wordnet", "decay", decay, low=0, high=1, open_low=True)
    graph = shipped_graph() if folder is None else read_folder(folder)
    readings = {name: _reading(graph, name, picked) for name in classes}
    unmapped = [name for name, reading in readings.items() if reading is None]
    if len(unmapped) == len(classes):
        remedy = "Pick senses with senses={name: 'cat.n.01'}, or build the relations with tree() or groups()."
        raise _checks.fail("wordnet", "names", "nouns of WordNet", f"none among {list(classes)[:8]}", remedy)
    if unmapped:
        text = f"WordNet has no noun for {', '.join(map(repr, unmapped))}: no relatives, so one-hot."
        remedy = f"Pick a sense, as in senses={{{unmapped[0]!r}: 'cat.n.01'}}."
        warnings.warn(f"{text} {remedy}", stacklevel=2)
    hops = _hops(graph, [reading.synsets[0] if reading else None for reading in readings.values()])
    source = {
        "builder": "wordnet",
        "version": graph.version,
        "dictionary": "shipped" if folder is None else "folder",
        "decay": factor,
        **_report(graph, readings),
        "unmapped": unmapped,
    }
    return LabelSpace(classes, hop_relations(hops, factor), "relations", source, hops)


def _class_names(names: object) -> tuple[str, ...]:
    if isinstance(names, int):
        raise _checks.fail_type("wordnet", "names", "a list of class names", repr(names), "Nouns are needed here.")
    return _checks.class_names("wordnet", names)


def _picked(senses: object, classes: Sequence[str]) -> dict[str, str | int]:
    if senses is None:
        return {}
    if not isinstance(senses, Mapping):
        raise _checks.fail_type("wordnet", "senses", "a dict from class names to senses", repr(senses))
    _checks.known_names("wordnet", "senses", list(senses), classes)
    return dict(senses)


def _reading(graph: NounGraph, name: str, picked: Mapping[str, str | int]) -> Reading | None:
    return read_given(graph, name, picked[name]) if name in picked else read_name(graph, name)


def _report(graph: NounGraph, readings: Mapping[str, Reading | None]) -> dict[str, object]:
    """Return the sense of every mapped name and how it was found, and the names left ambiguous."""
    mapped = {name: reading for name, reading in readings.items() if reading is not None}
    senses = {
        name: {
            "alternatives": len(reading.synsets) - 1,
            "how": reading.how,
            "id": graph.synset_id(reading.synsets[0]),
            "synset": graph.synset_name(reading.synsets[0]),
        }
        for name, reading in mapped.items()
    }
    undecided = [name for name, reading in mapped.items() if len(reading.synsets) > 1 and reading.how != "given"]
    return {"senses": senses, "ambiguous": undecided}


def _hops(graph: NounGraph, synsets: Sequence[int | None]) -> Tensor:
    """Return the shortest paths over common ancestors: the least sum of two heights; −1 without any."""
    below: dict[int, list[tuple[int, int]]] = {}
    for index, synset in enumerate(synsets):
        for ancestor, height in ({} if synset is None else graph.heights_above(synset)).items():
            below.setdefault(ancestor, []).append((index, height))
    unreached = np.iinfo(np.int64).max
    hops = np.full((len(synsets), len(synsets)), unreached)
    # one small block per ancestor: only the classes below it can meet there
    for members in below.values():
        indices, heights = np.array(members).T
        block = np.ix_(indices, indices)
        hops[block] = np.minimum(hops[block], heights[:, None] + heights[None, :])
    hops[hops == unreached] = -1
    np.fill_diagonal(hops, 0)
    return torch.from_numpy(hops)
