"""Controls must know nothing: a null that is the space itself would be none."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from labelspace import LabelSpace, cost, groups, ordinal, permuted, random_like, uniform
from labelspace.spec.words import words

SEEDS = range(200)
SPACES = {
    "three in an order": ordinal(["low", "mid", "high"]),
    "four in an order": ordinal(4),
    "two pairs": groups([["a", "b"], ["c", "d"]]),
    "prices": cost([[0, 1, 3], [1, 0, 1], [3, 1, 0]]),
    "a square": LabelSpace(("a", "b", "c", "d"), torch.tensor([[0, 0], [0, 1], [1, 1], [1, 0]]).float() + 3, "vectors"),
}


def same(one: LabelSpace, two: LabelSpace) -> bool:
    return torch.allclose(one.relations().matrix, two.relations().matrix, rtol=0, atol=1e-5)


def test_no_seed_gives_the_space_itself() -> None:
    for name, space in SPACES.items():
        for null in (permuted, random_like):
            copies = [seed for seed in SEEDS[:50] if same(null(space, seed), space)]
            assert not copies, (name, null.__name__, copies)


def test_the_same_seed_gives_the_same_null_also_where_it_was_drawn_again() -> None:
    for null in (permuted, random_like):
        for seed in range(20):
            torch.testing.assert_close(null(ordinal(3), seed).matrix, null(ordinal(3), seed).matrix, rtol=0, atol=0)


def test_seeds_whose_first_draw_differs_keep_it() -> None:
    # drawn by hand: the mid of three classes has two equal relatives, so its row is the same in every draw
    for seed in SEEDS:
        first = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        low, high = (0, 1, 2)[1 if first[0, 1] > first[0, 2] else 2], 0 if first[2, 0] > first[2, 1] else 1
        if (low, high) == (1, 1):
            continue  # the space itself
        expected = torch.full((3, 3), 1 / 3).fill_diagonal_(0)
        expected[0, low], expected[1, 0], expected[1, 2], expected[2, high] = 2 / 3, 0.5, 0.5, 2 / 3
        torch.testing.assert_close(random_like(ordinal(3), seed).matrix, expected, rtol=0, atol=1e-5)


def test_where_there_is_no_other_the_control_says_so() -> None:
    for space in (uniform(4), ordinal(2), uniform(1)):
        for null, start in ((permuted, "shuffled"), (random_like, "random rows")):
            control = null(space, 0)
            assert same(control, space)
            assert words(control).startswith(start)
            assert words(control).endswith("no other is possible, so that it is no control")
    assert "no control" not in words(permuted(ordinal(3), 0))
    assert "no control" not in words(random_like(ordinal(3), 0))


@given(st.lists(st.floats(0.01, 1), min_size=9, max_size=9), st.integers(0, 1000))
def test_random_rows_keep_entropy_and_diagonal(numbers: list[float], seed: int) -> None:
    rows = torch.tensor(numbers, dtype=torch.float64).reshape(3, 3)
    space = LabelSpace(("a", "b", "c"), rows / rows.sum(1, keepdim=True), "relations")
    null = random_like(space, seed)
    before, after = (-torch.special.xlogy(each.matrix.double(), each.matrix.double()).sum(1) for each in (space, null))
    torch.testing.assert_close(after, before, rtol=0, atol=1e-5)
    torch.testing.assert_close(null.matrix.diagonal(), space.matrix.diagonal(), rtol=0, atol=1e-6)
