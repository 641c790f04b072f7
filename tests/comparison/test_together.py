"""Datasets that can be asked one question, and others, before anything is trained."""

from pathlib import Path

import pytest

from comparison.small import write_table
from labelspace import InputError
from labelspace.comparison.knowledge import Doing
from labelspace.comparison.together import check_together


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Return a table whose classes are numbers, and one whose are not."""
    return [
        str(write_table(tmp_path / "grades.csv", ["1", "2", "3"], rows=60)),
        str(write_table(tmp_path / "sizes.csv", ["small", "medium", "large"], rows=60)),
    ]


def test_prices_must_be_alike(paths: list[str]) -> None:
    check_together(paths, None, "uniform", {})
    with pytest.raises(
        InputError, match=r"grades.csv \(distance in the order\) and .*sizes.csv \(every mistake costs 1\)"
    ):
        check_together(paths, None, None, {})


def test_what_cannot_be_read_is_named(paths: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere.csv: "):
        check_together([paths[0], str(tmp_path / "nowhere.csv")], None, None, {})
    with pytest.raises(InputError, match="sizes.csv: .*grade.* Files of scores are compared with --scores."):
        check_together([paths[1], paths[0]], None, None, {"label": "grade"})
    with pytest.raises(InputError, match="different datasets. Got digits twice"):
        check_together(["digits", "digits"], None, None, {})


def test_what_is_done_is_part_of_the_question(tmp_path: Path) -> None:
    paths = [str(write_table(tmp_path / f"{rows}.csv", ["qqa", "qqb", "qqc"], rows)) for rows in (150, 180)]
    check_together(paths, None, "uniform", {"label": "label"})
    with pytest.raises(InputError, match="150.csv: "):  # no taxonomy whose nodes could be answers
        check_together(paths, None, "uniform", {"label": "label"}, Doing("tree"))


def test_what_one_dataset_cannot_be_decided_by_is_refused_for_all(tmp_path: Path) -> None:
    paths = [str(write_table(tmp_path / f"{len(names)}.csv", list(names), rows=120)) for names in ("ab", "abc")]
    with pytest.raises(InputError, match=r"3.csv: `calibration` of compare must be .* Got 'isotonic' for 3"):
        check_together(paths, None, "uniform", {}, calibration="isotonic")
    with pytest.raises(InputError, match="`calibration` of compare must be one of 'auto', .* Got 'isotonc'"):
        check_together(paths, None, "uniform", {}, calibration="isotonc")
    with pytest.raises(InputError, match="2.csv: `capacity` of compare must be given beside prices"):
        check_together(paths, None, "uniform", {}, Doing(capacity={"a": 0.1}))


def test_the_same_samples_under_two_names_are_refused(tmp_path: Path) -> None:
    paths = [str(write_table(tmp_path / f"{name}.csv", ["qqa", "qqb"], rows=60)) for name in "ab"]
    with pytest.raises(InputError, match=r"Got the same samples in .*a.csv and .*b.csv. They would count twice"):
        check_together(paths, None, "uniform", {})


def test_nodes_of_different_trees_are_one_question(tmp_path: Path) -> None:
    """As many nodes in each is no part of it."""
    animals, things = ["cat", "dog", "car", "bus"], ["apple", "pear", "hammer", "saw", "chair"]
    paths = [str(write_table(tmp_path / f"{len(names)}.csv", names, rows=60)) for names in (animals, things)]
    check_together(paths, "wordnet", None, {}, Doing("tree"))
    # no scores are spoken of where the files could be read
    with pytest.raises(
        InputError, match=r"4.csv: `actions` of labelspace must be 'tree' only beside .*labelspace.tree.$"
    ):
        check_together(paths, None, None, {}, Doing("tree"))
