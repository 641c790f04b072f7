"""What every public function of metrics, analysis and decisions accepts, and how it refuses the rest."""

import numpy as np
import pytest
import torch

from labelspace import analysis, decisions, metrics, ordinal, tree

SCORES = torch.tensor(np.random.default_rng(0).normal(size=(6, 3)))
P = torch.softmax(SCORES, dim=1)
Y = torch.tensor([0, 0, 1, 1, 2, 2])
COST = torch.tensor([[0.0, 1, 2], [1, 0, 1], [4, 2, 0]])
DISTANCES = torch.tensor([[0.0, 1, 3], [1, 0, 1.5], [3, 1.5, 0]])
FEATURES = torch.tensor(np.random.default_rng(1).normal(size=(6, 4)))
TREE = tree({"left": ["a", "b"], "right": ["c"]})
CURVE = torch.tensor([0.1, 0.3, 0.2])

GUESSED = {"predictions": SCORES, "y": Y}
PRICED = {**GUESSED, "cost": COST}
SAID = {"probabilities": P, "y": Y}
LABELLED = {"features": FEATURES, "y": Y}
DECIDED = {"probabilities": P, "cost": COST}

# numbers by argument, then the other arguments
FIT, APPLY = decisions.Temperature().fit, decisions.Temperature().apply
CALLS = {
    metrics.accuracy: ({"scores_or_predictions": SCORES, "y": Y}, {}),
    metrics.balanced_accuracy: (GUESSED, {}),
    metrics.confusion_counts: (GUESSED, {}),
    metrics.quadratic_kappa: (GUESSED, {}),
    metrics.level_accuracy: (GUESSED, {"tree_space": TREE}),
    metrics.superclass_accuracy: (
        {"train_probabilities": P, "train_groups": Y, "probabilities": P, "groups": Y},
        {"seed": 0},
    ),
    metrics.expected_cost: (PRICED, {}),
    metrics.top_cost: ({"scores": SCORES, "y": Y, "cost": COST}, {"k": 2}),
    metrics.costliest_confusions: (PRICED, {}),
    metrics.severity: (PRICED, {}),
    metrics.value_mse: ({**GUESSED, "values": CURVE}, {}),
    metrics.accuracy_curve_area: ({"accuracies": CURVE}, {}),
    metrics.epochs_saved: ({"curve": CURVE, "reference": CURVE}, {}),
    metrics.nll: (SAID, {}),
    metrics.brier: (SAID, {}),
    metrics.calibration_error: (SAID, {}),
    metrics.class_calibration_error: (SAID, {}),
    metrics.risk_coverage_curve: ({"confidence": CURVE, "risk": CURVE}, {}),
    metrics.risk_coverage_area: ({"confidence": CURVE, "risk": CURVE}, {}),
    metrics.sign_flip_test: ({"differences": CURVE}, {"seed": 0}),
    metrics.holm: ({"p_values": CURVE}, {}),
    metrics.smallest_effect: ({"differences": CURVE}, {}),
    metrics.linear_probe: ({"train_x": FEATURES, "train_y": Y, "test_x": FEATURES, "test_y": Y}, {}),
    metrics.student_accuracy: ({"student_scores": SCORES, "y": Y, "teacher_scores": SCORES}, {}),
    metrics.paired_interval: ({"a": SCORES, "b": SCORES.flip(0)}, {}),
    metrics.effective_samples: ({"a": SCORES, "b": SCORES.flip(0)}, {}),
    metrics.corrected_interval: ({"differences": CURVE}, {"test_share": 0.25}),
    metrics.metric_interval: (
        {"outputs": torch.stack([Y, Y.flip(0)]), "y": Y, "reference": torch.stack([Y.flip(0), Y])},
        {"metric": metrics.accuracy, "resamples": 5, "seed": 0},
    ),
    analysis.naa_distances: (LABELLED, {}),
    analysis.center_distances: (LABELLED, {}),
    analysis.target_distances: ({"targets": P}, {}),
    analysis.dendrogram: ({"distances": DISTANCES}, {}),
    analysis.kendall: ({"distances": DISTANCES, "reference_hops": DISTANCES}, {"permutations": 9, "seed": 0}),
    analysis.agreement: ({"space_a": FEATURES, "space_b": FEATURES + 1}, {"permutations": 9, "seed": 0}),
    analysis.projection: ({"features": FEATURES}, {"seed": 0}),
    analysis.neighbours: ({"space": DISTANCES}, {}),
    analysis.row_entropy: ({"matrix": P}, {}),
    analysis.class_means: ({"outputs": LABELLED["features"], "y": LABELLED["y"]}, {}),
    analysis.spectral_vectors: ({"similarity": DISTANCES}, {}),
    decisions.expected_cost_of: (DECIDED, {}),
    decisions.min_cost: (DECIDED, {}),
    decisions.abstain: (DECIDED, {"abstain_cost": 0.3}),
    decisions.invert_smoothing: ({"probabilities": P, "targets": ordinal(3).targets(0.2)}, {}),
    FIT: ({"scores": SCORES, "y": Y}, {}),
    APPLY: ({"scores": SCORES}, {}),
}
ARGUMENTS = [
    pytest.param(function, argument, id=f"{function.__name__}-{argument}")
    for function, (numbers, _) in CALLS.items()
    for argument in numbers
]


def test_no_function_is_forgotten():
    # those of layers take a network, not numbers
    listed = {function.__name__ for function in CALLS} | {"chances", "equivalent", "layer_features", "layer_names"}
    functions = {name for module in (metrics, analysis) for name in module.__all__ if name[0].islower()}
    assert functions <= listed


def called(function, argument, value):
    numbers, others = CALLS[function]
    return repr(function(**{**numbers, argument: value}, **others))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
@pytest.mark.parametrize(("function", "argument"), ARGUMENTS)
def test_numbers_come_in_many_forms(function, argument):
    numbers = CALLS[function][0][argument]
    array = numbers.numpy()
    forms = [array, array.astype(array.dtype.newbyteorder(">")), list(numbers), numbers.to_sparse()]
    if numbers.is_floating_point():
        forms.append(list(numbers.clone().requires_grad_()))
    if numbers.ndim == 2:
        forms.append(numbers.to_sparse_csr())
    expected = called(function, argument, numbers)
    for form in forms:
        assert called(function, argument, form) == expected


@pytest.mark.parametrize(("function", "argument"), ARGUMENTS)
def test_what_is_not_numbers_is_refused_by_name(function, argument):
    numbers = CALLS[function][0][argument]
    text = np.full(tuple(numbers.shape), "a")
    refused = [numbers.to(torch.complex64), numbers.numpy().astype(complex), text, text.tolist(), {"a": 1}]
    refused += [numbers.to("meta"), numbers.numpy().astype(object), [[1.0, 2.0], [1.0]], numbers[:0]]
    for value in refused:
        with pytest.raises((ValueError, TypeError), match=rf"^`{argument}` of [\w.]*{function.__name__} must be "):
            called(function, argument, value)


@pytest.mark.parametrize(("function", "argument"), ARGUMENTS)
def test_nan_is_refused_by_name(function, argument):
    numbers = CALLS[function][0][argument].double().clone()
    numbers.view(-1)[1] = torch.nan
    if function is analysis.neighbours:
        assert "'0': [('2', 3.0), ('1', nan)]" in called(function, argument, numbers)
        return
    with pytest.raises((ValueError, TypeError), match=rf"^`{argument}` of [\w.]*{function.__name__} must be "):
        called(function, argument, numbers)


SEEDED = [pytest.param(function, id=function.__name__) for function, (_, others) in CALLS.items() if "seed" in others]


@pytest.mark.parametrize("function", SEEDED)
def test_seeds_have_one_range(function):
    numbers, others = CALLS[function]
    function(**numbers, **{**others, "seed": 2**32 - 1})
    expected = rf"^`seed` of {function.__name__} must be a whole number from 0 to 4294967295\. Got 4294967296"
    with pytest.raises(ValueError, match=expected):
        function(**numbers, **{**others, "seed": 2**32})


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (metrics.accuracy, "scores_or_predictions"),
        (metrics.balanced_accuracy, "predictions"),
        (metrics.expected_cost, "predictions"),
        (metrics.top_cost, "scores"),
        (metrics.student_accuracy, "teacher_scores"),
        (FIT, "scores"),
        (APPLY, "scores"),
    ],
)
def test_scores_of_a_single_column_are_refused(function, argument):
    # the largest of one number is always the first: everything would be called class 0
    message = r"must be scores of at least 2 classes\. Got shape \(6, 1\)\. Predicted classes are x\[:, 0\]"
    with pytest.raises(ValueError, match=message):
        called(function, argument, SCORES[:, :1])


@pytest.mark.parametrize(
    "function", [metrics.balanced_accuracy, metrics.confusion_counts, metrics.quadratic_kappa, metrics.value_mse]
)
def test_ids_are_not_taken_for_class_indices(function):
    message = (
        rf"`{{}}` of {function.__name__} must be class indices below 1048576\. Got 1000000000 at position 1\. numpy"
    )
    with pytest.raises(ValueError, match=message.format("y")):
        function([0, 1, 1], [0, 10**9, 1])
    with pytest.raises(ValueError, match=message.format("predictions")):
        function([0, 10**9, 1], [0, 1, 1])


def test_labels_that_are_text_are_told_how_to_become_indices():
    message = (
        r"`y` of accuracy must be a tensor or array of numbers\. Got list of text\. numpy\.unique\(y, return_inverse"
    )
    with pytest.raises(TypeError, match=message):
        metrics.accuracy([0, 1], ["cat", "dog"])
