"""What a comparison of scores leaves: the scores that its page is drawn from, and the best decision to take home."""

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import save
from torch import Tensor

from labelspace import _files
from labelspace.comparison import folder as folders
from labelspace.comparison.knowledge import Knowledge
from labelspace.comparison.outcome import Outcome, Scores
from labelspace.comparison.score_models import Gathered, Model
from labelspace.results import DRAWN_FROM, Result
from labelspace.serving.alone import Alone
from labelspace.serving.decision_card import decision_card
from labelspace.serving.take_home import take_decision
from labelspace.space import LabelSpace
from labelspace.spec.actions import facts_of

COST, SPACE, _ = DRAWN_FROM


class Chosen(NamedTuple):
    """Which model's decision goes home: the row that costs least on validation data, and its best seed."""

    row: int
    seed: int


class Found(NamedTuple):
    """What was made of scores: how each model decides, by which prices, and whose decision is the best."""

    knowledge: Knowledge
    outcomes: list[Outcome]
    chosen: Chosen


def choose(outcomes: Sequence[Outcome]) -> Chosen:
    """Return the model and the seed that cost least on validation data."""
    row = min(range(len(outcomes)), key=lambda number: outcomes[number].validation_cost)
    costs = outcomes[row].validation_costs
    return Chosen(row, min(range(len(costs)), key=costs.__getitem__))


def run_names(model: Model, number: int) -> tuple[str, ...]:
    """Return the names of the folders that hold a model's scores, one for each seed.

    Args:
        model: whose they are.
        number: of its row.
    """
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", model.name).strip("-")[:40]
    return tuple("-".join(filter(None, (str(number), slug, str(seed)))) for seed in range(len(model.scores)))


def folder_for(out: str | Path, gathered: Gathered, knowledge: Knowledge, asked: Sequence[object]) -> Path:
    """Return the folder of a comparison of scores: its name holds a digest of all that can change what is found.

    Args:
        out: the folder that holds comparisons.
        gathered: the scores.
        knowledge: prices and space.
        asked: whatever else was asked for.
    """
    content = hashlib.blake2b(digest_size=16)
    for scores in (scores for model in gathered.models for scores in model.scores):
        for part in filter(torch.is_tensor, scores):
            content.update(part.contiguous().numpy().tobytes())
    spaces = [_digest(space) for space in (knowledge.cost, knowledge.space)]
    names = [model.name for model in gathered.models]
    groups = None if gathered.groups is None else gathered.groups.tolist()
    request = {"scores": content.hexdigest(), "names": names, "classes": gathered.classes, "kind": gathered.kind}
    return folders.folder_of(out, "scores", {**request, "groups": groups, "spaces": spaces, "asked": list(asked)})


def _digest(space: LabelSpace | None) -> str | None:
    if space is None:
        return None
    more = facts_of(space)
    told = [json.dumps(more, sort_keys=True).encode()] if more else []
    return _files.digest(b"".join([*(each.numpy().tobytes() for each in space.tensors.values()), *told]))


def next_command(folder: Path) -> str:
    """Return how to go on."""
    return f"labelspace predict {shlex.quote(str(folder / folders.BEST))} NEW_SCORES"


def leave(folder: Path, gathered: Gathered, found: Found, result: Result) -> None:
    """Write the scores, prices and space that the page is drawn from, the best decision, and at last the result.

    Args:
        folder: from ``folder_for``.
        gathered: the scores.
        found: what was made of them.
        result: everything that was found.
    """
    with folders.opened(folder, fresh=False):
        for number, model in enumerate(gathered.models):
            for name, scores in zip(run_names(model, number), model.scores, strict=True):
                place = folder / "runs" / name
                place.mkdir(exist_ok=True)
                _files.write_bytes(place / "scores.safetensors", _bytes(scores))
        if found.outcomes[0].judge.priced:
            found.knowledge.cost.save(folder / COST)
        if found.knowledge.space is not None:
            found.knowledge.space.save(folder / SPACE)
        _take_best(folder, gathered, found, result)
        result.write(folder)


def _bytes(scores: Scores) -> bytes:
    parts = {"validation_scores": scores.validation, "validation_y": scores.validation_y}
    parts |= {"test_scores": scores.test, "test_y": scores.test_y}
    factors = {"validation_factors": scores.validation_factors, "test_factors": scores.test_factors}
    parts |= {name: part for name, part in factors.items() if part is not None}
    return save({name: _small(part).contiguous() for name, part in parts.items()})


def _small(part: Tensor) -> Tensor:
    """Return scores in single precision, which is enough to draw from, where it can hold them."""
    if not part.is_floating_point():
        return part
    single = part.float()
    return single if bool(torch.isfinite(single).all()) else part


def _take_best(folder: Path, gathered: Gathered, found: Found, result: Result) -> None:
    row, seed = found.chosen
    decision, model = found.outcomes[row].deciders[seed], gathered.models[row]
    scores = model.scores[seed]
    test = scores.test, scores.test_y
    text = decision_card(decision, gathered.kind, model.name, *test, result, scores.test_factors)
    take_decision(Alone(decision, gathered.kind, model.name), folder / folders.BEST, text)
