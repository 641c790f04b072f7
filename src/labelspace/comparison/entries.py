"""Which label methods a comparison trains: the methods asked for, and the controls of those with a structured space."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from labelspace import _checks
from labelspace.comparison.plan import TRIALS
from labelspace.criteria import criterion_class
from labelspace.criteria.registry import methods as registered
from labelspace.sources.nulls import permuted, random_like
from labelspace.space import LabelSpace

Role = Literal["reference", "method", "control"]
DEFAULT = ("onehot", "uniform", "semantic", "mixed", "lls", "lwal", "labelemb", "ols")
REFERENCE = "one-hot"
SHOWN = {"onehot": REFERENCE, "lls": "LLS", "lwal": "adaptive", "labelemb": "embedding", "ols": "OLS"}
NULL_SEED = 0  # of shuffled and random spaces


class Entry(NamedTuple):
    """One row of the comparison: a method with its label space and the strengths to try."""

    label: str
    method: str
    role: Role
    space: LabelSpace | None
    option: str | None  # the keyword argument that is tuned
    symbol: str
    values: tuple[float, ...]
    of: str | None = None
    control: Literal["shuffled", "random"] | None = None

    @property
    def structured(self) -> bool:
        """Whether its space says something about classes that a shuffled one would not."""
        return self.role == "method" and self.space is not None

    @property
    def tuned(self) -> bool:
        """Whether there is a choice of strengths."""
        return len(self.values) > 1

    def trials(self) -> list[dict[str, float]]:
        """Return the options of every trial; a method without a strength has one."""
        return [{self.option: value} for value in self.values] if self.option is not None else [{}]


def check_methods(names: Sequence[str]) -> tuple[str, ...]:
    """Return the methods to compare, one-hot first; unknown ones are refused with the nearest name."""
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    for name in names:
        _checks.choice("compare", "methods", name, registered())
        if "teacher" in criterion_class(name).needs:
            remedy = "Train it with: labelspace train … --method kd --teacher RUN."
            raise _checks.fail("compare", "methods", "methods without a teacher", repr(name), remedy)
    return tuple(dict.fromkeys(["onehot", *names]))


def takes_space(method: str) -> bool:
    """Return whether a method cannot do without a label space."""
    return criterion_class(method).looks_at_space({})


def make_entries(
    methods: Sequence[str],
    space: LabelSpace | None,
    data_space: LabelSpace | None,
    strengths: dict[str, tuple[float, ...]],
) -> list[Entry]:
    """Return the rows: the reference, the methods, and two controls for each method on the structured space.

    Args:
        methods: registry names.
        space: what is known about the classes; methods that need it are left out without it.
        data_space: what training data say about them (discriminants), for ``mixed``.
        strengths: values to try, where they are not the method's own.
    """
    found: list[Entry] = []
    for method in methods:
        own = (data_space or space) if method == "mixed" else space
        if takes_space(method) and own is None:
            continue
        found.append(_entry(method, own if takes_space(method) else None, strengths))
    controls = [control for entry in found if entry.structured and entry.space is space for control in _controls(entry)]
    return found + controls


def count_runs(entries: Sequence[Entry], seeds: int) -> int:
    """Return how many runs a comparison makes: trials on the first seed, and what the other seeds add.

    Rows whose trainings are the same, as those of a space and of its shuffled form with two classes, share their runs.
    """
    first, further = set(), {}
    for entry in entries:
        first |= {_training(entry, options) for options in entry.trials()}
        further[(_training(entry, {}), entry.values)] = seeds - 1
    return len(first) + sum(further.values())


def _training(entry: Entry, options: dict[str, float]) -> tuple[Any, ...]:
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


def _entry(method: str, space: LabelSpace | None, strengths: dict[str, tuple[float, ...]]) -> Entry:
    tuned = criterion_class(method).tuned
    label = SHOWN.get(method, method)
    role: Role = "reference" if method == "onehot" else "method"
    if tuned is None:
        return Entry(label, method, role, space, None, "", ())
    return Entry(label, method, role, space, tuned.option, tuned.symbol, strengths.get(method, tuned.values))


def _controls(entry: Entry) -> list[Entry]:
    assert entry.space is not None
    shuffled, random = permuted(entry.space, NULL_SEED), random_like(entry.space, NULL_SEED)
    control = entry._replace(role="control", of=entry.label)
    return [
        control._replace(label=f"{entry.label} shuffled", space=shuffled, control="shuffled"),
        control._replace(label=f"{entry.label} random", space=random, control="random"),
    ]
