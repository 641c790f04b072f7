import csv
import json

from labelspace import data


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def test_a_clean_dataset():
    report = data.check("digits")
    assert report.problems == []
    text = str(report)
    assert "no problems found" in text
    assert "sample: 1×8×8 uint8" in text
    json.dumps(report.to_json())


def test_missing_values_are_a_problem_that_is_listed(tmp_path):
    rows = [["" if i < 3 else i, i, i % 2] for i in range(30)]
    report = data.check(write(tmp_path / "t.csv", ["age", "v", "y"], rows))
    assert report.missing == {"age": 3}
    assert "3 in 'age'" in report.problems[0]
    assert "missing values: age 3" in str(report)
    assert data.check(tmp_path / "t.csv", missing="drop").problems == []


def test_unreadable_pictures_are_a_problem_that_is_listed(pictures):
    (pictures / "cat" / "broken.png").write_bytes(b"no picture")
    report = data.check(pictures)
    assert "cat/broken.png" in report.problems[0]


def test_leakage_repeats_and_imbalance(tmp_path):
    write(tmp_path / "train.csv", ["v", "y"], [[min(i, 50), "b" if i < 3 else "a"] for i in range(60)])
    write(tmp_path / "test.csv", ["v", "y"], [[i + 45, "a"] for i in range(10)])
    report = data.check(tmp_path)
    assert report.leakage["test"]["rows"] == 6
    assert any("6 of the 10 test samples" in problem for problem in report.problems)
    notes = " ".join(report.notes)
    assert "The largest class" in notes
    assert "1 classes have no test samples ('b')" in notes
    assert "repeat another one" in notes
