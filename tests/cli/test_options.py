"""What is typed becomes the options of a reader."""

from pathlib import Path

import pytest

from labelspace.cli.options import parsed_options, reader_options


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
