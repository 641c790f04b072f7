"""Train every row: the trials of its strength on one seed, the choice on validation data, then all seeds."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from labelspace.comparison.entries import Entry
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.plan import Plan
from labelspace.data.dataset import Dataset
from labelspace.engine.config import Config, make_config
from labelspace.engine.executors import Executor
from labelspace.engine.run import Run
from labelspace.engine.sweep import Failure, SweepError, outcomes

Report = Callable[[str, dict[str, Any]], None]
TUNING_SEED = 0
INVERTIBLE = ("uniform", "semantic", "mixed")  # their targets are fixed: (1−σ)·I + σ·A
# what a plan says about the training of every run
SHARED = (
    "data",
    "data_options",
    "limit",
    "model",
    "model_options",
    "backbone",
    "epochs",
    "batch_size",
    "learning_rate",
    "optimiser",
    "schedule",
    "weight_decay",
    "augment",
)


class Trial(NamedTuple):
    """One strength, tried on the tuning seed."""

    value: float | None
    validation_cost: float
    validation_accuracy: float
    temperature: float
    run: str


class Trained(NamedTuple):
    """A row's trials, the options that were chosen, and its runs, one per seed."""

    entry: Entry
    trials: list[Trial]
    options: dict[str, float]
    runs: list[Run]
    outcome: Outcome


class Trainer:
    """All training of a comparison; what is finished in its folder is read, not computed.

    Args:
        plan: how to train.
        folder: of the comparison.
        judge: what choices are made by.
        dataset: the data, where it cannot be had by name.
        executor: where to compute.
        report: told of every finished run.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        judge: Judge,
        dataset: Dataset | None,
        executor: Executor | None,
        report: Report | None,
    ) -> None:
        """Keep what all runs share."""
        self.plan, self.folder, self.judge = plan, folder, judge
        self.dataset, self.executor, self.report = dataset, executor, report
        self.base = {name: getattr(plan, name) for name in SHARED}
        self.problems: list[str] = []

    def train(self, entries: Sequence[Entry]) -> list[Trained]:
        """Return every row that could be trained; ``problems`` says which could not, and why."""
        (self.folder / "spaces").mkdir(parents=True, exist_ok=True)
        for entry in entries:
            if entry.space is not None:
                entry.space.save(self._space_file(entry))
        trials = self._trials(entries)
        tuned = [entry for entry in entries if trials[entry.label]]
        chosen = {entry.label: _cheapest(entry, trials[entry.label]) for entry in tuned}
        pairs = [(entry, seed) for entry in tuned for seed in range(self.plan.seeds)]
        final = self._runs("seeds", [self._config(entry, chosen[entry.label], seed) for entry, seed in pairs])
        found = []
        for number, entry in enumerate(tuned):
            runs = [run for run in final[number * self.plan.seeds :][: self.plan.seeds] if run is not None]
            if len(runs) == self.plan.seeds:
                outcome = self._outcome(entry, chosen[entry.label], runs)
                found.append(Trained(entry, trials[entry.label], chosen[entry.label], runs, outcome))
        if not {"reference", "method"} <= {each.entry.role for each in found}:
            reason = " ".join(self.problems[:1])
            raise RuntimeError(f"Too many runs failed to compare anything; the finished ones are kept. {reason}")
        return found

    def _trials(self, entries: Sequence[Entry]) -> dict[str, list[Trial]]:
        """Return what was tried for every row; the runs themselves are let go, only their numbers are needed."""
        options = [(entry, each) for entry in entries for each in entry.trials()]
        tried = self._runs("tuning", [self._config(entry, each, TUNING_SEED) for entry, each in options])
        found: dict[str, list[Trial]] = {entry.label: [] for entry in entries}
        for (entry, each), run in zip(options, tried, strict=True):
            if run is None:
                continue
            try:
                found[entry.label].append(self._trial(entry, each, run))
            except ValueError as error:  # targets of this strength that cannot be inverted
                self.problems.append(f"{entry.label} ({each}) cannot be judged: {error}")
        return found

    def _runs(self, phase: str, configs: Sequence[Config]) -> list[Run | None]:
        """Return the runs; None for one that failed, which is noted, not fatal: a strength may be too much."""
        found = outcomes(
            configs,
            self.folder / "runs",
            dataset=self.dataset,
            executor=self.executor,
            report=self._reporter(phase),
        )
        failures = [each for each in found if isinstance(each, Failure)]
        if len(failures) == len(found):
            raise SweepError(failures)
        self.problems += [_problem(failure) for failure in failures]
        return [None if isinstance(each, Failure) else each for each in found]

    def _reporter(self, phase: str) -> Report | None:
        report = self.report
        return None if report is None else lambda event, numbers: report(event, {"phase": phase, **numbers})

    def _config(self, entry: Entry, options: dict[str, float], seed: int) -> Config:
        space = None if entry.space is None else str(self._space_file(entry))
        return make_config(**self.base, method=entry.method, method_options=options, space=space, seed=seed)

    def _space_file(self, entry: Entry) -> Path:
        return self.folder / "spaces" / f"{entry.label.replace(' ', '-')}.safetensors"

    def _trial(self, entry: Entry, options: dict[str, float], run: Run) -> Trial:
        outcome = self._outcome(entry, options, [run])
        assert run.folder is not None
        value = None if entry.option is None else options[entry.option]
        accuracy = run.result["validation"]["accuracy"]
        return Trial(value, outcome.validation_cost, accuracy, outcome.temperatures[0], run.folder.name)

    def _outcome(self, entry: Entry, options: dict[str, float], runs: Sequence[Run]) -> Outcome:
        targets = None
        if self.judge.inverted and entry.option == "smoothing" and entry.method in INVERTIBLE:
            targets = runs[0].space.relations().targets(options["smoothing"])
        return Outcome([scores_of(run) for run in runs], self.judge, targets)


def scores_of(run: Run) -> Scores:
    """Return what a run said of validation and test data."""
    found = run.scores
    return Scores(found["validation_scores"], found["validation_y"], found["test_scores"], found["test_y"])


def _cheapest(entry: Entry, trials: Sequence[Trial]) -> dict[str, float]:
    """Return the options of the trial of least validation cost; of equals, the weakest."""
    best = min(trials, key=lambda trial: trial.validation_cost)
    return {} if entry.option is None or best.value is None else {entry.option: best.value}


def _problem(failure: Failure) -> str:
    config = failure.config
    options = ", ".join(f"{name} {value:g}" for name, value in config.method_options.items())
    return f"{config.method}{f' ({options})' if options else ''}, seed {config.seed}, failed: {failure.reason}"
