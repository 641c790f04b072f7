"""What only results of sequences have."""

import pytest
from pydantic import ValidationError

from labelspace.results import Measure, Neighbourhood, Quality, Translation


def test_a_measure_counts_in_points() -> None:
    assert Measure(key="bleu", title="BLEU").unit == "points"
    assert Quality(value=3.0).low is None


def test_texts_are_texts() -> None:
    with pytest.raises(ValidationError, match="valid string"):
        Translation.model_validate({"source": 3, "answer": "", "rows": []})
    with pytest.raises(ValidationError, match="valid list"):
        Neighbourhood.model_validate({"label": "LLS", "rows": {}})
