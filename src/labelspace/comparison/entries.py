"""Which label methods a comparison trains: the methods asked for, and shuffled forms of one with a structured space."""

import inspect
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from pydantic import JsonValue

from labelspace import _checks
from labelspace.comparison.ends import FEWEST
from labelspace.comparison.mixing import MIXUP
from labelspace.comparison.plan import FINALISTS, TRIALS, Plan
from labelspace.criteria import criterion_class
from labelspace.criteria.base import Tuned
from labelspace.criteria.registry import methods as registered
from labelspace.results import Control, Options, Role
from labelspace.sources.nulls import shuffled_forms
from labelspace.space import LabelSpace
from labelspace.training.build import Job, Outline, make_learner, option_spaces
from labelspace.training.config import make_config

DEFAULT = ("onehot", "uniform", "maxent", "semantic", "mixed", "lls", "lwal", "labelemb", "ols")
REFERENCE_METHOD = "onehot"
TUNED = ", tuned"  # after the name of a reference that something was chosen for
Takes = Literal["method", "model", "augment"]


class Entry(NamedTuple):
    """One row of the comparison: a method with its label space and the strengths to try, or a rival."""

    label: str
    method: str
    role: Role
    space: LabelSpace | None
    option: str | None  # the keyword argument that is tuned
    symbol: str
    values: tuple[float, ...]
    options: Mapping[str, JsonValue] = MappingProxyType({})  # other keyword arguments, the same in every trial
    of: str | None = None
    control: Control | None = None
    model: str | None = None  # of a rival; all others have that of the plan
    settings: Mapping[str, JsonValue] = MappingProxyType({})  # of that model
    once: bool = False  # whether every seed would give the same
    takes: Takes = "method"  # which part of a configuration the strength is of
    weighted: bool = False  # of a rival, whether weights of samples make soft labels of its labels
    shuffles: int = 0  # shuffled forms of its space that are trained where it wins
    extends: bool = False  # whether strengths further out are tried where the best lies at an end: none were asked for

    @property
    def structured(self) -> bool:
        """Whether its space says something about classes that a shuffled one would not."""
        return self.role == "method" and self.space is not None

    @property
    def tuned(self) -> bool:
        """Whether there is a choice of strengths."""
        return len(self.values) > 1

    @property
    def file(self) -> str:
        """The name of the file that its space is kept in."""
        return f"{self.label.replace(' ', '-')}.safetensors"

    def strength(self, options: Mapping[str, JsonValue]) -> float | None:
        """Return the strength among options of a trial; None where there is nothing to tune."""
        value = None if self.option is None else options[self.option]
        return value if isinstance(value, int | float) else None

    def trials(self) -> list[Options]:
        """Return the options of every trial; a method without a strength has one."""
        return [self.at(value) for value in self.values] if self.option is not None else [dict(self.options)]

    def at(self, value: float | None) -> Options:
        """Return the options of one strength; None for a method that has none. Of whole numbers it is one, too."""
        if value is not None and self.values and all(isinstance(each, int) for each in self.values):
            value = int(value)  # what is written down of a trial is a float
        return dict(self.options) if self.option is None else {**self.options, self.option: value}


class Named(NamedTuple):
    """A method under the name that it has in a comparison: its own, or another for another form of it."""

    name: str
    method: str

    @classmethod
    def read(cls, text: str) -> "Named":
        """Read ``METHOD`` or ``NAME=METHOD``.

        Example:
            >>> Named.read("lls"), Named.read("forward=lls")
            (Named(name='lls', method='lls'), Named(name='forward', method='lls'))
        """
        name, equals, method = text.partition("=")
        return cls(name.strip(), method.strip()) if equals else cls(text.strip(), text.strip())

    @property
    def label(self) -> str:
        """How it is shown."""
        return criterion_class(self.method).display or self.method if self.name == self.method else self.name


def check_methods(names: Sequence[str] | str) -> tuple[str, ...]:
    """Return the methods to compare, one-hot first; unknown ones are refused with the nearest name."""
    listed = names.split(",") if isinstance(names, str) else list(names)
    found: dict[str, Named] = {REFERENCE_METHOD: Named(REFERENCE_METHOD, REFERENCE_METHOD)}
    for text in listed:
        each = Named.read(text)
        _checks.choice("compare", "methods", each.method, registered())
        if "teacher" in criterion_class(each.method).needs:
            remedy = "Train it with: labelspace train … --method kd --teacher RUN."
            raise _checks.fail("compare", "methods", "methods without a teacher", repr(each.method), remedy)
        if found.setdefault(each.name, each) != each:
            raise _checks.fail("compare", "methods", "of different names", f"{each.name!r} twice")
        if each.name != each.method and (each.name in registered() or not re.fullmatch(r"\w[\w.+-]*", each.name)):
            expected = "NAME=METHOD with a name of letters, digits, -, + and . that no method has"
            raise _checks.fail("compare", "methods", expected, repr(text.strip()))
    return tuple(each.name if each.name == each.method else "=".join(each) for each in found.values())


def takes_space(method: str) -> bool:
    """Return whether a method cannot do without a label space."""
    return criterion_class(method).looks_at_space({})


def to_tune(method: str, options: Mapping[str, object]) -> Tuned | None:
    """Return the strength that can be tuned beside these options; None where there is none, or none with an effect.

    Example:
        >>> to_tune("labelemb", {"pretrained": "labels.safetensors"}), to_tune("focal", {"gamma": "flsd53"})
        (None, None)
    """
    tuned = criterion_class(method).tuned
    if tuned is None or options.get(tuned.option) in tuned.words:
        return None
    return None if any(options.get(name) is not None for name in tuned.idle_with) else tuned


def tuned_of(each: Named, options: Mapping[str, object]) -> Tuned | None:
    """Return what can be tuned of a row: of the reference how much is mixed up, of others see ``to_tune``."""
    return MIXUP if each.name == REFERENCE_METHOD else to_tune(each.method, options)


def usual_strength(method: str, tuned: Tuned) -> float:
    """Return the strength of a method where none is tried: its own default, else one from the middle.

    Example:
        >>> usual_strength("uniform", to_tune("uniform", {}))
        0.1
    """
    own = inspect.signature(criterion_class(method)).parameters[tuned.option].default
    return float(own) if isinstance(own, int | float) else fewer(tuned.values, 1)[0]


def make_entries(
    methods: Sequence[str],
    space: LabelSpace | None,
    data_space: LabelSpace | None,
    strengths: Mapping[str, tuple[float, ...]],
    options: Mapping[str, Mapping[str, JsonValue]] = MappingProxyType({}),
    shuffles: int = 0,
    rehearsed: bool = False,
) -> list[Entry]:
    """Return the rows: the reference and the methods.

    Args:
        methods: as ``check_methods`` returns them.
        space: what is known about the classes; methods that need it are left out without it.
        data_space: what training data say about them (discriminants), for ``mixed``.
        strengths: values to try, where they are not the method's own, by the name of the method.
        options: further options, by the name of the method.
        shuffles: forms of the structured space to train where a method on it wins.
        rehearsed: whether how to train is chosen for the reference.
    """
    found: list[Entry] = []
    for each in map(Named.read, methods):
        own = (data_space or space) if criterion_class(each.method).space_from_data else space
        chosen = options.get(each.name, {})
        # methods that can do without one look at a space to know the nearest classes, or not at all beside a matrix
        used = criterion_class(each.method).looks_at_space(chosen)
        if used and takes_space(each.method) and own is None:
            continue
        entry = _entry(each, own if used else None, strengths, chosen)
        found.append(entry._replace(shuffles=shuffles) if entry.structured and entry.space is space else entry)
    if found[0].role == "reference" and (rehearsed or found[0].tuned):
        found[0] = found[0]._replace(label=f"{found[0].label}{TUNED}")
    check_labels(found)
    return found


def check_labels(entries: Sequence[Entry]) -> None:
    """Refuse rows that would be shown, or kept in files, under one name; some file systems know no capitals."""
    known: set[str] = set()
    for entry in entries:
        if entry.file.lower() in known:
            raise _checks.fail("compare", "methods", "of names that no other row is shown by", repr(entry.label))
        known.add(entry.file.lower())


def count_runs(entries: Sequence[Entry], tried: Sequence[Entry], plan: Plan) -> int:
    """Return how many runs a comparison makes: trials with one seed, the best of them with further ones, all seeds.

    Rows whose trainings are the same, as those of a space and of its shuffled form with two classes, share their runs.

    Args:
        entries: all of them.
        tried: those with trials.
        plan: how many seeds there are of each kind.
    """
    first, further = set(), {}
    for entry in entries:
        same = (_training(entry, entry.options), entry.values)
        further[same] = len(plan.chosen_seeds)
        if entry in tried:
            first |= {_training(entry, options) for options in entry.trials()}
            further[same] += (plan.tuning - 1) * min(FINALISTS, len(entry.trials()))
    return len(first) + sum(further.values())


def _training(entry: Entry, options: Mapping[str, object]) -> tuple[object, ...]:
    """Return what tells one training from another."""
    space = entry.space
    content = None if space is None else (space.names, space.kind, space.matrix.numpy().tobytes())
    return entry.method, repr(sorted(options.items())), content


def fewer(values: Sequence[float], count: int = TRIALS) -> tuple[float, ...]:
    """Return ``count`` of the values, spread over all of them.

    Example:
        >>> fewer((0.1, 0.2, 0.3, 0.5, 0.7), 3)
        (0.1, 0.3, 0.7)
    """
    if count >= len(values):
        return tuple(values)
    if count == 1:
        return (values[len(values) // 2],)
    return tuple(values[round(place * (len(values) - 1) / (count - 1))] for place in range(count))


def _entry(
    each: Named, space: LabelSpace | None, strengths: Mapping[str, tuple[float, ...]], options: Mapping[str, JsonValue]
) -> Entry:
    tuned = tuned_of(each, options)
    role: Role = "reference" if each.name == REFERENCE_METHOD else "method"
    entry = Entry(each.label, each.method, role, space, None, "", (), options)
    if role == "reference":
        entry = entry._replace(takes="augment")
    if tuned is None or (role == "reference" and not any(strengths.get(each.name, ()))):  # 0 alone mixes nothing
        return entry
    values = strengths.get(each.name, tuned.values)
    entry = entry._replace(option=tuned.option, symbol=tuned.symbol, values=values)
    # a plan holds what is usual beside what was asked for: other values are what was asked for
    return entry._replace(extends=len(values) >= FEWEST and values == fewer(tuned.values, len(values)))


def shuffled_entries(entry: Entry) -> list[Entry]:
    """Return the rows that a structured one is ranked among; none where its space has too few shuffled forms.

    Args:
        entry: with a space of its own.
    """
    assert entry.space is not None
    forms = shuffled_forms(entry.space, entry.shuffles)
    if len(forms) < entry.shuffles:
        return []
    control = entry._replace(role="control", of=entry.label, control="shuffled", shuffles=0)
    return [
        control._replace(label=f"{entry.label} shuffled #{number}", space=form) for number, form in enumerate(forms, 1)
    ]


def buildable(entries: Sequence[Entry], plan: Plan, job: Job) -> tuple[list[Entry], list[str]]:
    """Return the entries without the strengths that their options rule out, and why these cannot be tried.

    Options with which a method cannot be built at all are refused, before anything is trained.
    """
    kept, problems = [], []
    for entry in entries:
        # of sequences the method itself may be impossible, whatever its strength
        tried = entry.trials() if entry.options else entry.trials()[:1] if job.dataset.kind == "sequences" else []
        found = [problem_of(entry, options, plan, job) for options in tried] or [None]
        errors = [error for error in found if error is not None]
        if len(errors) == len(found):
            raise errors[0]
        if errors:
            lost = [value for value, error in zip(entry.values, found, strict=True) if error is not None]
            values = tuple(value for value in entry.values if value not in lost)
            shown = ", ".join(f"{value:g}" for value in lost)
            problems.append(f"{entry.label} was not tried with {entry.symbol} = {shown}: {errors[0]}")
            entry = entry._replace(values=values)
        kept.append(entry)
    return kept, problems


def problem_of(entry: Entry, options: Options, plan: Plan, job: Job) -> Exception | None:
    """Return why a method cannot be built with these options; None where it can.

    Args:
        entry: the row.
        options: of one trial.
        plan: how it would be trained.
        job: the data.
    """
    own = {name: value for name, value in options.items() if entry.takes == "method" or name != entry.option}
    config = make_config(**plan.training(), method=entry.method, method_options=own)
    config = config.model_copy(update={"model": job.config.model})
    try:
        make_learner(config, Outline.of(job.dataset), entry.space, option_spaces(config, job.dataset))
    except (ValueError, TypeError) as error:
        return error
    return None
