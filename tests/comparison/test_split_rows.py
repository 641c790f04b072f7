"""Changes over splits against the equations of Nadeau and Bengio, written out; and which rows are the same."""

import numpy as np
import pytest
from scipy import stats

from labelspace.comparison.split_rows import Counted, change_over
from labelspace.results import Result
from split_results import COSTS, of_splits

SHARE = 0.25


def corrected(label: str, level: float) -> tuple[float, float, float]:
    """Return the interval and the p-value of a change, Nadeau and Bengio's equation written out."""
    mine, reference = np.array(COSTS[label]), np.array(COSTS["one-hot"])
    parts = [(one - other) / reference.mean() for one, other in zip(mine, reference, strict=True)]
    count, mean = len(parts), sum(parts) / len(parts)
    variance = (1 / count + SHARE) * sum((part - mean) ** 2 for part in parts) / (count - 1)
    half = stats.t.ppf((1 + level) / 2, count - 1) * np.sqrt(variance)
    p_value = 2 * stats.t.sf(abs(mean) / np.sqrt(variance), count - 1)
    return float(mean - half), float(mean + half), float(p_value)


@pytest.mark.parametrize("label", ["uniform", "LLS", "SVC"])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_is_that_of_nadeau_and_bengio(label: str, level: float) -> None:
    found = change_over(COSTS[label], COSTS["one-hot"], SHARE, level)
    assert found is not None
    assert found.estimate == pytest.approx(np.mean(COSTS[label]) / np.mean(COSTS["one-hot"]) - 1)
    assert (found.low, found.high, found.p_value) == pytest.approx(corrected(label, level))


def test_interval_and_p_value_never_contradict_each_other() -> None:
    generator = np.random.default_rng(0)
    excluded = 0
    for _ in range(200):
        reference = generator.uniform(0.3, 0.6, 5)
        mine = reference * generator.normal(0.9, 0.07, 5)
        found = change_over(mine.tolist(), reference.tolist(), SHARE, 0.95)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert found.p_value is not None
        assert (found.p_value < 0.05) == (not found.low <= 0 <= found.high)
        excluded += found.p_value < 0.05
    assert 20 < excluded < 180  # both happen


def test_it_is_wider_than_without_the_correction() -> None:
    corrected = change_over(COSTS["LLS"], COSTS["one-hot"], SHARE, 0.95)
    plain = change_over(COSTS["LLS"], COSTS["one-hot"], 1e-12, 0.95)
    assert corrected is not None
    assert plain is not None
    assert corrected.low < plain.low < plain.high < corrected.high  # type: ignore[operator]


def test_splits_in_which_nothing_costs_anything() -> None:
    found = change_over([0.0, 0.2, 0.1], [0.2, 0.3, 0.0], 0.2, 0.95)
    assert found is not None
    assert found.estimate == pytest.approx(-0.4)
    assert found.low == -1  # nothing costs less than nothing
    assert change_over([0.1, 0.2], [0.0, 0.0], 0.2, 0.95) is None
    gains = change_over([0.0, -0.2, 0.1], [0.2, 0.3, 0.0], 0.2, 0.95)
    assert gains is not None
    assert gains.low is not None
    assert gains.low < -1  # but with gains there may be less than nothing


def with_ensembles(found: dict[str, Result], of: list[str]) -> dict[str, Result]:
    """Return results with an ensemble of the reference and one of a row that is another in each split."""
    results = {}
    for (name, each), label in zip(found.items(), of, strict=True):
        rows = each.plain()["rows"]
        more = [{**rows[0], "label": f"6 × {one}", "role": "ensemble", "of": one} for one in ("one-hot", label)]
        results[name] = Result.model_validate({**each.plain(), "rows": [*rows, *more]})
    return results


def test_ensembles_are_what_they_are_of() -> None:
    found = with_ensembles(of_splits(), ["uniform", "LLS", "uniform", "uniform", "LLS"])
    rows, left_out = Counted(list(found.values()), SHARE, 0.95).rows(tuple(found))
    assert [row.label for row in rows] == [*COSTS, "6 × one-hot", "6 × the winner"]
    assert left_out == ()


def test_rows_that_a_split_lacks_and_controls() -> None:
    found = of_splits()
    content = found["seed 4"].plain()
    rows = [row for row in content["rows"] if row["label"] != "LLS"]
    rows.append({**rows[-1], "label": "shuffled", "role": "control"})
    found["seed 4"] = Result.model_validate({**content, "rows": rows})
    lines, left_out = Counted(list(found.values()), SHARE, 0.95).rows(tuple(found))
    assert [line.label for line in lines] == ["one-hot", "uniform", "SVC"]
    assert [(each.label, each.missing) for each in left_out] == [("LLS", ("seed 4",))]
    assert [line.recommended for line in lines] == [0, 0, 5]
    assert lines[1].cost == pytest.approx(np.mean(COSTS["uniform"]))


def test_winners_that_differ_are_one_line() -> None:
    same, other = of_splits(), of_splits(winner="LLS", best="uniform")
    mixed = [same["seed 0"], same["seed 2"], other["seed 4"], other["seed 6"], same["seed 8"]]
    counted = Counted(mixed, SHARE, 0.95)
    winner, recommendation = counted.winner(), counted.recommendation()
    assert (winner.label, winner.role) == ("the winner of each split", None)
    assert winner.costs == (0.40, 0.35, 0.40, 0.41, 0.30)
    assert recommendation is not None
    assert recommendation.costs == (0.42, 0.30, 0.33, 0.45, 0.36)
    assert Counted(list(same.values()), SHARE, 0.95).winner().label == "uniform"


def test_a_winner_chosen_on_the_networks_that_are_judged_has_the_wider_level() -> None:
    found = of_splits(verdict={"level": 0.99})
    counted = Counted(list(found.values()), SHARE, 0.95)
    assert counted.winner().change.level == 0.99  # type: ignore[union-attr]
    rows, _ = counted.rows(tuple(found))
    assert rows[1].change.level == 0.95  # type: ignore[union-attr]
