"""Comparing scores of models that were trained anywhere: what decisions alone would save, in seconds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._tables import is_there
from labelspace.comparison.knowledge import known
from labelspace.comparison.outcome import Outcome, Scores
from labelspace.comparison.result import Comparison
from labelspace.comparison.rows import Judged, against_reference, make_row
from labelspace.comparison.score_kind import Kind, Table, as_logits
from labelspace.comparison.summary import VERSIONS, caveats, costliest, extra_columns, prices_facts, space_facts
from labelspace.comparison.verdict import judge_decisions, judge_rows
from labelspace.data.npy import Stored
from labelspace.metrics.crossed import units_of
from labelspace.results import Data, Result
from labelspace.space import LabelSpace
from labelspace.spec.named import named
from labelspace.spec.prices import CostSpec, implied, prices

MARGIN, LEVEL = 0.05, 0.95
# what is read of an NPZ file; other arrays in it stay where they are
PLAIN = ("scores", "y", "groups")
MEMBERS = ("names", *PLAIN, *(f"{part}_{name}" for part in ("validation", "test") for name in PLAIN))


class Given(NamedTuple):
    """What was given for a named model: validation and test, class names and groups where a file has them."""

    name: str
    tables: tuple[Table, Table]
    y: tuple[Tensor, Tensor]
    names: tuple[str, ...] | None
    groups: Tensor | None


class Model(NamedTuple):
    """A named model's scores, one ``Scores`` per seed."""

    name: str
    scores: list[Scores]
    groups: Tensor | None


def compare_scores(
    scores: Mapping[str, Sequence[object]] | Sequence[object],
    *,
    cost: CostSpec = None,
    names: Sequence[str] | None = None,
    space: str | Path | LabelSpace | None = None,
    kind: Kind | None = None,
    margin: float = MARGIN,
    level: float = LEVEL,
    command: str = "",
) -> Comparison:
    """Say what temperature and minimum-cost decisions save on given scores, and how named models differ.

    Args:
        scores: ``(validation, test)``, or such a pair for every name; the first is the reference. Each is the path of
            an NPZ file, or a pair ``(scores, y)``. A file holds ``scores`` ``(N, K)``, or ``(seeds, N, K)`` for several
            seeds, and ``y`` ``(N,)``; ``names`` ``(K,)`` and ``groups`` ``(N,)`` if known. One file may hold both parts
            as ``validation_scores``, ``validation_y``, ``test_scores`` and ``test_y``; its name then stands alone.
            Scores are logits in all of them, or probabilities in all.
        cost: what mistakes cost, as ``labelspace.spec.prices`` takes it.
        names: the classes, where files do not name them.
        space: what is known about the classes, as ``labelspace.spec.named`` takes it: the order or the tree that
            prices speak of.
        kind: ``"logits"`` or ``"probabilities"``. Without it, scores whose rows all sum to 1 are probabilities, and
            what only nearly looks like them is refused. Probabilities may miss 1 by 0.05 where it is said.
        margin: relative changes within ± this do not matter, in (0, 1].
        level: of the intervals, in (0, 1).
        command: how it was asked for.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.randint(3, (200,), generator=generator)
        >>> logits = 2 * torch.nn.functional.one_hot(y, 3) + torch.randn(200, 3, generator=generator)
        >>> result = compare_scores([(logits[:100], y[:100]), (logits[100:], y[100:])], cost="squared")
        >>> [row.label for row in result.rows]
        ['model']
    """
    given = dict(scores) if isinstance(scores, Mapping) else {"model": scores}
    if not given:
        raise _checks.fail("compare", "scores", "those of at least one model", "none")
    found = [_read(name, parts) for name, parts in given.items()]
    known_kind, models = _models(found, kind)
    classes = _classes(names, found)
    _checks.number("compare", "margin", margin, low=0, high=1, open_low=True)
    _checks.number("compare", "level", level, low=0, high=1, open_low=True, open_high=True)
    with _said_without_names([] if names or any(each.names for each in found) else [cost, space]):
        given_space = None if space is None else named(space, classes)
        priced = (implied(given_space) if cost is None else None) or prices(cost, classes, given_space)
    knowledge = known(given_space, priced)
    judge = knowledge.judge(classes, models[0].scores[0].test_y)
    _same_samples(models, len(classes))
    outcomes = [Outcome(model.scores, judge) for model in models]
    rows = [
        _row(model.name, outcome, number) for number, (model, outcome) in enumerate(zip(models, outcomes, strict=True))
    ]
    groups = next((model.groups for model in models if model.groups is not None), None)
    rows = against_reference(rows, level, groups, fixed=True)
    if len(rows) == 1:
        verdict = judge_decisions(rows[0], margin, level, groups)
    else:
        verdict = judge_rows(rows, margin, "labels", groups, level)
    best = min(range(len(rows)), key=lambda number: rows[number].validation_cost)
    first = models[0].scores[0]
    counts = {"validation": len(first.validation_y), "test": len(first.test_y)}
    result = Result(
        title=_title(known_kind, classes, counts, models, knowledge.spoken.cost),
        data=Data(name="scores", names=classes, counts=counts, **_grouped(groups)),
        seeds=tuple(range(len(models[0].scores))),
        cost=prices_facts(knowledge, judge),
        space=space_facts(knowledge),
        decision=judge.rule,
        extra=extra_columns(rows[0], judge.tree),
        rows=tuple(row.row() for row in rows),
        verdict=verdict,
        warnings=tuple(caveats(rows, None, groups=groups, level=level)),
        costliest=costliest(outcomes[best], classes),
        command=command,
        versions=VERSIONS,
        next=None,
    )
    return Comparison(None, result)


class Grouped(TypedDict):
    """How test samples are grouped, as ``Data`` says it."""

    group_by: str | None
    test_groups: int | None


def _grouped(groups: Tensor | None) -> Grouped:
    known = groups is not None
    return {"group_by": "groups" if known else None, "test_groups": len(torch.unique(groups)) if known else None}


def _row(name: str, outcome: Outcome, number: int) -> Judged:
    return make_row(outcome, label=name, role="method" if number else "reference")


def _title(kind: str, names: Sequence[str], counts: dict[str, int], models: Sequence[Model], about: str) -> str:
    seeds = len(models[0].scores)
    parts = [
        f"{kind} of {len(models)} {'model' if len(models) == 1 else 'models'}",
        f"{len(names)} classes",
        f"{counts['validation']:,} val / {counts['test']:,} test",
        f"{seeds} {'seed' if seeds == 1 else 'seeds'}",
        f"cost: {about}",
    ]
    return " · ".join(parts)


def _models(found: Sequence[Given], kind: Kind | None) -> tuple[Kind, list[Model]]:
    """Return what all scores are, and every model's as logits."""
    known, logits = as_logits([table for given in found for table in given.tables], kind)
    models = []
    for given, validation, test in zip(found, logits[::2], logits[1::2], strict=True):
        seeds = zip(validation, test, strict=True)
        models.append(Model(given.name, [Scores(a, given.y[0], b, given.y[1]) for a, b in seeds], given.groups))
    return known, models


def _read(name: str, parts: object) -> Given:
    """Return what was given for a model."""
    if isinstance(parts, str | Path):
        parts = [parts]
    if not isinstance(parts, list | tuple) or len(parts) not in (1, 2):
        remedy = "Give validation and test scores: --scores val.npz test.npz, or NAME=both.npz."
        got = f"{len(parts)} for {name!r}" if isinstance(parts, list | tuple) else type(parts).__name__
        raise _checks.fail("compare", "scores", "one or two files per model", got, remedy)
    if len(parts) == 1:
        table = _arrays(parts[0])
        pieces = [_renamed(table, part, parts[0]) for part in ("validation", "test")]
        origins = [f"{part}_scores in {parts[0]}" for part in ("validation", "test")]
    else:
        pieces = [_arrays(part) for part in parts]
        spoken = (f"the {part} scores of {name!r}" for part in ("validation", "test"))
        origins = [
            str(part) if isinstance(part, str | Path) else words for part, words in zip(parts, spoken, strict=True)
        ]
    found = [_part(piece, name, origin) for piece, origin in zip(pieces, origins, strict=True)]
    (validation, validation_y), (test, test_y) = found
    if len(validation) != len(test) or validation.shape[2] != test.shape[2]:
        got = f"{tuple(validation.shape)} and {tuple(test.shape)} for {name!r}"
        raise _checks.fail("compare", "scores", "of the same seeds and classes in validation and test", got)
    named = _named(name, pieces)
    groups = pieces[1].get("groups")
    codes = None if groups is None else torch.from_numpy(units_of("compare", groups, len(test_y)))
    return Given(name, (Table(origins[0], validation), Table(origins[1], test)), (validation_y, test_y), named, codes)


def _named(name: str, pieces: Sequence[dict[str, object]]) -> tuple[str, ...] | None:
    found = {tuple(str(each) for each in np.ravel(np.asarray(piece["names"]))) for piece in pieces if "names" in piece}
    if len(found) > 1:
        raise _checks.fail("compare", "scores", "of the same classes in validation and test", f"others for {name!r}")
    return next(iter(found), None)


def _arrays(part: object) -> dict[str, object]:
    """Return the arrays of a file, or of a pair in memory."""
    if not isinstance(part, str | Path):
        if not isinstance(part, list | tuple) or len(part) != 2:
            expected = "for each part the path of an NPZ file or a pair (scores, y)"
            raise _checks.fail("compare", "scores", expected, type(part).__name__)
        return {"scores": part[0], "y": part[1]}
    if not Path(part).is_file():
        raise _checks.fail("compare", "scores", "the path of an NPZ file", f"{str(part)!r}, which is not there")
    stored = Stored(Path(part), "compare", "scores")
    return {name: stored[name] for name in MEMBERS if name in stored}


def _renamed(table: dict[str, object], part: str, path: object) -> dict[str, object]:
    wanted = {"scores": f"{part}_scores", "y": f"{part}_y"}
    missing = [name for name in wanted.values() if name not in table]
    if missing:
        expected = "a file with validation_scores, validation_y, test_scores and test_y"
        remedy = "Or give two files: one of validation scores, one of test scores."
        raise _checks.fail("compare", "scores", expected, f"{path} without {missing[0]}", remedy)
    found = {name: table[stored] for name, stored in wanted.items()}
    groups = table.get(f"{part}_groups")
    if groups is None and part == "test":
        groups = table.get("groups")
    extra = {"groups": groups, "names": table.get("names")}
    return {**found, **{name: value for name, value in extra.items() if value is not None}}


def _part(arrays: dict[str, object], name: str, origin: str) -> tuple[Tensor, Tensor]:
    """Return scores ``(seeds, N, K)`` and classes ``(N,)``."""
    for key in ("scores", "y"):
        if key not in arrays:
            raise _checks.fail("compare", "scores", f"arrays named scores and y for {name!r}", f"no {key}")
    given = _inputs.tensor("compare", "scores", arrays["scores"])
    table = given[None] if given.ndim == 2 else given
    if table.ndim != 3 or 0 in table.shape or table.shape[2] < 2:
        expected = "scores of shape (N, K), or (seeds, N, K), with at least one sample and two classes"
        raise _checks.fail("compare", "scores", expected, f"{tuple(given.shape)} for {name!r}")
    bad = (~torch.isfinite(table)).nonzero()
    if len(bad):
        raise _checks.fail("compare", "scores", "finite", f"{table[tuple(bad[0])]} in row {int(bad[0, 1])} of {origin}")
    y = _inputs.class_indices("compare", "y of scores", arrays["y"], samples=table.shape[1], classes=table.shape[2])
    return table.cpu(), y


def _classes(names: Sequence[str] | None, found: Sequence[Given]) -> tuple[str, ...]:
    count = found[0].tables[1].values.shape[2]
    known = {given.names: given.name for given in found if given.names}
    if len(known) > 1 and names is None:
        expected = "of the same classes, in the same order, for every model"
        got = " and ".join(f"{', '.join(each[:5])} … for {name!r}" for each, name in list(known.items())[:2])
        raise _checks.fail("compare", "scores", expected, got, "Put their columns in one order.")
    given = tuple(names) if names is not None else next(iter(known), None)
    classes = given or tuple(str(number) for number in range(count))
    if len(classes) != count:
        raise _checks.fail("compare", "names", f"{count} names, one per column of the scores", str(len(classes)))
    return classes


@contextmanager
def _said_without_names(given: Sequence[object]) -> Iterator[None]:
    """Say of prices and spaces, given as files or texts with names in them, that nothing names the classes."""
    texts = [str(each) for each in given if isinstance(each, str | Path)]
    try:
        yield
    except _checks.InputError as error:
        if not any(is_there(Path(text)) or set(text) & set("<|:") for text in texts):
            raise
        hint = "Nothing names the classes of these scores, which are 0, 1, … therefore: give names=… (--names a,b,c)"
        remedy = (f"{hint}, or an array names in the files. ", *error.parts)
        fuller = _checks.fail(error.owner, error.argument, error.expected, error.got, remedy)
        raise fuller.about(file=error.file) from error


def _same_samples(models: Sequence[Model], classes: int) -> None:
    """Refuse models that were not scored on the same samples: their differences would not be paired."""
    first = models[0].scores[0]
    for model in models[1:]:
        other = model.scores[0]
        if len(model.scores) != len(models[0].scores):
            got = f"{len(model.scores)} for {model.name!r} and {len(models[0].scores)} for {models[0].name!r}"
            raise _checks.fail("compare", "scores", "of the same number of seeds for every model", got)
        for part, left, right in (
            ("validation", first.validation_y, other.validation_y),
            ("test", first.test_y, other.test_y),
        ):
            if not torch.equal(left, right) or other.test.shape[1] != classes:
                expected = f"of the same {part} samples and classes, in the same order, for every model"
                raise _checks.fail("compare", "scores", expected, f"others for {model.name!r}")
