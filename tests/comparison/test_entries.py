"""Which rows a comparison has, and that every method gets the same number of trials."""

import inspect

import pytest
import torch

import labelspace
from labelspace.comparison.entries import (
    DEFAULT,
    Entry,
    check_methods,
    make_entries,
    shuffled_entries,
    takes_space,
)
from labelspace.comparison.plan import TRIALS
from labelspace.space import LabelSpace

NAMES = ("low", "mid", "high", "top")
WITHOUT_TEACHER = [name for name in labelspace.methods() if "teacher" not in labelspace.criterion_class(name).needs]
TUNED = [name for name in WITHOUT_TEACHER if labelspace.criterion_class(name).tuned is not None]


@pytest.fixture
def order() -> LabelSpace:
    return labelspace.ordinal(NAMES)


@pytest.fixture
def from_data() -> LabelSpace:
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    return labelspace.lda(x, torch.arange(40) % 4, names=NAMES)


def by_label(entries: list[Entry]) -> dict[str, Entry]:
    found = {entry.label: entry for entry in entries}
    assert len(found) == len(entries)  # labels are the rows' names
    return found


@pytest.mark.parametrize("methods", [[], ["uniform"], ["lls", "onehot"], ["semantic", "uniform", "onehot"], DEFAULT])
def test_one_hot_comes_first_and_once(methods: list[str]) -> None:
    found = check_methods(methods)
    assert found[0] == "onehot"
    assert found.count("onehot") == 1
    assert set(found) == {"onehot", *methods}


def test_methods_in_one_text() -> None:
    assert check_methods("uniform, lls") == ("onehot", "uniform", "lls")


@pytest.mark.parametrize(
    ("name", "near"), [("semantik", "semantic"), ("unifrom", "uniform"), ("one-hot", "onehot"), ("LLS", None)]
)
def test_an_unknown_method(name: str, near: str | None) -> None:
    with pytest.raises(ValueError, match=f"`methods` of compare must be one of .*Got '{name}'") as caught:
        check_methods(["uniform", name])
    assert near is None or f"Did you mean '{near}'?" in str(caught.value)


def test_a_teacher_is_not_to_be_had_here() -> None:
    with pytest.raises(ValueError, match=r"`methods` of compare must be methods without a teacher. Got 'kd'. Train it"):
        check_methods(["kd"])


def test_roles_and_what_is_shuffled(order: LabelSpace, from_data: LabelSpace) -> None:
    found = by_label(make_entries(check_methods(DEFAULT), order, from_data, {}, {}, 19))
    assert next(iter(found)) == "one-hot"
    assert [label for label, entry in found.items() if entry.role == "reference"] == ["one-hot"]
    assert {label: entry.shuffles for label, entry in found.items() if entry.shuffles} == {"semantic": 19}
    assert {entry.method for entry in found.values()} == set(DEFAULT)
    assert [label for label, entry in found.items() if entry.structured] == ["semantic", "mixed"]
    assert found["mixed"].space is from_data


def test_shuffled_forms_have_the_same_entries_under_wrong_names() -> None:
    space = labelspace.ordinal(5)
    entry = make_entries(["onehot", "semantic"], space, None, {}, {}, 19)[1]
    found = shuffled_entries(entry)
    assert len(found) == 19
    for each in found:
        assert each.space is not None
        assert (each.role, each.of, each.control, each.structured) == ("control", "semantic", "shuffled", False)
        assert not torch.equal(each.space.matrix, space.matrix)
        torch.testing.assert_close(each.space.matrix.flatten().sort().values, space.matrix.flatten().sort().values)
    assert len({each.space.matrix.numpy().tobytes() for each in found if each.space is not None}) == 19


def test_four_classes_have_too_few_orders_to_be_ranked() -> None:
    entry = make_entries(["onehot", "semantic"], labelspace.ordinal(4), None, {}, {}, 19)[1]
    assert shuffled_entries(entry) == []  # 4!/2 = 12 orders, one of which is the space's own
    assert len(shuffled_entries(entry._replace(shuffles=11))) == 11


def test_a_method_on_what_the_data_say_has_no_controls(from_data: LabelSpace) -> None:
    found = by_label(make_entries(["onehot", "semantic", "mixed"], None, from_data, {}))
    assert list(found) == ["one-hot", "mixed"]


def test_without_a_space_methods_that_need_one_are_left_out() -> None:
    found = by_label(make_entries(check_methods(DEFAULT), None, None, {}))
    assert {entry.method for entry in found.values()} == {
        "onehot",
        "uniform",
        "maxent",
        "lls",
        "lwal",
        "labelemb",
        "ols",
    }
    assert all(entry.space is None for entry in found.values())


def test_given_strengths_take_the_place_of_a_methods_own(order: LabelSpace) -> None:
    found = by_label(make_entries(["onehot", "uniform", "semantic"], order, None, {"semantic": (0.4, 0.6)}))
    assert found["semantic"].trials() == [{"smoothing": 0.4}, {"smoothing": 0.6}]
    assert len(found["uniform"].trials()) == TRIALS
    assert found["one-hot"].trials() == [{}]


@pytest.mark.parametrize("method", TUNED)
def test_every_strength_of_every_method_can_be_built(method: str, order: LabelSpace) -> None:
    entry = make_entries([method], order, None, {})[0]
    assert len(entry.trials()) == len(set(entry.values)) == TRIALS
    assert list(entry.values) == sorted(entry.values)
    known = inspect.signature(labelspace.criterion_class(method)).parameters
    needed = {name: value for name, value in {"samples": 9, "epochs": 2, "in_features": 3}.items() if name in known}
    labels = order if takes_space(method) else NAMES
    built = [labelspace.make_criterion(method, labels, **needed, **options) for options in entry.trials()]
    assert entry.option is not None
    kept = [float(getattr(criterion, entry.option)) for criterion in built]
    assert kept == pytest.approx(entry.values)  # each strength is one of its own, not something the method rounds away


@pytest.mark.parametrize("method", sorted(set(WITHOUT_TEACHER) - set(TUNED)))
def test_methods_with_nothing_to_tune(method: str, order: LabelSpace) -> None:
    # a method that has a strength but no trials would be compared unfairly
    assert make_entries([method], order, None, {})[0].trials() == [{}]
    assert {"smoothing", "strength", "temperature"}.isdisjoint(
        inspect.signature(labelspace.criterion_class(method)).parameters
    )


@pytest.mark.parametrize("method", DEFAULT)
def test_default_methods_have_the_same_number_of_trials(method: str, order: LabelSpace) -> None:
    expected = 1 if method == "onehot" else TRIALS
    assert len(make_entries([method], order, order, {})[0].trials()) == expected


def test_a_whole_strength_stays_whole() -> None:
    """What is written down of a trial is a float, and classifiers refuse 1.0 leaves."""
    leaves = Entry("ExtraTrees", "onehot", "rival", None, "min_samples_leaf", "leaf", (1, 2, 5))
    assert repr(leaves.at(1.0)) == "{'min_samples_leaf': 1}"
    assert repr(leaves._replace(values=(0.5, 1.0)).at(1.0)) == "{'min_samples_leaf': 1.0}"
