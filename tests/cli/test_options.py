"""What is typed becomes the options of a reader."""

from pathlib import Path

import pytest

from labelspace import InputError
from labelspace.cli.options import parsed_options, reader_options, training_fields
from labelspace.training.config import make_config


def test_only_what_was_typed_is_an_option():
    assert reader_options() == {}
    assert reader_options(ignore=[]) == {}
    assert reader_options(data_dir=Path("a") / "b") == {"data_dir": str(Path("a") / "b")}


@pytest.mark.parametrize(
    ("typed", "size"), [("64", 64), ("48x64", [48, 64]), ("48×64", [48, 64]), (" 48 X 64 ", [48, 64])]
)
def test_sizes(typed, size):
    assert reader_options(resize=typed) == {"resize": size}


@pytest.mark.parametrize("typed", ["", "big", "1x2x3", "-4", "3.5"])
def test_what_is_no_size(typed):
    with pytest.raises(ValueError, match="`--resize` must be a size such as 64 or 48x64"):
        reader_options(resize=typed)


@pytest.mark.parametrize(("typed", "character"), [("tab", "\t"), (r"\t", "\t"), (";", ";"), ("Semicolon", ";")])
def test_delimiters_that_are_hard_to_type(typed, character):
    assert reader_options(delimiter=typed) == {"delimiter": character}


def test_values_are_json_or_text():
    assert parsed_options(["a=1", "b=[1, 2]", "c=x=y", "d="]) == {"a": 1, "b": [1, 2], "c": "x=y", "d": ""}


def test_what_was_not_typed_keeps_its_default() -> None:
    options = training_fields(milestones="40, 80", momentum=0.0, gamma=None, best_by=None)
    assert options == {"momentum": 0.0, "milestones": [40, 80]}
    config = make_config(schedule="step", **options)
    assert (config.milestones, config.gamma, config.momentum) == ((40, 80), 0.1, 0.0)


def test_milestones_that_are_none() -> None:
    with pytest.raises(InputError, match="`--milestones` must be epochs separated by commas, such as 40,80. Got '4;8'"):
        training_fields(milestones="4;8")
