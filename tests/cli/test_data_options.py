"""What is typed becomes the options of a reader, and what the library says becomes flags."""

from pathlib import Path

import pytest

from labelspace.cli.options import in_flags, parsed_options, reader_options


def command(data, label=None, text=None, ignore=None, missing=None, resize=None, data_dir=None, data_option=None):
    """Stand for a command: its parameters are its flags."""


def bare(run, epochs=1):
    """Stand for a command without data options."""


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


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("`label` of data.load must be a column.", "`--label` must be a column."),
        ("`name_or_path` of data.load must be a file.", "`DATA` must be a file."),
        ("`numeric` of data.load must be columns.", "`--data-option numeric` must be columns."),
        ("`label` of train must be text.", "`--label` must be text."),
        ("`clip` of train must be positive.", "`clip` of train must be positive."),
        ("`label` of Other must be text.", "`label` of Other must be text."),
        ("Say missing='median'.", "Say --missing median."),
        (
            "Say text='a b', ignore=['x'] or ignore=['x', 'y z'].",
            "Say --text 'a b', --ignore x or --ignore x --ignore 'y z'.",
        ),
        ("Give resize=64, or resize=(48, 64).", "Give --resize 64, or --resize 48x64."),
        ("Give skip_unreadable=True.", "Give --data-option skip_unreadable=true."),
        ("Give categorical=['a'].", "Give --data-option 'categorical=[\"a\"]'."),
        ("With data_dir= or $HOME.", "With --data-dir or $HOME."),
        ("Got 'label=3' and x.label=3.", "Got 'label=3' and x.label=3."),
        ("Group_by== and mislabel=3.", "Group_by== and mislabel=3."),
    ],
)
def test_arguments_become_flags(said, typed):
    assert in_flags(said, command) == typed


def test_a_command_without_such_flags_keeps_the_words():
    for said in (
        "`label` of data.load must be a column.",
        "`name_or_path` of data.load must be.",
        "Say missing='drop'.",
    ):
        assert in_flags(said, bare) == said
    assert in_flags("`epochs` of train must be 1.", bare) == "`--epochs` must be 1."


def test_an_option_that_is_a_flag_of_one_command_only():
    def check(path, seed=0, data_option=None): ...

    assert in_flags("`seed` of data.load must be 0.", check) == "`--data-option seed` must be 0."
    assert in_flags("`seed` of data.load must be 0.", check, "seed") == "`--seed` must be 0."
