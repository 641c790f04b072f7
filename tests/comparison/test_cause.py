"""What made labels cheaper, on costs made by hand: each answer rests on a test, and what none shows is not said."""

import math
from typing import Any

import pytest
import torch
from scipy.stats import rankdata

from comparison.hand_made import SAMPLES, SEEDS, row, table
from labelspace.comparison.cause import Found, Shuffles, beyond_most, cause_of, ranked, taken_in_turn
from labelspace.comparison.rows import Judged, against_reference

THIN = "\N{NARROW NO-BREAK SPACE}"


def forms(level: float, spread: float = 0.0, seed: int = 9, count: int = 19, each: int = 2) -> Shuffles:
    """Return shuffled forms whose costs lie around a level, each form with chance of its own."""
    generator = torch.Generator().manual_seed(seed)
    own = level + spread * torch.randn(count, 1, 1, generator=generator, dtype=torch.float64)
    noise = 0.4 * torch.randn(count, each, SAMPLES, generator=generator, dtype=torch.float64)
    return Shuffles(own + noise, taken_in_turn(count + 1, each, SEEDS))


def asked(*rows: Judged, shuffles: Shuffles | None = None, word: str = "order") -> Found:
    found = against_reference(rows, 0.95, None)
    winner = next(each for each in found if each.winner)
    return cause_of(found, winner, word, shuffles, None, 0.95)


def semantic(shuffles: Shuffles | None, uniform: float | None = None, word: str = "order", **facts: Any) -> Found:
    """Return what made semantic labels cheaper, which cost 1 against 2."""
    rows = [row("one-hot", table(2.0, 0.4)), row("semantic", table(1.0, 0.4, 1), **facts)]
    if uniform is not None:
        rows.append(row("uniform", table(uniform, 0.4, 2), validation_cost=9.0))
    return asked(*rows, shuffles=shuffles, word=word)


def test_the_rank_is_counted_as_scipy_counts_it() -> None:
    generator = torch.Generator().manual_seed(3)
    for _ in range(20):
        costs = torch.rand(19, 2, 5, generator=generator, dtype=torch.float64)
        winner = torch.rand(6, 5, generator=generator, dtype=torch.float64)
        found = ranked(winner, Shuffles(costs, taken_in_turn(20, 2, 6)))
        own = winner[[2, 3]].mean()  # 38 runs have gone round six seeds before
        place = rankdata([float(own), *costs.mean(dim=(1, 2)).tolist()], method="max")[0]
        assert (found.p_value, found.as_cheap) == (place / 20, place - 1)
        assert (found.count, found.seeds, found.cost) == (19, 2, pytest.approx(float(own)))
        assert found.least <= found.mean <= found.most


def test_a_shuffle_that_costs_the_same_is_as_cheap() -> None:
    shuffles = Shuffles(torch.ones(19, 2, 4), taken_in_turn(20, 2, 6))
    assert ranked(torch.ones(6, 4), shuffles).p_value == 1.0


@pytest.mark.parametrize(("count", "each", "seeds"), [(20, 2, 6), (20, 2, 1), (7, 3, 6)])
def test_all_seeds_count_alike(count: int, each: int, seeds: int) -> None:
    turns = taken_in_turn(count, each, seeds)
    used = [place for turn in turns for place in turn]
    counts = [used.count(seed) for seed in range(seeds)]
    assert max(counts) - min(counts) <= 1
    assert all(len(set(turn)) == len(turn) == min(each, seeds) for turn in turns)


def test_the_interval_beyond_most_of_the_gain_by_hand() -> None:
    """Costs that differ between shuffles alone: t of 18 degrees of freedom over their means."""
    levels = torch.linspace(1.0, 1.9, 19, dtype=torch.float64)
    shuffles = Shuffles(levels[:, None, None].expand(19, 6, SAMPLES).clone(), [list(range(6))] * 20)
    low, high = beyond_most(shuffles, torch.ones(6, SAMPLES), torch.full((6, SAMPLES), 2.0), None, 0.95)
    middle, half = 1.45 - 1.25, 2.1009 * float(levels.std()) / math.sqrt(19)
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=1e-4)


def test_the_structure_did_it() -> None:
    found = semantic(forms(1.9, 0.1))
    assert found.cause == "structure"
    assert found.shuffled is not None
    assert found.shuffled.p_value == 0.05
    assert found.text.startswith("Its 19 shuffled forms cost 1.9")
    assert found.text.endswith("none as little as it does (p = 0.05): the order did it.")
    assert semantic(forms(1.9, 0.1), word="tree").text.endswith("the tree did it.")


def test_smoothing_did_it_where_shuffled_forms_gain_as_much() -> None:
    found = semantic(forms(1.0, 0.1))
    assert found.cause == "smoothing"
    assert found.text.endswith(f"have at least 75{THIN}% of the gain: smoothing did it, not the order.")


def test_smoothing_did_it_where_uniform_labels_gain_as_much() -> None:
    """Bad orders harm: that they do worse than none is no merit of a good one."""
    found = semantic(forms(1.9, 0.1), uniform=1.0)
    assert found.cause == "smoothing"
    assert found.text.startswith("Uniform labels (")
    assert found.text.endswith("smoothing did it, not the order.")


def test_a_quarter_that_is_the_orders_is_not_denied() -> None:
    found = semantic(forms(1.25, 0.2))
    assert "not the order" not in found.text


def test_what_a_few_shuffles_reach_too_is_not_shown() -> None:
    found = semantic(forms(1.5, 0.4))
    assert found.cause == "unclear"
    assert found.shuffled is not None
    assert found.shuffled.as_cheap > 0
    shown = f"{found.shuffled.as_cheap} of them no more than it does (p = {found.shuffled.p_value:.2g})"
    assert found.text.endswith(f"{shown}: that the order did it is not shown.")


def test_most_is_smoothing_and_the_rest_is_the_order() -> None:
    found = semantic(forms(1.15, 0.02))
    assert found.cause == "smoothing"
    assert found.text.endswith("of which none is as cheap: smoothing did most of it, the order the rest.")


def test_uniform_labels_that_cannot_be_told_apart_leave_it_open() -> None:
    swing = torch.tensor([-0.9, 0.9, -0.6, 0.6, -0.8, 0.8]).double()[:, None]
    rows = row("one-hot", table(2.0, 0.4)), row("semantic", table(1.0, 0.4, 1))
    wild = row("uniform", table(1.4, 0.4, 2) + swing, validation_cost=9.0)
    found = asked(*rows, wild, shuffles=forms(1.9, 0.1))
    assert found.cause == "unclear"
    assert found.text.endswith("cannot be told apart from it: what did it is unclear.")


@pytest.mark.parametrize("facts", [{}, {"method": "mixed"}])
def test_without_shuffled_forms_nobody_knows(facts: dict[str, Any]) -> None:
    found = semantic(None, **facts)
    assert (found.cause, found.shuffled) == ("unclear", None)
    assert found.text.endswith("what did it is unclear.")


def test_learned_smoothing_that_began_with_a_space_is_held_against_its_shuffled_forms() -> None:
    rows = [row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1), structured=True)]
    assert asked(*rows, shuffles=forms(1.9, 0.1)).cause == "structure"


def test_uniform_labels_that_win_are_smoothing() -> None:
    found = asked(row("one-hot", table(2.0, 0.4)), row("uniform", table(1.0, 0.4, 1)))
    assert (found.cause, found.text) == ("smoothing", "They know nothing of the classes: smoothing did it.")


@pytest.mark.parametrize(
    ("uniform", "swings", "said"),
    [
        (1.0, 0.0, f"have at least 75{THIN}% of the gain: smoothing did it, not that it is learned."),
        (1.9, 0.0, "gain less: learned smoothing did it."),
        (1.3, 0.9, "is not shown."),
    ],
)
def test_what_learning_adds_to_smoothing(uniform: float, swings: float, said: str) -> None:
    swing = swings * torch.tensor([-1.0, 1.0, -0.7, 0.7, -0.9, 0.9]).double()[:, None]
    plain = row("uniform", table(uniform, 0.4, 2) + swing, validation_cost=9.0)
    found = asked(row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1)), plain)
    assert found.cause == "smoothing"
    assert found.text.endswith(said)


def test_labels_that_know_the_order_and_did_not_win_are_named() -> None:
    known = row("semantic", table(1.6, 0.4, 3))
    found = asked(row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1)), known)
    assert "; semantic labels, which know the order, cost 1.6" in found.text


def test_other_labels_have_no_cause() -> None:
    found = asked(row("one-hot", table(2.0, 0.4)), row("focal", table(1.0, 0.4, 1)))
    assert (found.cause, found.text) == (None, "")
