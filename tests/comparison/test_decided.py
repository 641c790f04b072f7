"""How often each class is called and found, beside numpy; and a warning where one class swallows the others."""

import numpy as np
import pytest
import torch

from comparison.hand_made import row, table
from labelspace.comparison.decided import collapses, decided, done
from labelspace.comparison.outcome import Judge, Outcome, Scores

NAMES = ("mild", "middling", "severe")
THIN = "\N{NARROW NO-BREAK SPACE}"


def outcome(prices: list[list[float]], priced: bool = True, seeds: int = 2, y: list[int] | None = None) -> Outcome:
    """Return a model that knows something; the third class is a fifth of the samples unless said otherwise."""
    labels = torch.tensor((y or [0, 0, 1, 1, 2]) * 40)
    generator = torch.Generator().manual_seed(0)
    scores = [
        torch.nn.functional.one_hot(labels, 3).double()
        + 0.8 * torch.randn(len(labels), 3, generator=generator, dtype=torch.float64)
        for _ in range(seeds)
    ]
    judge = Judge(torch.tensor(prices, dtype=torch.float64), priced, names=NAMES, calibration="temperature")
    return Outcome([Scores(each, labels, each, labels) for each in scores], judge)


EVEN = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
SEVERE = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [60.0, 60.0, 0.0]]


def test_shares_and_recall_beside_numpy() -> None:
    prices = [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [8.0, 4.0, 0.0]]
    model = outcome(prices)
    found = decided(model, NAMES)
    y = np.concatenate([each.test_y.numpy() for each in model.scores])
    logits = np.concatenate([s.test.numpy() / t for s, t in zip(model.scores, model.temperatures, strict=True)])
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    calls = {"argmax": logits.argmax(axis=1), "min_cost": (chances @ np.array(prices)).argmin(axis=1)}
    for place, each in enumerate(found):
        assert (each.name, each.share) == (NAMES[place], pytest.approx((y == place).mean()))
        for rule, called in calls.items():
            assert getattr(each, rule) == pytest.approx((called == place).mean())
            assert getattr(each, f"recall_{rule}") == pytest.approx((called[y == place] == place).mean())
    assert calls["argmax"].tolist() != calls["min_cost"].tolist()


def test_a_class_without_samples_has_no_recall() -> None:
    last = decided(outcome(EVEN, priced=False, y=[0, 1]), NAMES)[2]
    assert (last.share, last.recall_argmax, last.min_cost, last.recall_min_cost) == (0.0, None, None, None)


def test_a_decision_that_collapses_is_told_with_class_and_share() -> None:
    model = outcome(SEVERE)
    rows = [row("one-hot", table(1.0)), row("lls", table(0.9))]
    (text,) = collapses(rows, [model, model], 1, NAMES)
    share = decided(model, NAMES)[2]
    assert share.min_cost is not None
    assert share.min_cost >= 0.75
    assert text.startswith("Lls labels nearly always decide the same: ")
    assert (
        f"{100 * share.min_cost:.0f}{THIN}% of the test samples are called severe, which 20{THIN}% of them are." in text
    )
    assert f"By argmax it would be {100 * share.argmax:.0f}{THIN}%" in text


def test_decisions_that_follow_the_labels_are_no_collapse() -> None:
    rows = [row("one-hot", table(1.0))]
    assert collapses(rows, [outcome(EVEN)], 0, NAMES) == []
    # nine in ten are severe, and are called so
    assert collapses(rows, [outcome(SEVERE, y=[0, *[2] * 9])], 0, NAMES) == []


def test_the_reference_is_looked_at_too() -> None:
    rows = [row("one-hot", table(1.0)), row("lls", table(0.9))]
    (text,) = collapses(rows, [outcome(SEVERE), outcome(EVEN)], 1, NAMES)
    assert text.startswith("One-hot labels nearly always decide ")
    (text,) = collapses([row("net", table(1.0), method="")], [outcome(SEVERE)], 0, NAMES)
    assert text.startswith("net nearly always decides ")


def test_actions_come_after_the_classes_and_are_said() -> None:
    model = outcome(EVEN)
    ask = torch.cat([model.judge.cost, torch.full((3, 1), 0.3, dtype=torch.float64)], dim=1)
    acting = Outcome(model.scores, model.judge._replace(cost=ask, actions=(*NAMES, "ask")))
    found = decided(acting, NAMES)
    assert [each.name for each in found] == [*NAMES, "ask"]
    share = float((torch.cat(acting.actions("min_cost")) == 3).double().mean())
    assert (found[3].share, found[3].argmax, found[3].recall_min_cost) == (0, 0, None)
    assert found[3].min_cost == pytest.approx(share)
    assert 0 < share < 1
    assert done(model) == ""
    assert done(acting).startswith("Done about test samples: ask ")
    ask[:, 3] = 0.01
    cheap = Outcome(model.scores, model.judge._replace(cost=ask, actions=(*NAMES, "ask")))
    assert "of the test samples get ask." in collapses([row("one-hot", table(1.0))], [cheap], 0, NAMES)[0]
