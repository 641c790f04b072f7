"""What ``data check`` says of pairs of texts, against counts by hand."""

import json

import pytest

from labelspace import data
from parallel_text import write_lines

TRAIN = [("a b c", "x y"), ("a b c", "x y"), ("a b c", "x"), ("", "y"), ("a", "x y y y")]
HELD = {"val": [("a q", "x"), ("a r", "w")], "test": [("a b c", "x"), ("a q", "y"), ("c", "x")]}


@pytest.fixture
def report(tmp_path):
    return data.check(write_lines(tmp_path / "d", {"train": TRAIN, **HELD}), source="en")


def test_the_table(report):
    assert report.rows() == [
        ("pairs", "4", "2", "3"),
        ("left out, a side empty", "1", "0", "0"),
        ("en length, median", "3", "2", "2"),
        ("en length, 95 %", "3", "2", "3"),
        ("en length, longest", "3", "2", "3"),
        ("en unknown", "0.00 %", "50.00 %", "16.67 %"),
        ("de length, median", "2", "1", "1"),
        ("de length, 95 %", "4", "1", "1"),
        ("de length, longest", "4", "1", "1"),
        ("de unknown", "0.00 %", "50.00 %", "0.00 %"),
        ("repeated sources", "2", "0", "0"),
        ("repeated pairs", "1", "0", "0"),
        ("sources of earlier parts", "", "0", "2"),
        ("pairs of earlier parts", "", "0", "1"),
    ]


def test_words_around_it(report):
    text = str(report)
    assert "d: Dataset(sequences en→de, 5 → 4 tokens: 4 train, 2 validation, 3 test)" in text
    assert "vocabularies, of the training part: en 5, de 4" in text
    assert "first pair: a b c → x y" in text
    assert "note: Pairs that were left out because a side is empty: 1." in text
    assert "note: 50% of the en tokens of the validation part are not in the vocabulary" in text
    assert "problem: 2 of the 3 test samples have the same source text" in text


def test_json_has_no_tokens(report):
    said = json.loads(json.dumps(report.to_json()))
    assert said["lengths"]["train"]["de"] == {"median": 2.0, "most": 4.0, "longest": 4, "unknown": 0.0}
    assert said["vocabulary"] == {"form": "word", "sizes": {"en": 5, "de": 4}}
    assert said["shared_pairs"] == {"train": 0, "validation": 0, "test": 1}
    assert "▁a" not in json.dumps(said, ensure_ascii=False)


def test_without_validation(tmp_path):
    report = data.check(write_lines(tmp_path, {"train": TRAIN, "test": [("k", "l")]}), source="en", validation="none")
    assert report.rows()[2] == ("en length, median", "3", "", "1")
    assert "There are no validation samples" in " ".join(report.notes)
