"""Adaptive labels: variants against the reference, the schedule, test labels, and the corners of class means."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import torch

from contract.harness import Inputs, assert_gradients_check, assert_matches_reference, mixed_up, plain, weighted
from labelspace import AdaptiveLabels

VARIANTS = [
    {"grad": "detached"},
    {"preset": "paper", "repel": 0.3},
    {"preset": "paper"},
    {"preset": "paper", "every": 2, "warmup": 1, "repel": 0.3},
    {"order": "loss first", "repel": 0.3},
    {"order": "as printed", "repel": 0.3},
    {"order": "as printed", "memory": True},
    {"preset": "reference", "repel": 10.0},
    {"memory": True},
    {"memory": True, "grad": "detached", "repel": 0.2},
    {"every": 2},
    {"every": 2, "warmup": 1},
    {"warmup": 5},
]


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("batch", [plain, weighted, mixed_up])
def test_every_variant_matches_the_reference(options, step: int, batch) -> None:  # type: ignore[no-untyped-def]
    inputs = batch("lwal")
    criterion = AdaptiveLabels(["a", "b", "c", "d"], dim=5, **options).double()
    criterion.load_state_dict({**inputs.criterion.state_dict(), "step": torch.tensor(step)}, strict=False)
    criterion.weight = inputs.criterion.weight
    inputs = replace(inputs, criterion=criterion)
    assert_matches_reference(inputs.fresh())
    if batch is plain and criterion.grad == "through":
        assert_gradients_check(inputs)


def test_labels_are_updated_every_k_steps_after_w() -> None:
    criterion = AdaptiveLabels(2, every=3, warmup=2)
    changed, before = [], criterion.label_matrix.clone()
    for step in range(10):
        output = torch.full((4, 2), float(step + 2), requires_grad=True)
        criterion(output, torch.tensor([0, 0, 1, 1]))
        changed.append(not torch.equal(before, criterion.label_matrix))
        before = criterion.label_matrix.clone()
    assert [step for step, update in enumerate(changed) if update] == [2, 5, 8]


class Printed:
    """Algorithm 1, line by line, for two classes and whole batches; ``mod k = 1`` read as ``mod k = 1 mod k``."""

    def __init__(self, every: int, warmup: int, repel: float) -> None:
        self.every, self.warmup, self.repel = every, warmup, repel
        self.labels = np.eye(2, 3)

    def loss(self, z: npt.NDArray[np.float64], y: npt.NDArray[np.int64]) -> float:
        distances = np.linalg.norm(z[:, None] - self.labels[None], axis=2)
        p = np.exp(-distances) / np.exp(-distances).sum(1, keepdims=True)
        return float(-np.log(p[np.arange(len(y)), y]).mean())

    def epoch(self, batches: list[npt.NDArray[np.float64]], y: npt.NDArray[np.int64]) -> list[float]:
        losses = []
        for i, z in enumerate(batches, start=1):  # line 2: i counts from 1 in every epoch
            loss = self.loss(z, y)  # line 5
            if i > self.warmup and (i - self.warmup) % self.every == 1 % self.every:  # line 6
                self.labels = np.stack([z[y == c].mean(0) for c in (0, 1)])  # line 7
                if self.repel > 0:  # line 8, optional
                    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
                    loss = self.loss(z, y) + self.repel * (unit @ unit.T)[y[:, None] != y[None]].sum()
            losses.append(loss)
        return losses


@pytest.mark.parametrize("repel", [0.0, 0.3])
@pytest.mark.parametrize(("every", "warmup"), [(1, 0), (1, 2), (3, 1)])
def test_preset_paper_is_the_printed_algorithm_over_two_epochs(every: int, warmup: int, repel: float) -> None:
    rng = np.random.default_rng(0)
    y = np.array([0, 0, 1, 1, 1])
    epochs = [[rng.normal(size=(5, 3)) for _ in range(5)] for _ in range(2)]
    printed = Printed(every, warmup, repel)
    criterion = AdaptiveLabels(2, dim=3, every=every, warmup=warmup, repel=repel, preset="paper").double()
    for batches in epochs:
        expected = printed.epoch(batches, y)
        got = [criterion(torch.from_numpy(z).requires_grad_(), torch.from_numpy(y)).item() for z in batches]
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(criterion.label_matrix, torch.from_numpy(printed.labels))
        criterion.end_epoch()


def test_the_restarted_counter_survives_a_checkpoint_within_an_epoch() -> None:
    def fresh() -> AdaptiveLabels:
        return AdaptiveLabels(2, every=2, warmup=1, preset="paper")

    def step(criterion: AdaptiveLabels, value: float) -> None:
        criterion(torch.full((4, 2), value, requires_grad=True), torch.tensor([0, 0, 1, 1]))

    whole = fresh()
    values = [float(value) for value in range(2, 14)]
    for number, value in enumerate(values):
        step(whole, value)
        if number % 4 == 3:
            whole.end_epoch()
    resumed = fresh()
    for number, value in enumerate(values):
        step(resumed, value)
        if number % 4 == 3:
            resumed.end_epoch()
        saved, resumed = resumed.state_dict(), fresh()
        resumed.load_state_dict(saved)
    assert_states_equal(whole, resumed)
    # steps 0…3 of an epoch: updates at 1 and 3, so the last label is the last value of the last epoch
    torch.testing.assert_close(whole.label_matrix, torch.full((2, 2), 13.0))
    assert "steps" not in whole.label_space().source


def assert_states_equal(left: AdaptiveLabels, right: AdaptiveLabels) -> None:
    for name, value in left.state_dict().items():
        torch.testing.assert_close(right.state_dict()[name], value, rtol=0, atol=0)


def test_starts_at_the_identity_and_keeps_labels_of_absent_classes() -> None:
    criterion = AdaptiveLabels(3, dim=5)
    torch.testing.assert_close(criterion.label_matrix, torch.eye(3, 5))
    criterion(torch.ones(6, 5, requires_grad=True) * 4, torch.tensor([0, 0, 0, 1, 1, 1]))
    torch.testing.assert_close(criterion.label_matrix[2], torch.eye(3, 5)[2])
    torch.testing.assert_close(criterion.label_matrix[:2], torch.full((2, 5), 4.0))
    narrow = AdaptiveLabels(6, dim=2).label_matrix
    torch.testing.assert_close(narrow.norm(dim=1), torch.ones(6))


def test_a_class_with_one_sample_has_a_finite_gradient() -> None:
    output = torch.randn(4, 3, requires_grad=True)
    AdaptiveLabels(3)(output, torch.tensor([0, 0, 1, 2])).backward()
    assert bool(torch.isfinite(output.grad).all())


def test_running_means_are_bias_corrected() -> None:
    # decay 0.9, one class: sums 2·1 then 2·4 → (0.9·2·1 + 8)/(0.9·2 + 2) = 9.8/3.8
    criterion = AdaptiveLabels(2, dim=1, decay=0.9)
    for value in (1.0, 4.0):
        criterion(torch.full((4, 1), value, requires_grad=True), torch.tensor([0, 0, 1, 1]))
    torch.testing.assert_close(criterion.label_space().matrix, torch.full((2, 1), 9.8 / 3.8))
    torch.testing.assert_close(criterion.label_matrix, torch.full((2, 1), 4.0))


def test_a_class_not_seen_for_long_keeps_its_mean() -> None:
    criterion = AdaptiveLabels(2, dim=1)
    criterion(torch.full((4, 1), 3.0, requires_grad=True), torch.tensor([0, 0, 1, 1]))
    for _ in range(2000):
        criterion(torch.full((4, 1), 5.0, requires_grad=True), torch.tensor([0, 0, 0, 0]))
    torch.testing.assert_close(criterion.label_space().matrix, torch.tensor([[5.0], [3.0]]))


@pytest.mark.parametrize("test_labels", ["running", "last", "full"])
def test_what_predicts(test_labels) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    criterion = AdaptiveLabels(3, dim=4, test_labels=test_labels)
    outputs = [torch.randn(9, 4) for _ in range(3)]
    y = torch.arange(9) % 3
    for output in outputs:
        criterion(output.requires_grad_(), y)
    criterion.fit_labels((output.detach(), y) for output in outputs)
    expected = {
        "running": criterion.running_mean,
        "last": criterion.label_matrix,
        "full": torch.stack([torch.cat([o.detach()[y == c] for o in outputs]).mean(0) for c in range(3)]),
    }[test_labels]
    torch.testing.assert_close(criterion.label_space().matrix, expected)
    points = torch.randn(20, 4)
    distances = (points[:, None] - expected).norm(dim=2)
    torch.testing.assert_close(criterion.scores(points), -distances)
    torch.testing.assert_close(criterion.predict(points), distances.argmin(1))
    criterion.eval()
    loss = criterion(points, torch.arange(20) % 3)
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(-distances, torch.arange(20) % 3))


def test_repel_in_closed_form_equals_all_pairs() -> None:
    torch.manual_seed(0)
    output, y = torch.randn(50, 7, dtype=torch.float64), torch.randint(5, (50,))
    unit = torch.nn.functional.normalize(output, dim=1)
    pairs = ((unit @ unit.T) * (y[:, None] != y[None, :])).sum()
    losses = [AdaptiveLabels(5, dim=7, repel=r)(output, y) for r in (0.0, 2.0)]
    torch.testing.assert_close(losses[1] - losses[0], 2.0 * pairs / 50**2)


def test_small_batches_warn_once_and_name_the_remedy() -> None:
    inputs = Inputs(AdaptiveLabels(4), torch.randn(5, 4), torch.tensor([0, 1, 2, 3, 0]), {})
    with pytest.warns(UserWarning, match=r"fewer than 2 samples.*5 samples, 4 classes.*memory=True"):
        inputs.loss()
    inputs.loss()
    AdaptiveLabels(4, memory=True)(inputs.output, inputs.y)


def test_huge_float32_points_keep_their_order() -> None:
    output = 1e4 * torch.randn(64, 16, generator=torch.Generator().manual_seed(0))
    criterion = AdaptiveLabels(4, dim=16)
    criterion(output.requires_grad_(), torch.arange(64) % 4)
    exact = torch.cdist(output.detach().double(), criterion.label_space().matrix.double()).argmin(1)
    torch.testing.assert_close(criterion.predict(output.detach()), exact)


@pytest.mark.parametrize(
    "options", [{"dim": 0}, {"every": 0}, {"warmup": -1}, {"repel": -1.0}, {"grad": "stop"}, {"decay": 2.0}]
)
def test_bad_options(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` of AdaptiveLabels must be"):
        AdaptiveLabels(3, **options)  # type: ignore[arg-type]


def test_one_matrix_product_is_as_good_as_all_differences() -> None:
    """Class means far from the origin, some samples alone in their class: their distance is 0, by differences."""
    generator = torch.Generator().manual_seed(0)
    output = (100 + torch.randn(60, 50, generator=generator)).requires_grad_()
    y = torch.randint(40, (60,), generator=generator)
    criterion = AdaptiveLabels(40, dim=50, memory=False, validate=True)
    criterion._warned = True
    loss = criterion(output, y)
    loss.backward()
    z = output.detach().double().requires_grad_()
    member = torch.nn.functional.one_hot(y, 40).double()
    counts = member.sum(dim=0)[:, None]
    labels = torch.where(counts > 0, member.T @ z / counts.clamp_min(1), torch.eye(40, 50).double())
    distances = (z[:, None] - labels).square().sum(dim=2).clamp_min(1e-12).sqrt()
    expected = torch.nn.functional.cross_entropy(-distances, y)
    expected.backward()
    torch.testing.assert_close(loss.detach().double(), expected.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(output.grad.double(), z.grad, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(criterion.label_matrix.double(), labels.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(criterion.running_count, counts.squeeze(1).float())


def test_far_from_zero_the_gradient_keeps_its_digits() -> None:
    """A shift of all outputs shifts the labels of the classes that are in the batch, and changes nothing else."""
    near = torch.randn(64, 4, generator=torch.Generator().manual_seed(0)).mul(64).round().div(64)
    y = torch.arange(64) % 4
    found = []
    for shift in (0.0, 4096.0):  # which loses no digit of the outputs
        output = (near + shift).requires_grad_()
        AdaptiveLabels(4)(output, y).backward()
        found.append(output.grad)
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-7)
