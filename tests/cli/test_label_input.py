"""What the commands about labels read: classes, spaces and prices."""

from pathlib import Path

import pytest

from labelspace import ordinal
from labelspace.cli.label_input import Known, chosen_classes, class_list, known_classes, prices_of, space_of


def test_classes_from_a_list_or_from_data() -> None:
    assert known_classes(None, None, {}) == Known()
    assert known_classes("b,a", None, {}).names == ("b", "a")
    assert known_classes(None, "digits", {"classes": "first 3"}).names == ("0", "1", "2")
    with pytest.raises(ValueError, match="`classes` of labels must be left out where the classes come from data"):
        known_classes("a,b", "digits", {})
    with pytest.raises(ValueError, match="unique"):
        class_list("a,a")


def test_prices_need_classes_from_somewhere(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Give --classes, --data, or --space"):
        prices_of("squared", Known(), None)
    assert prices_of("squared", Known(), "low<mid<high").matrix[0].tolist() == [0.0, 1.0, 4.0]
    space = ordinal(["low", "mid", "high"])
    space.save(tmp_path / "sizes.safetensors")
    assert space_of(str(tmp_path / "sizes.safetensors"), Known()).names == space.names
    assert chosen_classes(["high,low"], space) == ["high", "low"]
