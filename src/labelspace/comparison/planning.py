"""From a question to a plan: read the data, gather what is known about the classes, see what the budget buys."""

from pathlib import Path
from typing import NamedTuple

from labelspace import _checks, _devices, models
from labelspace.comparison import budget as budgets
from labelspace.comparison import folder as folders
from labelspace.comparison.classified import Classified
from labelspace.comparison.earlier import Bought, taken_over
from labelspace.comparison.entries import (
    DEFAULT,
    REFERENCE_METHOD,
    Entry,
    Named,
    buildable,
    check_labels,
    check_methods,
    fewer,
    make_entries,
    tuned_of,
    usual_strength,
)
from labelspace.comparison.judging import Judging
from labelspace.comparison.knowledge import discriminants
from labelspace.comparison.mixing import MIXUP, mixable
from labelspace.comparison.plan import TRIALS, TUNING, Plan, make_plan
from labelspace.comparison.question import Question
from labelspace.comparison.reading import Reading
from labelspace.comparison.rehearsal import TUNED, USUAL_RUNS
from labelspace.comparison.rivals import entries_of as rivals_of
from labelspace.comparison.sequences import Sequences
from labelspace.comparison.training import Report
from labelspace.criteria import criterion_class
from labelspace.data.dataset import Dataset
from labelspace.results import Options
from labelspace.training.build import Job, Outline, make_learner, prepare, training_labels
from labelspace.training.run import own_threads_and_draws

KEPT = "calibrated"  # epoch, where the comparison chooses how to train
SMALL = 5000  # training samples: below it, smaller batches


class Setting(NamedTuple):
    """Everything that is known before training."""

    plan: Plan
    folder: Path
    question: Question
    job: Job  # of the reference: the data as it is trained on
    judging: Judging
    entries: list[Entry]
    rivals: list[Entry]
    problems: list[str]  # strengths and rivals that cannot be tried, and why
    rehearse: bool  # whether rate, decay and epochs are still to be chosen
    bought: Bought | None = None  # what a budget bought now, for comparisons to come


def set_up(question: Question, plan: Plan | None, out: str | Path, fresh: bool, workers: int, tell: Report) -> Setting:
    """Return the setting of a comparison; nothing is written yet.

    A plan that an earlier call left says what the budget bought; it must answer the same question.

    Args:
        question: what was asked for; a plan takes its place, but for data that are in memory.
        plan: one to repeat, or None.
        out: the folder that holds comparisons.
        fresh: start over.
        workers: runs at a time, for the budget.
        tell: told what is going on.
    """
    repeated = plan is not None
    if plan is not None:
        plan = _checked(plan)
        question = _asked_by(plan, question)
    tell("reading", {"data": question.data})
    draft = plan or _draft(question)
    reading = Reading(tell)
    job = _job(draft, question.dataset, reading)
    if plan is None:
        question = question.about(job.dataset)
        draft = _draft(question)
    if not len(job.dataset.validation):
        remedy = "Strengths and temperatures are chosen on it, and never on test data; `labelspace train` takes none."
        raise _checks.fail("compare", "validation", "a part of the data", "no validation samples", remedy)
    if plan is not None:
        folder = folders.folder_of(out, plan.config.data, {**_choices(plan), "key": job.dataset.key})
    else:
        folder = question.folder(out, job.dataset.key)
    judging = _judging(draft, question, job)
    wanted = any(criterion_class(Named.read(each).method).space_from_data for each in draft.methods)
    # from the labels that are trained on: clean ones would leak through it
    suggested = discriminants(job.dataset, training_labels(job)) if wanted else None

    def entries_of(plan: Plan) -> list[Entry]:
        spaces, rehearsed = (judging.space, suggested), bool(plan.rehearsal) or chooses
        shuffles = 0 if job.dataset.kind == "sequences" else plan.shuffles
        return make_entries(plan.methods, *spaces, plan.strengths, plan.method_options, shuffles, rehearsed)

    chooses = not repeated and _rehearses(question, job)
    _check_mixup(draft, job)
    entries = entries_of(draft)
    if len(entries) == 1:
        remedy = "Methods that need a label space were left out: give one with --space, or choose others."
        raise _checks.fail("compare", "methods", "something to compare one-hot labels with", "one-hot alone", remedy)
    rivals, _ = rivals_of(draft.rivals, job.dataset)
    check_labels([*entries, *rivals])
    buildable(entries, draft, job)
    bought = None
    if plan is None:
        draft = _sized(draft, question, job)
        # a budget would be measured anew, and might buy something else
        plan = None if fresh else _kept(folder / "plan.toml", draft, question, job)
        if plan is None and not fresh and "epochs" not in question.options:
            plan, bought = _as_before(draft, question, job, folder, tell)
        if plan is None:
            plan, bought = _affordable(draft, question, _like(job, draft), entries, workers, reading)
        entries = entries_of(plan)
    entries, problems = buildable(entries, plan, job)
    rivals, hopeless = rivals_of(plan.rivals, job.dataset, plan.trials)
    plan = _with_files(plan, folder, question)
    rehearse = chooses and not plan.rehearsal
    problems = [*problems, *hopeless, *_one_seed(plan, entries)]
    if repeated and "tuning" not in plan.model_fields_set:
        problems.append(_unsaid(plan))
    return Setting(plan, folder, question, job, judging, entries, rivals, problems, rehearse, bought)


def _rehearses(question: Question, job: Job) -> bool:
    """Return whether rate, decay and epochs are chosen first: where a budget decides how long training is, or on wish.

    Trainings on sequences are too long to try several.
    """
    wish = question.options.get("rehearse")
    if wish and job.dataset.kind == "sequences":
        expected = "left out for pairs of texts, whose trainings are too long to try several"
        raise _checks.fail("compare", "rehearse", expected, repr(wish), "Say --learning-rate and --epochs.")
    return "epochs" not in question.options and job.dataset.kind != "sequences" if wish is None else bool(wish)


def _unsaid(plan: Plan) -> str:
    """Return with which seeds choices are made where a plan does not say it, as those of earlier versions do not."""
    shown = ", ".join(map(str, plan.tuning_seeds))
    return (
        f"The plan does not say how many seeds choose strengths and the winner: {shown} do, and none of them is judged."
    )


def _one_seed(plan: Plan, entries: list[Entry]) -> list[str]:
    """Return that choices rest on one seed, where a budget or a wish made it so."""
    if plan.tuning > 1 or not any(entry.tuned for entry in entries):
        return []
    return [f"Strengths and the winner were chosen with one seed; a larger --budget takes {TUNING}."]


def _judging(plan: Plan, question: Question, job: Job) -> Judging:
    """Return how runs are judged, which the kind of the data decides."""
    if job.dataset.kind == "sequences":
        return Sequences.of(plan, job.dataset, question.space, question.cost)
    if plan.margin > 1:
        raise _checks.fail("compare", "margin", "less than or equal to 1", repr(plan.margin))
    return Classified.of(plan, job, question.space, question.cost)


def write_plan(setting: Setting) -> None:
    """Write the plan, and what was given in memory, into the folder of the comparison.

    Args:
        setting: from ``set_up``.
    """
    question, judging = setting.question, setting.judging
    for name, value, used in (("space", question.space, judging.space), ("cost", question.cost, judging.cost)):
        if _in_memory(value) and used is not None:
            used.save(_file_of(name, setting.folder))
    if setting.bought is not None:
        setting.bought.write(setting.folder)
    setting.plan.save(setting.folder / "plan.toml")


def _most(job: Job) -> int:
    """Return how many strengths are tried where time allows; trainings on sequences are too long to try several."""
    return 1 if job.dataset.kind == "sequences" else TRIALS


def _kept(path: Path, wanted: Plan, question: Question, job: Job) -> Plan | None:
    """Return the plan with what an earlier call bought with the budget; refuse one that answers another question."""
    if not path.is_file():
        return None
    found = _checked(Plan.load(path))
    # data may have moved; what was given in memory is in the folder's name
    skipped = {"data", *(name for name in ("space", "cost") if not isinstance(getattr(question, name), str | None))}
    most, chosen = _most(job), _chosen_here(question, job)
    skipped |= {*chosen, "rehearsal", "trained_as"}
    grids = [_strengths(wanted, most, job)]
    if "epochs" not in question.options:
        grids += [_strengths(wanted, trials, job) for trials in range(1, most)]
    grid = next((each for each in grids if each == found.strengths), grids[0])
    wanted = wanted.model_copy(update={"strengths": grid, "trained_as": found.trained_as})
    if not {"epochs", "tuning"} & set(question.options):  # a budget buys these too
        wanted = wanted.model_copy(update={"tuning": found.tuning})
    if not {"epochs", "shuffles"} & set(question.options):
        wanted = wanted.model_copy(update={"shuffles": found.shuffles})
    mine, theirs = wanted.plain(), found.plain()
    other = [name for name in sorted({*mine, *theirs} - skipped) if mine.get(name) != theirs.get(name)]
    if other:
        remedy = (
            "Follow it with --plan (plan=…), start over with --fresh (fresh=True), or choose another --out (out=…)."
        )
        expected = "a folder whose plan answers what was asked"
        raise _checks.fail("compare", "out", expected, f"{path}, whose {', '.join(other)} are others", remedy)
    values = {name: getattr(found.config, name) for name in chosen}
    return wanted.with_training(**values).model_copy(update={"rehearsal": found.rehearsal})


def _chosen_here(question: Question, job: Job) -> set[str]:
    """Return what of the training is found out by the comparison itself, and not asked for."""
    names = TUNED if _rehearses(question, job) else ("epochs",)
    return {name for name in names if name not in question.options}


def _checked(plan: Plan) -> Plan:
    """Return a plan in which everything goes together: one-hot first, strengths and options of known methods only.

    An option that is the method's strength is the one strength that is tried. The device is one that is here.
    """
    plan = plan.with_training(device=_devices.resolved("compare", plan.config.device))
    methods = check_methods(plan.methods)
    named = {each.name: each for each in map(Named.read, methods)}
    strengths, options = dict(plan.strengths), {name: dict(each) for name, each in plan.method_options.items()}
    for name in options:
        _checks.choice("compare", "method_options", name, named)
        tuned = tuned_of(named[name], options[name])
        if tuned is None or tuned.option not in options[name]:
            continue
        if name in strengths:
            got = f"both a strength and {tuned.option!r} for {name!r}"
            raise _checks.fail("compare", "method_options", "given without strengths of the same method", got)
        value = options[name].pop(tuned.option)
        strengths[name] = (_checks.number("compare", f"method_options.{name}.{tuned.option}", value),)
    for name, values in strengths.items():
        _checks.choice("compare", "strengths", name, named)
        if not values or tuned_of(named[name], options.get(name, {})) is None:
            expected = "one or more numbers for methods that have a strength"
            raise _checks.fail("compare", "strengths", expected, f"{list(values)} for {name!r}")
    kept = {name: each for name, each in options.items() if each}
    return plan.model_copy(update={"methods": methods, "strengths": strengths, "method_options": kept})


def _choices(plan: Plan) -> Options:
    """Return what names the folder of a plan; a CPU is left out, as it was before there were other devices."""
    named = {name: value for name, value in plan.plain().items() if (name, value) != ("device", "cpu")}
    return {name: value for name, value in named.items() if name != "trained_as"}


def _asked_by(plan: Plan, question: Question) -> Question:
    """Return the question that a plan answers."""
    return Question(
        data=plan.config.data,
        dataset=question.dataset,
        methods=plan.methods,
        space=plan.space,
        cost=plan.cost,
        model=plan.config.model,
        seeds=plan.seeds,
        budget=question.budget,
        rivals=plan.rivals,
    )


def _draft(question: Question) -> Plan:
    """Return a plan whose size is not known yet."""
    named = {
        "space": question.space if isinstance(question.space, str) else None,
        "cost": question.cost if isinstance(question.cost, str) else None,
    }
    fixed = {"data": question.data, "methods": question.methods or DEFAULT, "seeds": question.seeds}
    fixed["rivals"] = question.rivals
    return _checked(make_plan(**{"epochs": 1, **fixed, **named, "model": question.model, **question.options}))


def _job(plan: Plan, dataset: Dataset | None, reading: Reading) -> Job:
    config = plan.config.model_copy(update={"seed": plan.chosen_seeds[0]})
    with own_threads_and_draws(config):
        job = prepare(config, dataset, progress=reading)
        reading.end()
        if models.is_fitted(job.config.model):
            remedy = "Estimators are rivals of one: rivals=[…] (--rivals)."
            raise _checks.fail("compare", "model", "a network, which every method can train", config.model, remedy)
        # a model that cannot be built ends it here
        make_learner(job.config, Outline.of(job.dataset), job.space, job.options)
        return job


def _sized(plan: Plan, question: Question, job: Job) -> Plan:
    """Return the plan with the model's name, and batches and a rate that suit it unless they were given."""
    dense = job.config.model.startswith(("mlp", "linear"))
    # a pair of texts has a dozen labels and more
    many = 64 if job.dataset.kind == "sequences" else 128
    suited: dict[str, object] = {
        "batch_size": 32 if len(job.dataset.train) < SMALL else many,
        "learning_rate": 1e-2 if dense else 1e-3,
    }
    if _rehearses(question, job):
        # decay is no part of the gradient; the epoch is kept that knows most, whatever temperature it needs
        suited |= {"optimizer": "adamw"} if "patience" in question.options else {"optimizer": "adamw", "best_by": KEPT}
    chosen = {name: value for name, value in suited.items() if name not in question.options}
    return plan.with_training(model=job.config.model, **chosen)


def _like(job: Job, plan: Plan) -> Job:
    """Return the job, trained as the plan says."""
    sizes = {"batch_size": plan.config.batch_size, "learning_rate": plan.config.learning_rate}
    return job._replace(config=job.config.model_copy(update=sizes))


def _as_before(
    plan: Plan, question: Question, job: Job, folder: Path, tell: Report
) -> tuple[Plan | None, Bought | None]:
    """Return the plan with what the same budget bought for another comparison, where there is one."""
    found = taken_over(plan, job.dataset.key, question.budget, folder)
    if found is None:
        return None, None
    taken, bought = found
    assert taken.trained_as is not None
    tell("as_before", {"name": taken.trained_as, "epochs": taken.config.epochs})
    return taken.model_copy(update={"strengths": _strengths(plan, bought.trials, job)}), bought


def _affordable(
    plan: Plan, question: Question, job: Job, entries: list[Entry], workers: int, reading: Reading
) -> tuple[Plan, Bought | None]:
    """Return the plan with the epochs and trials that the budget buys, of which the features have taken their part."""
    if "epochs" in question.options:
        return plan.model_copy(update={"strengths": _strengths(plan, _most(job), job)}), None
    tell, seconds = reading.tell, budgets.seconds(question.budget) - reading.seconds
    wanted = budgets.wanted_epochs(len(job.dataset.train), plan.config.batch_size, job.dataset.kind)
    tell("measuring", {"budget": question.budget})
    pace = budgets.pace(job)
    before = USUAL_RUNS if _rehearses(question, job) else 0
    shuffles = max(entry.shuffles for entry in entries)
    amount = budgets.affordable(
        seconds, pace, wanted, len(entries), len(plan.chosen_seeds), workers, _most(job), before, shuffles
    )
    if not amount.enough:
        trials = (amount.trials, amount.trials)
        tell("tight", {"budget": question.budget, "epochs": amount.epochs, "trials": trials})
    sized = plan.with_training(epochs=amount.epochs)
    if "tuning" not in question.options:
        sized = sized.model_copy(update={"tuning": amount.tuning})
    if shuffles and "shuffles" not in question.options:
        sized = sized.model_copy(update={"shuffles": amount.shuffles})
    bought = Bought.of(plan, sized, job.dataset.key, question.budget, amount.trials)
    return sized.model_copy(update={"strengths": _strengths(plan, amount.trials, job)}), bought


def _strengths(plan: Plan, trials: int, job: Job) -> dict[str, tuple[float, ...]]:
    """Return what is tried for each method: what was asked for, else so many of its own values.

    The reference has as many trials as the method that has most, where samples can be mixed up.
    """
    found = {}
    for each in map(Named.read, plan.methods):
        tuned = tuned_of(each, plan.method_options.get(each.name, {}))
        if tuned is not None and each.name != REFERENCE_METHOD:
            usual = (usual_strength(each.method, tuned),) if trials == 1 else fewer(tuned.values, trials)
            found[each.name] = plan.strengths.get(each.name) or usual
    most = max(map(len, found.values()), default=1)
    own = plan.strengths.get(REFERENCE_METHOD) or (fewer(MIXUP.values, most) if most > 1 else ())
    first = {REFERENCE_METHOD: own} if own and mixable(job.dataset.kind, plan.config.augment) else {}
    return {**first, **found}


def _check_mixup(plan: Plan, job: Job) -> None:
    """Refuse strengths of mixup where samples cannot be mixed up, or are already."""
    if any(plan.strengths.get(REFERENCE_METHOD, ())) and not mixable(job.dataset.kind, plan.config.augment):
        expected = "left out for one-hot labels where samples are no numbers, or are mixed up already"
        got = f"{list(plan.strengths[REFERENCE_METHOD])} for {REFERENCE_METHOD!r}"
        raise _checks.fail("compare", "strengths", expected, got)


def _with_files(plan: Plan, folder: Path, question: Question) -> Plan:
    """Return the plan with files in place of spaces and prices that were given in memory."""
    found = {}
    for name, value in (("space", question.space), ("cost", question.cost)):
        if _in_memory(value):
            found[name] = str(_file_of(name, folder))
        elif isinstance(value, Path):
            found[name] = str(value)
    return plan.model_copy(update=found)


def _in_memory(value: object) -> bool:
    return value is not None and not isinstance(value, str | Path)


def _file_of(name: str, folder: Path) -> Path:
    return folder / f"given-{name}.safetensors"
