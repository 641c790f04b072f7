"""What splits say together, in sentences."""

from labelspace.comparison.split_words import changed, main, steady, taken, warnings
from labelspace.results import Change, Kind
from labelspace.results.many import LeftOut
from labelspace.results.splits import Line
from split_results import summed_up

THIN = "\N{NARROW NO-BREAK SPACE}"
REFERENCE = Line(label="one-hot", role="reference", costs=(0.5, 0.6, 0.4), cost=0.5)


def line(estimate: float, low: float | None, high: float | None, splits: int = 3, level: float = 0.95) -> Line:
    change = Change(estimate=estimate, low=low, high=high, level=level)
    return Line(label="LLS", role="method", costs=(0.4,) * splits, cost=0.4, change=change)


def said(kind: Kind, found: Line) -> str:
    return main(found, REFERENCE, kind, 0.05)


def test_what_came_out() -> None:
    text = said("cheaper", line(-0.2, -0.3, -0.1))
    assert text == f"Over 3 splits LLS labels cost 0.400 per sample instead of 0.500: −20{THIN}% [−30, −10]."
    text = said("no difference", line(-0.01, -0.03, 0.02))
    assert text.endswith(f"one-hot 0.500: −1.0{THIN}% [−3.0, +2.0], inside ±5.0{THIN}%.")


def test_why_nothing_is_decided() -> None:
    assert said("undecided", line(-0.2, -0.5, 0.3)).endswith("[−50, +30]. Splits differ too much to tell.")
    assert said("undecided", line(-0.03, -0.06, -0.01)).endswith(f"It is there, but may well be inside ±5.0{THIN}%.")
    assert said("undecided", line(0.0, 0.0, 0.0)).endswith("So few samples differ that splits agree by that alone.")
    assert said("undecided", line(-0.2, None, None)).endswith(f"one-hot 0.500: −20{THIN}%.")
    few = said("undecided", line(-0.2, -0.3, -0.1, splits=2))
    assert "Undecided, since 2 splits say too little of how much splits differ: 3 or more decide." in few
    none = line(-0.2, -0.3, -0.1).model_copy(update={"change": None})
    assert said("undecided", none).endswith("no relative change can be given.")


def test_winners_that_differ_and_other_levels() -> None:
    found = line(-0.2, -0.3, -0.1, level=0.9).model_copy(update={"label": "the winner of each split", "role": None})
    text = said("cheaper", found)
    assert text.startswith("Over 3 splits the winner of each split costs 0.400 per sample")
    assert f"(90{THIN}% interval)" in text


def test_the_recommendation() -> None:
    recommended = line(-0.2, -0.3, -0.1)
    regret = Change(estimate=0.04, low=0.0, high=0.1, level=0.95)
    begins = f"What each split recommends costs 0.400 on average, {changed(recommended.change)} against one-hot"  # type: ignore[arg-type]
    assert taken(recommended, REFERENCE, None) == f"{begins}."
    assert taken(recommended, REFERENCE, regret).startswith(f"{begins}: 4.0{THIN}% more than the cheapest row")
    zero = regret.model_copy(update={"estimate": 0.0})
    assert taken(recommended, REFERENCE, zero) == f"{begins}: in every split the cheapest row on test data."


def test_what_to_keep_in_mind() -> None:
    splits = summed_up()
    assert steady(splits.rows, splits.places) == "Recommended most often: SVC, in 5 of 5 splits."
    assert steady([REFERENCE], splits.places) == ""
    assert warnings(splits.places, 0, ()) == ()
    found = warnings(splits.places, 4, [LeftOut(label="LLS", missing=("seed 2", "seed 4"))])
    assert found[0].startswith("In 4 of 5 splits the winner's change rests on so few costly samples")
    assert found[1] == "Not in the table: LLS, missing in seed 2, seed 4."
