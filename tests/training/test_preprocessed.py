"""What a run's preprocessing must hold."""

from pathlib import Path
from typing import Any

import pytest

from labelspace._checks import DamagedError
from labelspace.training.preprocessed import checked

SOUND: dict[str, Any] = {
    "kind": "table", "names": ["a", "b"], "input_shape": [2], "mean": [0.0, 0.0], "std": [1.0, 1.0],
    "train_samples": 4, "tokens": None, "vocabulary": None,
}  # fmt: skip


def test_sound_facts_come_back() -> None:
    assert checked(SOUND, Path("run")) is SOUND


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"names": ["a", "a"]}, "`names` of Run.load must be"),
        ({"names": []}, "`names` of Run.load must be"),
        ({"std": [1.0, 0.0]}, "at 'std.1': Input should be greater than 0"),
        ({"mean": [0.0]}, "mean and std of 2 numbers"),
        ({"input_shape": [2**20, 2**20]}, "mean and std of 1048576 numbers"),
        ({"kind": "sound"}, "at 'kind': "),
    ],
)
def test_anything_else_is_damage_of_a_file_that_has_a_name(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(DamagedError) as caught:
        checked({**SOUND, **changed}, Path("run"))
    assert caught.value.path == Path("run/preprocessing.json")
    assert caught.value.why.startswith(why)
