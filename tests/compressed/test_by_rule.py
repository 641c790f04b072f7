"""Orders and groups of any number of classes: what builders make of them, parts and bad input."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from labelspace import LearnableSmoothing, groups, ordinal
from labelspace.compressed import GroupRows, OrderRows


def test_builders_of_many_classes_make_rules_that_say_what_the_matrix_says(monkeypatch: pytest.MonkeyPatch) -> None:
    members = {"a": ["5", "0", "7"], "b": ["1", "2"], "c": ["3", "4", "6"]}
    names = [str(place) for place in range(8)]
    written = {"order": ordinal(8, power=0.5), "groups": groups(members, names)}
    monkeypatch.setattr("labelspace.compressed.rows.LIMIT", 4 * 7 * 7)
    ruled = {"order": ordinal(8, power=0.5), "groups": groups(members, names)}
    assert (type(ruled["order"].rule), type(ruled["groups"].rule)) == (OrderRows, GroupRows)
    for kind, space in ruled.items():
        assert space.source == written[kind].source
        assert_close(space.rows(names), written[kind].matrix)
        part = space.subset(["6", "1", "3"])  # small enough for a matrix again, and for steps between ranks
        assert part.rule is None
        assert_close(part.matrix, written[kind].subset(["6", "1", "3"]).matrix)
        assert_close(part.distances(), written[kind].subset(["6", "1", "3"]).distances())


def test_fifty_thousand_classes_take_no_time() -> None:
    space = ordinal(50_000)
    assert [name for name, _ in space.nearest("17", k=2)] == ["16", "18"]
    criterion = LearnableSmoothing(space, top=4)
    assert criterion.near[17].tolist() == [17, 16, 18, 15, 19]
    assert criterion.near[0].tolist() == [0, 1, 2, 3, 4]
    named = groups([[f"word {place}" for place in range(start, 50_000, 500)] for start in range(500)])
    assert named.nearest("word 7", k=1)[0][1] == pytest.approx(1 / 99)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: OrderRows(torch.tensor([0, 0])), "one rank for each class"),
        (lambda: OrderRows(torch.tensor([0, -1])), "from 0 to below 1048576. Got -1"),
        (lambda: OrderRows(torch.tensor([0.0, 1.0])), "whole numbers, one for each class. Got torch.float32"),
        (lambda: OrderRows(torch.tensor([0, 1]), power=-1), "`power` of OrderRows"),
        (lambda: GroupRows(torch.zeros(0, dtype=torch.int64)), "whole numbers, one for each class"),
        (lambda: GroupRows(torch.tensor([[0]])), "whole numbers, one for each class"),
    ],
)
def test_bad_rules_get_a_clear_error(build: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build()
