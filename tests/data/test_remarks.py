"""What is said of the columns of a table."""

import pytest

from labelspace import data
from labelspace.data import remarks

TABLE = {
    "text": [f"review number {i}" for i in range(60)],
    "stars": [i % 3 for i in range(60)],
    "country": ["DE", "FR"] * 30,
}


def test_columns_beside_a_text_are_said_aloud():
    with pytest.warns(UserWarning, match="Only the text 'text' is learned from, not 'country'; ignore="):
        dataset = data.load(TABLE, text="text", label="stars")
    assert dataset.kind == "text"
    assert data.load(TABLE, text="text", label="stars", ignore=["country"]).key != ""


def test_a_label_by_its_name_is_only_said_to_those_who_look():
    source = data.load({"size": [1, 2] * 20, "y": ["a", "b", "b", "a"] * 10}).source
    assert remarks.on_load(source) == []
    assert remarks.notes(source, say=str)[0] == "'y' is taken for the label, by its name; label='y' says so."


def test_nothing_is_said_of_data_that_are_no_table():
    assert remarks.notes(data.load("digits").source) == []
