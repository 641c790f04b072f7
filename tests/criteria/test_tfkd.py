"""The virtual teacher against torch, by hand, and in its two published forms."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div, log_softmax, softmax

from labelspace.criteria.tfkd import VirtualTeacher


def batch(classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    output = 2 * torch.randn(7, classes, generator=generator, dtype=torch.float64)
    return output, torch.randint(classes, (7,), generator=generator)


def virtual(y: torch.Tensor, classes: int, confidence: float) -> torch.Tensor:
    rows = torch.full((len(y), classes), (1 - confidence) / (classes - 1), dtype=torch.float64)
    rows[torch.arange(len(y)), y] = confidence
    return rows


def test_by_hand() -> None:
    # K = 2, z = (0, 0), so −log p = ln 2 for both. u = (0.75, 0.25), τ = 1/ln 3 · 0.5, so u/τ differ by ln 3 and the
    # teacher is (3/4, 1/4). H(v, p) = ln 2, H(v) = −¾ ln ¾ − ¼ ln ¼. α = ½:
    # L = ½ ln 2 + ½ (ln 2 + ¾ ln ¾ + ¼ ln ¼).
    criterion = VirtualTeacher(2, strength=0.5, confidence=0.75, temperature=0.5 / math.log(3))
    expected = 0.5 * math.log(2) + 0.5 * (math.log(2) + 0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    loss = criterion(torch.zeros(1, 2, dtype=torch.float64), torch.tensor([0]))
    torch.testing.assert_close(loss, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize(("preset", "classes"), [("paper", 5), ("reference", 5), (None, 100), ("reference", 100)])
def test_presets_equal_the_published_forms(preset: str | None, classes: int) -> None:
    output, y = batch(classes)
    teacher = softmax(virtual(y, classes, 0.99) / 20, dim=1)
    parts = kl_div(log_softmax(output, dim=1), teacher, reduction="none")
    divergence = 100 * parts.mean() if preset == "reference" else parts.sum() / len(y)
    expected = 0.9 * cross_entropy(output, y) + 0.1 * divergence
    torch.testing.assert_close(VirtualTeacher(classes, preset=preset)(output, y), expected)


def test_the_two_forms_are_one_at_a_hundred_classes() -> None:
    output, y = batch(100)
    torch.testing.assert_close(
        VirtualTeacher(100, preset="paper")(output, y), VirtualTeacher(100, preset="reference")(output, y)
    )


def test_an_option_beats_the_preset() -> None:
    assert float(VirtualTeacher(5, preset="reference", multiplier=7.0).multiplier) == 7
    assert VirtualTeacher(5, preset="reference", average="samples").average == "samples"


def test_strength_zero_is_cross_entropy_even_beside_minus_infinity() -> None:
    output, y = batch(4)
    output[0, (y[0] + 1) % 4] = -torch.inf
    torch.testing.assert_close(VirtualTeacher(4, strength=0.0)(output, y), cross_entropy(output, y))


@pytest.mark.parametrize(("temperature", "percent"), [(10.0, 10), (20.0, 5), (40.0, 2.5)])
def test_the_teacher_is_nearly_uniform(temperature: float, percent: float) -> None:
    matrix = VirtualTeacher(10, temperature=temperature).label_space().matrix
    spread = float(matrix.max() / matrix.min()) - 1
    assert 0.9 * percent < 100 * spread < 1.1 * percent


def test_label_space_gives_the_targets_of_the_loss() -> None:
    output, y = batch(4)
    criterion = VirtualTeacher(4, strength=0.4, temperature=0.5).double()
    space = criterion.label_space()
    teacher = softmax(virtual(torch.arange(4), 4, 0.99) / 0.5, dim=1)
    torch.testing.assert_close(space.matrix.double(), teacher, rtol=1e-6, atol=1e-7)
    entropy = -(teacher * teacher.log()).sum(dim=1)[0]
    soft = cross_entropy(output, space.targets(0.4).double()[y])
    torch.testing.assert_close(criterion(output, y), soft - 0.4 * entropy, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("temperature", [1e-3, 1e-30])
def test_a_cold_teacher_is_the_label_itself(temperature: float) -> None:
    output, y = batch(4)
    criterion = VirtualTeacher(4, strength=0.3, temperature=temperature)
    torch.testing.assert_close(criterion(output, y), cross_entropy(output, y))


def test_one_class() -> None:
    torch.testing.assert_close(VirtualTeacher(1)(torch.ones(2, 1), torch.zeros(2).long()), torch.tensor(0.0))


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("strength", 1.5, r"`strength` of VirtualTeacher must be a number in \[0, 1\]. Got 1.5"),
        ("confidence", 0.1, r"`confidence` of VirtualTeacher must be a number in \[0.25, 1\]"),
        ("temperature", 0.0, r"`temperature` of VirtualTeacher must be a number in \(0, inf\)"),
        ("multiplier", -1.0, r"`multiplier` of VirtualTeacher must be a number in \[0, inf\)"),
        ("average", "class", "`average` of VirtualTeacher must be one of .*Did you mean 'classes'"),
    ],
)
def test_bad_options(option: str, value: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        VirtualTeacher(4, **{option: value})  # type: ignore[arg-type]
