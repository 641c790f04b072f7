"""A decision without a model: what it says of new scores is what numpy says by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from labelspace._checks import DamagedError
from labelspace.decisions.decision import Decision
from labelspace.serving.alone import SCORES, Alone, Met, decisions, load, place_of
from labelspace.serving.predictions import Extra
from labelspace.serving.take_home import take_decision

NAMES = ("low", "mid", "high")
PRICES = np.array([[0.0, 1, 4], [2, 0, 1], [9, 2, 0]])
LOGITS = 2 * np.random.default_rng(0).normal(size=(50, 3))
SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
TEMPERATURE = 1.7
DECISION = Decision("min_cost", TEMPERATURE, PRICES, NAMES)


def by_hand(abstain_cost: float | None = None) -> dict[str, list[object]]:
    p = np.exp(LOGITS / TEMPERATURE)
    p /= p.sum(axis=1, keepdims=True)
    expected = p @ PRICES
    best = expected.argmin(axis=1)
    left = np.zeros(50, bool) if abstain_cost is None else expected.min(axis=1) > abstain_cost
    return {
        "class": [NAMES[place] for place in LOGITS.argmax(axis=1)],
        "probability": p[np.arange(50), LOGITS.argmax(axis=1)].tolist(),
        "decision": [None if out else NAMES[place] for place, out in zip(best, left, strict=True)],
        "abstained": left.tolist(),
    }


def decided(new: object, kind: Any, keep: Any = (), abstain: float | None = None) -> tuple[dict[str, list[Any]], Met]:
    met = Met()
    pieces = list(decisions(Alone(DECISION.with_abstain_cost(abstain), kind, "mine"), new, met, keep))
    return {name: [cell for piece in pieces for cell in piece[name]] for name in pieces[0]}, met


def check(found: dict[str, list[Any]], expected: dict[str, list[object]]) -> None:
    assert {name: found[name] for name in ("class", "decision", "abstained")} == {
        name: expected[name] for name in ("class", "decision", "abstained")
    }
    np.testing.assert_allclose(found["probability"], expected["probability"], atol=1e-7)


def test_every_form_of_new_scores(tmp_path: Path) -> None:
    frame = pd.DataFrame(LOGITS, columns=NAMES)
    frame[["high", "low", "mid"]].assign(id=range(50), y="?").to_csv(tmp_path / "new.csv", index=False)
    np.savez(tmp_path / "new.npz", scores=LOGITS, names=NAMES)
    for new, keep in ((tmp_path / "new.csv", ["id"]), (tmp_path / "new.npz", []), (frame, [])):
        found, met = decided(new, "logits", keep)
        check(found, by_hand())
        assert (met.rows, met.unread, met.notes) == (50, [], [])
        assert found["row"] == list(range(50))
        assert found.get("id", list(map(str, range(50)))) == list(map(str, range(50)))
    check(decided(frame, "logits", abstain=0.6)[0], by_hand(0.6))
    assert by_hand(0.6)["abstained"] != by_hand()["abstained"]


def test_probabilities_are_taken_as_such() -> None:
    found, _ = decided(pd.DataFrame(SHARES, columns=NAMES), "probabilities")
    check(found, by_hand())
    sure = pd.DataFrame([[1.0, 0, 0], [0, 0, 1]], columns=NAMES)
    assert decided(sure, "probabilities")[0]["decision"] == ["low", "high"]


def test_columns_without_names_are_said_to_be_taken_by_their_place() -> None:
    found, met = decided({"scores": LOGITS}, "logits")
    check(found, by_hand())
    assert met.notes == ["nothing names the columns of the scores: they are taken to be 'low', 'mid', 'high'"]


def test_one_bad_row_spoils_one_row() -> None:
    frame = pd.DataFrame(SHARES, columns=NAMES).astype(object)
    frame.loc[3, "mid"], frame.loc[5, "low"], frame.loc[7, "high"] = "x", 0.9, None
    found, met = decided(frame, "probabilities")
    wrong = [3, 5, 7]
    assert [place for place, name in enumerate(found["class"]) if name is None] == wrong
    assert [row for row, _ in met.unread] == ["3", "5", "7"]
    assert met.unread[0][1] == "'x' for 'mid'"
    assert met.unread[1][1].startswith("it sums to 1.")
    expected = by_hand()
    for name in ("class", "decision"):
        kept = [cell for place, cell in enumerate(found[name]) if place not in wrong]
        assert kept == [cell for place, cell in enumerate(expected[name]) if place not in wrong]


def test_more_rows_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelspace.serving.alone.ROWS", 7)
    check(decided(pd.DataFrame(LOGITS, columns=NAMES), "logits")[0], by_hand())


@pytest.mark.parametrize(
    ("new", "kind", "words"),
    [
        (pd.DataFrame(SHARES, columns=NAMES), "logits", "logits, as the decision was fitted on. Got probabilities in"),
        (
            pd.DataFrame(LOGITS, columns=NAMES),
            "probabilities",
            "probabilities, as the .* Got others in .*: row 0 sums to",
        ),
        (
            pd.DataFrame(LOGITS, columns=["low", "mid", "x"]),
            "logits",
            "Got 'x' in .* has 'low', 'mid', 'high'. .*--keep",
        ),
        (
            pd.DataFrame(LOGITS[:, :2], columns=["low", "mid"]),
            "logits",
            "Got 'low', 'mid' in .* has 'low', 'mid', 'high'",
        ),
        ({"scores": LOGITS[:, :2]}, "logits", "of 3 columns, one per class. Got 2"),
        ({"scores": np.stack([LOGITS, LOGITS])}, "logits", "scores of one model. Got those of 2 seeds"),
        ({"test_scores": LOGITS}, "logits", "new scores. Got test_scores in the scores, one of the parts"),
        ("nowhere.csv", "logits", "Got 'nowhere.csv', which is not there"),
    ],
)
def test_what_is_refused(new: object, kind: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        decided(new, kind)


def test_a_folder(tmp_path: Path) -> None:
    take_decision(Alone(DECISION, "probabilities", "mine"), tmp_path / "kept" / "best", "a card")
    assert sorted(path.name for path in (tmp_path / "kept" / "best").iterdir()) == [
        "README.md",
        "decision.json",
        SCORES,
    ]
    assert place_of(tmp_path / "kept") == place_of(tmp_path / "kept" / "best") == tmp_path / "kept" / "best"
    assert place_of(tmp_path) is None
    found = load(tmp_path / "kept" / "best")
    assert (found.kind, found.model, found.decision.plain()) == ("probabilities", "mine", DECISION.plain())


def test_a_decision_that_somebody_saved_finds_out_what_scores_are(tmp_path: Path) -> None:
    DECISION.save(tmp_path / "decision.json")
    place = place_of(tmp_path)
    assert place is not None
    met = Met()
    pieces = list(decisions(load(place), pd.DataFrame(SHARES, columns=NAMES), met))
    check({name: [*pieces[0][name]] for name in pieces[0]}, by_hand())
    assert met.notes == ["the decision does not say which scores it takes; these are read as probabilities"]


def test_a_run_that_lost_its_configuration_is_no_decision(tmp_path: Path) -> None:
    DECISION.save(tmp_path / "decision.json")
    (tmp_path / "result.json").write_text("{}")
    assert place_of(tmp_path) is None


def test_damage(tmp_path: Path) -> None:
    best = take_decision(Alone(DECISION, "logits", "mine"), tmp_path / "best", "a card")
    facts = json.loads((best / SCORES).read_text())
    (best / SCORES).write_text(json.dumps({**facts, "kind": "probabilities"}))
    with pytest.raises(DamagedError, match="its content is not what was written beside the decision"):
        load(best)
    with pytest.warns(UserWarning, match=r"scores.json is damaged"):
        assert load(best, allow_damaged=True).kind == "probabilities"
    for content in ("{", "[]", '{"kind": "nonsense", "model": "m"}'):
        (best / SCORES).write_text(content)
        with pytest.raises(DamagedError, match="a decision with a sound scores.json"):
            load(best)
    (best / SCORES).unlink()
    with pytest.raises(DamagedError, match="it is missing"):
        load(best)


def test_the_decision_in_the_folder_is_the_one_that_was_given(tmp_path: Path) -> None:
    best = take_decision(Alone(DECISION, "logits", "mine"), tmp_path / "best", "a card")
    loaded = Decision.load(best / "decision.json")
    torch.testing.assert_close(loaded.decide(LOGITS).classes, DECISION.decide(LOGITS).classes)


def test_actions_are_written_by_their_names() -> None:
    table, done = np.column_stack([PRICES, [0.6, 0.6, 0.6]]), [*NAMES, "send to a person"]
    decision, met = Decision("min_cost", TEMPERATURE, table, NAMES, actions=done), Met()
    (found,) = decisions(Alone(decision, "logits"), pd.DataFrame(LOGITS, columns=NAMES), met, extra=Extra(True))
    p = np.exp(LOGITS / TEMPERATURE)
    expected = p / p.sum(axis=1, keepdims=True) @ table
    assert found["decision"] == [done[place] for place in expected.argmin(axis=1)]
    np.testing.assert_allclose(found["expected_cost"], expected.min(axis=1), atol=1e-6)
    assert met.decisions["send to a person"] == (expected.argmin(axis=1) == 3).sum() > 0
