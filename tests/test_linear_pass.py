"""Parts of a batch, and gradients added up over them."""

import torch
from torch.testing import assert_close

from labelspace._linear_pass import Call, Sums, parts
from labelspace.criteria.onehot import OneHot


def test_parts_are_all_of_it_once() -> None:
    assert [list(range(10))[part] for part in parts(7, 3, start=2)] == [[2, 3, 4], [5, 6, 7], [8]]
    assert not list(parts(0, 3))


def test_samples_weigh_what_their_class_does() -> None:
    criterion = OneHot(3, weight=[1.0, 2.0, 4.0], ignore_index=1)
    weights, valid = Call(criterion, torch.tensor([2, 1, 0, 2]), {}, []).sample_weights(4, torch.zeros(()))
    assert weights.tolist() == [4, 0, 1, 4]
    assert valid == 3


def test_outer_products_are_added_where_they_are_wanted() -> None:
    features, weight = torch.randn(4, 2), torch.randn(3, 2)
    gradient = torch.randn(4, 3)
    sums = Sums((features, weight, None), (True, True, False))
    for part in parts(4, 3):
        sums.add_outer(part, gradient[part])
    assert_close(sums.found[0], gradient @ weight)
    assert_close(sums.found[1], gradient.T @ features)
    assert sums.found[2] is None
