"""compare(): the main job, from the parts."""

import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import torch
from threadpoolctl import threadpool_limits

from labelspace import _checks, _files, results
from labelspace.comparison import folder as folders
from labelspace.comparison.budget import seconds, too_short
from labelspace.comparison.ends import FURTHER
from labelspace.comparison.entries import TUNED, Entry, Named, check_methods, count_runs
from labelspace.comparison.judging import Shuffle, Trained
from labelspace.comparison.plan import EACH, FINALISTS, Plan
from labelspace.comparison.planning import Setting, set_up, write_plan
from labelspace.comparison.question import IN_MEMORY, Question
from labelspace.comparison.rehearsal import rehearse
from labelspace.comparison.result import Comparison
from labelspace.comparison.rivals import asked
from labelspace.comparison.soft import Softened
from labelspace.comparison.splits import over_splits, seeds_of
from labelspace.comparison.summary import VERSIONS, data_facts, title_of, training_words
from labelspace.comparison.training import Report, Told, Trainer, to_try
from labelspace.criteria.registry import method_name
from labelspace.data.given import OF_DATA, as_dataset, data_options
from labelspace.models.registry import model_name
from labelspace.report.words import rehearsed_text
from labelspace.results import DRAWN_FROM, PLAN, Best, Result
from labelspace.results.splits import Splits
from labelspace.serving.predictions import ready
from labelspace.space import LabelSpace
from labelspace.spec.actions import facts_of
from labelspace.spec.named import SpaceSpec
from labelspace.spec.prices import CostSpec
from labelspace.sweeps.executors import Executor, Processes, kept
from labelspace.training.run import own_threads_and_draws

COST, SPACE, _ = DRAWN_FROM


@overload
def compare(data: object = None, *, splits: None = None, **asked: Any) -> Comparison: ...
@overload
def compare(data: object = None, *, splits: int, **asked: Any) -> Splits: ...
def compare(
    data: object = None,
    *,
    methods: Sequence[object] | Mapping[str, object] | str | None = None,
    space: SpaceSpec | None = None,
    cost: CostSpec = None,
    model: object = None,
    seeds: int | Sequence[int] | None = None,
    budget: str | None = None,
    rivals: object = None,
    splits: int | None = None,
    plan: str | Path | None = None,
    out: str | Path = "runs",
    fresh: bool = False,
    executor: Executor | None = None,
    report: Report | None = None,
    command: str | None = None,
    **options: Any,
) -> Comparison | Splits:
    """Find out whether better labels make a classifier's mistakes cheaper, and whether that is more than luck.

    Every method's strength is chosen on validation data with the same number of trials, and further out where the best
    lies at an end; one-hot labels are tuned too. All seeds of a row as one model are rows too. Every row is judged with
    argmax and with temperature + minimum-cost decisions; the reference is the free rival, one-hot labels with those
    decisions. Pairs of texts are judged by BLEU, or what their reader says, instead of costs, and by default with the
    methods' own strengths. Killed and called again, it goes on where it was. Nothing is trained twice: runs that
    another comparison in the same folder has finished are taken over, and the epochs that the same budget bought there.

    Args:
        data: anything that ``labelspace.data.load`` takes: a name, a folder or file, or something in memory (a pair
            ``(x, y)``, a DataFrame with ``label="column"``, a torch or Hugging Face Dataset, a dict of ready parts);
            digits if left out.
        methods: names, ``Criterion`` classes or factories of criteria, or a dict of them; one-hot is always among them,
            and nine (of pairs of texts four) are compared if left out. ``"NAME=METHOD"`` is another form of a method,
            with options of its own.
        space: what is known about the classes, as ``labelspace.spec.named`` takes it: a text or a file, or a list of
            names (an order, lowest first) or lists of names (groups); without it the order of names that are numbers.
            WordNet is used only where it is asked for.
        cost: what mistakes cost, as ``labelspace.spec.prices`` takes it: a rule, a file, or a DataFrame whose index
            names the true classes and whose columns name the decided ones; without it what the space implies.
            Columns that are no classes are actions.
        model: a name, a torch module, or a function ``(input_shape, output_dim) -> module``; ``"auto"`` if left out.
        seeds: how many (six if left out; fewer are only indicative), or a list of which. Strengths and the winner are
            chosen with others, which are not judged.
        budget: a span of time, two minutes if left out: it sets epochs and the number of trials, unless ``epochs`` is
            given.
        rivals: classifiers that people have anyway, as rows beside the methods: names of scikit-learn's classes or
            estimators with ``fit`` and ``predict_proba``, one or a list; ``"none"`` for none. If left out, what suits
            the data of logistic regression, gradient boosting, a forest and support vectors. The cheapest of all
            rows on validation data is the one to take home.
        splits: repeat all of it over so many splits of the data, each a comparison of its own with the whole budget,
            and return what they say together (``Splits``); three or more give a verdict.
        plan: a plan that an earlier comparison left. It says everything above and all options, which must then be left
            out; but data that are only in memory are given again.
        out: the folder that holds comparisons, which share finished runs.
        fresh: start over instead of going on, and take nothing over from other comparisons.
        executor: where to compute; processes of one thread each by default.
        report: told of every step.
        command: how it was asked for, for the report.
        options: other fields of a plan: ``method_options={"lls": {"terms": ["H(t,p)"]}}``, strengths, margin, level,
            probabilities, ``actions="tree"`` (nodes of the taxonomy beside the classes) or names of the columns of an
            array of prices, ``capacity={"send to a person": 0.05}``; how every model is trained, by the names of
            ``Config``: backbone, epochs, limit, data_options, schedule, milestones, label_noise, …; and the options of
            ``labelspace.data.load``: ``label="grade"``, ``classes=["cat", "dog"]``, ``validation="first 5000"``.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     options = {"methods": ["uniform"], "rivals": "SVC", "model": "linear"}
        ...     result = compare("digits", seeds=2, epochs=2, out=folder, **options)
        >>> result.verdict.indicative, [row.label for row in result.rows]
        (True, ['one-hot, tuned', 'uniform', 'SVC', '2 × one-hot, tuned', '2 × uniform'])
    """
    began = time.perf_counter()
    tell: Report = report or (lambda event, numbers: None)
    executor = executor or Processes()
    given = None if plan is None else Plan.load(plan)
    typed = {"methods": methods, "space": space, "cost": cost, "model": model, "seeds": seeds, "budget": budget}
    typed["rivals"] = rivals
    if given is not None:
        said = [name for name, value in {**typed, "splits": splits}.items() if value is not None]
        _check_alone(given, data, said + list(options))
    if any(name in options for name in ("data_options", *OF_DATA)):
        options["data_options"] = data_options("compare", options)
    reading = options.get("data_options", {}) if given is None else given.config.data_options
    source = "digits" if data is None and given is None else data
    if splits is not None:
        same = {**typed, **options, "out": out, "fresh": fresh, "executor": executor, "report": report}

        def compared(seed: int) -> Comparison:
            # what is usual is not said: the first split is the comparison without splits
            drawn = {} if seed == reading.get("seed", 0) else {"data_options": {**reading, "seed": seed}}
            return compare(source, splits=None, **{**same, **drawn})

        seeds_drawn = seeds_of(splits, source, reading)
        return over_splits(compared, seeds_drawn, out, options.get("level", 0.95), command, tell)
    dataset = None if source is None or isinstance(source, str | Path) else as_dataset(source, reading)
    question = Question(
        data=str(source) if dataset is None else IN_MEMORY,
        dataset=dataset,
        methods=() if methods is None else check_methods(_named_methods(methods)),
        space=space,
        cost=cost,
        model="auto" if model is None else model_name(model),
        seeds=6 if seeds is None else seeds,
        budget="2m" if budget is None else budget,
        options=options,
        rivals=asked(rivals),
    )
    setting = set_up(question, given, out, fresh, getattr(executor, "workers", 1), tell)
    with folders.opened(setting.folder, fresh), kept(executor):
        write_plan(setting)
        elsewhere = () if fresh else folders.others(setting.folder)
        setting = _rehearsed(setting, executor, tell, elsewhere)
        earlier = None if fresh else _earlier(setting)
        write_plan(setting)
        tell("plan", _announced(setting))
        result = _answered(setting, executor, tell, command, earlier, elsewhere, began)
    return Comparison(setting.folder, result)


def _rehearsed(setting: Setting, executor: Executor, tell: Report, elsewhere: Sequence[Path]) -> Setting:
    """Return the setting with the rate, decay and epochs that suit the reference, where they are to be chosen."""
    if not setting.rehearse:
        return setting
    tell("rehearsing", {"folder": str(setting.folder)})
    plan, job, dataset = setting.plan, setting.job, setting.question.dataset
    trainer = Trainer(plan, setting.folder, setting.judging, dataset, job, executor, tell, elsewhere=elsewhere)
    steps = -(-len(job.dataset.train) // plan.config.batch_size)
    with own_threads_and_draws(job.config), threadpool_limits(1):
        chosen = rehearse(
            plan,
            setting.entries[0].method,
            setting.question.options,
            steps,
            lambda configs: trainer.runs("rehearsal", configs),
        )
    bought = None if setting.bought is None else setting.bought.after(chosen)
    return setting._replace(plan=chosen, bought=bought)


def _answered(
    setting: Setting,
    executor: Executor,
    tell: Report,
    command: str | None,
    earlier: Result | None,
    elsewhere: Sequence[Path],
    began: float,
) -> Result:
    """Train and judge everything; return what was found, which may have been found before."""
    dataset, job = setting.question.dataset, setting.job
    told = [] if earlier is None else [trial for row in earlier.rows for trial in row.trials]
    known = {trial.run: trial for trial in told if trial.run}
    before = {} if earlier is None else {row.label: [trial.value for trial in row.trials] for row in earlier.rows}
    shared = (setting.plan, setting.folder, setting.judging, dataset, job, executor, tell)
    trainer = Trainer(*shared, known, elsewhere, before)
    # small tensors beside busy workers: a second thread would only wait for them
    with own_threads_and_draws(setting.job.config), threadpool_limits(1):
        notes: list[str] = []
        soft = Softened(setting.judging.space, job.dataset, setting.plan.trials, notes)
        networks = trainer.train(setting.entries)
        fitting = time.perf_counter()
        trained = [*networks, *trainer.fit(setting.rivals, soft)]
        fitted = time.perf_counter() - fitting
        problems = [*setting.problems, *notes, *too_short(setting.plan, job.dataset), *trainer.problems]
        home = earlier is not None and _is_home(setting.folder / folders.BEST, setting.judging.taken_home)
        if earlier is not None and not trainer.problems and _same_runs(trained, earlier) and home:
            tell("unchanged", {"folder": str(setting.folder)})
            return earlier
        tell("analysis", {"runs": len(trainer.there), "there": sum(trainer.there.values())})
        repeated = f"labelspace compare --plan {shlex.quote(str(setting.folder / 'plan.toml'))}"
        result = _finish(setting, trained, problems, command or repeated, trainer.shuffled)
        took, budget = time.perf_counter() - began, setting.question.budget
        if setting.bought is not None and took > seconds(budget):  # told, not written: results are the same at any pace
            tell("overrun", {"budget": budget, "seconds": took, "fitting": fitted})
        return result


def _earlier(setting: Setting) -> Result | None:
    """Return what was found when the same was judged before, by the same code, of the same data at the same prices."""
    folder, judging = setting.folder, setting.judging
    try:
        result, digests = results.read("compare", folder)
        kept = {name: _files.digest(_files.read_bytes(folder / name)) for name in digests}
        files = {COST: judging.cost if judging.prices.priced else None, SPACE: judging.space}
        same = all(_is_kept(folder / name, space) for name, space in files.items())
    except (OSError, ValueError):
        return None
    asked = digests.get(PLAN) == _files.digest(setting.plan.text().encode())
    title = title_of(setting.plan, judging.headline, setting.job.dataset)
    told = (title, setting.job.dataset.key, _next(folder), _versions())
    said = (judging.prices, judging.known)
    unchanged = told == (result.title, result.data.key, result.next, result.versions)
    return result if same and asked and kept == digests and unchanged and said == (result.cost, result.space) else None


def _next(folder: Path) -> str:
    return f"labelspace predict {shlex.quote(str(folder / 'best'))} NEW"


def _is_kept(path: Path, space: LabelSpace | None) -> bool:
    """Return whether a file holds this label space; there is none where there is no space."""
    if space is None or not path.is_file():
        return space is None and not path.is_file()
    there = LabelSpace.load(path)
    kept, wanted = there.tensors, space.tensors
    same = kept.keys() == wanted.keys() and all(torch.equal(kept[name], wanted[name]) for name in wanted)
    return same and facts_of(there) == facts_of(space)


def _same_runs(trained: Sequence[Trained], earlier: Result) -> bool:
    """Return whether these are the very runs that were judged; content decides the name of a run."""
    now = [(each.entry.label, each.run_names, each.trials) for each in trained]
    before = [row for row in earlier.rows if row.role not in ("control", "ensemble")]
    return now == [(row.label, row.runs, list(row.trials)) for row in before]


def _is_home(best: Path, files: Sequence[str]) -> bool:
    """Return whether the best model is there as it was taken home, with these files beside those of its run."""
    try:
        ready(best)
    except (OSError, ValueError):
        return False
    return all((best / name).is_file() for name in files)


def _versions() -> dict[str, str]:
    return {"torch": torch.__version__, **VERSIONS}


def _named_methods(methods: Sequence[object] | Mapping[str, object] | str) -> list[str] | str:
    """Return methods by their names; they may be classes and factories, and a dict gives them names of its own."""
    if isinstance(methods, Mapping):
        return [f"{name}={method_name(method)}" for name, method in methods.items()]
    return methods if isinstance(methods, str) else [method_name(method) for method in methods]


def _check_alone(plan: Plan, data: object, others: Sequence[str]) -> None:
    """Refuse what a plan decides already: it would not be heeded."""
    named = data is None or isinstance(data, str | Path)
    if plan.config.data == IN_MEMORY:
        if named:
            remedy = (
                "The plan was made for data that are not on disk: give the same again, as in compare((x, y), plan=…)."
            )
            raise _checks.fail("compare", "data", "given in memory", "nothing" if data is None else repr(data), remedy)
    elif data is not None:
        others = ["data", *others]
    if others:
        remedy = "Edit a copy of the plan, or leave the plan out."
        raise _checks.fail("compare", "plan", "given without what it decides", f"it with {', '.join(others)}", remedy)


def _announced(setting: Setting) -> Told:
    """Return what is told before training."""
    plan, spoken, entries = setting.plan, setting.judging.spoken, setting.entries
    shown = {entry.label.removesuffix(TUNED) for entry in entries}
    left_out = [each.name for each in map(Named.read, plan.methods) if each.label not in shown]
    seeds = len(plan.chosen_seeds)
    tried_first = to_try(entries)
    trials, finalists = _tried([entry for entry in tried_first if entry.role != "reference"], plan)
    reference = sum(_tried([entry for entry in tried_first if entry.role == "reference"], plan))
    fits = [entry for entry in setting.rivals for _ in range(1 if entry.once else seeds)]
    fits += [entry for entry in setting.rivals if entry.tuned for _ in entry.trials()[: None if entry.once else 1]]
    # of those that have a strength; the others have nothing to try
    tried = [len(entry.trials()) for entry in entries if entry.option is not None] or [1]
    return {
        "title": title_of(plan, setting.judging.headline, setting.job.dataset),
        "folder": str(setting.folder),
        "space": spoken.space,
        "cost": spoken.cost,
        "example": spoken.example,
        "rows": [entry.label for entry in entries],
        "rivals": [entry.label for entry in setting.rivals],
        "left_out": left_out,
        "options": {entry.label: dict(entry.options) for entry in entries if entry.options and entry.of is None},
        "epochs": plan.config.epochs,
        "training": _trained_how(plan),
        "trials": (min(tried), max(tried)),
        "phases": {
            "reference": reference,
            "tuning": trials,
            "finalists": finalists,
            "seeds": len(entries) * seeds,
            "rivals": len(fits),
            "shuffles": max(entry.shuffles for entry in entries) * min(EACH, seeds),
        },
        "runs": count_runs(entries, tried_first, plan),
        "further": FURTHER * sum(entry.extends for entry in (*tried_first, *setting.rivals)),
    }


def _tried(entries: Sequence[Entry], plan: Plan) -> tuple[int, int]:
    """Return how many trials rows have with the first seed, and with further ones."""
    counts = [len(entry.trials()) for entry in entries]
    return sum(counts), sum(min(FINALISTS, count) for count in counts) * (plan.tuning - 1)


def _trained_how(plan: Plan) -> str:
    chosen = rehearsed_text(plan.rehearsal)
    return f"{training_words(plan.config)}{f': {chosen}' if chosen else ''}"


def _mixed_words(reference: Trained, plan: Plan) -> str:
    """Return what else there is to say of how networks were trained."""
    share = reference.entry.strength(reference.options)
    how = "chosen for one-hot labels" if reference.entry.tuned else "as asked for"
    mixed = f", mixup {share:g}, {how}" if share else ""
    return mixed if plan.trained_as is None else f"{mixed}, as in {plan.trained_as}"


def _finish(
    setting: Setting, trained: Sequence[Trained], problems: Sequence[str], command: str, shuffle: Shuffle
) -> Result:
    """Judge the runs and write everything; ``comparison.json`` comes last."""
    plan, folder, dataset, judging = setting.plan, setting.folder, setting.job.dataset, setting.judging
    config, found = plan.config, judging.found(trained, problems, shuffle)
    best = found.rows[found.best]
    result = Result(
        title=title_of(plan, judging.headline, dataset),
        data=data_facts(config, dataset),
        model=config.model,
        backbone=config.backbone,
        epochs=config.epochs,
        training=training_words(config) + _mixed_words(trained[0], plan),
        label_noise=config.label_noise,
        seeds=plan.chosen_seeds,
        cost=judging.prices,
        space=judging.known,
        decision=judging.rule,
        extra=found.extra,
        rows=found.rows,
        verdict=found.verdict,
        warnings=found.warnings,
        costliest=found.costliest,
        best=Best(label=best.label, run=best.runs[found.seed], rule=judging.rule),
        command=command,
        versions=_versions(),
        next=_next(folder),
    )
    if plan.rehearsal:
        result = result.model_copy(update={"rehearsal": plan.rehearsal})
    if found.constant is not None:
        result = result.model_copy(update={"constant": found.constant, "decided": found.decided})
    if found.measure is not None:  # what is not said is not written
        names = ("measure", "translations", "neighbours")
        result = result.model_copy(update={name: getattr(found, name) for name in names})
    judging.leave(folder, trained, found, result)
    result.write(folder)
    return result
