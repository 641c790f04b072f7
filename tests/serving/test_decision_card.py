"""The card of a decision without a model."""

import numpy as np
import pytest
import torch

from labelspace.decisions.decision import Decision
from labelspace.serving.decision_card import decision_card
from labelspace.serving.score_kind import Kind
from small_results import result

PRICES = np.array([[0.0, 1], [5, 0]])
SCORES = np.array([[1.0, 0], [0, 1], [1, 0], [0.2, 0]])
Y = np.array([0, 1, 1, 0])
COMPARISON = result(
    title="logits of 1 model · 2 classes",
    verdict={"kind": "cheaper", "sentences": ["Decisions cost 0.5 instead of 1.25."]},
    warnings=["Nothing names the columns."],
    command="labelspace compare --scores val.npz test.npz",
)


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_it_says_what_was_measured_and_how_to_use_it(kind: Kind) -> None:
    decision = Decision("min_cost", 0.5, PRICES, ["well", "ill"])
    text = decision_card(decision, kind, "a|b", torch.tensor(SCORES), torch.tensor(Y), COMPARISON)
    p = np.exp(SCORES / 0.5)
    p /= p.sum(axis=1, keepdims=True)
    called = (p @ PRICES).argmin(axis=1)
    assert f"| least expected cost | {(called == Y).mean():.4f} | {PRICES[Y, called].mean():.4g} |" in text
    plainly = SCORES.argmax(axis=1)
    assert f"| likeliest class | {(plainly == Y).mean():.4f} | {PRICES[Y, plainly].mean():.4g} |" in text
    assert "a\\|b" in text
    assert "the model itself is not here" in text
    assert "labelspace predict . NEW.csv" in text
    assert "Decisions cost 0.5 instead of 1.25." in text
    assert "- Nothing names the columns." in text
    assert "Run.load" not in text
    snippet = text.split("```python\n")[1].split("```")[0]
    assert ("numpy.log" in snippet) == (kind == "probabilities")
    compile(snippet, "card", "exec")


def test_without_a_comparison() -> None:
    text = decision_card(
        Decision("argmax", 1.0, None, ["a", "b"]), "logits", "m", torch.tensor(SCORES), torch.tensor(Y)
    )
    assert "What was found" not in text
    assert "cost per sample" not in text
