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


LONG = [(f"a b {n}", "x y") for n in range(4)] + [(" ".join(["a"] * 400), "x"), ("b", "y " * 300)]


def test_the_longest_texts_are_whole_and_have_a_place(tmp_path):
    path = write_lines(tmp_path / "d", {"train": LONG, **HELD})
    report = data.check(path, source="en")
    assert ("en length, longest", "400", "2", "3") in report.rows()
    assert ("de length, 95 %", "300", "1", "1") in report.rows()
    assert ("longest en text", "400 tokens, train.en:5 (at most 255 are read)") in report.facts()
    assert ("longest de text", "300 tokens, train.de:6 (at most 255 are read)") in report.facts()
    said = (
        "1 source text is longer than 255 tokens (the longest: 400 in train.en:5) and 1 target text is longer than 255 "
        "tokens (the longest: 300 in train.de:6): training refuses them unless cut=True or longest=401 is given."
    )
    assert said in report.problems
    assert json.loads(json.dumps(report.to_json()))["source"]["longest"]["target"] == {
        "tokens": 300,
        "file": "train.de",
        "line": 6,
    }
    cut = data.check(path, source="en", cut=True, longest=[11, 400])
    assert ("en length, longest", "400", "2", "3") in cut.rows()
    assert "1 source text is longer than 10 tokens (the longest: 400 in train.en:5): it is cut." in cut.notes
    assert not any("longer" in problem for problem in cut.problems)


def test_only_options_that_would_help_are_shown(tmp_path, report):
    known = {"train": [(f"{'a b ' * n}c", "x y") for n in range(6)], "val": [("b b", "x")], "test": [("c b", "y")]}
    short = data.check(write_lines(tmp_path / "short", known), source="en")
    assert short.option_lines() == ["more options: docs/pairs-of-texts.md, or all with --json"]
    lines = report.option_lines()
    assert [line.split()[0] for line in lines[1:-1]] == ["tokens='subword'", "vocabulary=20000"]
    long = data.check(write_lines(tmp_path / "d", {"train": LONG, **HELD}), source="en").option_lines()
    assert [line.split()[0] for line in long[1:-1]] == ["cut=True", "longest=401", "tokens='subword'"]
    assert ["lowercase=True", "small letters only"] in json.loads(json.dumps(short.to_json()))["options"]
