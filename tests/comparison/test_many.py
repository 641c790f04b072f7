"""What results say together, worked by hand; and what cannot be said."""

import math
from pathlib import Path

import pytest
from scipy import stats

from labelspace import InputError
from labelspace.comparison import summarize
from labelspace.comparison.many import summary_of
from labelspace.results import Result
from many_results import TABLE, made, several
from small_results import of_texts


def refused(words: str, found: dict[str, Result]) -> None:
    with pytest.raises(InputError, match=words):
        summary_of(found)


def test_wins_losses_ties_and_ranks_by_hand() -> None:
    summary = summary_of(several())
    found = {each.label: each for each in summary.standings}
    # uniform: −20 %, −5 % (a tie, just), −20 %; LLS: −30 %, +10 %, −40 %
    assert [found["uniform"].wins, found["uniform"].losses, found["uniform"].ties] == [2, 0, 1]
    assert [found["LLS"].wins, found["LLS"].losses, found["LLS"].ties] == [2, 1, 0]
    assert found["one-hot"].change is None
    ranks = {label: each.rank for label, each in found.items()}
    assert ranks == pytest.approx({"one-hot": 8 / 3, "uniform": 5 / 3, "LLS": 5 / 3})
    columns = [[costs[label] for costs in TABLE.values()] for label in ("one-hot", "uniform", "LLS")]
    assert summary.friedman == pytest.approx(stats.friedmanchisquare(*columns).pvalue)
    assert {each.group for each in summary.standings} == {"a"}
    change = found["LLS"].change
    assert change is not None
    assert change.estimate == pytest.approx((0.7 * 1.1 * 0.6) ** (1 / 3) - 1)
    ratios = [math.log(ratio) for ratio in (0.7, 1.1, 0.6)]
    ends = stats.ttest_1samp(ratios, 0).confidence_interval(0.95)
    assert (change.low, change.high) == pytest.approx((math.expm1(ends.low), math.expm1(ends.high)))
    # three datasets that agree reach a quarter, and there are two rows
    assert (found["uniform"].p_value, found["uniform"].p_holm) == (0.25, 0.5)


def test_the_regret_of_doing_as_told() -> None:
    summary = summary_of(several(best="uniform"))
    assert [each.regret for each in summary.places] == pytest.approx([1 / 7, 0, 1 / 3])
    assert [each.cheapest for each in summary.places] == ["LLS", "uniform", "LLS"]
    assert summary.regret is not None
    assert summary.regret.estimate == pytest.approx((8 / 7 * 4 / 3) ** (1 / 3) - 1)
    assert summary.regret.low == 0  # never less than nothing
    always = {each.label: each.regret for each in summary.standings}["uniform"]
    assert always == summary.regret


def test_rows_that_some_lack_are_not_ranked_but_count_for_the_regret() -> None:
    table = {**TABLE, "pears": {**TABLE["pears"], "SVC": 0.95}}
    summary = summary_of(several(table))
    assert [(each.label, each.missing) for each in summary.left_out] == [("SVC", ("apples", "plums"))]
    assert "SVC" not in {each.label for each in summary.standings}
    assert summary.places[1].cheapest == "SVC"
    assert summary.places[1].regret == pytest.approx(1)


def test_another_method_of_the_same_name_is_another_row() -> None:
    found = several()
    rows = [{**row, "method": "lls"} if row["label"] == "LLS" else row for row in found["runs/plums"].plain()["rows"]]
    found["runs/plums"] = Result.model_validate({**found["runs/plums"].plain(), "rows": rows})
    assert {each.label for each in summary_of(found).standings} == {"one-hot", "uniform"}


def test_a_reference_is_one_row_whether_it_was_tuned_or_not_and_so_are_averages() -> None:
    found = several()
    tuned = found["runs/plums"].plain()
    rows = [{**row, "label": "one-hot, tuned"} if row["label"] == "one-hot" else row for row in tuned["rows"]]
    found["runs/plums"] = Result.model_validate({**tuned, "rows": rows})
    for number, (folder, each) in enumerate(found.items()):
        content = each.plain()
        first = content["rows"][0]
        cost = each.reference.headline.cost / 4
        about = {"label": f"{number + 2} × {first['label']}", "of": first["label"], "role": "ensemble"}
        several_as_one = {**first, **about, "argmax": {"cost": cost, "accuracy": 0.5}}
        content["rows"] = [*content["rows"], several_as_one]
        found[folder] = Result.model_validate({**content, "best": {"label": about["label"]}})
    summary = summary_of(found)
    assert {each.label for each in summary.standings} == {"one-hot", "uniform", "LLS", "one-hot, averaged"}
    assert (summary.reference, summary.left_out) == ("one-hot", ())
    assert [each.taken for each in summary.places] == ["one-hot, averaged"] * 3
    assert [each.regret for each in summary.places] == [0, 0, 0]
    best = summary.standings[0]
    assert (best.label, best.rank, best.wins) == ("one-hot, averaged", 1, 3)
    assert best.change is not None
    assert best.change.estimate == pytest.approx(-0.75)


def test_costs_of_zero_are_no_ratio() -> None:
    table = {**TABLE, "figs": {"one-hot": 0.0, "uniform": 0.1, "LLS": 0.0}}
    summary = summary_of(several(table))
    uniform = next(each for each in summary.standings if each.label == "uniform")
    assert uniform.change is not None
    assert (uniform.change.datasets, uniform.losses) == (3, 1)
    assert summary.places[-1].regret is None


def gaining(name: str, costs: dict[str, float], stake: float) -> Result:
    """Return a comparison whose changes are per sample."""
    first = next(iter(costs.values()))
    plain = made(name, costs, "uniform").plain()
    rows = plain["rows"]
    for each in rows[1:]:
        moved = {"estimate": each["argmax"]["cost"] - first, "low": None, "high": None, "level": 0.95}
        each["change"] = {**moved, "unit": "per sample", "stake": stake}
    return Result.model_validate({**plain, "rows": rows})


def test_gains_are_no_ratio_but_have_ranks_and_wins() -> None:
    # the sign of what the reference costs is uncertain there: 0.1 is no base, however it stands above zero
    figs = gaining("figs", {"one-hot": 0.1, "uniform": 0.07, "LLS": -2.0}, stake=1.0)
    summary = summary_of({**several(), "runs/figs": figs})
    before = {each.label: each for each in summary_of(several()).standings}
    after = {each.label: each for each in summary.standings}
    for label in ("uniform", "LLS"):
        assert after[label].change == before[label].change
        assert after[label].p_value == before[label].p_value
        assert after[label].regret == before[label].regret
    assert after["uniform"].ties == before["uniform"].ties + 1  # 0.03 of what is at stake is within the margin
    assert after["LLS"].wins == before["LLS"].wins + 1
    assert (summary.places[-1].unit, summary.places[-1].regret) == ("per sample", None)
    assert summary.regret == summary_of(several()).regret
    (said,) = [each for each in summary.warnings if "gains" in each]
    assert said == (
        "In no mean of relative changes and no regret: figs, where prices are gains too and the mean cost of one-hot is"
        " not above zero beyond doubt."
    )
    assert not any("elsewhere a cost" in each for each in summary.warnings)


def test_gains_everywhere_leave_no_mean() -> None:
    costs = {"one-hot": -1.0, "uniform": -2.0, "LLS": -1.5}
    summary = summary_of({name: gaining(name, costs, 1.0) for name in ("figs", "dates")})
    best = summary.standings[0]
    assert (best.label, best.change, best.wins) == ("uniform", None, 2)
    assert summary.sentences[0] == (
        "Over 2 datasets uniform has the best mean rank, 1.00; no mean of relative changes can be given (2 wins, 0"
        " losses, 0 ties), which may be chance."
    )


def test_data_of_one_name_are_called_by_their_folders() -> None:
    found = {
        f"runs/{number}": made("train.csv", TABLE["pears"], data={"name": "train.csv", "key": number})
        for number in "ab"
    }
    assert [each.name for each in summary_of(found).places] == ["a", "b"]


def test_what_is_no_question() -> None:
    one, *_ = found = list(several().items())
    refused("at least 2 comparisons. Got 1", dict([one]))
    other = made("pears", TABLE["pears"], cost={"words": "distance in the order"})
    refused(
        r"same prices. Got runs/apples \(every mistake costs 1\) and b \(distance in the", dict([one, ("b", other)])
    )
    other = made("pears", {"none": 1.0, "uniform": 2.0})
    refused(r"same reference. Got runs/apples \(one-hot\) and b \(none\)", dict([one, ("b", other)]))
    refused("different data. Got apples twice: runs/apples and b", dict([one, ("b", one[1])]))
    refused("b, which is about texts", dict([one, ("b", of_texts())]))
    refused("share at least 2 rows. Got 1", dict([one, ("b", made("pears", {"one-hot": 1.0, "other": 2.0}))]))
    with pytest.raises(InputError, match="level"):
        summary_of(dict(found), level=1.0)


def test_folders(tmp_path: Path) -> None:
    folders = []
    for name, costs in TABLE.items():
        folder = tmp_path / name
        folder.mkdir()
        made(name, costs, "LLS").write(folder)
        folders.append(folder)
    assert summarize(folders) == summarize(tmp_path)
    assert [each.folder for each in summarize(folders).places] == [str(folder) for folder in folders]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no comparison.json"):
        summarize([*folders, tmp_path / "empty"])
    with pytest.raises(InputError, match="different folders. Got .*apples twice"):
        summarize([*folders, folders[0]])
    with pytest.raises(InputError, match="a folder that holds finished comparisons"):
        summarize(tmp_path / "empty")
