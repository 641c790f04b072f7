"""One line of the table of a comparison."""

from labelspace.results.parts import (
    Change,
    Control,
    Listed,
    Numbers,
    Options,
    Part,
    Role,
    RunName,
    Strength,
    Trial,
    merit,
)
from labelspace.results.texts import Quality


class Row(Part):
    """One line of the table: a method or a control at its chosen strength, or a model that was trained elsewhere.

    Args:
        label: how it is shown.
        method: its registry name; empty for scores that were made elsewhere.
        role: reference, method, control, rival (a classifier that is no network), ensemble (several models as
            one: all seeds of a row, or one of each row alike), or constant: what decides the same of every sample.
        of: whose control it is, or whose seeds; None of models of several rows, which ``runs`` names.
        control: shuffled; random in results of earlier versions.
        structured: whether it has a label space that says something about the classes.
        strength: what was tuned.
        trials: what was tried, on validation data.
        runs: names of its runs, one per seed.
        temperatures: one per seed.
        calibrations: what each seed's probabilities have beside the temperature, as ``Decision.calibration`` takes it,
            None where that is nothing; None where no seed has anything.
        validation_cost: under the headline rule, mean over seeds.
        argmax: its numbers when the likeliest class is called; of sequences those of single tokens, each wrong one
            costing 1, and of whole texts by other measures.
        min_cost: its numbers when the class of least expected cost is called; None where mistakes cost the same.
        ece: calibration error of the model's own probabilities.
        ece_after: the same after temperature.
        nll_after: negative log-likelihood after temperature.
        risk_coverage: area under risk–coverage.
        change: relative change of the cost against the reference, or the difference in points of the measure.
        p_value: of no change at all.
        p_holm: the same, corrected for the number of methods.
        marked: whether the change excludes zero after that correction.
        winner: the best method on validation data, by cost or by the measure, chosen on networks that are not judged
            where there were any.
        inverted: whether its probabilities had a known smoothing undone.
        options: what its method was given beside the strength.
        quality: of sequences, the measure on test data.
        validation_quality: the same on validation data, mean over seeds.
    """

    label: str
    method: str = ""
    role: Role
    of: str | None
    control: Control | None
    structured: bool = False
    strength: Strength | None
    trials: Listed[Trial]
    runs: Listed[RunName] = ()
    temperatures: Listed[float] | None = None
    calibrations: Listed[Options | None] | None = None
    validation_cost: float | None = None
    argmax: Numbers
    min_cost: Numbers | None
    ece: float | None = None
    ece_after: float | None
    nll_after: float | None = None
    risk_coverage: float | None = None
    change: Change | None = None
    p_value: float | None = None
    p_holm: float | None = None
    marked: bool = False
    winner: bool = False
    inverted: bool = False
    options: Options = {}
    quality: Quality | None = None
    validation_quality: float | None = None

    @property
    def merit(self) -> float:
        """What rows are chosen by, on validation data: the largest is the best."""
        return merit(self.validation_cost, self.validation_quality)

    @property
    def tried_merit(self) -> float | None:
        """The same of the trials of its strength, on networks that are not judged; None where there were none."""
        value = None if self.strength is None else self.strength.value
        chosen = next((trial for trial in self.trials if trial.value == value), None)
        return None if chosen is None or chosen.run is None or chosen.run in self.runs else chosen.merit

    @property
    def headline(self) -> Numbers:
        """The numbers under the rule that the comparison is about."""
        return self.argmax if self.min_cost is None else self.min_cost

    def under(self, rule: str) -> Numbers | None:
        """Return the numbers under a decision rule."""
        return self.argmax if rule == "argmax" else self.min_cost

    @property
    def mixed(self) -> bool:
        """Whether it is models of several rows as one, and not the seeds of one."""
        return self.role == "ensemble" and self.of is None

    @property
    def shown(self) -> str:
        """How a sentence begins that speaks of it."""
        if self.role == "control":
            return f"{self.of or self.method} with shuffled classes"
        return self.spoken[0].upper() + self.spoken[1:] if self.spoken != self.label else self.label

    @property
    def spoken(self) -> str:
        """How a sentence speaks of it: a method by its labels, a model that was trained elsewhere by its name."""
        if self.mixed:
            return f"the {self.label} models"
        if self.role == "ensemble":
            return f"{self.label} averaged"
        if not self.method or self.role == "rival":
            return self.label
        name, tuned, _ = self.label.partition(", tuned")
        return f"{'tuned ' if tuned else ''}{name} labels"
