"""Numbers as people read them, beside exact decimal arithmetic."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelspace.report import words

SHARES = st.floats(-5, 5, allow_nan=False)


def value(text: str) -> Decimal:
    """Read a number back."""
    return Decimal(text.replace("−", "-").replace(words.THIN, "").removesuffix("%"))


@given(SHARES)
def test_a_percentage_is_read_back_to_half_of_its_last_digit(share: float) -> None:
    shown = words.percent(share)
    digits = Decimal("0.1") if "." in shown else Decimal(1)
    assert abs(value(shown) - 100 * Decimal(share)) <= digits / 2 + Decimal("1e-9")
    assert ("." in shown) == (abs(100 * share) < 9.95)
    # a sign, unless it rounds to nothing
    assert (shown[0] in "+−") == (value(shown) != 0)
    assert words.percent(share, sign=False) == shown.removeprefix("+")


@given(SHARES, SHARES)
def test_both_ends_of_an_interval_have_as_many_decimals(low: float, high: float) -> None:
    left, right = words.interval(low, high).strip("[]").split(", ")
    assert left.partition(".")[2] == "" or len(left.partition(".")[2]) == 1
    assert len(left.partition(".")[2]) == len(right.partition(".")[2])
    for text, share in ((left, low), (right, high)):
        assert abs(value(text) - 100 * Decimal(share)) <= Decimal("0.5000001")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_column_shows_three_digits_of_its_largest_number(values: list[float]) -> None:
    decimals = words.decimals_for([*values, None, math.inf, math.nan])
    largest = max(map(abs, values))
    places = Decimal(largest).adjusted() if largest else 0
    # logarithms may be one off where rounding decides between 999.999… and 1000
    assert decimals in {min(max(2 - place, 0), 4) for place in (places, places + (f"{largest:.9e}"[0] == "1"))}


def test_what_is_no_number_is_a_dash() -> None:
    assert [words.fixed(each, 2) for each in (None, math.inf, math.nan)] == [words.MISSING] * 3
    assert words.percent(None) == words.interval(None, 0.1) == words.interval(0.1, None) == words.MISSING
    assert words.fixed(-0.0004, 2) == "0.00"


@pytest.mark.parametrize("number", [0, 999, 1_000, 12_345_678])
def test_counts_and_sizes(number: int) -> None:
    assert int(words.count(number).replace(words.THIN, "")) == number
    amount, unit = words.size(number).split(words.THIN)
    assert abs(float(amount) * {"kB": 1e3, "MB": 1e6}[unit] - number) <= {"kB": 50, "MB": 50_000}[unit]
