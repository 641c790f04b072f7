"""What a label space makes of the numbers it is given."""

import numpy as np
import pandas as pd
import pytest
import torch

import labelspace
from labelspace import LabelSpace, _entries, confusion, cost
from labelspace._entries import checked_hops, checked_matrix

NAMES = ["low", "mid", "high"]
PRICES = [[0, 1, 4], [2, 0, 1], [9, 3, 0]]


def test_frames_are_read_by_name() -> None:
    frame = pd.DataFrame(PRICES, NAMES, NAMES)
    shuffled = frame.loc[["high", "low", "mid"], ["mid", "high", "low"]]
    wanted = torch.tensor(PRICES, dtype=torch.float32)
    for space in (cost(frame), LabelSpace.from_frame(frame, "cost"), LabelSpace(NAMES, shuffled, "cost")):
        assert space.names == tuple(NAMES)
        torch.testing.assert_close(space.matrix, wanted)
    torch.testing.assert_close(cost(shuffled, NAMES).matrix, wanted)
    torch.testing.assert_close(cost(shuffled).align(NAMES).matrix, wanted)
    counts = confusion(pd.DataFrame(PRICES, NAMES, NAMES)).matrix
    torch.testing.assert_close(counts, wanted / wanted.sum(dim=1, keepdim=True))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64, np.float16])
def test_any_type_of_numbers(kind: type) -> None:
    prices = np.array(PRICES, dtype=kind)
    for space in (LabelSpace(NAMES, prices, "cost"), cost(pd.DataFrame(prices, NAMES, NAMES))):
        torch.testing.assert_close(space.matrix, torch.tensor(PRICES, dtype=torch.float32))


def test_frames_of_vectors_have_any_columns() -> None:
    frame = pd.DataFrame({"width": [1.0, 2.0], "height": [3.0, 4.0]}, index=["cat", "dog"])
    space = LabelSpace.from_frame(frame, "vectors")
    assert (space.names, space.kind) == (("cat", "dog"), "vectors")
    torch.testing.assert_close(space.matrix, torch.tensor([[1.0, 3.0], [2.0, 4.0]]))


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (pd.DataFrame(PRICES, NAMES, ["low", "mid", "hi"]), "whose columns names the classes. Got no 'high' and also"),
        (pd.DataFrame(PRICES, columns=NAMES), "Got no '0', '1', '2' and also 'high', 'low', 'mid'"),
        (pd.DataFrame(PRICES, ["a", "a", "b"], NAMES), "unique"),
        (pd.DataFrame([["x", "y"]] * 2, ["a", "b"], ["a", "b"]), "a DataFrame of numbers"),
        (PRICES, "`frame` of LabelSpace.from_frame must be a DataFrame whose index names the classes. Got list"),
    ],
)
def test_frames_that_do_not_say_which_class_is_which(frame: object, text: str) -> None:
    with pytest.raises(labelspace.InputError, match=text):
        LabelSpace.from_frame(frame, "cost")


@pytest.mark.parametrize("kind", ["cost", "relations"])
@pytest.mark.parametrize(("dtype", "rounding"), [(torch.float64, -1e-15), (torch.float32, -1e-8)])
def test_rounding_below_zero_is_zero(kind: str, dtype: torch.dtype, rounding: float) -> None:
    matrix = torch.tensor([[0, 1.0], [1.0, 0]], dtype=dtype)
    matrix[0, 0] = -rounding / 100 if kind == "cost" else rounding
    matrix = torch.cat([matrix, matrix.new_full((2, 1), rounding)], dim=1)
    matrix = torch.cat([matrix, matrix.new_tensor([[1.0, 0, 0]])])
    held = checked_matrix(matrix, ("a", "b", "c"), kind)
    torch.testing.assert_close(held, torch.tensor([[0.0, 1, 0], [1, 0, 0], [1, 0, 0]]), atol=0, rtol=0)


@pytest.mark.parametrize("low", [-1e-3, -1e-6, -1e-9])
def test_what_is_really_negative_is_refused(low: float) -> None:
    with pytest.raises(labelspace.InputError, match=f"`matrix` of cost must be non-negative .*Got {low:g}"):
        cost(np.array([[0, low], [1, 0]]))
    with pytest.raises(labelspace.InputError, match="zero on its diagonal .*Got 1e-06 for '1'"):
        cost(np.array([[0, 1], [1, 1e-6]]))


def test_parts_of_many_rows_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at two rows at a time, everything is as it is at once, places in messages too."""
    matrix = np.random.default_rng(0).random((7, 7))
    np.fill_diagonal(matrix, 0)
    names, relations = tuple("abcdefg"), matrix / matrix.sum(axis=1, keepdims=True)
    hops = torch.arange(7)[:, None].sub(torch.arange(7)).abs()
    wrong, beyond = matrix.copy(), matrix.copy()
    wrong[5, 5], beyond[6, 1] = 2, 1e300
    monkeypatch.setattr(_entries, "AT_ONCE", 14)
    torch.testing.assert_close(checked_matrix(matrix, names, "cost"), torch.from_numpy(matrix).float(), rtol=0, atol=0)
    found = checked_matrix(relations, names, "relations")
    torch.testing.assert_close(found, torch.from_numpy(relations).float(), rtol=0, atol=0)
    torch.testing.assert_close(confusion(matrix, names).matrix, torch.from_numpy(relations).float())
    torch.testing.assert_close(checked_hops(hops, names), hops)
    with pytest.raises(labelspace.InputError, match="Got 2 for 'f'"):
        checked_matrix(wrong, names, "cost")
    with pytest.raises(labelspace.InputError, match=r"Got 1e\+300 at row 6, column 1"):
        checked_matrix(beyond, names, "vectors")
    hops[4, 6] = 9
    with pytest.raises(labelspace.InputError, match="Got 9 from 'e' to 'g'"):
        checked_hops(hops, names)
