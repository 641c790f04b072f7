"""Accuracies and confusion: against scikit-learn, and by hand."""

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    top_k_accuracy_score,
)
from torch.testing import assert_close

from labelspace import LabelSpace, groups, tree, uniform, wordnet
from labelspace.metrics import accuracy, balanced_accuracy, confusion_counts, level_accuracy, quadratic_kappa
from labelspace.metrics.accuracy import level_groups

# The example by hand: six samples of three classes.
#   y          0 0 0 1 1 2
#   predicted  0 0 1 1 2 2
Y = torch.tensor([0, 0, 0, 1, 1, 2])
PREDICTED = torch.tensor([0, 0, 1, 1, 2, 2])


def random_case(seed=0, samples=300, classes=5):
    random = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), random.integers(0, classes, samples - classes)])
    scores = random.normal(size=(samples, classes))
    scores[np.arange(samples), y] += 1
    return torch.tensor(scores), torch.tensor(y)


def test_accuracy_by_hand():
    # right: samples 0, 1, 3, 5, so 4/6
    assert accuracy(PREDICTED, Y) == pytest.approx(4 / 6)
    assert_close(accuracy(PREDICTED, Y, per_sample=True), torch.tensor([1.0, 1, 0, 1, 0, 1], dtype=torch.float64))
    # ranks: 0 > 1 > 2 and 2 > 0 > 1; top 2 finds both, top 1 neither
    scores = [[0.5, 0.3, 0.2], [0.3, 0.1, 0.6]]
    assert (accuracy(scores, [1, 0]), accuracy(scores, [1, 0], top=2)) == (0.0, 1.0)


@pytest.mark.parametrize("top", [1, 2, 4])
def test_accuracy_equals_scikit_learn(top):
    scores, y = random_case()
    assert accuracy(scores, y, top=top) == pytest.approx(top_k_accuracy_score(y, scores, k=top), abs=1e-12)
    assert accuracy(scores.float(), y, top, per_sample=True).mean().item() == pytest.approx(accuracy(scores, y, top))


def test_accuracy_equals_torchmetrics():
    functional = pytest.importorskip("torchmetrics.functional.classification")
    scores, y = random_case()
    theirs = functional.multiclass_accuracy(scores, y, num_classes=5, average="micro", top_k=2).item()
    assert accuracy(scores, y, top=2) == pytest.approx(theirs, abs=1e-6)


def test_a_model_that_says_the_same_of_all_classes_is_right_by_chance_only():
    scores = torch.zeros(9, 3)
    y = torch.arange(9) % 3
    assert accuracy(scores, y) == pytest.approx(1 / 3)
    assert accuracy(scores, y, top=2) == pytest.approx(2 / 3)


def test_accuracy_refuses_bad_input():
    with pytest.raises(ValueError, match=r"`top` of accuracy must be 1 for predictions. Got 2. Give \(N, K\) scores"):
        accuracy(PREDICTED, Y, top=2)
    with pytest.raises(ValueError, match="`top` of accuracy must be at most 3, the number of classes. Got 4"):
        accuracy(torch.randn(6, 3), Y, top=4)
    with pytest.raises(ValueError, match="Leave ignored and abstained samples out first"):
        accuracy([0, -1], [0, 1])
    with pytest.raises(TypeError, match=r"class indices \(whole numbers\). Got dtype torch.float64. numpy.unique"):
        accuracy([0.0, 1.0], [0, 1])
    with pytest.raises(TypeError, match="`y` of accuracy must be a tensor or array of numbers. Got list"):
        accuracy([0, 1], ["cat", "dog"])


def test_balanced_accuracy_by_hand():
    # found: 2/3 of class 0, 1/2 of class 1, all of class 2; the mean is 13/18
    assert balanced_accuracy(PREDICTED, Y) == pytest.approx(13 / 18)


def test_balanced_accuracy_equals_scikit_learn():
    scores, y = random_case(1)
    assert balanced_accuracy(scores, y) == pytest.approx(balanced_accuracy_score(y, scores.argmax(1)), abs=1e-12)


def test_balanced_accuracy_names_absent_classes_and_is_defined():
    with pytest.warns(UserWarning, match="balanced_accuracy: `y` has no sample of class 1; the mean is over"):
        # class 0: 1/2, class 2: 1/1
        assert balanced_accuracy([0, 1, 2], [0, 0, 2]) == pytest.approx(0.75)
    with pytest.warns(UserWarning, match="no sample of classes 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"):
        assert balanced_accuracy([0, 1], [0, 1], classes=12) == 1.0


def test_confusion_by_hand():
    assert confusion_counts(PREDICTED, Y).tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 1]]
    shares = torch.tensor([[2 / 3, 1 / 3, 0], [0, 0.5, 0.5], [0, 0, 1]], dtype=torch.float64)
    assert_close(confusion_counts(PREDICTED, Y, normalize=True), shares)


def test_confusion_equals_scikit_learn():
    scores, y = random_case(2)
    assert_close(confusion_counts(scores, y), torch.tensor(confusion_matrix(y, scores.argmax(1))))
    theirs = torch.tensor(confusion_matrix(y, scores.argmax(1), normalize="true"))
    assert_close(confusion_counts(scores, y, normalize=True), theirs)


def test_confusion_names_absent_classes_when_it_divides_by_them():
    assert confusion_counts([0, 1], [0, 0], classes=3).shape == (3, 3)
    with pytest.warns(UserWarning, match="confusion_counts: `y` has no sample of classes 1, 2; its row is zero"):
        assert confusion_counts([0, 1], [0, 0], classes=3, normalize=True).sum().item() == 1.0


def test_the_number_of_classes_is_checked():
    with pytest.raises(ValueError, match="`classes` of confusion_counts must be 4, the columns of the scores. Got 3"):
        confusion_counts(torch.randn(2, 4), [0, 1], classes=3)
    with pytest.raises(ValueError, match="`predictions` of confusion_counts must be class indices from 0 to 1. Got 2"):
        confusion_counts([0, 2], [0, 1], classes=2)
    with pytest.raises(ValueError, match="`y` of confusion_counts must be class indices .* Got 2 at position 1"):
        confusion_counts([0, 1], [0, 2], classes=2)


def test_quadratic_kappa_by_hand():
    # Observed: two mistakes of one step, Σ (i−j)² O = 2. Totals: true (3, 2, 1), predicted (2, 2, 2), so
    # Σ (i−j)² E = [3·(0 + 2 + 8) + 2·(2 + 0 + 2) + 1·(8 + 2 + 0)]/6 = 8 and kappa = 1 − 2/8.
    assert quadratic_kappa(PREDICTED, Y) == pytest.approx(0.75)


def test_quadratic_kappa_equals_scikit_learn_and_the_formula():
    scores, y = random_case(3)
    predicted = scores.argmax(1)
    assert quadratic_kappa(scores, y) == pytest.approx(cohen_kappa_score(y, predicted, weights="quadratic"), abs=1e-12)
    # with a class that never occurs: scikit-learn closes the gap unless all classes are named
    y, predicted = np.array([0, 0, 2, 2, 3]), np.array([0, 2, 2, 0, 3])
    weights = (np.arange(4)[:, None] - np.arange(4)) ** 2
    observed = confusion_matrix(y, predicted, labels=range(4))
    chance = np.outer(observed.sum(1), observed.sum(0)) / len(y)
    assert quadratic_kappa(predicted, y) == pytest.approx(1 - (weights * observed).sum() / (weights * chance).sum())


def test_quadratic_kappa_needs_no_table_of_classes():
    # ids near 30,000: the formula written out over pairs, not over classes squared
    random = np.random.default_rng(0)
    y = random.integers(29_000, 30_000, 200)
    predicted = y + random.integers(-200, 200, 200)
    chance = ((predicted[:, None] - y) ** 2).mean()
    assert quadratic_kappa(predicted, y) == pytest.approx(1 - ((predicted - y) ** 2).mean() / chance, abs=1e-12)


def test_quadratic_kappa_of_one_class_is_said_to_be_agreement():
    with pytest.warns(UserWarning, match="quadratic_kappa: only class 2 occurs"):
        assert quadratic_kappa([2, 2], [2, 2]) == 1.0
    assert quadratic_kappa([1, 1], [2, 2]) == 0.0


def test_level_accuracy_by_hand():
    # a and b are under "left", c stands alone: class level 4/6; at the top 0 and 1 are one, so only sample 4 (1 as 2)
    # is wrong: 5/6
    space = tree({"left": ["a", "b"], "right": ["c"]})
    assert_close(level_accuracy(PREDICTED, Y, space), torch.tensor([5 / 6, 4 / 6], dtype=torch.float64))


def test_the_groups_of_each_level_are_named():
    nested = tree({"pet": ["cat", "dog"], "vehicle": {"road": ["car", "bus"], "rail": ["tram"]}})
    assert level_groups(nested) == [
        ["pet", "pet", "vehicle", "vehicle", "vehicle"],
        ["cat", "dog", "road", "road", "rail"],
        ["cat", "dog", "car", "bus", "tram"],
    ]
    assert level_groups(groups({"p": ["a", "b"], "v": ["c", "d"]})) == [["p", "p", "v", "v"], ["a", "b", "c", "d"]]
    # at the top all are one thing, which nobody can be wrong about
    assert level_groups(wordnet(["cat", "dog", "truck"])) == [
        ["carnivore", "carnivore", "truck"],
        ["cat", "dog", "truck"],
    ]


def test_level_accuracy_per_sample_by_hand():
    # of the mistakes (0 as 1, 1 as 2) the first stays under "left"
    right = level_accuracy(PREDICTED, Y, tree({"left": ["a", "b"], "right": ["c"]}), per_sample=True)
    expected = torch.tensor([[1.0, 1], [1, 1], [1, 0], [1, 1], [0, 0], [1, 1]], dtype=torch.float64)
    assert_close(right, expected)


def test_level_accuracy_with_one_top_and_unequal_depths():
    # "thing" joins everything and is left out; levels: {animal, car}, {mammal, trout, car}, classes
    space = tree({"thing": {"animal": {"mammal": ["cat", "dog"], "trout": None}, "car": None}})
    assert space.names == ("cat", "dog", "trout", "car")
    found = level_accuracy([1, 2, 0, 3, 0], [0, 0, 2, 3, 3], space)
    assert_close(found, torch.tensor([4 / 5, 2 / 5, 1 / 5], dtype=torch.float64))
    assert found[-1].item() == pytest.approx(accuracy([1, 2, 0, 3, 0], [0, 0, 2, 3, 3]))
    # of two animals the first level says nothing either
    subset = space.subset(["cat", "trout"])
    assert_close(level_accuracy([1, 0], [0, 0], subset), torch.tensor([0.5, 0.5], dtype=torch.float64))


def test_level_accuracy_needs_a_tree():
    with pytest.raises(ValueError, match="`tree_space` of level_accuracy must be a space built by labelspace.tree"):
        level_accuracy([0], [0], uniform(3))
    loop = LabelSpace(("a", "b"), torch.eye(2), "relations", {"parents": {"a": "x", "x": "y", "y": "x", "b": ""}})
    with pytest.raises(ValueError, match="a taxonomy without cycles. Got one through 'a'"):
        level_accuracy([0], [0], loop)
    with pytest.raises(ValueError, match="`y` of level_accuracy must be class indices from 0 to 1"):
        level_accuracy([0], [2], tree({"top": ["a", "b"]}))
    with pytest.raises(
        ValueError, match="`tree_space` of level_accuracy must be of 3 classes, the columns of the scores"
    ):
        level_accuracy(torch.randn(2, 3), [0, 1], tree({"top": ["a", "b"]}))


def test_labels_that_int64_would_turn_negative():
    large = torch.tensor([0, -1]).view(torch.uint64)
    for y in (large, large.numpy()):
        with pytest.raises(ValueError, match=rf"class indices \(whole numbers\). Got {2**64 - 1} of dtype uint64"):
            accuracy([0, 1], y)
    assert accuracy([0, 1], torch.tensor([0, 1]).to(torch.uint64)) == 1
