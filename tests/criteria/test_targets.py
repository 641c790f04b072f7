"""Labels as indices and as probabilities are read in the same way."""

import copy
import pickle

import pytest
import torch
from torch.nn.functional import one_hot
from torch.testing import assert_close

from labelspace.criteria import targets

Y = torch.tensor([2, 0, -1, 1])
SOFT = one_hot(Y.clamp_min(0), 3).double() * (Y >= 0)[:, None]
MATRIX = torch.rand(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
VALUES = torch.rand(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
VALID = Y >= 0


def test_indices_and_one_hot_probabilities_agree() -> None:
    for function in (
        lambda y: targets.rows(MATRIX, y),
        lambda y: targets.pick(VALUES, y),
        lambda y: targets.membership(y, 3, torch.float64),
        lambda y: targets.smoothed(MATRIX, y, torch.tensor(0.3, dtype=torch.float64)),
    ):
        assert_close(function(Y)[VALID], function(SOFT)[VALID])
    assert targets.hard(SOFT).tolist() == Y.tolist()
    assert targets.membership(Y, 3, torch.float64)[2].tolist() == [0, 0, 0]


def test_mixtures_in_log_space_are_those_of_probabilities() -> None:
    for classes in (5, 50):
        generator = torch.Generator().manual_seed(2)
        table = torch.rand(classes, classes, dtype=torch.float64, generator=generator)
        y = torch.rand(6, classes, dtype=torch.float64, generator=generator)
        y = y / y.sum(1, keepdim=True)
        mixed = targets.log_mixed(lambda chosen, table=table: table[chosen].log(), y, dense=True)
        assert_close(mixed, (y @ table).log())


def test_the_common_options_are_written_out_in_signatures() -> None:
    def base(
        self,
        labels,
        *,
        weight=None,
        ignore_index=-100,
        reduction="mean",
        class_dim=1,
        preset=None,
        global_mean=True,
        process_group=None,
        validate=True,
        classes=None,
    ):
        pass

    def own(self, labels, *, smoothing=0.1, **common):
        pass

    names = list(targets.with_common(own, base).parameters)
    assert names == ["labels", "smoothing", *targets.Common.__annotations__]


def test_rows_of_some_samples() -> None:
    with torch.inference_mode():
        made_there = MATRIX.clone()
    for matrix in (MATRIX, made_there):
        rows = targets.row_maker(matrix, Y[VALID], torch.float32)
        assert_close(rows(slice(1, 3)), MATRIX[[0, 1]].float())
        assert_close(rows(slice(None)), MATRIX[[2, 0, 1]].float())
    with pytest.raises((IndexError, RuntimeError)):
        targets.row_maker(MATRIX, torch.tensor([3]), torch.float32)(slice(None))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_kept_rows_see_what_is_written_to_copied_relations(copied) -> None:
    relations = torch.full((3, 3), 1 / 3)
    for _ in range(2):
        relations.copy_(torch.full((3, 3), 1 / 3))
    rows, like, y = targets.TargetRows(), torch.zeros(3, 3), torch.arange(3)
    for _ in range(2):
        rows(y, 0.7, 0.3, relations, like)
    assert rows._kept.matrix is not None
    rows, relations = copied((rows, relations))
    for _ in range(4):  # until the copy was written to as often as what it was copied from
        relations.copy_(torch.rand(3, 3))
        assert_close(rows(y, 0.7, 0.3, relations, like), 0.7 * torch.eye(3) + 0.3 * relations)


def test_rows_of_relations_made_in_inference_mode() -> None:
    with torch.inference_mode():
        relations = MATRIX.clone()
    wanted = 0.7 * torch.eye(3, dtype=torch.float64) + 0.3 * MATRIX
    found = targets.TargetRows()(torch.arange(3), 0.7, 0.3, relations, MATRIX)
    assert_close(found.clone(), wanted)


def test_rows_are_kept_from_the_second_time_on_and_only_where_they_are_few() -> None:
    y = torch.tensor([2, 0])
    for count, kept in ((3, True), (1024, True), (1025, False)):
        relations, rows, like = torch.rand(count, count), targets.TargetRows(), torch.zeros(2, count)
        wanted = 0.7 * torch.eye(count)[y] + 0.3 * relations[y]
        for call in range(3):
            assert_close(rows(y, 0.7, 0.3, relations, like), wanted)
            assert (rows._kept.matrix is not None) == (kept and call > 0)
        assert_close(rows(y, 0.6, 0.3, relations, like), 0.6 * torch.eye(count)[y] + 0.3 * relations[y])
        assert rows._kept.matrix is None, "another share: nothing is made of all classes for a single use"
    for count, kept in ((256, True), (257, False)):
        rows, like = targets.TargetRows(), torch.zeros(2, count)
        for _ in range(2):
            assert_close(rows(y, 0.7, 0.3, None, like), 0.7 * torch.eye(count)[y] + 0.3)
        assert (rows._kept.matrix is not None) == kept
