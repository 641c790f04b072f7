"""compare(): the main job, from the parts."""

import platform
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

import labelspace
from labelspace.comparison import folder as folders
from labelspace.comparison.caveats import caveats
from labelspace.comparison.entries import DEFAULT, check_methods, count_runs
from labelspace.comparison.geometry import write_geometry
from labelspace.comparison.plan import Plan
from labelspace.comparison.planning import IN_MEMORY, Question, Setting, set_up
from labelspace.comparison.result import Comparison
from labelspace.comparison.rows import Row, against_reference, make_row
from labelspace.comparison.summary import costliest, summary, title_of
from labelspace.comparison.training import Report, Trained, Trainer
from labelspace.comparison.verdict import judge_rows
from labelspace.comparison.winner import choose, take_best_home
from labelspace.engine.executors import Executor, Processes
from labelspace.engine.given import OF_DATA, as_dataset, data_options
from labelspace.engine.run import own_threads_and_draws
from labelspace.space import LabelSpace


def compare(
    data: Any = "digits",
    *,
    methods: Sequence[str] | str = DEFAULT,
    space: str | Path | LabelSpace | None = None,
    cost: Any = None,
    model: str = "auto",
    seeds: int = 6,
    budget: str = "2m",
    plan: str | Path | None = None,
    out: str | Path = "runs",
    fresh: bool = False,
    executor: Executor | None = None,
    report: Report | None = None,
    command: str | None = None,
    **options: Any,
) -> Comparison:
    """Find out whether better labels make a classifier's mistakes cheaper, and whether that is more than luck.

    Every method's strength is chosen on validation data with the same number of trials; every method is judged with
    argmax and with temperature + minimum-cost decisions; the reference is the free rival, one-hot labels with those
    decisions. Killed and called again, it goes on where it was.

    Args:
        data: a dataset's name, a folder or file, a Dataset, or a pair ``(x, y)``.
        methods: registry names; one-hot is always among them.
        space: what is known about the classes, as ``labelspace.sources.named`` takes it; without it an order of
            numbers or WordNet, where that is possible.
        cost: what mistakes cost, as ``labelspace.sources.prices`` takes it; without it what the space implies.
        model: a model's name, or auto.
        seeds: how many; fewer than six are only indicative.
        budget: a span of time such as ``2m``: it sets epochs and the number of trials, unless ``epochs`` is given.
        plan: a plan that an earlier comparison left; it takes the place of everything above.
        out: the folder that holds comparisons.
        fresh: start over instead of going on.
        executor: where to compute; processes of one thread each by default.
        report: told of every step.
        command: how it was asked for, for the report.
        options: other fields of a plan: backbone, epochs, limit, data_options, margin, probabilities, …; and of
            ``labelspace.data.load``: ``classes=["cat", "dog"]``, ``validation="first 5000"``.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = compare("digits", methods=["uniform"], model="linear", seeds=2, epochs=2, out=folder)
        >>> result.verdict.indicative, [row["label"] for row in result.content["rows"]]
        (True, ['one-hot', 'uniform'])
    """
    tell: Report = report or (lambda event, numbers: None)
    executor = executor or Processes()
    given = None if plan is None else Plan.load(plan)
    if any(name in options for name in ("data_options", *OF_DATA)):
        options["data_options"] = data_options("compare", options)
    reading = options.get("data_options", {}) if given is None else given.data_options
    dataset = None if isinstance(data, str | Path) else as_dataset(data, reading)
    name = str(data) if dataset is None else IN_MEMORY
    question = Question(name, dataset, check_methods(methods), space, cost, model, seeds, budget, options)
    setting = set_up(question, given, out, fresh, getattr(executor, "workers", 1), tell)
    tell("plan", _announced(setting))
    trainer = Trainer(setting.plan, setting.folder, setting.judge, dataset, executor, report)
    # small tensors beside busy workers: a second thread would only wait for them
    with own_threads_and_draws(setting.job.config), threadpool_limits(1):
        trained = trainer.train(setting.entries)
        tell("analysis", {})
        repeated = f"labelspace compare --plan {shlex.quote(str(setting.folder / 'plan.toml'))}"
        content = _finish(setting, trained, trainer.problems, command or repeated)
    return Comparison(setting.folder, content)


def _announced(setting: Setting) -> dict[str, Any]:
    """Return what is told before training."""
    plan, spoken, entries = setting.plan, setting.knowledge.spoken, setting.entries
    left_out = [method for method in plan.methods if method not in {entry.method for entry in entries}]
    tuned = [entry for entry in entries if entry.tuned]
    trials = sum(len(entry.trials()) for entry in tuned)
    return {
        "title": title_of(plan, setting.knowledge, setting.job.dataset),
        "folder": str(setting.folder),
        "space": spoken["space"],
        "cost": spoken["cost"],
        "example": spoken["example"],
        "rows": [entry.label for entry in entries],
        "left_out": left_out,
        "epochs": plan.epochs,
        "trials": max(len(entry.trials()) for entry in entries),
        "phases": {"tuning": trials, "seeds": len(entries) * plan.seeds - len(tuned)},
        "runs": count_runs(entries, plan.seeds),
    }


def _finish(setting: Setting, trained: Sequence[Trained], problems: Sequence[str], command: str) -> dict[str, Any]:
    """Judge the runs and write everything; ``comparison.json`` comes last."""
    plan, folder, dataset, judge = setting.plan, setting.folder, setting.job.dataset, setting.judge
    groups = dataset.test.groups
    rows = against_reference([_row(each) for each in trained], plan.level, groups)
    verdict = judge_rows(rows, plan.margin, setting.knowledge.word, groups, plan.level)
    content = summary(rows, verdict, plan, setting.knowledge, judge, dataset)
    best, seed = choose(trained, rows)
    content |= {
        "warnings": caveats(rows, dataset, problems, groups, plan.level),
        "costliest": costliest(trained[best].outcome, dataset.names),
        "best": {"label": rows[best].label, "run": rows[best].runs[seed], "rule": judge.rule},
        "command": command,
        "versions": {
            "labelspace": labelspace.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "next": f"labelspace predict {shlex.quote(str(folder / 'best'))} NEW",
    }
    if judge.priced:
        setting.knowledge.cost.save(folder / "cost.safetensors")
    if setting.knowledge.space is not None:
        setting.knowledge.space.save(folder / "space.safetensors")
    write_geometry(folder, trained, rows, dataset)
    take_best_home(folder, trained[best], seed, content)
    folders.write_comparison(folder, content)
    return content


def _row(trained: Trained) -> Row:
    entry = trained.entry
    strength = None
    if entry.option is not None:
        strength = {"name": entry.option, "symbol": entry.symbol, "value": trained.options[entry.option]}
    return make_row(
        trained.outcome,
        label=entry.label,
        method=entry.method,
        role=entry.role,
        of=entry.of,
        control=entry.control,
        structured=entry.structured,
        strength=strength,
        trials=[trial._asdict() for trial in trained.trials],
        runs=[run.folder.name for run in trained.runs if run.folder is not None],
    )
