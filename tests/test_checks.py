"""Errors have fields, survive a process, and are of the kinds that people catch."""

import pickle

import pytest

from labelspace import InputError, LabelFileError, LabelSpace, UniformSmoothing, ordinal
from labelspace._checks import Setting, fail, fail_type


def test_the_parts_of_an_error():
    with pytest.raises(InputError) as caught:
        UniformSmoothing(3, smoothing=1.5)
    error = caught.value
    assert (error.owner, error.argument, error.expected, error.got) == (
        "UniformSmoothing",
        "smoothing",
        "a number in [0, 1]",
        "1.5",
    )
    assert error.remedy == ""
    assert str(error) == "`smoothing` of UniformSmoothing must be a number in [0, 1]. Got 1.5."


def test_a_wrong_kind_is_a_type_error_too():
    with pytest.raises(TypeError) as caught:
        UniformSmoothing(3, smoothing="much")
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    "error",
    [
        fail("train", "model", "a name", 3, ("Say ", Setting("model", "linear"), ".")),
        fail_type("train", "model", "a name", 3, "Or leave it out."),
        LabelFileError("labels.safetensors", "it is empty", "Write it again."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_crosses_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.remedy) == (type(error), str(error), error.remedy)


def test_the_same_error_about_something_else():
    error = fail_type("train", "space", "a label space", 3, "Build one.")
    other = error.about(owner="compare", argument="pretrained", file="labels.txt")
    assert str(other) == "labels.txt: `pretrained` of compare must be a label space. Got 3. Build one."
    assert isinstance(other, TypeError)


def test_a_damaged_label_file_is_input(tmp_path):
    path = ordinal(3).save(tmp_path / "labels.safetensors")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="labels.safetensors") as caught:
        LabelSpace.load(path)
    assert isinstance(caught.value, LabelFileError)
