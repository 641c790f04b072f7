"""What decisions, metrics and analysis accept, and what they refuse."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace import _inputs, cost, ordinal, uniform

FORMS = [
    [[0.25, 0.75], [1.0, 0.0]],
    np.array([[0.25, 0.75], [1.0, 0.0]], dtype=">f8"),
    torch.tensor([[0.25, 0.75], [1.0, 0.0]], requires_grad=True),
    [torch.tensor([0.25, 0.75], dtype=torch.bfloat16), [1.0, 0.0]],
    torch.tensor([[0.25, 0.75], [1.0, 0.0]]).to_sparse(),
]


@pytest.mark.parametrize("value", FORMS)
def test_numbers_of_every_form_are_the_same_numbers(value: object) -> None:
    expected = torch.tensor([[0.25, 0.75], [1.0, 0.0]], dtype=torch.float64)
    assert_close(_inputs.matrix("f", "x", value), expected, rtol=0, atol=0)
    assert_close(_inputs.probabilities("f", "x", value), expected, rtol=0, atol=0)


def test_lists_keep_double_precision() -> None:
    assert _inputs.tensor("f", "x", [0.1]).item() == 0.1


def test_guesses_come_from_scores_or_indices() -> None:
    predicted, y, classes = _inputs.pair("f", [[0.0, 2.0, 1.0], [3.0, 3.0, 1.0]], [1, 0])
    assert (predicted.tolist(), y.tolist(), classes) == ([1, 0], [1, 0], 3)
    assert _inputs.pair("f", [4, 0], [1, 2])[2] == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: _inputs.tensor("f", "x", ["a"], "Number them."),
            "`x` of f must be a tensor .* Got list of text. Number",
        ),
        (lambda: _inputs.tensor("f", "x", torch.ones(2, dtype=torch.complex64)), "real numbers"),
        (lambda: _inputs.probabilities("f", "x", [[0.5, 0.6]]), "rows sum to 1. Got 1.1 in row 0"),
        (lambda: _inputs.class_indices("f", "y", [0, 3], classes=3), "from 0 to 2. Got 3 at position 1"),
        (lambda: _inputs.class_indices("f", "y", [0.0]), "class indices"),
        (
            lambda: _inputs.class_indices("f", "y", np.array([2**63], dtype=np.uint64)),
            "9223372036854775808 of dtype uint64",
        ),
        (lambda: _inputs.scores("f", "x", [[1.0], [2.0]]), "scores of at least 2 classes"),
        (lambda: _inputs.vector("f", "x", [1.0, float("nan")]), "finite. Got nan at position 1"),
        (lambda: _inputs.class_names("f", "names", ["a", "a"]), "unique. Got 'a' more than once"),
        (lambda: _inputs.seed("f", 2**32), "from 0 to 4294967295"),
        (lambda: _inputs.prices("f", uniform(3)), "a cost space or one from a taxonomy or an order"),
        (lambda: _inputs.prices("f", [[1, 2], [3, 0]]), "zero on its diagonal"),
        (lambda: _inputs.table_of("f", "classes", 2**16), "at most 32768 classes"),
    ],
)
def test_what_is_refused(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_an_order_and_a_cost_space_are_prices() -> None:
    assert _inputs.prices("f", ordinal(3)).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert _inputs.prices("f", cost([[0, 4], [1, 0]])).tolist() == [[0, 4], [1, 0]]


def test_absent_classes_are_named() -> None:
    with pytest.warns(UserWarning, match="f: `y` has no sample of classes 0, 2; all is lost."):
        present = _inputs.warn_absent("f", torch.tensor([1, 3]), 4, "all is lost")
    assert present.tolist() == [False, True, False, True]
    assert _inputs.some_classes([7]) == "class 7"
