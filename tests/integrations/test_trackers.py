"""The picture of labels shows where mass goes, and every tracker gets it as it takes pictures."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from labelspace import AdaptiveLabels, InputError, LearnableSmoothing, cost, groups, ordinal
from labelspace.integrations.trackers import label_picture, log_labels


def test_a_pixel_is_darker_the_more_mass_is_there() -> None:
    space = groups({"pets": ["cat", "dog"], "road": ["car", "bus"]})
    picture = label_picture(space)
    assert picture.shape == (3, 256, 256)
    assert picture.dtype == torch.uint8
    blocks = picture[:, 32::64, 32::64].long().sum(dim=0)
    assert set(blocks[space.matrix == 0].tolist()) == {3 * 255}  # nothing is white
    assert set(blocks[space.matrix == space.matrix.max()].tolist()) == {8 + 29 + 88}
    for row in range(4):
        torch.testing.assert_close(picture[:, 64 * row : 64 * row + 64, :64].flatten(1).unique(dim=1).shape[1], 1)


def test_shades_follow_the_relations() -> None:
    space = ordinal(6)
    light = label_picture(space)[:, ::42, ::42][:, :6, :6].long().sum(dim=0)
    mass = space.matrix
    order = mass[0, 1:].argsort(descending=True)
    assert light[0, 1:][order].diff().ge(0).all()


def test_what_a_class_keeps_does_not_hide_the_rest() -> None:
    criterion = LearnableSmoothing(3)
    with torch.no_grad():
        criterion.label_logits.copy_(torch.tensor([[20.0, 1, 0], [0, 20, 0], [0, 0, 20]]))
    light = label_picture(criterion)[:, ::85, ::85][:, :3, :3].long().sum(dim=0)
    assert light[0, 1] < light[0, 2]


def test_prices_and_vectors_have_a_picture_too() -> None:
    assert label_picture(cost([[0, 1], [5, 0]], ["a", "b"])).shape == (3, 256, 256)
    criterion = AdaptiveLabels(3)
    criterion(torch.eye(3, requires_grad=True), torch.tensor([0, 1, 2]))
    assert label_picture(criterion).shape == (3, 255, 255)
    assert label_picture(ordinal(300)).shape == (3, 300, 300)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Return a stand-in for the modules of W&B and Trackio: ``log`` of a run that was started, and ``Image``."""
    module = types.ModuleType("tracker_stand_in")
    logged: list[tuple[dict[str, object], int | None]] = []

    class Image:
        def __init__(self, value: np.ndarray) -> None:
            assert value.dtype == np.uint8
            self.shape = value.shape

    class Run:
        def log(self, values: dict[str, object], step: int | None = None) -> None:
            logged.append((values, step))

    Run.__module__ = "tracker_stand_in.sdk.run"
    module.Image, module.Run, module.log, module.logged = Image, Run, Run().log, logged  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tracker_stand_in", module)
    return module


@pytest.mark.parametrize("given", ["module", "run"])
def test_runs_and_modules_get_an_image_of_theirs(package: types.ModuleType, given: str) -> None:
    log_labels(package if given == "module" else package.Run(), ordinal(4), 7, name="learned")
    ((values, step),) = package.logged
    assert step == 7
    assert values["learned"].shape == (256, 256, 3)  # type: ignore[attr-defined]


def test_tensorboard_keeps_it(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        log_labels(writer, ordinal(4), 3)
    events = EventAccumulator(str(tmp_path)).Reload()
    (image,) = events.Images("labels")
    assert (image.step, image.width, image.height) == (3, 256, 256)


def test_others_are_refused() -> None:
    with pytest.raises(InputError, match="`tracker` of log_labels must be a SummaryWriter, or a run of W&B or Trackio"):
        log_labels(print, ordinal(3), 0)
    with pytest.raises(InputError, match="`labels` of label_picture must be a criterion or a LabelSpace"):
        label_picture(torch.eye(3))
