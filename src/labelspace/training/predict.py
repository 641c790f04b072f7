"""From samples to the scores of a finished run, a piece at a time."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks, _devices, models
from labelspace.analysis.features import activations, layer_names
from labelspace.data.normalize import Normalize
from labelspace.data.pairs import padded
from labelspace.data.source import LimitFacts
from labelspace.data.vocabulary import Ids, Vocabulary
from labelspace.sequences.search import check_width
from labelspace.training import feed
from labelspace.training.inputs import Inputs, Samples
from labelspace.training.ranges import Ranges, Scale, about_far, reach_of
from labelspace.training.restored import Finished
from labelspace.training.sentences import translations

# so many categories are named in a message
SHOWN = 5

Scorer = Callable[[Samples], Tensor]
Reader = Callable[[Samples], Tensor]
Translate = Callable[[Sequence[Ids]], list[str]]


class Batch(NamedTuple):
    """Samples, the categories among them that training did not have, and those with numbers far beyond it."""

    x: Samples
    unseen: dict[tuple[str, str], int]
    far: list[tuple[str, str]]


def scorer(run: Finished, device: str = "cpu") -> Scorer:
    """Return a function from samples in the form of the dataset (or of the run's frozen network) to scores ``(N, K)``.

    Batches of ``feed.BATCH`` samples give the same bits as the run's own evaluation.

    Args:
        run: a finished run; its model is built once.
        device: where to compute; scores come back to the CPU.
    """
    if not run.members:
        return _scorer(run, device, _reader(run))
    # what a frozen network makes of samples is made once for all that read it
    readers = {each.config.backbone: _reader(each) for each in run.members}
    scorers = [(each.config.backbone, _scorer(each, device, _numbers), each.deciding) for each in run.members]

    def averaged(samples: Samples) -> Tensor:
        rows = {name: read(samples) for name, read in readers.items()}
        parts = [by.probabilities(score(rows[name])).double() for name, score, by in scorers]
        return models.as_one(parts, run.shares).float()

    return averaged


def _scorer(run: Finished, device: str, read: Reader) -> Scorer:
    there = _place(run, device)
    return _prepared(run, run.learner().to(there), there, read)


def _reader(run: Finished) -> Reader:
    """Return a function from samples to the numbers that the run's own model reads."""
    if run.config.backbone is None:
        return _numbers
    frozen = models.backbone(run.config.backbone)
    return lambda samples: _numbers(backbone_features(frozen, samples))


def _numbers(samples: Samples) -> Tensor:
    """Return samples that are numbers as they are."""
    assert isinstance(samples, Tensor)
    return samples


def _place(run: Finished, device: str) -> torch.device:
    """Return the device that is asked for, if it is here and knows the numbers that the run computes with."""
    name = _devices.resolved("predict", device)
    if run.config.precision == "float64":
        _devices.check_precision("predict", run.config.precision, name)
    return _devices.placed(name)


def _prepared(
    run: Finished, function: Callable[[Tensor], Tensor], device: torch.device, read: Reader | None = None
) -> Scorer:
    """Return a function of samples that are first brought into the form the run's model takes, and to its device."""
    normalize = Normalize.stored(run.preprocessing)
    dtype = torch.float64 if run.config.precision == "float64" else torch.float32
    read = read or _reader(run)

    @torch.no_grad()
    def prepared(samples: Samples) -> Tensor:
        batch = normalize(read(samples))
        if batch.is_floating_point():
            batch = batch.to(dtype)
            if run.config.channels_last and batch.ndim == 4:
                batch = batch.contiguous(memory_format=torch.channels_last)
        with feed.autocast(run.config, device):
            return function(_devices.moved(batch, device)).cpu()

    return prepared


def scores_of(run: Finished, x: object, device: str = "cpu") -> Tensor:
    """Return scores ``(N, K)`` of tensors or raw samples; what cannot be read stops it, unknown categories are told.

    Args:
        run: a finished run.
        x: see ``Run.predict``.
        device: see ``Run.predict``.
    """
    if run.preprocessing["kind"] == "sequences":
        remedy = "Run.translate(texts) gives translations."
        raise _checks.fail(
            "Run.predict", "run", "of a model with one label for each sample", "one of sequences", remedy
        )
    return _over(run, x, scorer(run, device))


def translator(run: Finished, beam: int | None = None, device: str = "cpu") -> Translate:
    """Return a function from ids of ``source_ids`` to what a run of sequences makes of them; of nothing, nothing.

    Args:
        run: a finished run; its model is built once.
        beam: the width of the search; by default that of the run.
        device: see ``Run.predict``.
    """
    target, longest = _vocabulary(run, "target"), _limit(run)["longest"]
    there = _place(run, device)
    if beam is not None:
        check_width(beam, len(target.tokens))
    learner = run.learner().to(there)

    def translate(ids: Sequence[Ids]) -> list[str]:
        real = [one for one in ids if len(one) > 1]  # more than its end
        if not real:
            return [""] * len(ids)
        x = torch.from_numpy(padded(real, longest))
        made = iter(translations(learner, x, target, run.config, there, beam)[0])
        return [next(made) if len(one) > 1 else "" for one in ids]

    return translate


def source_ids(run: Finished, texts: Sequence[str], unit: str = "text") -> list[Ids]:
    """Return the token ids of new texts; refuse those that are too long, tell of those that are cut or empty.

    Args:
        run: of sequences.
        texts: sources.
        unit: what a message counts: texts, or lines of a file.
    """
    source = _vocabulary(run, "source")
    _check_texts(texts)
    limit, ids = _limit(run), source.encode(texts)
    longest = limit["longest"]
    over = [row for row, one in enumerate(ids) if len(one) > longest]
    if over and not limit["cut"]:
        worst = max(over, key=lambda row: len(ids[row]))
        shown = texts[worst][:40] + ("…" if len(texts[worst]) > 40 else "")
        expected = f"of at most {longest} tokens each, the end included, as those it was trained on"
        got = f"{len(over)} of {len(ids)} longer, up to {len(ids[worst])} in {unit} {worst + 1} ({shown!r})"
        raise _checks.fail("Run.translate", "texts", expected, got, "Shorten or divide them.")
    if over:
        what = f"{_some(len(over), len(ids), unit)} longer than {longest} tokens"
        they = "it is" if len(over) == 1 else "they are"
        warnings.warn(f"{what}: {they} cut, as those of training were.", UserWarning, stacklevel=3)
    empty = sum(len(one) == 1 for one in ids)  # an end alone
    if empty:
        they = "it stays" if empty == 1 else "they stay"
        warnings.warn(f"{_some(empty, len(ids), unit)} empty: {they} so.", UserWarning, stacklevel=3)
    return ids


def _check_texts(texts: object) -> None:
    if isinstance(texts, str) or not isinstance(texts, Collection):
        raise _checks.fail_type("Run.translate", "texts", "a list of texts", repr(texts))
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise _checks.fail_type("Run.translate", "texts", "a list of texts", f"one with {text!r} at place {place}")


def _some(count: int, of: int, unit: str) -> str:
    return f"{count:,} of {of:,} {unit}s {'is' if count == 1 else 'are'}"


def _vocabulary(run: Finished, side: str) -> Vocabulary:
    facts = run.preprocessing
    if "vocabularies" not in facts:
        remedy = "Run.predict and `labelspace predict` give classes."
        raise _checks.fail("Run.translate", "run", "of a model of sequences", f"one of {facts['kind']}", remedy)
    return Vocabulary.stored(facts["vocabularies"][side])


def _limit(run: Finished) -> LimitFacts:
    """Return how long a source may be: what the data were read with."""
    unknown: LimitFacts = {"longest": sys.maxsize, "cut": False}
    return run.preprocessing.get("limits", {}).get("source", unknown)


def features_of(run: Finished, x: object, layer: str | None, device: str = "cpu") -> Tensor:
    """Return the activations ``(N, F)`` of a layer of a run's model, or its features.

    Args:
        run: a finished run.
        x: see ``Run.predict``.
        layer: a name of the model's ``named_modules()``.
        device: see ``Run.predict``.
    """
    if run.members:
        got = f"{len(run.members)} averaged"
        raise _checks.fail("Run.features", "run", "of one network", got, "Each of run.members has its own.")
    there = _place(run, device)
    model = run.learner().to(there).model

    def activated(batch: Tensor) -> Tensor:
        if layer is not None:
            return activations("Run.features", model, batch, layer)
        result = model(batch)
        if not isinstance(result, tuple) or result[1] is None:
            layers = ", ".join(layer_names(model))
            remedy = f"The layers are: {layers}." if layers else "An estimator has no layers."
            raise _checks.fail("Run.features", "layer", "given for a model that returns no features", None, remedy)
        penultimate: Tensor = result[1]
        return penultimate.flatten(1)

    return _over(run, x, _prepared(run, activated, there))


def _over(run: Finished, x: object, function: Scorer) -> Tensor:
    inputs = Inputs(run.preprocessing, run.config.backbone)
    scores, unseen, far = [], Counter[tuple[str, str]](), list[tuple[str, str]]()
    for batch, new, beyond in _batches(inputs, x, reach_of(run.preprocessing, inputs.encoding)):
        scores.append(function(batch))
        unseen.update(new)
        far += beyond
    if not scores:
        raise _checks.fail("Run", "x", "at least one sample", "none")
    for sentence in [*about_unseen(unseen), *about_far(far)]:
        warnings.warn(sentence, UserWarning, stacklevel=5)
    return torch.cat(scores)


def backbone_features(frozen: models.Backbone, samples: Samples) -> Tensor:
    """Return a frozen network's features, in batches of the size that training extracted."""
    starts = range(0, len(samples), feed.EXTRACTED)
    parts = [frozen.extract(frozen.prepare(samples[start : start + feed.EXTRACTED])) for start in starts]
    return torch.cat(parts)


def about_unseen(unseen: Mapping[tuple[str, str], int]) -> list[str]:
    """Return a sentence for each column with categories that training did not have.

    Args:
        unseen: how often each (column, category) occurs.

    Example:
        >>> about_unseen({("colour", "green"): 2})
        ["Training had no 'green' in 'colour' (2 rows): such a row counts as none of the known categories."]
    """
    sentences = []
    for column in dict.fromkeys(name for name, _ in unseen):
        counts = Counter({category: count for (name, category), count in unseen.items() if name == column})
        shown = ", ".join(repr(category) for category, _ in counts.most_common(SHOWN))
        shown += f" and {len(counts) - SHOWN} others" if len(counts) > SHOWN else ""
        total = counts.total()
        rows = f"{total} row{'' if total == 1 else 's'}"
        sentences.append(
            f"Training had no {shown} in {column!r} ({rows}): such a row counts as none of the known categories."
        )
    return sentences


def flat(unseen: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, str], int]:
    """Return counts per (column, category)."""
    return {(column, category): count for column, counts in unseen.items() for category, count in counts.items()}


def _batches(inputs: Inputs, x: object, reach: Ranges | Scale | None) -> Iterator[Batch]:
    if isinstance(x, Tensor):
        inputs.check(x)
        for start in range(0, len(x), feed.BATCH):
            yield Batch(x[start : start + feed.BATCH], {}, [])
        return
    for piece in inputs.pieces(x, feed.BATCH):
        _check_readable(piece.names, piece.problems)
        far = {} if reach is None else reach.far(piece.x)
        yield Batch(piece.x, flat(piece.unseen), [(piece.names[row], why) for row, why in far.items()])


def _check_readable(names: Sequence[str], problems: Mapping[int, str]) -> None:
    if problems:
        place, why = next(iter(problems.items()))
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        remedy = "Repair or leave them out; `labelspace predict` names them all and goes on."
        raise _checks.fail("Run", "x", "samples that can all be read", f"{names[place]} ({why}){more}", remedy)
