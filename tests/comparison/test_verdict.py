"""What a comparison says, on costs made by hand: four kinds, what did it, and what a reader must be told."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Tensor

from comparison.hand_made import SAMPLES, SEEDS, row, table
from labelspace.comparison.rows import Judged, against_reference
from labelspace.comparison.verdict import enough_seeds, judge_decisions, judge_rows, kind_of
from labelspace.metrics import Interval, sign_flip_test
from labelspace.results import Kind, Verdict

THIN = "\N{NARROW NO-BREAK SPACE}"


def judged(
    *rows: Judged, margin: float = 0.05, word: str = "order", groups: Tensor | None = None, level: float = 0.95
) -> Verdict:
    return judge_rows(against_reference(rows, level, groups), margin, word, groups, level)


def two(costs: Tensor, **facts: Any) -> Verdict:
    return judged(row("one-hot", table(2.0, 0.4)), row("lls", costs, **facts))


def interval(low: float | None, high: float | None) -> Interval:
    return Interval(0.0 if low is None or high is None else (low + high) / 2, low, high, 0.95, 6, 100)


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (-0.4, -0.2, "cheaper"),
        (-0.12, -0.001, "cheaper"),
        (0.2, 0.4, "dearer"),
        # there beyond doubt, but as likely as not too small to matter
        (-0.06, -0.001, "undecided"),
        (0.001, 0.09, "undecided"),
        (-0.2, 0.1, "undecided"),
        (-0.2, 0.0, "undecided"),
        (0.0, 0.2, "undecided"),
        (-0.04, 0.03, "no difference"),
        # what is inside the margin does not matter, even if it is there beyond doubt
        (-0.04, -0.01, "no difference"),
        (0.01, 0.04, "no difference"),
        (-0.05, 0.05, "no difference"),
        (None, None, "undecided"),
    ],
)
def test_kinds_of_an_interval(low: float | None, high: float | None, kind: Kind) -> None:
    assert kind_of(interval(low, high), 0.05) == kind


def test_no_interval_at_all_is_undecided() -> None:
    assert kind_of(None, 0.05) == "undecided"


def test_cheaper() -> None:
    verdict = two(table(1.0, 0.4, 1))
    assert (verdict.kind, verdict.subject) == ("cheaper", "lls")
    assert verdict.estimate == pytest.approx(-0.5, abs=0.02)
    assert verdict.interval is not None
    assert verdict.interval[0] < -0.45 < verdict.interval[1] + 0.1
    assert verdict.sentences[0].startswith("Lls labels cost 1.0")
    assert "per sample instead of 2.0" in verdict.sentences[0]


def test_dearer() -> None:
    verdict = two(table(3.0, 0.4, 1))
    assert (verdict.kind, verdict.cause) == ("dearer", None)
    assert f"+50{THIN}%" in verdict.sentences[0]


def test_no_difference() -> None:
    verdict = two(table(2.01, 0.4, 1))
    assert verdict.kind == "no difference"
    assert f"inside ±5.0{THIN}%" in verdict.sentences[0]


def test_undecided_says_what_could_have_been_seen() -> None:
    generator = torch.Generator().manual_seed(0)
    seeds = torch.randn(6, 1, generator=generator).double() / 2
    verdict = two(table(2.0, 0.4, 1) + seeds)
    assert verdict.kind == "undecided"
    assert verdict.interval is not None
    half = (verdict.interval[1] - verdict.interval[0]) / 2
    seen = half * 2.80 / 1.96  # z of 97.5 and 80 percent: 1.96 + 0.84
    assert f"A change of about {100 * seen:.0f}{THIN}% could have been seen." in verdict.sentences[0]


def test_the_margin_comes_first() -> None:
    reference, costs = row("one-hot", table(2.0)), row("lls", table(1.94))  # −3 percent, without any chance
    assert judged(reference, costs, margin=0.05).kind == "no difference"
    assert judged(reference, costs, margin=0.02).kind == "cheaper"
    assert judged(reference, costs, margin=0.02).margin == 0.02


def test_it_speaks_of_the_winner_on_validation_data() -> None:
    verdict = judged(
        row("one-hot", table(2.0, 0.4)),
        row("uniform", table(1.0, 0.4, 1), validation_cost=1.5),
        row("lls", table(3.0, 0.4, 2), validation_cost=1.4),
    )
    assert (verdict.subject, verdict.kind) == ("lls", "dearer")


def test_accuracy_that_falls_is_told() -> None:
    generator = torch.Generator().manual_seed(0)
    plain = (torch.rand(6, SAMPLES, generator=generator) < 0.91).double()
    right = (torch.rand(6, SAMPLES, generator=generator) < 0.76).double()
    reference = row("one-hot", table(2.0, 0.4), right=0.6, plain=plain)
    verdict = judged(reference, row("lls", table(1.0, 0.4, 1), right=right))
    assert (
        f"; accuracy falls {plain.mean():.3f} → {right.mean():.3f}, from plain argmax of one-hot."
        in verdict.sentences[0]
    )
    other = judged(row("one-hot", table(2.0, 0.4), plain=right), row("lls", table(1.0, 0.4, 1), right=plain))
    assert (
        f"; accuracy rises {right.mean():.3f} → {plain.mean():.3f}, from plain argmax of one-hot." in other.sentences[0]
    )


def test_accuracy_that_may_be_chance_is_not_told() -> None:
    generator = torch.Generator().manual_seed(0)
    plain, right = ((torch.rand(6, SAMPLES, generator=generator) < 0.8).double() for _ in range(2))
    verdict = judged(row("one-hot", table(2.0, 0.4), plain=plain), row("lls", table(1.0, 0.4, 1), right=right))
    assert "accuracy" not in verdict.sentences[0]


def test_accuracy_that_a_few_patients_carry_may_be_chance() -> None:
    groups = torch.arange(SAMPLES) // 50
    plain = torch.ones(6, SAMPLES).double()
    right = torch.where(groups == 0, 0.0, 1.0).double().repeat(6, 1)  # one patient of four
    rows = row("one-hot", table(2.0, 0.4), plain=plain), row("lls", table(1.0, 0.4, 1), right=right)
    assert "accuracy falls" in judged(*rows).sentences[0]
    assert "accuracy" not in judged(*rows, groups=groups).sentences[0]


def test_what_decisions_alone_save_is_told() -> None:
    sentences = two(table(1.0, 0.4, 1)).sentences
    reference = float(table(2.0, 0.4).mean())
    told = f"decisions (minimum cost instead of argmax: {2 * reference:.2f} → {reference:.2f}, −50{THIN}%)"
    assert sentences[2].startswith(f"What helps most: {told}, then labels (lls instead of one-hot: ")
    assert sentences[3].startswith("Per 10,000 samples: ")


@pytest.mark.parametrize(("seeds", "indicative"), [(2, True), (5, True), (6, False), (7, False)])
def test_few_seeds_are_indicative(seeds: int, indicative: bool) -> None:
    verdict = judged(row("one-hot", table(2.0, 0.4, seeds=seeds)), row("lls", table(1.0, 0.4, 1, seeds=seeds)))
    assert verdict.indicative == indicative
    assert (f"Indicative: {seeds} seeds, fewer than 6." in verdict.sentences) == indicative


def test_one_seed_decides_nothing() -> None:
    verdict = judged(row("one-hot", table(2.0, 0.4, seeds=1)), row("lls", table(1.0, 0.4, 1, seeds=1)))
    assert (verdict.kind, verdict.interval, verdict.indicative) == ("undecided", None, True)
    assert verdict.estimate == pytest.approx(-0.5, abs=0.03)
    assert "Indicative: 1 seed, fewer than 6." in verdict.sentences
    assert "–" not in verdict.sentences[0]
    assert "could have seen" not in verdict.sentences[0]


def test_a_reference_that_makes_no_costly_mistake() -> None:
    verdict = judged(row("one-hot", table(0.0)), row("lls", table(0.5)))
    assert (verdict.kind, verdict.estimate, verdict.interval) == ("undecided", None, None)
    said = "Lls labels cost 0.500 per sample, one-hot 0.00 for this split: no relative change can be given."
    assert verdict.sentences[0] == said


def test_models_keep_their_names() -> None:
    rows = [
        row("ResNet-50", table(2.0, 0.4), method="", role="reference"),
        row("BERT-Base", table(1.0, 0.4, 1), method="", role="method"),
    ]
    for verdict in (judged(*rows), judged(*rows, margin=0.9)):
        text = " ".join(verdict.sentences)
        assert "BERT-Base costs" in text
        assert "labels" not in text
        assert "one-hot" not in text
    assert "ResNet-50 2.0" in judged(*rows, margin=0.9).sentences[0]


def test_plain_data_and_back() -> None:
    verdict = two(table(1.0, 0.4, 1))
    plain = verdict.model_dump(mode="json")
    shown = ["kind", "indicative", "subject", "sentences", "estimate", "low", "high", "cause", "margin", "level"]
    assert set(plain) == {*shown, "chances", "advice", "shuffled", "unit", "stake"}
    assert Verdict.model_validate(plain) == verdict


def test_decisions_of_one_model() -> None:
    model = row("model", table(1.0, 0.4, seeds=1), right=0.7, plain=0.9, method="", role="reference")
    verdict = judge_decisions(model, 0.05, 0.95)  # argmax costs twice as much, of every sample
    assert (verdict.kind, verdict.subject, verdict.indicative) == ("cheaper", "min-cost", False)
    assert (verdict.estimate, verdict.low, verdict.high) == pytest.approx((-0.5, -0.5, -0.5))
    assert verdict.sentences[0].endswith("; accuracy 0.900 → 0.700.")
    assert "called a class" not in " ".join(verdict.sentences)
    numbers = {"cost": 1.0, "accuracy": 0.9}  # of those that are called a class: of all half are right
    some = judge_decisions(row("model", model.costs, method="", role="reference", min_cost=numbers), 0.05, 0.95)
    assert "→ 0.900, each of the samples that are called a class." in some.sentences[0]
    nothing = judge_decisions(row("model", table(0.0, seeds=1), method="", role="reference"), 0.05, 0.95)
    assert (nothing.kind, nothing.estimate) == ("undecided", None)
    assert "nothing to save" in nothing.sentences[0]


def test_samples_that_show_nothing_leave_room() -> None:
    few = judged(row("one-hot", table(1.0, samples=20)), row("lls", table(1.0, samples=20)))
    many = judged(row("one-hot", table(1.0, samples=2000)), row("lls", table(1.0, samples=2000)))
    assert (few.kind, many.kind) == ("undecided", "no difference")
    assert few.interval == pytest.approx((-3 / 20, 3 / 20), rel=2e-3)  # the rule of three
    room = -np.log(1 - 0.99) / 20  # the share of which 20 samples show nothing once in a hundred times, e^(−20p)
    sure = judged(row("one-hot", table(1.0, samples=20)), row("lls", table(1.0, samples=20)), level=0.99)
    assert sure.interval == pytest.approx((-room, room))


def test_the_level_decides_and_is_named() -> None:
    """One and the same costs are cheaper at 80 percent and undecided at 99."""
    generator = torch.Generator().manual_seed(4)
    swing = 0.22 * torch.randn(6, 1, generator=generator).double()
    rows = row("one-hot", table(2.0, 0.4)), row("lls", table(1.8, 0.4, 1) + swing - swing.mean())
    usual, low, high = (judged(*rows, level=level) for level in (0.95, 0.8, 0.99))
    assert [verdict.level for verdict in (usual, low, high)] == [0.95, 0.8, 0.99]
    assert (low.kind, high.kind) == ("cheaper", "undecided")
    assert "interval" not in usual.sentences[0]
    assert f"(80{THIN}% interval)" in low.sentences[0]
    assert f"(99{THIN}% interval)" in high.sentences[0]
    assert low.estimate == high.estimate == usual.estimate
    widths = [verdict.interval[1] - verdict.interval[0] for verdict in (low, usual, high) if verdict.interval]
    assert widths == sorted(widths)
    assert high.interval is not None
    quantile = float(norm.ppf(0.995))
    seen = widths[2] / 2 * (quantile + float(norm.ppf(0.8))) / quantile
    assert f"A change of about {100 * seen:.0f}{THIN}% could have been seen." in high.sentences[0]


@pytest.mark.parametrize(("level", "enough"), [(0.95, 6), (0.9, 5), (0.99, 8), (0.75, 3), (0.5, 2)])
def test_how_many_seeds_are_enough_depends_on_the_level(level: float, enough: int) -> None:
    assert enough_seeds(level) == enough
    assert sign_flip_test([1.0] * enough) <= 1 - level + 1e-12 < sign_flip_test([1.0] * (enough - 1))
    few, many = (
        judged(row("one-hot", table(2.0, 0.4, seeds=seeds)), row("lls", table(1.0, 0.4, 1, seeds=seeds)), level=level)
        for seeds in (enough - 1, enough)
    )
    assert (few.indicative, many.indicative) == (True, False)
    assert few.sentences[-1].endswith(f"fewer than {enough}.")


def test_accuracy_is_told_at_the_level_that_was_asked_for() -> None:
    """Accuracy that falls beyond chance at 60 percent but not at 99.9 is told of at the one and not at the other."""
    generator = torch.Generator().manual_seed(1)
    plain = (torch.rand(6, SAMPLES, generator=generator) < 0.80).double()
    right = (torch.rand(6, SAMPLES, generator=generator) < 0.76).double()
    rows = row("one-hot", table(2.0, 0.4), plain=plain), row("lls", table(1.0, 0.4, 1), right=right)
    assert "accuracy falls" in judged(*rows, level=0.6).sentences[0]
    assert "accuracy" not in judged(*rows, level=0.999).sentences[0]


def test_chances_stand_beside_the_interval_for_this_split() -> None:
    generator = torch.Generator().manual_seed(3)
    swing = 0.15 * torch.randn(6, 1, generator=generator).double()
    verdict = two(table(1.85, 0.4, 1) + swing)
    assert verdict.chances is not None
    assert verdict.chances.below + verdict.chances.within + verdict.chances.above == pytest.approx(1)
    shown = [f"{100 * each:.0f}{THIN}%" for each in verdict.chances.model_dump().values()]
    five = f"5.0{THIN}%"
    assert verdict.sentences[1] == (
        f"Cheaper by more than {five} {shown[0]} likely, within ±{five} {shown[1]}, dearer {shown[2]}."
    )
    assert " for this split: " in verdict.sentences[0]
    assert " ".join(verdict.sentences).count("this split") == 1


def test_a_change_inside_the_margin_is_not_shouted() -> None:
    verdict = two(table(1.932, 0.4, 1))
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low < -0.05 < verdict.high < 0
    assert verdict.kind == "undecided"
    assert f"It is there, but may well be inside ±5.0{THIN}%." in verdict.sentences[0]


def test_two_samples_decide_nothing() -> None:
    reference = table(0.1, seeds=6, samples=400)
    costs = reference.clone()
    costs[:, :2] += 40.0
    verdict = judged(row("one-hot", reference), row("lls", costs))
    assert (verdict.kind, verdict.interval is None or verdict.interval[0] < 0) == ("undecided", True)
    assert "Rests on 2 samples: about 4,000 test samples would decide it." in verdict.sentences[0]


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_few_groups_decide_nothing(count: int) -> None:
    groups = torch.arange(SAMPLES) % count
    verdict = judged(row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1)), groups=groups)
    assert verdict.kind == "undecided"
    what = "group" if count == 1 else "groups"
    assert f"Rests on {count} {what}: about 10 test groups would decide it." in verdict.sentences[0]


def test_ten_groups_may() -> None:
    groups = torch.arange(SAMPLES) % 10
    rows = row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1))
    assert judged(*rows, groups=groups).kind == "cheaper"


def test_verdict_interval_p_value_and_mark_agree() -> None:
    """Whatever the costs: cheaper and dearer are outside 0, below 1 − level, and marked."""
    random = np.random.default_rng(0)
    kinds = set()
    for _ in range(60):
        costs = [
            torch.from_numpy(level + spread * random.normal(size=(6, 1)) + random.normal(size=(6, SAMPLES)))
            for level, spread in zip(random.choice([1.6, 2.0, 2.4], 3), random.choice([0.1, 0.4], 3), strict=True)
        ]
        rows = against_reference(
            [row(*each) for each in zip(("one-hot", "lls", "uniform"), costs, strict=True)], 0.95, None
        )
        verdict, winner = judge_rows(rows, 0.05, "order"), next(each for each in rows if each.winner)
        kinds.add(verdict.kind)
        if verdict.kind in ("cheaper", "dearer"):
            assert winner.marked
            assert winner.p_value is not None
            assert winner.p_value <= 0.05
            assert verdict.low is not None
            assert verdict.high is not None
            assert not verdict.low <= 0 <= verdict.high
        elif winner.marked and verdict.kind == "undecided":
            assert verdict.estimate is not None
            assert abs(verdict.estimate) <= 0.05
    assert kinds >= {"cheaper", "dearer", "undecided"}


def test_the_level_is_that_of_the_winners_interval() -> None:
    """Two methods, chosen between on the networks that are judged: the interval holds for both, at 97.5 percent."""
    rows = row("one-hot", table(2.0, 0.4)), row("lls", table(1.0, 0.4, 1)), row("uniform", table(1.9, 0.4, 2))
    verdict = judged(*rows)
    assert verdict.level == pytest.approx(0.975)
    assert f"(97.5{THIN}% interval)" in verdict.sentences[0]
    assert judged(*rows[:2]).level == 0.95


def test_accuracy_is_that_of_the_table_or_not_said() -> None:
    """Where something else than a class is done, the table's accuracy is of the other samples, and no difference."""
    right = torch.zeros(SEEDS, SAMPLES, dtype=torch.float64)
    right[:, : SAMPLES // 2] = 1
    facts = {"right": right, "plain": torch.ones_like(right)}
    costs, reference = table(1.0, 0.1, 1), row("one-hot", table(2.0, 0.1), plain=1.0)
    rows = against_reference([reference, row("uniform", costs, **facts)], 0.95, None)
    assert "accuracy falls 1.000 → 0.500" in judge_rows(rows, 0.05, "order").sentences[0]
    numbers = {"cost": float(costs.mean()), "accuracy": 0.7}
    rows = against_reference([reference, row("uniform", costs, **facts, min_cost=numbers)], 0.95, None)
    assert "accuracy" not in judge_rows(rows, 0.05, "order").sentences[0]
