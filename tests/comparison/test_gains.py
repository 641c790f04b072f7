"""Prices that are gains: a verdict on the difference per sample, where nothing is a share of the reference's cost."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from comparison.hand_made import row, table
from comparison.small import TINY, UNMIXED, write_table
from labelspace import metrics
from labelspace.comparison import Comparison, compare, compare_scores
from labelspace.comparison.change import PerSample, change_of, unit_for, within
from labelspace.comparison.headline import advice, helps, worth
from labelspace.comparison.rows import against_reference, beside_reference
from labelspace.comparison.verdict import judge_rows, kind_of
from labelspace.results import Verdict
from labelspace.sweeps.executors import InProcess

MARGIN = 0.05


def by_hand(costs: Tensor, reference: Tensor, level: float, refits: np.ndarray | None = None) -> list[float]:
    """Return estimate, both ends and the p-value of the difference, written out: seeds and samples crossed."""
    d = costs.numpy() - reference.numpy()
    seeds, samples = d.shape
    of_seeds, of_samples = d.mean(1), d.mean(0)
    rest = d - of_seeds[:, None] - of_samples + d.mean()
    v_s, v_x = of_seeds.var(ddof=1) / seeds, of_samples.var(ddof=1) / samples
    v_r = (rest**2).sum() / ((seeds - 1) * (samples - 1)) / (seeds * samples)
    v = max(v_s - v_r, 0) + max(v_x - v_r, 0) + v_r
    free = max(v**2 / (v_s**2 / (seeds - 1) + v_x**2 / (samples - 1)), min(seeds, samples) - 1)
    if refits is not None:
        more = (len(refits) - 1) / len(refits) * ((refits - refits.mean()) ** 2).sum()
        free = (v + more) ** 2 / (v**2 / free + more**2 / (len(refits) - 1))
        v += more
    half = stats.t.ppf((1 + level) / 2, free) * math.sqrt(v)
    mean = float(d.mean())
    return [mean, mean - half, mean + half, 2 * stats.t.sf(abs(mean) / math.sqrt(v), free)]


def numbers(found: object) -> list[float]:
    assert isinstance(found, PerSample)
    given = [found.estimate, found.low, found.high, found.p_value]
    return [each for each in given if each is not None]


def judged(costs: Tensor, reference: Tensor) -> Verdict:
    return judge_rows(against_reference([row("one-hot", reference), row("lls", costs)], 0.95, None), MARGIN, "order")


@pytest.mark.parametrize("refitted", [False, True])
def test_the_t_test_written_out(refitted: bool) -> None:
    costs, reference = table(-1.3, 1.0, 1) + table(0.0, 0.4, 2)[:, :1], table(-1.0, 1.0)
    refits = table(-1.3, 0.2, 3)[0, :10], table(-1.0, 0.1, 4)[0, :10]
    found = change_of(costs, reference, 0.9, refits=refits if refitted else None)
    apart = (refits[0] - refits[1]).numpy() if refitted else None
    np.testing.assert_allclose(numbers(found), by_hand(costs, reference, 0.9, apart), rtol=1e-9)
    assert isinstance(found, PerSample)
    assert found.stake == pytest.approx(float(np.abs(reference.numpy()).mean()))


def test_groups_are_drawn_whole() -> None:
    groups = torch.arange(200) // 10
    costs, reference = table(-1.3, 1.0, 1), table(-1.0, 1.0)
    means = [each.reshape(6, 20, 10).mean(2) for each in (costs, reference)]
    found = change_of(costs, reference, 0.95, groups)
    np.testing.assert_allclose(numbers(found), by_hand(means[0], means[1], 0.95), rtol=1e-9)


@pytest.mark.parametrize(
    ("costs", "reference", "unit"),
    [
        (table(1.0), table(2.0), "relative"),  # no gain anywhere
        (table(0.0), table(0.0), "relative"),
        (table(-1.0), table(2.0, 0.3), "relative"),  # a gain, and a reference that costs something beyond doubt
        (table(1.0), table(-2.0), "per sample"),
        (table(1.0), table(0.01, 1.0), "per sample"),  # its sign is uncertain
        (table(-1.0), table(0.0), "per sample"),  # nothing is at stake but by the other
    ],
)
def test_which_unit(costs: Tensor, reference: Tensor, unit: str) -> None:
    assert unit_for([costs], reference, 0.95) == unit
    assert isinstance(change_of(costs, reference, 0.95), PerSample) == (unit == "per sample")


@pytest.mark.parametrize("mean", [0.02, 0.05, 0.06, 0.07, 0.08, 0.1, 0.2])
def test_per_sample_is_where_a_ratio_has_no_interval(mean: float) -> None:
    reference, costs = table(0.0, 1.0), table(mean - 0.1, 1.0, 1)
    reference = reference - reference.mean() + mean
    ratio = metrics.paired_interval(costs, reference, relative=True)
    assert (unit_for([costs], reference, 0.95) == "relative") == (ratio.low is not None)
    # whichever unit: the test of no change is one
    same = metrics.paired_interval(costs, reference)
    assert ratio.p_value is None or ratio.p_value == pytest.approx(same.p_value, rel=1e-9)


def test_one_unit_for_all_rows_and_for_several_models_as_one() -> None:
    rows = [row("one-hot", table(0.02, 1.0)), row("lls", table(0.5, 0.1, 1)), row("mixup", table(-0.5, 0.1, 2))]
    found = against_reference(rows, 0.95, None)
    assert [each.change.unit for each in found if each.change is not None] == ["per sample", "per sample"]
    one = row("lls averaged", table(0.4, 0.1, 3, seeds=1), role="ensemble", of="lls", control=None)
    (beside,) = beside_reference([one], rows[0], 0.95, None, "per sample")
    assert beside.change is not None
    assert (beside.change.unit, beside.change.estimate) == ("per sample", pytest.approx(0.38, abs=0.1))


@pytest.mark.parametrize(
    ("level", "spread", "kind"),
    [(-1.5, 0.3, "cheaper"), (-0.5, 0.3, "dearer"), (-1.005, 0.05, "no difference"), (-1.02, 2.0, "undecided")],
)
def test_every_verdict_and_none_contradicts_itself(level: float, spread: float, kind: str) -> None:
    verdict = judged(table(level, spread, 1), table(-1.0, 0.05))
    assert (verdict.kind, verdict.unit) == (kind, "per sample")
    assert verdict.stake == pytest.approx(1.0, abs=0.01)
    assert verdict.within == pytest.approx(0.05, abs=0.001)
    assert verdict.interval is not None
    low, high = verdict.interval
    assert verdict.estimate == pytest.approx(level + 1, abs=0.1)
    inside = -verdict.within <= low and high <= verdict.within
    assert {"cheaper": high < 0, "dearer": low > 0, "no difference": inside, "undecided": low <= 0 <= high}[kind]
    said = verdict.sentences[0]
    assert "gains" in said
    assert "%" not in said
    assert ("inside ±0.050 per sample" in said) == (kind == "no difference")


def test_the_margin_is_a_share_of_what_is_at_stake() -> None:
    small = PerSample(-0.03, -0.04, -0.02, 0.95, 6, 200, stake=1.0)
    assert kind_of(small, MARGIN) == "no difference"
    assert kind_of(PerSample(**{**vars(small), "stake": 0.1}), MARGIN) == "cheaper"
    assert kind_of(PerSample(**{**vars(small), "stake": 0.7}), MARGIN) == "undecided"  # there, but hardly matters
    assert within(small, MARGIN) == MARGIN
    # prices in cents instead of euros: another estimate, the same verdict
    costs, reference = table(-1.5, 0.3, 1), table(-1.0, 0.3)
    ours, cents = judged(costs, reference), judged(100 * costs, 100 * reference)
    assert (ours.kind, ours.chances) == (cents.kind, cents.chances)
    assert cents.estimate == pytest.approx(100 * (ours.estimate or 0))


def test_few_samples_decide_nothing() -> None:
    reference = table(-1.0)
    costs = reference.clone()
    costs[:, :15] = -9.0
    found = change_of(costs, reference, 0.95)
    assert isinstance(found, PerSample)
    assert found.p_value is None
    assert found.low is None or found.low <= 0 <= (found.high or 0)
    verdict = judged(costs, reference)
    assert verdict.kind == "undecided"
    assert "Rests on 15 samples: about 267 test samples would decide it." in verdict.sentences[0]
    # two that differ leave the room of three in two hundred, each as far apart as what was seen
    few = reference.clone()
    few[:, 0], few[:, 1] = -9.0, 1.0
    wide = change_of(few, reference, 0.95)
    assert wide is not None
    room = -math.log(0.05) / 200 * 10
    alone = by_hand(few, reference, 0.95)
    assert (wide.low, wide.high) == (pytest.approx(alone[1] - room), pytest.approx(alone[2] + room))
    nine = torch.arange(200) % 9
    assert kind_of(change_of(table(-3.0, 0.1, 1), table(-1.0, 0.1), 0.95, nine), MARGIN) == "undecided"


def test_one_seed_has_no_interval_and_still_no_percent() -> None:
    verdict = judged(table(-1.5, 0.3, 1, seeds=1), table(-1.0, 0.3, seeds=1))
    assert (verdict.kind, verdict.interval, verdict.unit) == ("undecided", None, "per sample")
    assert "gains 0.5" in verdict.sentences[0]
    assert "[" not in verdict.sentences[0]


def test_nothing_differs_and_seldom_is_anything_decided() -> None:
    """Costs around 0, with chance of seeds and of samples: 200 draws of six seeds where both rows are alike."""
    generator = np.random.default_rng(0)
    kinds = []
    for _ in range(200):
        shared = generator.normal(0, 1, (1, 100))
        drawn = [
            shared
            + generator.normal(0, 0.1, (6, 1))
            + generator.normal(0, 0.5, (1, 100))
            + generator.normal(0, 0.5, (6, 100))
            for _ in range(2)
        ]
        costs, reference = (torch.from_numpy(each) for each in drawn)
        found = change_of(costs, reference, 0.95)
        assert found is not None
        kinds.append(kind_of(found, MARGIN))
    assert kinds.count("cheaper") + kinds.count("dearer") <= 10
    assert kinds.count("undecided") > 100


def test_what_helps_and_what_to_do_is_said_in_prices() -> None:
    rows = against_reference(
        [
            row("one-hot", table(-1.0, 0.3), plain_costs=table(-0.4, 0.3, 5), argmax={"cost": -0.4, "accuracy": 0.5}),
            row("lls", table(-1.5, 0.3, 1), plain_costs=table(-0.7, 0.3, 6), argmax={"cost": -0.7, "accuracy": 0.5}),
        ],
        0.95,
        None,
    )
    said = [helps(rows, None, 0.95), advice(rows, 1, None, 0.95), worth(rows[1], rows[0])]
    assert "%" not in "".join(said)
    first, second = rows[0].headline.cost, rows[1].headline.cost
    assert f"gains {first - second:.2f} more per sample)" in said[0]
    assert f"the labels gain {first - second:.2f} more per sample than one-hot labels" in said[1].lower()
    more = float((rows[1].plain_costs - rows[1].costs).mean())
    assert f"the decisions gain {more:.2f} more per sample than argmax (−0.700)" in said[1]
    assert said[2].startswith(f"Per 10,000 samples: −{-10_000 * second:,.0f} instead of −4,000 ")


NAMES = ["low", "middle", "high"]
ACTIONS = {"low": [-1.0, 1.0, 4.0], "middle": [1.0, -1.0, 1.0], "high": [4.0, 1.0, -2.0], "ask": [0.2, 0.2, 0.2]}


def scores(noise: float, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return three seeds of scores that are as good as their noise, for validation and for test."""
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for part, samples in enumerate((120, 300)):
        y = torch.randint(3, (samples,), generator=torch.Generator().manual_seed(part))
        chance = torch.randn(6, samples, 3, generator=generator, dtype=torch.float64)
        signal = 2.0 * torch.nn.functional.one_hot(y, 3).double()
        parts.append({"scores": (signal + noise * chance).numpy(), "y": y.numpy(), "names": np.array(NAMES)})
    return parts[0], parts[1]


def test_a_comparison_with_gains_from_end_to_end(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    prices = pandas.DataFrame(ACTIONS, index=NAMES)
    models = {"noisy": scores(2.0, 1), "clear": scores(1.0, 2)}
    found = compare_scores(models, cost=prices, out=tmp_path / "found")
    verdict = found.verdict
    assert (verdict.kind, verdict.unit, found.result.unit) == ("cheaper", "per sample", "per sample")
    noisy, clear = (each.headline.cost for each in found.rows)
    assert noisy < 0
    assert verdict.estimate == pytest.approx(clear - noisy)
    assert verdict.sentences[0].startswith("clear costs −")
    assert "gains" in verdict.sentences[0]
    (change,) = [each.change for each in found.rows if each.change is not None]
    assert (change.estimate, change.low, change.stake) == (verdict.estimate, verdict.low, verdict.stake)

    printed = found.table()
    assert "per sample" in printed
    assert all("%" not in line for line in printed.splitlines() if line.startswith("clear "))
    assert "%" not in found.verdict.advice
    paper = found.methods_text()
    assert "differences of the mean cost per sample against noisy" in paper
    assert "of the mean absolute cost of the reference's decisions" in paper
    assert "per sample [" in paper.replace("{", "").replace("}", "")

    assert found.folder is not None
    written = json.loads((found.folder / "comparison.json").read_text(encoding="utf-8"))
    assert (written["verdict"]["unit"], written["rows"][1]["change"]["unit"]) == ("per sample", "per sample")
    assert Comparison.load(found.folder).verdict == verdict
    assert "left gains more" in found.save_html().read_text(encoding="utf-8")


def test_labels_trained_for_gains(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = write_table(tmp_path / "grades.csv", NAMES, rows=240)
    asked = {**TINY, "strengths": {**UNMIXED, "uniform": [0.9]}, "learning_rate": 0.2, "epochs": 5}
    prices = pandas.DataFrame(ACTIONS, index=NAMES)
    found = compare(data, **asked, cost=prices, rivals=[], out=tmp_path / "runs", executor=InProcess())
    reference, uniform = found.rows[0], next(each for each in found.rows if each.label == "uniform")
    assert reference.headline.cost < 0
    assert uniform.change is not None
    assert (found.verdict.unit, {each.change.unit for each in found.rows if each.change}) == (
        "per sample",
        {"per sample"},
    )
    assert uniform.change.estimate == pytest.approx(uniform.headline.cost - reference.headline.cost)
    printed = found.table()
    rows = [line for line in printed.splitlines() if line.startswith(("one-hot", "uniform", "constant"))]
    assert rows
    assert not any("%" in line for line in rows)
    assert "no relative change" not in printed


def test_one_model_with_gains() -> None:
    pandas = pytest.importorskip("pandas")
    found = compare_scores(scores(2.0, 1), cost=pandas.DataFrame(ACTIONS, index=NAMES))
    assert found.verdict.unit == "per sample"
    assert "gains" in found.verdict.sentences[0]
    assert "%" not in found.verdict.advice


def test_prices_that_are_no_gains_say_nothing_of_units() -> None:
    written = judged(table(1.0, 0.1, 1), table(2.0, 0.1)).model_dump(exclude_unset=True)
    assert "unit" not in written
    assert "stake" not in written
