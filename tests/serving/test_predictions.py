"""Predictions as columns: what the run and its rule say of every sample, also of those that cannot be read."""

from pathlib import Path

import numpy as np
import pytest
import torch

from labelspace import Decision, InputError, train
from labelspace.serving.predictions import NOT_FINITE, Extra, Tally, predictions, ready

ROWS, LABELS = [[float(value)] for value in range(40)], ["low"] * 20 + ["tall"] * 20


def test_columns_are_those_of_the_scores(tmp_path: Path) -> None:
    run = train((ROWS, LABELS), model="linear", epochs=5, learning_rate=0.1, out=tmp_path)
    prepared = ready(run.folder or "")
    new = np.array([[1.0], [38.0], [3e38], [21.0]], np.float32)
    np.savez(tmp_path / "new.npz", x=new, id=np.arange(4))
    tally = Tally()
    (columns,) = predictions(prepared, tmp_path / "new.npz", tally, ["id"])
    scores = run.scores_of(torch.from_numpy(new[[0, 1, 3]]))
    wanted = [prepared.decision.names[index] for index in scores.argmax(dim=1).tolist()]
    assert [columns["class"][row] for row in (0, 1, 3)] == wanted
    assert columns["id"] == [0, 1, 2, 3]
    shares = torch.softmax(scores.double(), dim=1).amax(dim=1)
    torch.testing.assert_close(
        torch.tensor([columns["probability"][row] for row in (0, 1, 3)], dtype=torch.float64), shares, rtol=0, atol=1e-6
    )
    if columns["class"][2] is None:  # a score that overflowed
        assert tally.unread == [("2", NOT_FINITE)]
    assert tally.rows == 4


def test_prices_are_multiplied_by_a_column(tmp_path: Path) -> None:
    """Abstaining costs 0.3 whatever is at stake: it is chosen where the amount is large."""
    run = train((ROWS, LABELS), model="linear", epochs=5, learning_rate=0.1, out=tmp_path)
    decision = Decision("min_cost", 1.0, [[0, 1], [1, 0]], ["low", "tall"], abstain_cost=0.3)
    prepared = ready(run.folder or "")._replace(decision=decision)
    np.savez(tmp_path / "new.npz", x=np.full((4, 1), 20.0, np.float32), amount=np.array([0.1, 100.0, -1.0, np.nan]))
    tally = Tally()
    (columns,) = predictions(
        prepared, tmp_path / "new.npz", tally, extra=Extra(expected_cost=True), cost_column="amount"
    )
    assert columns["abstained"] == [False, True, None, None]
    scores = run.scores_of(torch.full((1, 1), 20.0))
    assert columns["expected_cost"][0] == pytest.approx(0.1 * float(scores.double().softmax(1).min()), rel=1e-4)
    assert columns["expected_cost"][1] == 0.3
    assert [name for name, _ in tally.unread] == ["2", "3"]
    assert "amount" not in columns
    with pytest.raises(InputError, match="`cost_column` of predict must be columns of new.npz. Got 'amout'"):
        list(predictions(prepared, tmp_path / "new.npz", Tally(), cost_column="amout"))
