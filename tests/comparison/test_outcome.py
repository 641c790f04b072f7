"""From scores to numbers, beside plain numpy in float64; and test scores that no choice looks at."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

import labelspace
from labelspace.comparison.outcome import Judge, Outcome, Scores
from labelspace.comparison.rows import make_row
from labelspace.decisions.choosing import Calibration
from labelspace.results import Row

Array = NDArray[np.float64]
CLASSES, VALIDATION, TEST, SEEDS = 5, 150, 210, 3
RULES = ("argmax", "min_cost")


def squared() -> Array:
    ranks = np.arange(CLASSES, dtype=np.float64)
    return (ranks[:, None] - ranks[None, :]) ** 2


def lopsided() -> Array:
    prices = np.random.default_rng(1).uniform(0.5, 9, (CLASSES, CLASSES))
    np.fill_diagonal(prices, 0)
    return prices


class Part(NamedTuple):
    scores: Array
    y: NDArray[np.int64]


def part(samples: int, seed: int) -> Part:
    """Return overconfident scores of a model that often takes a class for its neighbour."""
    chance = np.random.default_rng(seed)
    y = np.random.default_rng(samples).integers(CLASSES, size=samples)  # the same samples for every seed
    guess = y + chance.normal(0, 1.2, samples)
    scores = -2.5 * (np.arange(CLASSES) - guess[:, None]) ** 2 + chance.normal(0, 0.5, (samples, CLASSES))
    return Part(scores, y)


def seeds() -> list[tuple[Part, Part]]:
    return [(part(VALIDATION, seed), part(TEST, 100 + seed)) for seed in range(SEEDS)]


def scores_of(pairs: list[tuple[Part, Part]]) -> list[Scores]:
    return [
        Scores(*(torch.from_numpy(array) for array in (left.scores, left.y, right.scores, right.y)))
        for left, right in pairs
    ]


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def nll(scores: Array, y: NDArray[np.int64], log_temperature: float) -> float:
    return float(-np.log(softmax(scores / np.exp(log_temperature))[np.arange(len(y)), y]).mean())


def temperature(data: Part) -> float:
    found = minimize_scalar(
        lambda x: nll(data.scores, data.y, x), bounds=(-5, 5), method="bounded", options={"xatol": 1e-10}
    )
    return float(np.exp(found.x))


def called(data: Part, rule: str, tau: float, prices: Array) -> NDArray[np.int64]:
    if rule == "argmax":
        return data.scores.argmax(axis=1)
    return (softmax(data.scores / tau) @ prices).argmin(axis=1)


@pytest.mark.parametrize("prices", [squared(), lopsided()])
def test_numbers_beside_numpy(prices: Array) -> None:
    pairs = seeds()
    outcome = Outcome(scores_of(pairs), Judge(torch.from_numpy(prices), priced=True))
    taus = [temperature(validation) for validation, _ in pairs]
    np.testing.assert_allclose(outcome.temperatures, taus, rtol=1e-5)
    assert min(taus) > 1.2  # the reference is no trivial one
    for rule in RULES:
        decisions = [called(test, rule, tau, prices) for tau, (_, test) in zip(taus, pairs, strict=True)]
        for found, expected in zip(outcome.decisions(rule), decisions, strict=True):
            np.testing.assert_array_equal(found.numpy(), expected)
        costs = np.stack([prices[test.y, each] for each, (_, test) in zip(decisions, pairs, strict=True)])
        right = np.stack([each == test.y for each, (_, test) in zip(decisions, pairs, strict=True)])
        np.testing.assert_allclose(outcome.costs(rule).numpy(), costs)
        np.testing.assert_array_equal(outcome.right(rule).numpy(), right)
        numbers = outcome.numbers(rule)
        assert numbers == pytest.approx({"cost": costs.mean(), "accuracy": right.mean()})
    chosen = [
        prices[validation.y, called(validation, "min_cost", tau, prices)].mean()
        for tau, (validation, _) in zip(taus, pairs, strict=True)
    ]
    assert outcome.validation_cost == pytest.approx(np.mean(chosen))


def test_decisions_differ_where_it_matters() -> None:
    outcome = Outcome(scores_of(seeds()), Judge(torch.from_numpy(lopsided()), priced=True))
    numbers = {rule: outcome.numbers(rule) for rule in RULES}
    assert numbers["min_cost"]["cost"] < numbers["argmax"]["cost"]
    assert numbers["min_cost"]["accuracy"] < numbers["argmax"]["accuracy"]


def test_without_prices_choices_are_made_by_the_likeliest_class() -> None:
    pairs = seeds()
    outcome = Outcome(scores_of(pairs), Judge(1 - torch.eye(CLASSES).double(), priced=False))
    wrong = [(validation.scores.argmax(axis=1) != validation.y).mean() for validation, _ in pairs]
    assert outcome.judge.rule == "argmax"
    assert outcome.validation_cost == pytest.approx(np.mean(wrong))


def test_calibration_beside_numpy() -> None:
    pairs = seeds()
    outcome = Outcome(scores_of(pairs), Judge(torch.from_numpy(squared()), priced=True))
    found = outcome.calibration()
    taus = [temperature(validation) for validation, _ in pairs]
    before = [softmax(test.scores) for _, test in pairs]
    after = [softmax(test.scores / tau) for tau, (_, test) in zip(taus, pairs, strict=True)]
    ys = [test.y for _, test in pairs]
    likelihood = [-np.log(p[np.arange(TEST), y]).mean() for p, y in zip(after, ys, strict=True)]
    assert found["nll_after"] == pytest.approx(np.mean(likelihood), rel=1e-5)
    assert found["ece"] == pytest.approx(np.mean([error(p, y) for p, y in zip(before, ys, strict=True)]), rel=1e-4)
    assert found["ece_after"] == pytest.approx(np.mean([error(p, y) for p, y in zip(after, ys, strict=True)]), rel=1e-4)
    assert found["ece_after"] < found["ece"]
    areas = [area(p @ squared(), y) for p, y in zip(after, ys, strict=True)]
    assert found["risk_coverage"] == pytest.approx(np.mean(areas), rel=1e-5)


def error(p: Array, y: NDArray[np.int64]) -> float:
    """Return the gap between confidence and accuracy in fifteen bins, weighted by their samples."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    places = np.ceil(confidence * 15).astype(int)
    return float(
        sum(abs(right[places == b].mean() - confidence[places == b].mean()) * (places == b).mean() for b in set(places))
    )


def area(expected: Array, y: NDArray[np.int64]) -> float:
    """Return the mean cost of the n cheapest-looking decisions, averaged over n."""
    decided = expected.argmin(axis=1)
    order = np.argsort(expected.min(axis=1), kind="stable")
    paid = squared()[y, decided][order]
    return float((paid.cumsum() / np.arange(1, len(paid) + 1)).mean())


def garbled(scores: Scores) -> Scores:
    generator = torch.Generator().manual_seed(3)
    return scores._replace(
        test=100 * torch.randn(scores.test.shape, generator=generator).double(),
        test_y=torch.randint(CLASSES, scores.test_y.shape, generator=generator),
    )


@pytest.mark.parametrize("priced", [True, False])
def test_test_samples_influence_no_choice(priced: bool) -> None:
    judge = Judge(torch.from_numpy(lopsided()), priced)
    plain = scores_of(seeds())
    honest, other = Outcome(plain, judge), Outcome([garbled(each) for each in plain], judge)
    assert honest.temperatures == other.temperatures
    assert honest.validation_cost == other.validation_cost
    assert honest.numbers("argmax") != other.numbers("argmax")


def test_inverted_probabilities_beside_numpy() -> None:
    targets = labelspace.ordinal(CLASSES).targets(0.3).double()
    chance = np.random.default_rng(5)
    truth = softmax(2 * chance.normal(size=(VALIDATION + TEST, CLASSES)))
    y = np.array([chance.choice(CLASSES, p=p) for p in truth])
    scores = np.log(truth @ targets.numpy())  # what a model says that has learned smoothed labels perfectly
    parts = Part(scores[:VALIDATION], y[:VALIDATION]), Part(scores[VALIDATION:], y[VALIDATION:])
    judge = Judge(torch.from_numpy(squared()), priced=True, inverted=True)
    outcome = Outcome(scores_of([parts]), judge, targets)
    expected = softmax(np.log(truth) / outcome.temperatures[0])[VALIDATION:]
    np.testing.assert_allclose(outcome.probabilities[0].numpy(), expected, atol=1e-6)
    assert outcome.temperatures[0] == pytest.approx(1, abs=0.25)
    # nothing is inverted in what is called without prices
    np.testing.assert_array_equal(outcome.decisions("argmax")[0].numpy(), parts[1].scores.argmax(axis=1))


def test_numbers_that_belong_to_the_classes() -> None:
    tree = labelspace.tree({"left": ["a", "b"], "right": {"up": ["c", "d"], "down": ["e"]}})
    judge = Judge(torch.from_numpy(squared()), True, ranks=torch.arange(5), imbalanced=True, tree=tree)
    pairs = seeds()
    numbers = Outcome(scores_of(pairs), judge).numbers("argmax")
    assert list(numbers) == ["cost", "accuracy", "kappa", "balanced_accuracy", "level_1", "level_2", "level_3"]
    assert numbers["level_3"] == pytest.approx(numbers["accuracy"])
    side, recalls, kappas = [], [], []
    for _, test in pairs:
        predicted = test.scores.argmax(axis=1)
        side.append(((predicted < 2) == (test.y < 2)).mean())
        recalls.append(np.mean([(predicted[test.y == each] == each).mean() for each in range(CLASSES)]))
        observed = squared()[test.y, predicted].mean()
        chance = np.bincount(test.y, minlength=CLASSES) @ squared() @ np.bincount(predicted, minlength=CLASSES)
        kappas.append(1 - observed * TEST**2 / chance)
    assert numbers["level_1"] == pytest.approx(np.mean(side))
    assert numbers["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert numbers["kappa"] == pytest.approx(np.mean(kappas))


def test_actions_beside_numpy() -> None:
    table = np.column_stack([squared(), np.full(CLASSES, 0.4)])
    names = tuple(str(number) for number in range(CLASSES))
    pairs = seeds()
    judge = Judge(torch.from_numpy(table), True, names=names, actions=(*names, "ask"))
    outcome = Outcome(scores_of(pairs), judge)
    costs, right, asked = [], [], []
    for left, data in pairs:
        done = (softmax(data.scores / temperature(left)) @ table).argmin(axis=1)
        costs.append(table[data.y, done].mean())
        right.append((done == data.y)[done < CLASSES])
        asked.append(done == CLASSES)
    found = outcome.numbers("min_cost")
    assert found["cost"] == pytest.approx(np.mean(costs))
    assert found["accuracy"] == pytest.approx(np.concatenate(right).mean()), "of those that are called a class"
    np.testing.assert_array_equal(torch.stack(outcome.decisions("min_cost")).numpy() < 0, np.stack(asked))
    assert 0 < np.mean(asked) < 1
    # by argmax the class's own column is paid, as without actions
    plain = Outcome(scores_of(pairs), Judge(torch.from_numpy(squared()), True))
    assert outcome.numbers("argmax") == plain.numbers("argmax")


def test_capacity_is_kept_on_validation_data_of_every_seed() -> None:
    table = np.column_stack([squared(), np.full(CLASSES, 0.4)])
    names = tuple(str(number) for number in range(CLASSES))
    judge = Judge(torch.from_numpy(table), True, names=names, actions=(*names, "ask"), capacity={"ask": 0.04})
    outcome = Outcome(scores_of(seeds()), judge)
    for by, each in zip(outcome.deciders, outcome.scores, strict=True):
        assert 0 < int((by.decide(each.validation).actions == CLASSES).sum()) <= 0.04 * VALIDATION


def biased(samples: int, seed: int) -> Part:
    """Return scores that know the classes well and overrate the first by far, which no temperature mends."""
    y = np.random.default_rng(samples).integers(CLASSES, size=samples)
    noise = np.random.default_rng(seed).normal(size=(samples, CLASSES))
    return Part(3 * np.eye(CLASSES)[y] + 4 * np.eye(CLASSES)[0] + noise, y)


def calibrated(how: Calibration, samples: int = 400) -> Outcome:
    judge = Judge(torch.from_numpy(lopsided()), priced=True, calibration=how)
    return Outcome(scores_of([(biased(samples, seed), biased(TEST, 100 + seed)) for seed in range(2)]), judge)


def test_a_calibrator_is_chosen_on_validation_data_and_decides() -> None:
    found, plain = calibrated("auto"), calibrated("temperature")
    kinds = [each.calibrator.kind for each in found.calibrators if each.calibrator is not None]
    assert len(kinds) == 2
    assert found.temperatures == plain.temperatures
    assert plain.calibrations is None
    assert found.costs("min_cost").mean() < plain.costs("min_cost").mean()
    # beside it, argmax is still what the model itself calls the likeliest
    torch.testing.assert_close(found.costs("argmax"), plain.costs("argmax"))
    for how, by, each, p in zip(found.calibrators, found.deciders, found.scores, found.probabilities, strict=True):
        assert how.calibrator is not None
        torch.testing.assert_close(p, how.calibrator.apply(each.test / how.temperature))
        torch.testing.assert_close(by.frequencies, torch.bincount(each.validation_y).double() / len(each.validation_y))
    row = make_row(found, label="biased", role="reference").row()
    assert [each["kind"] for each in row.calibrations or () if each is not None] == kinds
    again = Row.model_validate_json(row.model_dump_json())
    assert again.calibrations == row.calibrations


def test_few_rows_leave_everything_as_a_temperature_has_it() -> None:
    few, plain = calibrated("auto", 199), calibrated("temperature", 199)
    assert few.calibrations is None
    assert few.temperatures == plain.temperatures
    for ours, theirs in zip(few.probabilities, plain.probabilities, strict=True):
        assert torch.equal(ours, theirs)
    assert torch.equal(few.costs("min_cost"), plain.costs("min_cost"))


def test_what_is_asked_for_is_taken_and_equal_prices_ask_for_a_temperature() -> None:
    few = calibrated("matrix", 60)
    assert [each.calibrator.kind for each in few.calibrators if each.calibrator is not None] == ["matrix", "matrix"]
    assert calibrated("none").temperatures == [1.0, 1.0]
    equal = Judge(1 - torch.eye(CLASSES).double(), priced=False)
    assert Outcome(few.scores, equal).calibrations is None
    with pytest.raises(labelspace.InputError, match="must be of two classes"):
        _ = calibrated("isotonic").deciders


def test_expected_beside_realised_cost() -> None:
    found = calibrated("auto")
    realised = found.realised()
    assert sum(each.samples for each in realised) == 2 * TEST
    total = sum(each.samples * (each.realised or 0) for each in realised) / (2 * TEST)
    assert total == pytest.approx(found.numbers("min_cost")["cost"])
