"""Every word and sign is explained where it stands."""

import pytest

from labelspace.criteria import criterion_class, methods
from labelspace.report.glossary import BRIEF, STRENGTHS, TERMS, chosen_text, glossary, strength_words
from labelspace.report.table import text_table
from small_results import result


def row(label: str, **facts: object) -> dict[str, object]:
    numbers = {"cost": 1.0, "accuracy": 0.5}
    rest = {"of": None, "control": None, "strength": None, "trials": [], "ece_after": 0.1, "validation_cost": 1.0}
    return {"label": label, "role": "method", "argmax": numbers, "min_cost": numbers, **rest, **facts}


def with_rows(*rows: dict[str, object], **facts: object) -> dict[str, object]:
    return {"rows": [row("one-hot", role="reference"), *rows], "decision": "min_cost", **facts}


@pytest.mark.parametrize("method", methods())
def test_every_strength_that_is_tuned_is_explained(method: str) -> None:
    tuned = criterion_class(method).tuned
    assert tuned is None or tuned.option in STRENGTHS


def test_signs_of_two_methods_that_mean_different_things() -> None:
    found = result(
        **with_rows(
            row("zipf", strength={"name": "strength", "symbol": "λ", "value": 0.1}),
            row("lwal", strength={"name": "repel", "symbol": "λ", "value": 1.0}),
        )
    )
    text = strength_words(found.rows)["λ"]
    assert STRENGTHS["strength"] in text
    assert STRENGTHS["repel"] in text
    assert "λ: strength" in text_table(found)
    assert glossary(found)["λ"].startswith("Strength, ")


def test_only_what_is_shown_is_explained() -> None:
    plain = glossary(result(**with_rows(row("uniform", winner=True))))
    assert {"argmax", "min-cost", "T", "Holm", "●", "▸"} <= set(plain)
    assert not {"NAA", "constant", "κ²", "rival", "control"} & set(plain)
    assert "NAA" in glossary(result(**with_rows(row("uniform"))), ["distances"])
    assert set(BRIEF) <= set(TERMS)


def test_the_terminal_explains_its_heads() -> None:
    plain = text_table(result(**with_rows(row("uniform", winner=True))))
    fitted = text_table(result(**with_rows(row("uniform", winner=True, calibrations=({"kind": "vector"}, None)))))
    for word, says in BRIEF.items():
        assert f"{word}: {says}" in (fitted if word == "calibrated" else plain)


def test_the_mark_and_the_model_to_take_home_are_the_same_or_the_screen_says_why_not() -> None:
    marked = row("uniform", winner=True)
    same = result(**with_rows(marked, best={"label": "uniform"}))
    assert (same.elsewhere, chosen_text(same)) == (None, "▸ chosen on validation")
    other = result(**with_rows(marked, best={"label": "one-hot"}))
    assert other.elsewhere == "uniform"
    table = text_table(other)
    assert "▸ chosen on validation: best/ holds it; the verdict is about uniform" in table
    assert [line.split()[0] for line in table.splitlines() if "▸" in line][:1] == ["one-hot"]


def test_shuffled_forms_are_what_a_control_is() -> None:
    assert "shuffled" in TERMS["control"]
    assert "random" not in TERMS["control"]
