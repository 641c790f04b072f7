"""Train every row: the trials of its strength, the choice on validation data, then all seeds, none of which chose.

Of a network that was chosen for doing well, how well it does says little: choices are made on networks of other seeds.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

from pydantic import JsonValue

from labelspace._checks import WorkError
from labelspace.comparison.cause import taken_in_turn
from labelspace.comparison.ends import FURTHER, beyond
from labelspace.comparison.entries import Entry, problem_of, shuffled_entries
from labelspace.comparison.judging import Judging, Trained
from labelspace.comparison.mixing import MIXUP, mixed
from labelspace.comparison.plan import EACH, FINALISTS, Plan
from labelspace.criteria import criterion_class
from labelspace.data.dataset import Dataset
from labelspace.results import Options, Trial
from labelspace.sweeps.executors import Executor
from labelspace.sweeps.grid import Failure, FinishedRun, RunReport, SweepError, outcomes
from labelspace.training.build import Job
from labelspace.training.config import Config, make_config
from labelspace.training.run import Run


class Told(TypedDict, total=False):
    """What is told while a comparison is made: each event has some of it.

    ``reading`` names the data, ``features`` says how many samples a frozen network has read and how long that took,
    ``measuring`` and ``tight`` name the budget, ``as_before`` the comparison whose epochs are taken, ``rehearsing`` the
    folder; ``plan`` says what will be trained, ``run`` which run is finished, ``analysis`` how many there are and how
    many of them were there already, ``unchanged`` where everything was found before, ``overrun`` how long all of it and
    the rivals took where that is more than the budget. ``split`` says which of several comes next.
    """

    data: str
    budget: str
    title: str
    folder: str
    space: str | None  # in words, as are the prices and an example of them
    cost: str
    example: str | None
    rows: list[str]
    rivals: list[str]
    left_out: list[str]  # methods, for want of a label space
    options: dict[str, Options]  # of the rows that have some
    epochs: int
    training: str  # how every model is trained, and what that was chosen from
    trials: tuple[int, int]  # of a method, the fewest and the most
    phases: dict[str, int]  # the runs of each
    runs: int
    further: int  # at most so many runs more, of strengths beyond the ends of what is tried
    phase: str  # rehearsal, reference, tuning, further, finalists, seeds, rivals, soft labels, shuffles
    done: int  # runs of the phase, samples, or splits with this one
    of: int
    seconds: float
    fitting: float  # of these seconds, those of rivals
    name: str  # of the folder of the run, or of the other comparison
    accuracy: float
    nll: float
    there: int  # runs that were finished before


Report = Callable[[str, Told], None]  # takes the event's name too


Soften = Callable[[Trained], Sequence[Entry]]  # gives the rows of a rival with soft labels


class Trainer:
    """All training of a comparison; what is finished in its folder is read, not computed.

    Args:
        plan: how to train.
        folder: of the comparison.
        judging: what choices are made by.
        dataset: the data, where it cannot be had by name.
        job: of the reference: the data as all runs are trained on.
        executor: where to compute.
        report: told of every finished run.
        known: trials that were judged before, by the name of their first run.
        elsewhere: folders of runs of other comparisons, of which finished ones are taken over.
        before: of rows that were judged before, by their labels, which strengths were tried.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        judging: Judging,
        dataset: Dataset | None,
        job: Job,
        executor: Executor | None,
        report: Report | None,
        known: Mapping[str, Trial] = MappingProxyType({}),
        elsewhere: Sequence[Path] = (),
        before: Mapping[str, Sequence[float | None]] = MappingProxyType({}),
    ) -> None:
        """Keep what all runs share."""
        self.plan, self.folder, self.judging = plan, folder, judging
        self.dataset, self.job, self.executor, self.report = dataset, job, executor, report
        self.base, self.known, self.elsewhere, self.before = plan.training(), known, elsewhere, before
        self.seeds = plan.chosen_seeds
        self.mixup = 0.0  # what suits the reference; others start from it
        self.problems: list[str] = []
        self.failures: list[Failure] = []
        self.there: dict[str, bool] = {}  # of each run, whether it was finished before

    def train(self, entries: Sequence[Entry]) -> list[Trained]:
        """Return every row that could be trained; ``problems`` says which could not, and why."""
        self._save_spaces(entries)
        tried = to_try(entries)
        trials = self._reference([entry for entry in entries if entry.role == "reference"])
        trials |= self._trials([entry for entry in tried if entry.role != "reference"])
        kept = [entry for entry in entries if entry not in tried or trials[entry.label]]
        self._check_enough({entry.role for entry in kept})
        chosen = {entry.label: _cheapest(entry, trials.get(entry.label, [])) for entry in kept}
        pairs = [(entry, seed) for entry in kept for seed in self.seeds]
        final = self.runs("seeds", [self._config(entry, chosen[entry.label], seed) for entry, seed in pairs])
        if all(run is None for run in final):
            raise SweepError(self.failures)
        runs: dict[str, list[Run | None]] = {entry.label: [] for entry in kept}
        for (entry, _), run in zip(pairs, final, strict=True):
            runs[entry.label].append(run)
        found = [self._trained(entry, trials, chosen[entry.label], runs[entry.label]) for entry in kept]
        judged = [each for each in found if each is not None]
        self._check_enough({each.entry.role for each in judged})
        self.problems += _problems(self.failures) + self._unmixed(judged)
        return judged

    def fit(self, rivals: Sequence[Entry], soft: Soften = lambda best: []) -> list[Trained]:
        """Return every rival that could be fitted; one that does not draw is fitted once, and stands for all seeds.

        Args:
            rivals: as their labels are.
            soft: gives the rows of the best of them with soft labels.
        """
        before = len(self.failures)
        judged = self._fitted(rivals, "trials of rivals", "rivals")
        able = [each for each in judged if each.entry.weighted]
        best = max(able, key=lambda each: sum(each.outcome.merits), default=None)
        judged += [] if best is None else self._fitted(soft(best), "soft labels")
        kept = {each.entry.label for each in judged}
        for failure in self.failures[before:]:
            lost = not any(entry.label in kept for entry in rivals if entry.model == failure.config.model)
            text = f"A rival was left out: {failure.reason}" if lost else _problems([failure])[0]
            self.problems += [] if text in self.problems else [text]
        return judged

    def _fitted(self, rivals: Sequence[Entry], *phases: str) -> list[Trained]:
        """Return rivals with what suits them on validation data."""
        self._save_spaces(rivals)
        trials = self._trials([entry for entry in rivals if entry.tuned], phases)
        kept = [entry for entry in rivals if not entry.tuned or trials[entry.label]]
        chosen = {entry.label: _cheapest(entry, trials.get(entry.label, [])) for entry in kept}
        count = len(self.seeds)
        pairs = [(entry, seed) for entry in kept for seed in self.seeds[: 1 if entry.once else count]]
        found = self.runs(phases[-1], [self._config(entry, chosen[entry.label], seed) for entry, seed in pairs])
        runs: dict[str, list[Run | None]] = {entry.label: [] for entry in kept}
        for (entry, _), run in zip(pairs, found, strict=True):
            runs[entry.label] += [run] * (count if entry.once else 1)
        judged = [self._trained(entry, trials, chosen[entry.label], runs[entry.label]) for entry in kept]
        return [each for each in judged if each is not None]

    def _save_spaces(self, entries: Sequence[Entry]) -> None:
        (self.folder / "spaces").mkdir(parents=True, exist_ok=True)
        for entry in entries:
            if entry.space is not None:
                entry.space.save(self._space_file(entry))

    def shuffled(self, trained: Trained) -> list[Trained]:
        """Return a row with shuffled forms of its space, each trained with some of the seeds; what failed is left out.

        Args:
            trained: one whose labels are cheaper, at the strength that was chosen.
        """
        entries = shuffled_entries(trained.entry) if trained.entry.shuffles else []
        self._save_spaces(entries)
        turns = taken_in_turn(len(entries), EACH, len(self.seeds))
        pairs = [(entry, self.seeds[place]) for entry, turn in zip(entries, turns, strict=True) for place in turn]
        found = iter(self.runs("shuffles", [self._config(entry, trained.options, seed) for entry, seed in pairs]))
        judged = []
        for entry, turn in zip(entries, turns, strict=True):
            runs = [run for run in [next(found) for _ in turn] if run is not None]
            if len(runs) == len(turn):
                outcome = self.judging.assessed(entry, trained.options, runs)
                judged.append(Trained(entry, [], trained.options, runs, outcome))
        return judged

    def _check_enough(self, roles: set[str]) -> None:
        if not {"reference", "method"} <= roles:
            reason = " ".join([*_problems(self.failures), *self.problems][:1])
            raise WorkError(f"Too many runs failed to compare anything; the finished ones are kept. {reason}")

    def _reference(self, entries: Sequence[Entry]) -> dict[str, list[Trial]]:
        """Return what was tried for the reference; how much is mixed up is then the same for all that can take it."""
        trials = self._trials([entry for entry in entries if entry.tuned], ("reference", "reference"))
        for entry in entries:
            if entry.option == MIXUP.option:
                self.mixup = entry.strength(_cheapest(entry, trials.get(entry.label, []))) or 0.0
        return trials

    def _unmixed(self, trained: Sequence[Trained]) -> list[str]:
        """Return which methods cannot use mixed labels, where others do."""
        found = [each.entry for each in trained if not criterion_class(each.entry.method).soft_targets]
        names = ", ".join(entry.label for entry in found if entry.role == "method")
        return [f"Trained without mixup, whose labels it cannot use: {names}."] if names and self.mixup else []

    def _trials(
        self, entries: Sequence[Entry], phases: Sequence[str] = ("tuning", "finalists")
    ) -> dict[str, list[Trial]]:
        """Return what was tried for every row: all strengths with one seed, the best of them with the others too.

        Where the best lies at the end of a grid, strengths further out are tried before.

        Args:
            entries: the rows.
            phases: what both are called; one alone for no others.
        """
        first, *further = self.plan.tuning_seeds[: None if len(phases) > 1 else 1]
        found: dict[str, list[Trial]] = {entry.label: [] for entry in entries}
        runs: dict[tuple[str, float | None], list[Run]] = {}
        options: list[tuple[Entry, Options]] = []
        wanted = [(entry, each) for entry in entries for each in entry.trials()]
        for phase in (phases[0], *["further"] * FURTHER):
            options += wanted
            # what does not draw says the same with the seed that is judged, and is there then
            configs = [self._config(entry, each, self.seeds[0] if entry.once else first) for entry, each in wanted]
            for (entry, each), run in zip(wanted, self.runs(phase, configs), strict=True):
                trial = None if run is None else self._trial(entry, each, [run])
                if trial is not None and run is not None:
                    found[entry.label].append(trial)
                    runs[entry.label, trial.value] = [run]
            wanted = [(entry, each) for entry in entries for each in self._further(entry, options, found[entry.label])]
        best = {label: [trial.value for trial in _ranked(each)[:FINALISTS]] for label, each in found.items()}
        finalists = [(entry, each) for entry, each in options if entry.strength(each) in best[entry.label]]
        again = [(entry, each, seed) for entry, each in finalists if not entry.once for seed in further]
        for (entry, each, _), run in zip(
            again, self.runs(phases[-1], [self._config(*every) for every in again]), strict=True
        ):
            if run is not None:
                runs[entry.label, entry.strength(each)].append(run)
        for entry, each in {id(each): (entry, each) for entry, each, _ in again}.values():
            value = entry.strength(each)
            trial = self._trial(entry, each, runs[entry.label, value])
            places = [place for place, old in enumerate(found[entry.label]) if old.value == value]
            if trial is not None:
                found[entry.label][places[0]] = trial
        return found

    def _further(self, entry: Entry, tried: Sequence[tuple[Entry, Options]], trials: list[Trial]) -> list[Options]:
        """Return what lies beyond the end at which the best strength of a row is; nothing where none is or may be.

        What was judged before has been tried further out where it had to be: its trials have other seeds by now.
        """
        values = [
            value for other, each in tried if other is entry for value in [entry.strength(each)] if value is not None
        ]
        if not entry.extends or not trials:
            return []
        trials.sort(key=lambda trial: trial.value or 0.0)  # of equals the weakest is the best
        before = self.before.get(entry.label)
        ends = [_ranked(trials)[0].value] if before is None else [min(values), max(values)]
        found = [beyond(values, end) for end in ends if end is not None]
        kept = [value for value in found if value is not None and (before is None or value in before)]
        options = [entry.at(value) for value in kept]
        mine = entry.takes == "method"
        return [each for each in options if not mine or problem_of(entry, each, self.plan, self.job) is None]

    def _trained(
        self, entry: Entry, trials: dict[str, list[Trial]], options: Options, runs: Sequence[Run | None]
    ) -> Trained | None:
        """Return a row of which no seed is missing, judged."""
        present = [run for run in runs if run is not None]
        if len(present) < len(self.seeds):
            return None
        tried = trials.get(entry.label) or [trial for trial in [self._trial(entry, options, present[:1])] if trial]
        if not tried:
            return None
        return Trained(entry, tried, options, present, self.judging.assessed(entry, options, present))

    def runs(self, phase: str, configs: Sequence[Config]) -> list[Run | None]:
        """Return the runs; None for one that failed, which is noted, not fatal: a strength may be too much."""
        if not configs:
            return []
        found = outcomes(
            configs,
            self.folder / "runs",
            dataset=self.dataset,
            job=self.job,
            executor=self.executor,
            report=self._reporter(phase),
            elsewhere=self.elsewhere,
        )
        wanted = self.job.config.data_key
        if any(isinstance(each, Run) and each.config.data_key != wanted for each in found):
            raise WorkError("The data changed while they were compared. Run the same command again.")
        self.failures += [each for each in found if isinstance(each, Failure)]
        return [None if isinstance(each, Failure) else each for each in found]

    def _reporter(self, phase: str) -> RunReport:
        def tell(event: str, run: FinishedRun) -> None:
            self.there.setdefault(run["name"], run["there"])
            if self.report is None:
                return
            told: Told = {"phase": phase, "done": run["done"], "of": run["of"], "name": run["name"]}
            if "accuracy" in run:
                told["accuracy"] = run["accuracy"]
            if "nll" in run:
                told["nll"] = run["nll"]
            self.report(event, told)

        return tell

    def _config(self, entry: Entry, options: Options, seed: int) -> Config:
        space = None if entry.space is None else str(self._space_file(entry))
        moved = () if entry.takes == "method" or entry.option is None else (entry.option,)
        own = {name: value for name, value in options.items() if name not in moved}
        if entry.model is not None:  # which sees every sample once, as it is
            settings = {**entry.settings, **{name: options[name] for name in moved}}
            base = {**self.base, "model": entry.model, "model_options": settings, "augment": []}
        else:
            share = entry.strength(options) if moved else self.mixup
            taken = criterion_class(entry.method).soft_targets
            augment: list[JsonValue] = [*mixed(self.plan.config.augment, share if share and taken else 0.0)]
            base = {**self.base, "augment": augment}
        return make_config(**base, method=entry.method, method_options=own, space=space, seed=seed)

    def _space_file(self, entry: Entry) -> Path:
        return self.folder / "spaces" / entry.file

    def _trial(self, entry: Entry, options: Options, runs: Sequence[Run]) -> Trial | None:
        """Return what runs say of a strength; None where they cannot be judged, which is noted."""
        first = runs[0].folder
        assert first is not None
        known = self.known.get(first.name)
        if known is not None and len(runs) <= known.seeds:  # finalists were judged with further seeds
            return known
        try:
            return self.judging.assessed(entry, options, runs).trial(entry.strength(options), runs)
        except ValueError as error:  # targets of this strength that cannot be inverted
            self.problems.append(f"{entry.label} ({options}) cannot be judged: {error}")
            return None


def to_try(entries: Sequence[Entry]) -> list[Entry]:
    """Return the rows that are tried before they are judged: where there is a choice of strengths.

    Where some method has one, all methods are tried, since the winner among them is chosen on these trials.
    """
    some = any(entry.tuned for entry in entries)
    several = sum(entry.role == "method" for entry in entries) > 1
    return [entry for entry in entries if entry.tuned or (some and several and entry.role == "method")]


def _ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials, those of most seeds first, of these the best on validation data; of equals the weakest."""
    return sorted(trials, key=lambda trial: (-trial.seeds, -trial.merit))


def _cheapest(entry: Entry, trials: Sequence[Trial]) -> Options:
    """Return the options that were chosen; those of the only trial where there was no choice."""
    if not trials:
        return entry.trials()[0]
    return entry.at(_ranked(trials)[0].value)


def _problems(failures: Sequence[Failure]) -> list[str]:
    """Return what failed and why, one sentence for all seeds that failed in the same way."""
    seeds: dict[tuple[str, str], list[int]] = {}
    for failure in failures:
        config = failure.config
        options = ", ".join(f"{name} {_shown(value)}" for name, value in config.method_options.items())
        what = f"{config.method}{f' ({options})' if options else ''}"
        seeds.setdefault((what, failure.reason), []).append(config.seed)
    return [
        f"{what}, {'seed' if len(each) == 1 else 'seeds'} {', '.join(map(str, each))}, failed: {reason}"
        for (what, reason), each in seeds.items()
    ]


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else json.dumps(value)
