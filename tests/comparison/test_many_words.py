"""What many comparisons say, in words."""

from labelspace.comparison.many import summary_of
from labelspace.comparison.many_words import sentences, warnings
from many_results import TABLE, several

THIN = "\N{NARROW NO-BREAK SPACE}"


def test_what_came_out() -> None:
    best, regret, ranks = sentences(summary_of(several()))
    assert best.startswith(
        "Over 3 datasets uniform and LLS share the best mean rank, 1.67; of uniform the mean cost is −15"
    )
    assert best.endswith("against one-hot (2 wins, 0 losses, 1 tie), which may be chance.")
    assert regret.startswith(f"Always taking the recommendation costs 15{THIN}% [0, +65] more than the cheapest row")
    assert regret.endswith(f"at worst 33{THIN}% (plums).")
    assert "ranks are not told apart (Friedman, p = 0.368); two rows must be 1.91 mean ranks apart (Nemenyi" in ranks


def test_one_that_is_best_alone() -> None:
    table = {**TABLE, "figs": {"one-hot": 1.0, "uniform": 0.9, "LLS": 0.5}}
    best, *_ = sentences(summary_of(several(table)))
    assert best.startswith("Over 4 datasets LLS has the best mean rank, 1.50; its mean cost is −")


def test_what_is_always_right_has_no_regret() -> None:
    table = {name: {"one-hot": 1.0, "LLS": 0.5 + number / 10} for number, name in enumerate(TABLE)}
    found = sentences(summary_of(several(table, best="LLS")))
    assert found[1:] == ("What was recommended is the cheapest row of every dataset on test data.",)


def test_a_reference_that_nothing_beats() -> None:
    table = {name: {"one-hot": 1.0, "LLS": 1.5} for name in TABLE}
    said = sentences(summary_of(several(table, best=None)))
    assert said == ("Over 3 datasets one-hot has the best mean rank, 1.00: nothing is cheaper.",)


def test_seven_datasets_that_agree_are_no_chance() -> None:
    table = {f"data {number}": {"one-hot": 1.0, "LLS": 0.5 + number / 100} for number in range(7)}
    summary = summary_of(several(table, best="LLS"))
    assert sentences(summary)[0].endswith("(7 wins, 0 losses, 0 ties).")
    assert warnings(summary) == ()


def test_few_datasets_and_rows_that_are_left_out_are_told() -> None:
    table = {**TABLE, "pears": {**TABLE["pears"], "SVC": 1.0}, "figs": {"one-hot": 0.0, "uniform": 0.1, "LLS": 0.2}}
    said = warnings(summary_of(several(table)))
    assert said[0].startswith("Indicative: 4 datasets, fewer than 6")
    assert said[1].startswith("Friedman's p-value is an approximation")
    assert said[2] == "Not ranked: SVC, missing for apples, plums, figs."
    assert said[3].startswith("The mean change of uniform is over 3 of 4 datasets")
