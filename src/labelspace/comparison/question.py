"""What a comparison is asked: the data, the methods, and whatever else was said; the rest depends on the data."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from labelspace.comparison import folder as folders
from labelspace.comparison.entries import DEFAULT, Named, check_methods
from labelspace.data.dataset import Dataset
from labelspace.space import LabelSpace
from labelspace.spec.actions import facts_of
from labelspace.spec.frames import Frame, cells
from labelspace.spec.named import SpaceSpec
from labelspace.spec.prices import CostSpec

IN_MEMORY = "given in Python"
# of sequences, where nothing is said: the published ranks of label embeddings and low-rank label smoothing, since the
# classes are a vocabulary; and how many points of the measure do not matter
OF_SEQUENCES = ("onehot", "uniform", "labelemb", "lls")
# what keeps learned labels of a vocabulary small, as far as nothing else is asked; the second head is the paper's
OF_VOCABULARY = {"labelemb": {"rank": 100, "head_rank": 0}, "lls": {"rank": 64}}
SMALLER = {"rank", "top", "prune_after", "pretrained"}  # options that keep what is learned small, or leave it out
MARGIN = 0.5


@dataclass(frozen=True)
class Question:
    """What was asked for.

    Args:
        data: name or path; ``IN_MEMORY`` where ``dataset`` is given.
        dataset: the data, where it has no name.
        methods: registry names, or NAME=METHOD; none for those that suit the data.
        space: what is known about the classes.
        cost: what mistakes cost.
        model: a model's name, or auto.
        seeds: how many, or which.
        budget: a span of time.
        options: other fields of a plan.
        rivals: names of classifiers to compare with beside the methods; ``auto`` for the usual ones.
    """

    data: str
    dataset: Dataset | None
    methods: tuple[str, ...]
    space: SpaceSpec | None
    cost: CostSpec
    model: str
    seeds: int | Sequence[int]
    budget: str
    options: dict[str, object] = field(default_factory=dict)
    rivals: tuple[str, ...] = ()

    def about(self, dataset: Dataset) -> "Question":
        """Return the question with what is usual for such data, where nothing was said."""
        if dataset.kind != "sequences":
            return self if self.methods else replace(self, methods=check_methods(DEFAULT))
        options = {"margin": MARGIN, **self.options}
        methods, given = check_methods(self.methods or OF_SEQUENCES), options.get("method_options", {})
        if isinstance(given, Mapping):
            options["method_options"] = {**given, **_ranked(methods, given, len(dataset.names))}
        return replace(self, methods=methods, options=options)

    def folder(self, out: str | Path, key: str) -> Path:
        """Return where its comparison lives: the same question about the same content (``key``) has the same folder."""
        content = {name: _plain(value) for name, value in vars(self).items() if name not in ("dataset", "data")}
        return folders.folder_of(out, self.data, {**content, "key": key})


def _ranked(methods: Sequence[str], given: Mapping[str, Mapping[str, object]], count: int) -> dict[str, object]:
    """Return options of methods that would learn a number for every pair of tokens: a rank if nothing is asked.

    The second head of label embedding stays the paper's, whether a rank is asked or not.
    """
    named = [each for each in map(Named.read, methods) if each.method in OF_VOCABULARY]
    asked = {each.name: dict(given.get(each.name, {})) for each in named}
    found = {each.name: {**_of_vocabulary(each.method, asked[each.name], count), **asked[each.name]} for each in named}
    return {name: options for name, options in found.items() if options != asked[name]}


def _of_vocabulary(method: str, asked: Mapping[str, object], count: int) -> dict[str, object]:
    """Return what is not asked of a method whose classes are a vocabulary."""
    small = bool(SMALLER.intersection(asked))
    usual = OF_VOCABULARY[method].items()
    return {name: min(value, count) for name, value in usual if not (small and name in SMALLER)}


def _plain(value: object) -> object:
    """Return what a digest can be taken of."""
    if isinstance(value, LabelSpace):
        content = b"".join(part.numpy().tobytes() for part in value.tensors.values())
        more = facts_of(value)
        return [value.names, value.kind, hashlib.blake2b(content, digest_size=8).hexdigest(), *([more] if more else [])]
    if isinstance(value, Frame):
        return cells(value)  # its text would leave out what is in the middle
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in sorted(value.items())}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value if isinstance(value, int | float) else str(value)
