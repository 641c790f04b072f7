"""Names as people write them, matched with the classes."""

import pytest

from labelspace import _checks
from labelspace.spec.naming import canonical, matched, suggestion


def test_blanks_and_accents_do_not_matter() -> None:
    assert canonical(" cafe\u0301\t") == "caf\u00e9"
    assert matched("space", "an order", ["cafe\u0301", " tea "], ["tea", "caf\u00e9"]) == ["caf\u00e9", "tea"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["tae", "coffee"],
            r"`cost` of labelspace must be prices. Got 'tae' \(line 1\), which is none of the classes\. Did",
        ),
        (["tea", "tea"], r"Got 'tea' \(line 1\) again \(line 2\). Keep one of them"),
        (["tea"], "Got nothing for 'coffee'. Add it."),
        (["x1", "x2"], "which is none of the classes and 1 more that are none. The classes are: 'tea', 'coffee'"),
    ],
)
def test_what_does_not_match_is_named_with_its_place(given: list[str], message: str) -> None:
    places = [f"line {number}" for number in range(1, len(given) + 1)]
    with pytest.raises(ValueError, match=message):
        matched("cost", "prices", given, ["tea", "coffee"], places, "Add it.")


def test_suggestions_ignore_capitals_and_give_up_on_long_texts() -> None:
    assert suggestion("SNEKAER", ["shirt", "sneaker"]) == "Did you mean 'sneaker'?"
    assert suggestion("x" * 10_000, ["x" * 9_999]) == ""
    assert suggestion("zebra", ["shirt"]) == ""


def test_many_names_are_cut() -> None:
    assert _checks.listed(["a", "b"]) == "'a', 'b'"
    assert _checks.listed([str(number) for number in range(10)], most=2) == "'0', '1' and 8 more"
