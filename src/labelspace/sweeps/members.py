"""All options × seeds of one method at once, for small networks: the same runs as one after the other, sooner.

A group takes seconds, so it writes no checkpoints: killed, it starts again, and members that had finished are read.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from torch import Tensor

from labelspace import _checks
from labelspace.augment.named import augmentation
from labelspace.compressed import fits
from labelspace.criteria import Criterion, criterion_class
from labelspace.models.classic import parse_widths
from labelspace.records import RunFolder
from labelspace.sweeps.together import Member, Together
from labelspace.training.build import Job, Outline, make_learner
from labelspace.training.config import Config
from labelspace.training.feed import HALF, Feed, preprocessing_of
from labelspace.training.restored import held
from labelspace.training.run import Run, finished_run, keep, own_threads_and_draws, result_of, train_job

Outcome = Run | Exception
OPTIONS = ("ignore_index", "reduction", "class_dim")
FEWEST, LARGEST = 4, 64  # members of a group: all of their batches are in memory at once
WIDEST = 256


def eligible(config: Config) -> bool:
    """Return whether a run can be part of a group: a plain loop over an MLP, and a loss that remembers no samples.

    Example:
        >>> eligible(Config(model="mlp-16-2", method="ols")), eligible(Config(model="mlp-16-2", method="lwr"))
        (True, False)
    """
    return not obstacle(config)


def obstacle(config: Config) -> str:
    """Return why a run cannot be part of a group, in words; nothing where it can.

    Example:
        >>> obstacle(Config(model="linear", patience=3))
        'patience: members would end at different epochs'
    """
    if re.fullmatch(r"linear|mlp(-[1-9]\d*)*", config.model) is None:
        return f"model {config.model}: only linear and MLPs are stacked"
    reasons = {
        "augment": not all(map(_stackable, config.augment)) and "every member has its own draws",
        "channels_last": config.channels_last and "there are no channels in a stack",
        "device": config.device != "cpu" and "members are stacked on the CPU only",
        "precision": config.precision in HALF and "autocast does not reach stacked layers",
        "world": config.world > 1 and "ranks share one model",
        "teacher": config.teacher is not None and "it would be asked about every member's batch",
        "clip": config.clip is not None and "every member has its own gradient norm",
        "patience": config.patience is not None and "members would end at different epochs",
        "record": bool(config.record) and "an epoch of one member has no time of its own",
    }
    for name, reason in reasons.items():
        if reason:
            return f"{name}: {reason}"
    for name in OPTIONS:
        if name in config.method_options:
            return f"{name}: stacked batches are whole and flat"
    criterion = _example(config.method)
    if config.augment and not criterion.soft_targets:
        return f"method {config.method}: it takes no mixed labels"
    statistics = criterion.statistics
    lifted = not (statistics.tables or statistics.memory or criterion.random)
    lifted = lifted and config.method_options.keys().isdisjoint(criterion.end_epoch_options)
    # what is observed beside the outputs is not lifted
    plain = lifted and set(criterion.needs) <= (set() if statistics else {"features"})
    return "" if plain else f"method {config.method}: it remembers samples, draws, or asks for more than features"


def faster(config: Config, members: int) -> bool:
    """Return whether a group of so many members is worth it.

    Measured as (one after the other) / (together) on one core with batches of 128, for 4 and 45 members of 64-16-2-10:
    5 and 25, of 64-128-10: 3 and 8, of 64-500-10: 1.4 and 3; for 4 and 32 members of 784-10: 3 and 7, of 784-16-10: 3
    and 7, of 784-128-10: 2.3 and 2.7, of 784-256-10: 1.8 and 2.3. Wider layers are left alone: their time is in the
    products themselves, and whether stacking those gains anything depends on the machine.
    """
    if members < FEWEST or not eligible(config):
        return False
    return config.model == "linear" or max(parse_widths(config.model)) <= WIDEST


def groups(configs: Sequence[Config]) -> list[list[int]]:
    """Return the positions of configurations that can train together; every position is in one group, maybe alone.

    Members differ in their seed, in the numbers that their criterion takes as float options, in how much is mixed up,
    and in the label space where the criterion keeps it as one tensor of relations.

    Example:
        >>> options = [{"smoothing": 0.1}, {"smoothing": 0.2}, {"smoothing": 0.1, "weight": [1.0] * 10}]
        >>> groups([Config(model="linear", method="uniform", method_options=each) for each in options])
        [[0, 1], [2]]
    """
    found: dict[str, list[int]] = {}
    for position, config in enumerate(configs):
        found.setdefault(_shared(config) if eligible(config) else str(position), []).append(position)
    return list(found.values())


def partition(configs: Sequence[Config], workers: int = 1) -> list[list[int]]:
    """Return positions that make one task each: parts of groups where that is faster, and single runs.

    Args:
        configs: with the names of their models, not ``"auto"``.
        workers: how many tasks are done at a time: a group is split so that each has a part.

    Example:
        >>> configs = [Config(model="linear", seed=seed) for seed in range(9)] + [Config(model="lenet")]
        >>> partition(configs, workers=2)
        [[0, 1, 2, 3, 4], [5, 6, 7, 8], [9]]
    """
    found: list[list[int]] = []
    for group in groups(configs):
        for part in _parts(group, workers):
            found += [part] if faster(configs[part[0]], len(part)) else [[position] for position in part]
    return found


def train_together(jobs: Sequence[Job], out: str | Path | None = None) -> list[Outcome]:
    """Train the jobs of one group and return their runs, in the same order, with ``path="vectorised"``.

    The runs leave the same folders as ``train_job`` would. What is finished in ``out`` is read, not computed. A member
    that cannot go on (its loss is not a number, an option is out of range) gives its error and holds up no other. One
    with relations of more than 8,192 classes is trained by itself, with the path that it has.

    Args:
        jobs: prepared from the configurations of one group, see ``groups``.
        out: the folder that holds runs.
    """
    for job in jobs:
        if reason := obstacle(job.config):
            raise _checks.fail("train_together", "jobs", "eligible, all of them", reason, "Use train_job for those.")
    jobs = [job if _by_rule(job) else _with_path(job) for job in jobs]
    outcomes: dict[str, Outcome] = {}
    waiting: dict[str, Member] = {}
    with own_threads_and_draws(jobs[0].config), ExitStack() as locks:
        # in one order for all processes, so that no two wait for each other
        for name, job in sorted({job.config.run_name(): job for job in jobs}.items()):
            try:
                folder = None if out is None else RunFolder(Path(out) / name)
                found = train_job(job, out) if _by_rule(job) else _started(job, folder, locks)
                if isinstance(found, Member):
                    waiting[name] = found
                else:
                    outcomes[name] = found
            except Exception as error:  # a member's own, for example an option out of range; the sweep reports it
                outcomes[name] = error
        if waiting:
            outcomes.update(zip(waiting, _trained(list(waiting.values())), strict=True))
    return [outcomes[job.config.run_name()] for job in jobs]


def _by_rule(job: Job) -> bool:
    """Return whether its relations are a rule, as those of many classes are: no tensor that could be stacked."""
    return job.space is not None and not fits(len(job.space))


def _with_path(job: Job) -> Job:
    return job._replace(config=job.config.model_copy(update={"path": "vectorised"}))


def _started(job: Job, folder: RunFolder | None, locks: ExitStack) -> Member | Run:
    """Return a member at its start, or its run if that is finished."""
    # what cannot be built leaves no folder
    learner = make_learner(job.config, Outline.of(job.dataset), job.space, job.options)
    if folder is None:
        return Member(job, learner, None)
    run = finished_run(folder)
    if run is None:
        folder.make()
        locks.enter_context(folder.locked())
        run = finished_run(folder)
    if run is not None:
        return run
    folder.create(job.config.model_dump(mode="json"))
    return Member(job, learner, folder)


def _trained(members: Sequence[Member]) -> Iterator[Outcome]:
    """Yield the runs, or their errors, in the order of the members."""
    together = Together(members)
    together.run()
    dataset, config = members[0].job.dataset, members[0].job.config
    feeds = {part: Feed(dataset.parts[part], dataset, config) for part in ("validation", "test")}
    found = {part: together.scores(feed) for part, feed in feeds.items()}
    for number, member in enumerate(members):
        if number in together.failures:
            yield together.failures[number]
            continue
        scores = {f"{part}_scores": all_scores[number].clone() for part, (all_scores, _) in found.items()}
        labels = {f"{part}_{name}": each for part, feed in feeds.items() for name, each in feed.known().items()}
        measured = {part: summaries[number] for part, (_, summaries) in found.items()}
        run = _run(member, together.history[number], {**scores, **labels}, measured, together.best_epoch[number])
        try:
            if member.folder is not None:
                keep(run, member.folder)
                run = replace(run, read_weights=RunFolder(member.folder.path).weights)
            yield run
        except Exception as error:  # a full disk stops this one; the sweep reports it
            yield error


def _run(
    member: Member,
    history: list[dict[str, float]],
    scores: dict[str, Tensor],
    measured: dict[str, dict[str, float]],
    best_epoch: int,
) -> Run:
    return Run(
        config=member.job.config,
        result=result_of(member.job, measured, len(history), best_epoch),
        epochs=history,
        scores=scores,
        space=member.learner.criterion.label_space(),
        read_weights=held(member.learner),
        preprocessing=preprocessing_of(member.job.dataset, member.learner.model),
        option_spaces=member.job.options,
        folder=None if member.folder is None else member.folder.path,
    )


@lru_cache
def _example(method: str) -> Criterion:
    """Return a small instance of a method, to ask it for facts."""
    return criterion_class(method).example().criterion


def _stackable(spec: str) -> bool:
    """Return whether an augmentation is done to the batches of a stack: mixup, which looks at no shape."""
    return augmentation(spec).name == "mixup"


def _shared(config: Config) -> str:
    """Return what the members of a group have in common, as text."""
    numbers = _example(config.method).float_options
    fixed = {
        name: value
        for name, value in config.method_options.items()
        if name not in numbers or isinstance(value, bool) or not isinstance(value, int | float)
    }
    # of relations that are one tensor of the criterion, each member has its own
    own = {"space", "space_key"} if "relations" in criterion_class(config.method).class_axes else set()
    common = config.model_dump(mode="json", exclude={"seed", "method_options", "path", "augment"} | own)
    common["augment"] = bool(config.augment)  # mixed labels have another shape; how much is mixed is each member's own
    # discriminants of noisy labels depend on the noise, and that on the seed
    learnt = "lda" in (config.space, *config.method_options.values())
    seed = config.seed if learnt and config.label_noise is not None else None
    return json.dumps([common, fixed, seed], sort_keys=True, default=repr)


def _parts(group: list[int], workers: int) -> list[list[int]]:
    count = max(-(-len(group) // LARGEST), min(workers, len(group) // FEWEST), 1)
    size, larger = divmod(len(group), count)
    starts = [number * size + min(number, larger) for number in range(count + 1)]
    return [group[start:end] for start, end in pairwise(starts)]
