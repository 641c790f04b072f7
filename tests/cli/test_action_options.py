"""What is typed of actions."""

import pytest

from labelspace import InputError
from labelspace.cli.action_options import shares_of, tree_only


def test_shares_are_percent_or_numbers() -> None:
    assert shares_of(["send to a person=5%", "a=b=0.25"]) == {"send to a person": 0.05, "a=b": 0.25}
    assert (shares_of(None), tree_only("tree")) == (None, "tree")


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(InputError, match="--capacity.*from 0 to 100%"):
        shares_of(["ask=120%"])
    with pytest.raises(InputError, match="--capacity"):
        shares_of(["=5%"])
    with pytest.raises(InputError, match="--actions.*'tree'"):
        tree_only("ask")
