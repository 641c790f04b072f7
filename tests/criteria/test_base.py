"""Corners of what all criteria share, each of which was wrong once."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from labelspace import (
    AdaptiveLabels,
    LabelEmbedding,
    LearnableSmoothing,
    MixedCrossEntropy,
    OneHot,
    OnlineSmoothing,
    Retrospection,
    UniformSmoothing,
    confusion,
    ordinal,
)


@pytest.mark.parametrize("logit", [-100.0, -300.0])
def test_one_hot_probabilities_equal_indices_for_extreme_learned_labels(logit: float) -> None:
    learned = LearnableSmoothing(2)
    learned.label_logits.data = torch.tensor([[0.0, logit], [0.0, 0.0]])
    embedded = LabelEmbedding(2, in_features=1)
    embedded.embedding.data = torch.tensor([[0.0, logit], [0.0, 0.0]])
    output = torch.tensor([[0.0, 1.0]])
    for criterion, extras in ((learned, {}), (embedded, {"features": torch.zeros(1, 1)})):
        hard = criterion(output, torch.tensor([0]), **extras)
        soft = criterion(output, torch.tensor([[1.0, 0.0]]), **extras)
        torch.testing.assert_close(hard, soft)


def test_many_classes_with_mass_are_mixed_exactly_too() -> None:
    torch.manual_seed(0)
    criterion = LearnableSmoothing(50, smoothing=0.3).double()
    criterion.label_logits.data = torch.randn(50, 50, dtype=torch.float64)
    output, y = torch.randn(7, 50, dtype=torch.float64), torch.softmax(torch.randn(7, 50, dtype=torch.float64), dim=1)
    t = y @ (0.7 * torch.eye(50, dtype=torch.float64) + 0.3 * criterion.label_logits.detach().softmax(1))
    p = output.softmax(1)
    expected = 0.5 * ((t - p) * (t / p).log()).sum(1).mean()
    torch.testing.assert_close(criterion(output, y), expected)


def test_weights_are_relative_in_summed_terms_too() -> None:
    output, y = torch.randn(6, 3), torch.tensor([0, 1, 0, 1, 0, 1])
    losses = [AdaptiveLabels(2, dim=3, repel=10.0, preset="paper", weight=[w, w])(output, y) for w in (1.0, 10.0)]
    torch.testing.assert_close(losses[0], losses[1])


def test_float64_weights_keep_their_digits() -> None:
    weight = torch.tensor([0.1, 0.2, 0.7], dtype=torch.float64)
    output, y = torch.randn(5, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 2, 0])
    torch.testing.assert_close(
        OneHot(3, weight=weight)(output, y), cross_entropy(output, y, weight=weight), rtol=1e-14, atol=0
    )


def test_online_labels_of_an_epoch_without_a_hit_become_uniform() -> None:
    criterion = OnlineSmoothing(3)
    criterion(torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], requires_grad=True), torch.tensor([0, 1]))
    criterion.end_epoch()
    torch.testing.assert_close(criterion.label_matrix, torch.full((3, 3), 1 / 3))


def test_a_prior_that_keeps_mass_is_where_learning_starts() -> None:
    space = confusion([[9, 0, 0], [1, 9, 1], [0, 2, 8]], ["a", "b", "c"])
    for options in ({}, {"preset": "paper"}):
        matrix = MixedCrossEntropy(space, smoothing=0.2, learn="entry", **options).matrix()
        torch.testing.assert_close(matrix.detach(), space.targets(0.2), rtol=0, atol=1e-3)
    alone = MixedCrossEntropy(ordinal(1), learn="entry")(torch.zeros(2, 1), torch.tensor([0, 0]))
    torch.testing.assert_close(alone, torch.tensor(0.0))
    with pytest.raises(ValueError, match=r"`smoothing` of MixedCrossEntropy must be at most \(1 − margin\)/2 = 0.45"):
        MixedCrossEntropy(ordinal(3), smoothing=0.49, learn="entry")


def test_top_starts_even() -> None:
    torch.testing.assert_close(LearnableSmoothing(ordinal(6), top=2).label_space().matrix, torch.full((6, 6), 1 / 6))


def test_features_of_another_precision_and_of_the_wrong_width() -> None:
    criterion = LabelEmbedding(3, in_features=2)
    criterion(torch.zeros(2, 3).double(), torch.tensor([0, 1]), features=torch.zeros(2, 2))
    criterion(torch.zeros(2, 3), torch.tensor([0, 1]), features=torch.zeros(2, 2).double())
    with pytest.raises(ValueError, match="`features` of LabelEmbedding must be of width in_features=2"):
        criterion(torch.zeros(2, 3), torch.tensor([0, 1]), features=torch.zeros(2, 5))


def test_retrospection_judges_without_its_memory() -> None:
    criterion = Retrospection(3, samples=4, epochs=4, every=1)
    output, y = torch.randn(4, 3, requires_grad=True), torch.tensor([0, 1, 2, 0])
    criterion(output, y, index=torch.arange(4))
    criterion.end_epoch()
    criterion.eval()
    torch.testing.assert_close(criterion(output, y), cross_entropy(output, y))


def test_meta_device() -> None:
    criterion = UniformSmoothing(3, smoothing=0.2).to("meta").to_empty(device="cpu")
    assert float(criterion.smoothing) == 0.2
    loss = UniformSmoothing(3).to("meta")(
        torch.zeros(2, 3, device="meta"), torch.zeros(2, dtype=torch.long, device="meta")
    )
    assert loss.shape == ()


def test_numpy_numbers_are_numbers() -> None:
    assert OneHot(np.int64(3)).output_dim == 3
    assert float(UniformSmoothing(3, smoothing=np.float32(0.25)).smoothing) == 0.25
    assert ordinal(4).subset(np.array([0, 2])).names == ("0", "2")


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_any_integer_type_labels(dtype: torch.dtype) -> None:
    output, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
    torch.testing.assert_close(OneHot(3)(output, y.to(dtype)), cross_entropy(output, y))


def test_strided_inputs() -> None:
    wide = torch.randn(3, 8).T[::2]
    torch.testing.assert_close(
        OneHot(3)(wide, torch.tensor([0, 1, 2, 0])), cross_entropy(wide, torch.tensor([0, 1, 2, 0]))
    )


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"class_dim": 5}, ValueError, "`class_dim` of OneHot must be a dimension of `output`, which has 2. Got 5"),
        ({"ignore_index": None}, TypeError, "`ignore_index` of OneHot must be a whole number"),
    ],
)
def test_bad_common_options(options: dict[str, object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        OneHot(3, **options)(torch.zeros(1, 3), torch.tensor([0]))  # type: ignore[arg-type]


def test_a_checkpoint_of_another_size_is_refused() -> None:
    saved = Retrospection(3, samples=4, epochs=4).state_dict()
    with pytest.raises(RuntimeError, match=r"size mismatch for statistics"):
        Retrospection(3, samples=5, epochs=4).load_state_dict(saved)
