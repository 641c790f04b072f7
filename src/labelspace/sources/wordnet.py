"""WordNet: classes whose names are nouns, related by the steps between their senses."""

import os
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from labelspace import _checks
from labelspace.sources._wordnet_doubts import SETTLED, doubts
from labelspace.sources._wordnet_folder import read_folder
from labelspace.sources._wordnet_graph import NounGraph, shipped_graph
from labelspace.sources._wordnet_names import Reading, read_given, read_name
from labelspace.sources._wordnet_tree import groups_above
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

    ``.source`` reports the sense of every class, what it means and how it was found, how many other senses there
    were, which classes are ambiguous, doubtful (and why) or unmapped, and the groups above them as ``parents``. An
    unmapped class has no relatives (−1 hops). A sense is doubtful where only a part or the last words of the name are
    a noun, and where another sense of it is as near to the other classes or nearer, by the mean number of steps to
    the three nearest: look at those, the rule does not choose.

    Args:
        names: the class names, in order; WordNet ids such as ``"n02123045"`` too.
        senses: the sense of some names: ``"crane.n.05"``, an id, or the number of the sense, counted from 1. It may be
            one of another word.
        folder: a folder with WordNet's ``index.noun`` and ``data.noun``, to be read instead of the nouns of
            WordNet 3.0 that come with the package.
        decay: the factor by which mass falls with every step, in (0, 1].

    Example:
        >>> space = wordnet(["cat", "dog", "truck"])
        >>> space.hops.tolist()
        [[0, 4, 17], [4, 0, 12], [17, 12, 0]]
        >>> sense = space.source["senses"]["cat"]
        >>> sense["synset"], sense["means"], sense["alternatives"]
        ('cat.n.01', 'cat, true cat: feline › carnivore', 7)

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
    chosen = [reading.synsets[0] if reading else None for reading in readings.values()]
    steps = graph.steps(chosen, chosen)
    np.fill_diagonal(steps, 0)  # also of classes that are no noun
    hops = torch.from_numpy(steps)
    source = {
        "builder": "wordnet",
        "version": graph.version,
        "dictionary": "shipped" if folder is None else "folder",
        "decay": factor,
        **_report(graph, readings),
        "unmapped": unmapped,
        "parents": groups_above(graph, readings),
    }
    return LabelSpace(classes, hop_relations(hops, factor), "relations", source, hops)


def all_nouns(names: Sequence[str]) -> bool:
    """Return whether every name is a noun of the shipped WordNet as it stands, in the plural or in another spelling.

    Example:
        >>> all_nouns(["cat", "Dogs"]), all_nouns(["cat", "aquarium fish"])
        (True, False)
    """
    readings = (read_name(shipped_graph(), name) for name in names)
    return all(reading is not None and reading.how in ("exact", "plural", "variant") for reading in readings)


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
            "means": graph.meaning(reading.synsets[0]),
            "synset": graph.synset_name(reading.synsets[0]),
        }
        for name, reading in mapped.items()
    }
    undecided = [name for name, each in mapped.items() if len(each.synsets) > 1 and each.how not in SETTLED]
    doubtful = {name: doubt._asdict() for name, doubt in doubts(graph, readings).items()}
    return {"senses": senses, "ambiguous": undecided, "doubtful": doubtful}
