"""Actions: what is done about a class, tables that travel with cost spaces, and what is wrong with them."""

from pathlib import Path

import pytest
import torch

from labelspace import LabelSpace, cost
from labelspace.spec import actions as known
from labelspace.spec.actions import Actions, actions_of, class_of, of_class

NAMES = ["mild", "severe"]
DONE = ("mild", "severe", "order a test", "send to a person")
TABLE = torch.tensor([[0.0, 1, 0.3, 0.5], [10, -2, 0.6, 0.5]], dtype=torch.float64)


def test_what_is_done_about_a_class() -> None:
    assert of_class(NAMES, Actions(DONE, TABLE)).tolist() == [0, 1]
    # no action has the name of a class: what is cheapest if it is one
    assert of_class(NAMES, Actions(("a", "b", "c", "d"), TABLE.flip(1))).tolist() == [3, 2]
    assert class_of(NAMES, DONE).tolist() == [0, 1, -1, -1]


def test_a_cost_space_holds_its_actions_in_a_file_too(tmp_path: Path) -> None:
    space = known.given(TABLE, NAMES, DONE)
    # severe taken for mild costs 10 − (−2), mild for severe 1
    torch.testing.assert_close(space.matrix, torch.tensor([[0.0, 1], [12, 0]]))
    again = LabelSpace.load(space.save(tmp_path / "prices.safetensors"))
    for found in (actions_of(space), actions_of(again)):
        assert found is not None
        assert found.names == DONE
        torch.testing.assert_close(found.prices, TABLE, rtol=0, atol=0)
    turned = actions_of(space.subset(["severe", "mild"]))
    assert turned is not None
    torch.testing.assert_close(turned.prices, TABLE.flip(0))
    assert actions_of(cost([[0, 1], [1, 0]], NAMES)) is None


def test_columns_that_are_the_classes_come_in_their_order() -> None:
    found = actions_of(known.given([[1, 0], [-2, 10]], NAMES, ["severe", "mild"]))
    assert found is not None
    assert (found.names, found.prices.tolist()) == (("mild", "severe"), [[0, 1], [10, -2]])
    assert not known.is_plain(NAMES, found)
    assert known.is_plain(NAMES, Actions(("mild", "severe"), torch.tensor([[0.0, 1], [2, 0]])))


def test_limits_travel_along(tmp_path: Path) -> None:
    limited = known.limited(known.given(TABLE, NAMES, DONE), {"send to a person": 0.05})
    again = LabelSpace.load(limited.save(tmp_path / "prices.safetensors"))
    assert known.capacity_of(again) == {"send to a person": 0.05}
    assert known.facts_of(again) != known.facts_of(known.given(TABLE, NAMES, DONE))
    assert known.capacity_of(None) is None
    with pytest.raises(ValueError, match="`capacity` of labelspace must be names of actions. Got 'sned to a person'"):
        known.limited(limited, {"sned to a person": 0.05})


@pytest.mark.parametrize(
    ("done", "message"),
    [
        (["mild", "severe", "", "ask"], "`actions` of labelspace must be a name for every action. Got '' for action 2"),
        (["mild", "severe", None, "ask"], "Got None for action 2"),
        (["mild", "ask", "ask", "test"], "different names. Got 'ask' more than once"),
        (["mild", "severe"], r"`cost` of labelspace must be of shape \(2, 2\).*Got shape \(2, 4\)"),
        ("mild", "a list of names"),
    ],
)
def test_actions_that_are_none(done: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        known.checked("labelspace", NAMES, done, TABLE)
    assert "\n" not in str(error.value)


def test_prices_must_be_numbers() -> None:
    with pytest.raises(ValueError, match="`cost` of labelspace must be finite. Got nan at row 0, column 1"):
        known.given([[0, float("nan")], [1, 0]], NAMES, ["a", "b"])


@pytest.mark.parametrize(
    "source",
    [
        {"actions": ["a", "b"]},
        {"actions": ["a", "b"], "table": [[1, 2]], "classes": NAMES},
        {"actions": ["a", "b"], "table": [[1, 2], [3, 4]], "classes": ["mild", ["severe"]]},
        {"actions": ["a", "b"], "table": [[1, 2], ["x", 4]], "classes": NAMES},
        {"actions": ["a", 5], "table": [[1, 2], [3, 4]], "classes": NAMES},
    ],
)
def test_a_file_may_say_anything(source: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="of labelspace must be"):
        actions_of(LabelSpace(tuple(NAMES), torch.tensor([[0.0, 1], [1, 0]]), "cost", source))


def test_nodes_and_limits_of_a_file_may_say_anything() -> None:
    space = LabelSpace(tuple(NAMES), torch.tensor([[0.0, 1], [1, 0]]), "cost", {"nodes": {"x": [["mild"], 3], "y": 4}})
    found = actions_of(space)
    assert found is not None
    assert found.names == tuple(NAMES)
    with pytest.raises(ValueError, match="`capacity` of labelspace must be"):
        known.capacity_of(LabelSpace(tuple(NAMES), space.matrix, "cost", {"capacity": {"mild": "few"}}))
