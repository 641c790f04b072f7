"""Scores of models, read and put together: one order of classes and samples for all of them, or a refusal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.comparison.outcome import Scores
from labelspace.comparison.score_names import ASKED, class_places, name_columns, priced_names, shared_names, strays
from labelspace.data import factors
from labelspace.data.memory import SPELLINGS
from labelspace.metrics.crossed import units_of
from labelspace.serving.score_files import MEMBERS, PARTS, Beside, Sheet, checked, in_order, read
from labelspace.serving.score_kind import Kind, Table, as_logits
from labelspace.spec.prices import CostSpec


class Given(NamedTuple):
    """What was given for a named model: its validation and its test part, and their numbers ``(seeds, N, K)``."""

    name: str
    sheets: list[Sheet]
    values: list[Tensor]
    notes: list[str]


class Model(NamedTuple):
    """A named model's scores, one ``Scores`` per seed."""

    name: str
    scores: list[Scores]


class Gathered(NamedTuple):
    """All models, and what is known of their columns and samples.

    Args:
        models: the reference first.
        kind: what all of their scores were.
        classes: in the order of the columns.
        words: how the classes are spoken of.
        notes: what a reader should know of their names.
        named: whether anything names them.
        groups: of the test samples.
    """

    models: list[Model]
    kind: Kind
    classes: tuple[str, ...]
    words: str
    notes: tuple[str, ...]
    named: bool
    groups: Tensor | None


def gather_scores(
    scores: object, beside: Beside, cost: CostSpec, names: Sequence[str] | None, kind: Kind | None
) -> Gathered:
    """Read everything, and put all columns and labels in one order.

    Args:
        scores: as for ``compare_scores``, and so the others.
        beside: columns of tables that are no classes.
        cost: prices, which may name the classes.
        names: of the columns.
        kind: logits or probabilities.
    """
    found = [_read(name, parts, beside) for name, parts in _by_model(scores).items()]
    sheets = [sheet for given in found for sheet in given.sheets]
    naming = name_columns(sheets, found[0].values[0].shape[2], names, priced_names(cost))
    _check_shapes(found, len(naming.classes))
    y = [place for given in found for place in _labels(given, naming.classes)]
    values = [value for given in found for value in given.values]
    ordered = [in_order(*pair, naming.classes) for pair in zip(values, (each.names for each in sheets), strict=True)]
    notes = [*naming.notes, *(note for given in found for note in given.notes), *strays(ordered, y, naming)]
    known_kind, logits = as_logits(list(map(Table, (sheet.origin for sheet in sheets), ordered)), kind)
    models, beside_y = [], (*_factors(found, y), _groups(found, 0, y))
    for number, given in enumerate(found):
        first, second = 2 * number, 2 * number + 1
        seeds = zip(logits[first], logits[second], strict=True)
        models.append(Model(given.name, [Scores(a, y[first], b, y[second], *beside_y) for a, b in seeds]))
    _same_samples(models)
    return Gathered(
        models,
        known_kind,
        naming.classes,
        naming.words,
        tuple(notes),
        names is not None or any(sheet.names for sheet in sheets),
        _groups(found, 1, y),
    )


def _groups(found: Sequence[Given], part: int, y: Sequence[Tensor]) -> Tensor | None:
    """Return what belongs together in validation (0) or test (1), where some model says so."""
    given = next((each.sheets[part].groups for each in found if each.sheets[part].groups is not None), None)
    return None if given is None else torch.from_numpy(units_of("compare", given, len(y[part])))


def _factors(found: Sequence[Given], y: Sequence[Tensor]) -> list[Tensor | None]:
    """Return what the prices of validation and test samples are multiplied by, where some model says so."""
    given = next((each for each in found if any(sheet.factors is not None for sheet in each.sheets)), None)
    if given is None:
        return [None, None]
    made: list[Tensor | None] = []
    for sheet, labels in zip(given.sheets, y, strict=False):
        if sheet.factors is None:
            got = f"none in {sheet.origin}"
            raise _checks.fail("compare", "cost_column", "given for validation and test samples", got)
        values = factors.listed(sheet.factors)
        if len(values) != len(labels):
            expected = f"one number for each of {len(labels)} samples"
            raise _checks.fail("compare", "cost_column", expected, f"{len(values)} in {sheet.origin}")
        made.append(torch.from_numpy(factors.checked("compare", "cost_column", values)))
    return made


def _by_model(scores: object) -> dict[str, object]:
    """Return what was given for every model; a dict may also be the parts of a single one."""
    if not isinstance(scores, Mapping) or any(name in scores for name in MEMBERS if name.endswith("scores")):
        return {"model": scores}
    if not scores:
        raise _checks.fail(*ASKED, "those of at least one model", "none")
    return {"model": scores} if _parts(scores) else {str(name): parts for name, parts in scores.items()}


def _parts(given: object) -> list[object] | None:
    """Return validation and test of a dict that holds these two, and nothing of anything else."""
    if not isinstance(given, Mapping):
        return None
    found = {SPELLINGS.get(str(name).lower()): part for name, part in given.items()}
    return [found[part] for part in PARTS] if set(found) == {*PARTS} else None


def _read(name: str, given: object, beside: Beside) -> Given:
    """Return what was given for a model."""
    parts = _parts(given) or given
    if isinstance(parts, str | Path | Mapping) or hasattr(parts, "columns"):
        parts = [parts]
    if not isinstance(parts, list | tuple) or len(parts) not in (1, 2):
        remedy = "Give validation and test scores: --scores val.npz test.npz, or NAME=both.npz."
        got = f"{len(parts)} for {name!r}" if isinstance(parts, list | tuple) else type(parts).__name__
        raise _checks.fail(*ASKED, "one or two files per model", got, remedy)
    if len(parts) == 1:
        sheets = _both(read(parts[0], f"the scores of {name!r}", ASKED, beside), parts[0])
    else:
        origins = [f"the {part} scores of {name!r}" for part in PARTS]
        sheets = [_alone(read(part, origin, ASKED, beside), part) for part, origin in zip(parts, origins, strict=True)]
    values = [_values(sheet, beside) for sheet in sheets]
    named, notes = shared_names(sheets)
    return Given(name, named, values, notes)


def _both(found: Mapping[str, Sheet], given: object) -> list[Sheet]:
    missing = next((part for part in PARTS if part not in found), None)
    if missing is not None:
        expected = "a file with validation_scores, validation_y, test_scores and test_y"
        remedy = "Or give two files, first validation, then test; a table says which in a column part."
        got = f"{given if isinstance(given, str | Path) else type(given).__name__} without {missing}_scores"
        raise _checks.fail(*ASKED, expected, got, remedy)
    return [found[part] for part in PARTS]


def _alone(found: Mapping[str, Sheet], given: object) -> Sheet:
    if "" not in found:
        got = f"{given if isinstance(given, str | Path) else 'one'}, which says itself what is validation and test"
        remedy = "Such a file stands alone; models beside each other need names: --scores a=A.npz b=B.npz."
        raise _checks.fail(*ASKED, "one part in each of two files", got, remedy)
    return found[""]


def _values(sheet: Sheet, beside: Beside) -> Tensor:
    """Return finite scores ``(seeds, N, K)`` with labels."""
    if sheet.y is None:
        expected = f"a table with a column {beside.label!r} of labels" if sheet.by_name else "arrays named scores and y"
        remedy: _checks.Remedy = ("The column of labels: ", _checks.Setting("label")) if sheet.by_name else ""
        raise _checks.fail(*ASKED, expected, f"no {beside.label if sheet.by_name else 'y'} in {sheet.origin}", remedy)
    if sheet.unread:
        row, cell = next(iter(sheet.unread.items()))
        remedy = ("A column that is no class is left out with ", _checks.Setting("ignore"), ".")
        raise _checks.fail(*ASKED, "finite numbers in every column", f"{cell} in row {row} of {sheet.origin}", remedy)
    table = checked(sheet, ASKED)
    bad = (~torch.isfinite(table)).nonzero()
    if len(bad):
        raise _checks.fail(*ASKED, "finite", f"{table[tuple(bad[0])]} in row {int(bad[0, 1])} of {sheet.origin}")
    return table


def _labels(given: Given, classes: Sequence[str]) -> list[Tensor]:
    return class_places(given.sheets, [values.shape[1] for values in given.values], classes)


def _check_shapes(found: Sequence[Given], classes: int) -> None:
    for given in found:
        validation, test = given.values
        if len(validation) != len(test) or validation.shape[2] != test.shape[2]:
            got = f"{tuple(validation.shape)} and {tuple(test.shape)} for {given.name!r}"
            raise _checks.fail(*ASKED, "of the same seeds and classes in validation and test", got)
        if validation.shape[2] != classes:
            expected = "of the same classes, in the same order, for every model"
            raise _checks.fail(*ASKED, expected, f"{validation.shape[2]} columns for {given.name!r}, not {classes}")


def _same_samples(models: Sequence[Model]) -> None:
    """Refuse models that were not scored on the same samples: their differences would not be paired."""
    first = models[0].scores[0]
    for model in models[1:]:
        other = model.scores[0]
        if len(model.scores) != len(models[0].scores):
            got = f"{len(model.scores)} for {model.name!r} and {len(models[0].scores)} for {models[0].name!r}"
            raise _checks.fail(*ASKED, "of the same number of seeds for every model", got)
        pairs = ((first.validation_y, other.validation_y), (first.test_y, other.test_y))
        for part, (left, right) in zip(PARTS, pairs, strict=True):
            if not torch.equal(left, right):
                expected = f"of the same {part} samples and classes, in the same order, for every model"
                raise _checks.fail(*ASKED, expected, f"others for {model.name!r}")
