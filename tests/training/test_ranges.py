"""Numbers far outside those of training are found, and named."""

import numpy as np
import pytest
import torch

from labelspace import data, train
from labelspace.data.columns import Column, Encoding
from labelspace.training.ranges import BEYOND, Ranges, Scale, about_far, ranges_of, reach_of


def test_far_is_half_a_range_beyond_it() -> None:
    draw = np.random.default_rng(0)
    train_x, new = draw.normal(size=(50, 3)), draw.normal(size=(400, 3)) * 3
    low, high = train_x.min(0), train_x.max(0)
    ranges = Ranges(torch.from_numpy(low), torch.from_numpy(high), {0: "a", 2: "c"})
    reach = BEYOND * (high - low)
    outside = ((new < low - reach) | (new > high + reach))[:, [0, 2]]
    found = ranges.far(torch.from_numpy(new))
    assert sorted(found) == np.flatnonzero(outside.any(1)).tolist()
    assert 0 < len(found) < 400
    both = int(np.flatnonzero(outside.all(1))[0])
    a, c = (f"'{name}' is {new[both, i]:g}, training had {low[i]:g} to {high[i]:g}" for name, i in (("a", 0), ("c", 2)))
    assert found[both] == f"{a}; {c}"


def test_columns_that_never_changed_and_many_columns() -> None:
    ranges = Ranges(torch.zeros(5), torch.zeros(5), {place: f"f{place}" for place in range(5)})
    found = ranges.far(torch.tensor([[0.0] * 5, [1.0] * 5]))
    assert list(found) == [1]
    assert found[1].startswith("'f0' is 1, training had 0 to 0; ")
    assert found[1].endswith("; and 2 more")


def test_only_numbers_of_rows_have_ranges() -> None:
    encoding = Encoding((Column("colour", "red", ("blue", "red")), Column("size", 0.0)))
    facts = {"ranges": [[0.0, 0.0, 1.0], [0.0, 1.0, 3.0]]}
    ranges = Ranges.stored(facts, encoding)
    assert ranges is not None
    assert ranges.names == {2: "size"}
    assert ranges.far(torch.tensor([[9.0, 9.0, 2.0], [0.0, 0.0, 5.0]])) == {1: "'size' is 5, training had 1 to 3"}
    assert ranges.far(["a text"]) == ranges.far(torch.zeros(1, 1, 8, 8)) == {}
    assert Ranges.stored({}, None) is None
    assert ranges_of(data.load("digits")) is None


def test_a_run_warns_of_raw_samples_and_not_of_tensors(tmp_path) -> None:
    x = np.random.default_rng(0).normal(size=(60, 2))
    run = train((x, np.arange(60) % 2), model="linear", epochs=1, out=tmp_path)
    part = data.load((x, np.arange(60) % 2)).train.x
    assert run.preprocessing["ranges"] == [part.amin(0).tolist(), part.amax(0).tolist()]
    with pytest.warns(UserWarning, match=r"1 sample far from those of training: 1 \('feature 1' is 99, "):
        run.predict([[0.0, 0.0], [0.0, 99.0]])
    run.predict(torch.tensor([[0.0, 99.0]]))


def test_pictures_of_another_scale(tmp_path) -> None:
    digits = data.load("digits")
    run = train("digits", model="linear", epochs=1, limit=100, out=tmp_path)
    pictures = digits.test.x[:3].numpy()
    said = r"3 samples far .*, first 0 \(its numbers are 19\d times as small as .*: 0 to 1 in place of 0 to 255\?\)"
    with pytest.warns(UserWarning, match=said):
        run.predict((pictures / 200).round().astype(np.uint8))
    with pytest.warns(UserWarning, match=r"1 sample far from .*: 1 \(all of its numbers are 0\)"):
        run.predict(np.stack([pictures[0], 0 * pictures[0]]))
    run.predict(pictures)  # without a warning, as all that training saw would be


def test_scale_is_that_of_all_channels(tmp_path) -> None:
    x = np.random.default_rng(0).uniform(size=(60, 2, 4, 4)).astype(np.float32)
    x[:, 1] = 0  # a channel that says nothing
    run = train((x, np.arange(60) % 2), model="linear", epochs=1, out=tmp_path)
    reach = reach_of(run.preprocessing, None)
    assert isinstance(reach, Scale)
    part = data.load((x, np.arange(60) % 2)).train.x
    assert reach.size == pytest.approx(float(part.square().mean().sqrt()), rel=1e-4)
    assert reach.far(part) == reach.far(3 * part) == reach.far(torch.zeros(0, 2, 4, 4)) == reach.far(["a text"]) == {}
    with pytest.warns(UserWarning, match=r"times as large as those of training: 0 to 255 in place of 0 to 1\?"):
        run.predict(255 * x[:2])


def test_how_it_is_said() -> None:
    assert about_far([]) == []
    assert about_far([("3", "x"), ("9", "y")]) == ["2 samples far from those of training, first 3 (x)."]
