"""A result is written, read and compared as it is; what is not one is refused in words."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from labelspace.results import NAME, Result, fault, read
from small_results import REFERENCE, of_texts, result


def test_what_is_written_is_read(tmp_path: Path) -> None:
    given = result(warnings=["Mind the gap."], versions={"torch": "2"})
    given.write(tmp_path)
    again, digests = read("somebody", tmp_path)
    assert again == given
    assert digests == {}
    stored = json.loads((tmp_path / NAME).read_text())
    assert stored["format"] == 1
    assert {name: value for name, value in stored.items() if name not in ("digest", "files")} == given.plain()


def test_what_was_not_said_is_not_written() -> None:
    assert "backbone" not in result().plain()
    assert result(backbone=None).plain()["backbone"] is None


def test_it_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        result().title = "another"  # type: ignore[misc]


@pytest.mark.parametrize("format", [0, 2, "1", None])
def test_another_format_is_refused_in_words(tmp_path: Path, format: Any) -> None:
    (tmp_path / NAME).write_text(json.dumps({**result().plain(), "format": format}))
    with pytest.raises(ValueError, match=rf"`folder` of somebody must be a comparison of format 1. Got {format!r} in"):
        read("somebody", tmp_path)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"rows": []}, "without 'rows'"),
        ({"rows": {}}, "whose 'rows' is wrong (a valid list)"),
        ({"decision": "min_cost"}, "with rows without 'min_cost'"),
        ({"seeds": ["0"]}, "whose 'seeds.0' is wrong (a valid integer)"),
        ({"rows": [{**REFERENCE, "argmax": {"cost": 1.0}}]}, "without 'rows.0.argmax.accuracy'"),
        ({"rows": [{**REFERENCE, "argmax": {"cost": 1.0, "accuracy": 1.0, "kappa": "x"}}]}, "'rows.0.argmax.kappa'"),
        ({"measure": {"key": "bleu", "title": "BLEU"}}, "with rows without 'quality'"),
        ({"translations": [{"source": "a", "answer": "b", "rows": []}]}, "with 'translations' of other rows"),
        ({"rows": [{**REFERENCE, "runs": ["../x"]}]}, "whose 'rows.0.runs.0' is wrong (the name of a folder inside)"),
    ],
)
def test_what_is_wrong_is_said_in_a_few_words(facts: dict[str, Any], words: str) -> None:
    said = fault({**result().plain(), **facts})
    assert said is not None
    assert words in said


def test_numbers_that_are_none_are_read_as_they_always_were() -> None:
    """JSON has no word for them, Python's reader does: a file that holds some is read, and shown without them."""
    rows = [{**REFERENCE, "argmax": {"cost": math.nan, "accuracy": math.inf}}]
    found = Result.model_validate(json.loads(json.dumps({**result().plain(), "rows": rows})))
    assert math.isnan(found.rows[0].argmax.cost)
    assert found.rows[0].argmax.of("accuracy") == math.inf


def test_a_result_of_sequences_is_read_as_it_was_written(tmp_path: Path) -> None:
    given = of_texts()
    given.write(tmp_path)
    again, _ = read("somebody", tmp_path)
    assert again == given
    assert again.translations[0].rows == ("ein Hunt", "<b>ein Hund</b>")


def test_a_file_that_knows_nothing_of_texts_is_read_as_before() -> None:
    """What is written of classifiers has no word of them either."""
    plain = result().plain()
    assert {"measure", "translations", "neighbours"}.isdisjoint(plain)
    assert {"quality", "validation_quality"}.isdisjoint(plain["rows"][0])  # type: ignore[index,arg-type]
    found = Result.model_validate(plain)
    assert (found.measure, found.translations, found.neighbours) == (None, (), None)
