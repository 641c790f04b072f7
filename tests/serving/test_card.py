"""The model card says what was measured."""

import torch

from labelspace import Decision, train
from labelspace.serving.card import Choice, card


def test_numbers_and_names_are_those_of_the_run() -> None:
    run = train("digits", model="linear", epochs=1, limit=100)
    decision = Decision("argmax", 1.0, None, run.preprocessing["names"])
    text = card(run, decision)
    y, chosen = run.scores["test_y"], run.scores["test_scores"].argmax(dim=1)
    assert f"| likeliest class | {(chosen == y).double().mean():.4f} |" in text
    counts = torch.bincount(y, minlength=10).tolist()
    assert f"| {decision.names[3]} | {counts[3]} |" in text
    assert "## How it was chosen" not in text


def test_the_comparison_that_chose_it_is_told_as_plain_text() -> None:
    run = train("digits", model="linear", epochs=1, limit=100)
    decision = Decision("argmax", 1.0, None, run.preprocessing["names"])
    choice = Choice("my|data", "Cheaper?", "cheaper", ("By a third.",), "labelspace compare `x`", ("Few samples.",))
    text = card(run, decision, choice)
    assert r"my\|data" in text.splitlines()[0]
    assert "**Cheaper.** By a third." in text
    assert "- Few samples." in text
    assert "``labelspace compare `x```" not in text
