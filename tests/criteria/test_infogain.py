"""Infogain loss: the order of its indices, what it is without the simplex, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import labelspace
from contract.harness import assert_gradients_check, assert_matches_reference, mixed_up, plain, weighted
from labelspace import Infogain, groups, infogain_loss, make_criterion, ordinal


def test_it_reads_its_matrix_by_columns() -> None:
    output, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 1])
    torch.testing.assert_close(infogain_loss(output, y, torch.eye(3)), cross_entropy(output, y, reduction="none"))
    matrix = torch.rand(3, 3)
    expected = torch.stack(
        [-(matrix[:, label] * row.log_softmax(0)).sum() for row, label in zip(output, y, strict=True)]
    )
    torch.testing.assert_close(infogain_loss(output, y, matrix), expected)
    criterion = make_criterion("infogain", 3, matrix=matrix, reduction="none")
    torch.testing.assert_close(criterion(output, y), expected)


def test_hand_made_example() -> None:
    # label 1 takes column 1: 2·(−log ½) for class 0, 0.5·(−log ¼) for class 1, nothing for class 2
    matrix = [[1.0, 2.0, 0.0], [9.0, 0.5, 0.0], [9.0, 0.0, 1.0]]
    output = torch.tensor([[2.0, 1.0, 1.0]], dtype=torch.float64).log()
    loss = Infogain(["a", "b", "c"], matrix=matrix)(output, torch.tensor([1]))  # type: ignore[arg-type]
    expected = 2 * np.log(2) + 0.5 * np.log(4)
    torch.testing.assert_close(loss, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_a_space_matches_the_reference(batch) -> None:  # type: ignore[no-untyped-def]
    inputs = batch("infogain")
    criterion = Infogain(ordinal(4), smoothing=0.3).double()
    criterion.weight = inputs.criterion.weight
    inputs = replace(inputs, criterion=criterion)
    assert_matches_reference(inputs)
    if batch is plain:
        assert_gradients_check(replace(inputs, output=inputs.output.detach()))


def test_a_diagonal_of_class_sizes_weighs_classes() -> None:
    # the paper's H_ii = min(n)/n_i: torch's class weights, with the mean over samples
    output, y = torch.randn(10, 3), torch.tensor([0, 0, 0, 0, 0, 0, 1, 1, 1, 2])
    balance = 1 / torch.tensor([6.0, 3.0, 1.0])
    loss = Infogain(3, matrix=balance.diag())(output, y)  # type: ignore[arg-type]
    torch.testing.assert_close(loss, cross_entropy(output, y, weight=balance, reduction="sum") / 10)


def test_label_space_of_a_matrix_is_what_leaves_each_column() -> None:
    space = Infogain(["a", "b", "c"], matrix=[[2, 3, 0], [1, 5, 0], [3, 1, 0.5]]).label_space()  # type: ignore[arg-type]
    torch.testing.assert_close(space.matrix, torch.tensor([[0, 0.25, 0.75], [0.75, 0, 0.25], [0, 0, 1]]))
    given = groups([["a", "b"], ["c", "d"]])
    torch.testing.assert_close(Infogain(given).label_space().matrix, given.matrix)


def test_it_trains_by_name_and_comes_back() -> None:
    matrix = (2 * np.eye(10) + 0.1).tolist()
    for options in ({"space": "ordinal"}, {"method_options": {"matrix": matrix}}):
        run = labelspace.train("digits", method="infogain", epochs=3, limit=200, **options)  # type: ignore[arg-type]
        assert run.result["validation"]["accuracy"] > 0.3
        x = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
        torch.testing.assert_close(run.learner()(x.float()).shape, torch.Size([2, 10]))


def test_bad_options() -> None:
    with pytest.raises(TypeError, match="`labels` of Infogain must be a LabelSpace"):
        Infogain(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`matrix` of Infogain must be an array of 3 rows.*Got shape \(2, 3\)"):
        Infogain(ordinal(3), matrix=[[1, 0, 0], [0, 1, 0]])
    with pytest.raises(ValueError, match="`matrix` of Infogain must be not negative.* Got -1 at row 1, column 0"):
        Infogain(ordinal(2), matrix=[[1, 0], [-1, 1]])
    with pytest.raises(ValueError, match="`matrix` of Infogain must be finite"):
        Infogain(ordinal(2), matrix=[[1, 0], [float("nan"), 1]])
