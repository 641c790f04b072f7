"""What the library says of arguments is said of flags."""

import pytest

from labelspace import InputError
from labelspace._checks import Setting, fail, fail_type
from labelspace.cli.flags import Flags, speaks_of_flags


def command(data, label=None, text=None, ignore=None, missing=None, resize=None, data_dir=None, data_option=None):
    """Stand for a command: its parameters are its flags."""


def bare(run, epochs=1):
    """Stand for a command without data options."""


@pytest.mark.parametrize(
    ("owner", "argument", "named"),
    [
        ("data.load", "label", "`--label` must"),
        ("data.load", "name_or_path", "`DATA` must"),
        ("data.load", "numeric", "`--data-option numeric` must"),
        ("data.load", "data_dir", "`--data-dir` must"),
        ("train", "label", "`--label` must"),
        ("compare", "label", "`--label` must"),
        ("train", "clip", "`clip` of train must"),
        ("Other", "label", "`label` of Other must"),
    ],
)
def test_arguments_become_flags(owner, argument, named):
    error = fail(
        owner, argument, "as it was", "label=3 and `label` of data.load", "Nothing in text is touched: label=3."
    )
    said = str(Flags(command).translated(error))
    assert said.startswith(named)
    assert said.endswith("Got label=3 and `label` of data.load. Nothing in text is touched: label=3.")


@pytest.mark.parametrize(
    ("name", "value", "typed"),
    [
        ("missing", "median", "--missing median"),
        ("text", "a b", "--text 'a b'"),
        ("ignore", ["x", "y z"], "--ignore x --ignore 'y z'"),
        ("resize", 64, "--resize 64"),
        ("resize", (48, 64), "--resize 48x64"),
        ("skip_unreadable", True, "--data-option skip_unreadable=true"),
        ("categorical", ["a"], "--data-option 'categorical=[\"a\"]'"),
    ],
)
def test_settings_become_flags(name, value, typed):
    error = fail("data.load", "x", "y", "z", ("Say ", Setting(name, value), "."))
    assert str(error).endswith(f"Say {name}={value!r}.")
    assert str(Flags(command).translated(error)).endswith(f"Say {typed}.")


def trains(run, new, method="", option=None, model="", label_noise=None, augment=None):
    """Stand for a command that reads runs and trains."""


@pytest.mark.parametrize(
    ("owner", "argument", "named"),
    [
        ("Run.load", "folder", "`RUN` must"),
        ("Run", "x", "`NEW` must"),
        ("label_noise 'pairwise:2'", "rate", "`--label-noise` must"),
        ("augmentation 'mixup:x'", "alpha", "`--augment` must"),
        ("make_criterion", "name", "`--method` must"),
        ("make_criterion('lls')", "option name", "`--option` must"),
        ("compare", "method_options", "`--option` must"),
        ("models.build", "name", "`--model` must"),
    ],
)
def test_what_other_parts_of_the_library_call_it(owner, argument, named):
    assert str(Flags(trains).translated(fail(owner, argument, "better", "this"))).startswith(named)
    assert str(Flags(bare).translated(fail("Augment", argument, "better", "this"))).startswith(
        f"`{argument}` of Augment"
    )


def test_a_command_without_such_flags_keeps_the_words():
    error = fail("data.load", "label", "a column", "none", ("Say ", Setting("missing", "drop"), "."))
    assert str(Flags(bare).translated(error)) == str(error)
    assert str(Flags(bare).translated(fail("train", "epochs", "1", "2"))) == "`--epochs` must be 1. Got 2."


def test_an_option_that_is_a_flag_of_one_command_only():
    def check(path, seed=0, data_option=None): ...

    error = fail("data.load", "seed", "0", "1")
    assert str(Flags(check).translated(error)) == "`--data-option seed` must be 0. Got 1."
    assert str(Flags(check, "seed").translated(error)) == "`--seed` must be 0. Got 1."


def test_a_command_raises_what_it_translated():
    @speaks_of_flags()
    def read(data, label=None):
        raise fail_type("data.load", "label", "a column", label)

    with pytest.raises(InputError, match="`--label` must be a column. Got 3."):
        read("data", label=3)
