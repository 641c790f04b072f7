"""Timings are ratios of functions that take turns."""

import time

import pytest

from labelspace.analysis.timing import built, interleaved, loss_timings, summarised


def busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_function_that_works_three_times_as_long_costs_three_times_as_much() -> None:
    times = interleaved({"one": lambda: busy(0.001), "three": lambda: busy(0.003)}, seconds=0.03, rounds=5)
    one, three = summarised(times, 7)
    assert (one.ratio, three.name, three.classes) == (1.0, "three", 7)
    assert 2 < three.ratio < 4.5
    assert three.low <= three.high


@pytest.mark.parametrize("method", ["onehot", "semantic", "labelemb", "lwr"])
def test_any_method_is_measured(method: str) -> None:
    plain, own = loss_timings({method: {}}, 5, batch=16, seconds=0.01)
    assert (plain.name, own.name, own.classes) == ("F.cross_entropy", method, 5)
    assert own.microseconds > 0


def test_options_are_those_of_the_method() -> None:
    assert built("lls rank 2", 5, {"rank": 2}).label_factor.shape == (5, 2)
