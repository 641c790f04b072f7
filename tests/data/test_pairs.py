"""Pairs of texts as arrays, and through everything that a dataset goes through."""

import json

import numpy as np
import pytest
import torch

from labelspace import data
from labelspace._checks import InputError
from labelspace.criteria.targets import IGNORED
from labelspace.data import given
from labelspace.data.dataset import of_classes
from labelspace.data.pairs import LONGEST, Side, Texts, found
from labelspace.data.vocabulary import END
from parallel_text import write_lines


@pytest.fixture
def dataset(tmp_path):
    return data.load(write_lines(tmp_path / "d"), source="en")


def test_rows_are_padded_and_come_after_the_split():
    texts = Texts((["a b c", "a", "b b"], ["x", "x y", "z"]), [1, 2, 5], ("t.en", "t.de"))
    sides = Side.both("word", None, False, None, False)
    assert [side.longest for side in sides] == [LONGEST["word"]] * 2
    taken = found({"all": texts}, sides, {}).take([np.array([2, 0]), np.array([1]), np.array([], dtype=np.int64)])
    assert taken.vocabulary == ("<end>", "<unknown>", "▁b", "▁a", "▁c")
    assert taken.names == ("<end>", "<unknown>", "▁x", "▁z")
    assert [part.tolist() for part in taken.x] == [
        [[2, 2, END, IGNORED], [3, 2, 4, END]],
        [[3, END] + [IGNORED] * 2],
        [],
    ]
    assert [part.tolist() for part in taken.y] == [[[3, END, IGNORED], [2, END, IGNORED]], [[2, 1, END]], []]


def test_limit_keeps_vocabularies_and_pairs_together(dataset):
    small = dataset.limit(3, seed=1)
    assert len(small.train) == 3
    assert small.names == dataset.names
    assert small.train.y.shape[1:] == dataset.train.y.shape[1:]
    places = [dataset.train.text.index(text) for text in small.train.text]
    assert small.train.answers == tuple(dataset.train.answers[place] for place in places)
    torch.testing.assert_close(small.train.y, dataset.train.y[places])
    assert small.key != dataset.key
    assert len(dataset.limit("50%").train) == 4


def test_ids_are_not_normalized(dataset):
    assert dataset.normalize(dataset.train.x) is dataset.train.x


def test_classes_are_refused(dataset):
    with pytest.raises(InputError, match="left out for pairs of texts"):
        of_classes(dataset, "first 5")


def test_it_goes_to_workers_and_back(dataset, tmp_path):
    place = tmp_path / "handed"
    place.mkdir()
    given.write(dataset, place)
    again = given.read(place)
    for name, part in again.parts.items():
        torch.testing.assert_close(part.y, dataset.parts[name].y)
        assert (part.text, part.answers) == (dataset.parts[name].text, dataset.parts[name].answers)
    assert again.source == json.loads(json.dumps(dict(dataset.source)))


def test_the_key_knows_the_answers(dataset):
    from dataclasses import replace

    other = replace(dataset, train=replace(dataset.train, answers=("x",) * 8))
    assert given.as_dataset(dataset).key != given.as_dataset(other).key


def test_the_same_source_in_two_parts_is_warned_of(tmp_path):
    write_lines(tmp_path, {"train": [("a b", "x"), ("c", "y")], "val": [("d", "z")], "test": [("a b", "other")]})
    message = (
        "1 of the 1 test samples has the same source text as a training or validation sample.*Take it out of one part.$"
    )
    with pytest.warns(UserWarning, match=message):
        data.load(tmp_path, source="en")
