"""Nearness to labels of which those of the batch are new: distances and gradients against what is written down."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from labelspace import AdaptiveLabels
from labelspace.criteria import lwal, nearness_few, nearness_kernel
from labelspace.criteria.nearness_kernel import Centres, Written, about


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("offset", [0.0, 0.5, 1e4])  # the last is so far from zero that labels are moved
@pytest.mark.parametrize("new", [0, 1, 3])
def test_distances_and_mixtures_are_those_of_rows_written_down(
    monkeypatch: pytest.MonkeyPatch, offset: float, new: int
) -> None:
    wide = 40
    labels, middle = drawn(7, wide) + offset, drawn(wide, seed=1) + offset
    few = about(labels, middle, torch.tensor([3]), drawn(1, wide, seed=5))
    monkeypatch.setattr(nearness_kernel, "IN_CACHE", 0)  # from here on as with many
    places, points = torch.tensor([5, 0, 2])[:new], drawn(6, wide, seed=2)
    centres = about(labels, middle, places, drawn(new, wide, seed=3))
    assert isinstance(centres, Centres)
    assert isinstance(few, Written)
    assert_close(few.rows, (labels - middle).index_copy(0, torch.tensor([3]), drawn(1, wide, seed=5)))
    points[0] = labels[1] - middle + 1e-4 * points[0]  # near an old one
    if new:
        points[1] = centres.new[0] + 1e-4 * points[1]  # and near a new one
    written = labels - middle
    written[places] = centres.new
    assert_close(centres.written(), written)
    assert_close(centres.rows(torch.tensor([0, 1, 5])), written[[0, 1, 5]])
    expected = (points[:, None] - written).square().sum(dim=2).clamp_min(1e-12).sqrt()
    assert_close(centres.distances(points), expected, rtol=1e-6, atol=1e-9)
    single = about(labels.float(), middle.float(), places, centres.new.float())
    digits = {"rtol": 1e-4, "atol": 1e-5 if offset < 1 else 1e-2}  # 1e4 has but 1e-3 in single precision
    assert_close(single.distances(points.float()), expected.float(), **digits)
    weights = drawn(6, 7, seed=4)
    product = weights @ written
    assert_close(single.mixed(weights.float()), product.float(), **digits)
    assert_close(centres.mixed(weights), product)


@pytest.mark.parametrize("size", ["few", "products by torch", "written down", "many"])
@pytest.mark.parametrize("wide", [6, 48])
@pytest.mark.parametrize("options", [{}, {"grad": "detached"}, {"warmup": 1}])
@pytest.mark.filterwarnings("ignore:AdaptiveLabels sees fewer")
def test_the_same_as_by_terms(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, object], wide: int, size: str
) -> None:
    if size == "products by torch":
        monkeypatch.setattr(nearness_few, "MOST", 0)
    if size in ("written down", "many"):
        monkeypatch.setattr(lwal, "fits", lambda output, labels: False)
    if size == "many":
        monkeypatch.setattr(nearness_kernel, "IN_CACHE", 0)

    def steps() -> list[Tensor]:
        criterion, found = AdaptiveLabels(20, dim=wide, **options).double(), []
        for step in range(3):
            output = (drawn(16, wide, seed=step) + 0.3).requires_grad_()
            loss = criterion(output, torch.arange(16) % 5 * (step + 1))
            found += [loss.detach(), *torch.autograd.grad(loss, output)]
        return [*found, criterion.label_matrix, criterion.running_mean, criterion.running_count]

    quick = steps()
    monkeypatch.setattr(AdaptiveLabels, "summed", lambda *arguments, **more: None)
    assert_close(quick, steps())


@pytest.mark.parametrize("wrong", [3, 2**40, -1, -7])
def test_a_label_that_is_no_class_is_refused_and_leaves_no_trace(wrong: int) -> None:
    criterion = AdaptiveLabels(3)
    before = {name: value.clone() for name, value in criterion.state_dict().items()}
    with pytest.raises(ValueError, match=f"class indices from 0 to 2.*Got {wrong}"):
        criterion(drawn(6, 3).float().requires_grad_(), torch.tensor([0, 1, 2, 2, 1, wrong]))
    assert_close(dict(criterion.state_dict()), before)


def test_labels_of_a_batch_are_means_that_a_checkpoint_goes_on_with() -> None:
    whole, resumed = AdaptiveLabels(4), AdaptiveLabels(4)
    for step in range(6):
        output, y = drawn(12, 4, seed=step).float(), torch.arange(12) % (3 + step % 2)
        for criterion in (whole, resumed):
            criterion(output.clone().requires_grad_(), y)
        saved, resumed = resumed.state_dict(), AdaptiveLabels(4)
        resumed.load_state_dict(saved)
        assert saved["step"].item() == step + 1
    assert_close(dict(resumed.state_dict()), dict(whole.state_dict()), rtol=0, atol=0)
    means = torch.stack([output[y == label].mean(dim=0) for label in range(4)])
    assert_close(whole.label_matrix, means)


def test_a_state_that_was_taken_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lwal, "IN_CACHE", 0)  # new tables are in memory that nobody holds
    criterion, y = AdaptiveLabels(4), torch.tensor([0, 0, 1, 1, 2, 2, 2, 2])
    taken, copies, losses = [], [], []
    for step in range(5):
        taken.append(criterion.state_dict())
        copies.append({name: value.clone() for name, value in taken[-1].items()})
        losses.append(criterion(drawn(8, 4, seed=step).float().requires_grad_(), y))
    for state, copy in zip(taken, copies, strict=True):
        assert_close(dict(state), copy, rtol=0, atol=0)
