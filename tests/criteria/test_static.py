"""Static labels: the three losses, the nearest row, and what a label space of each kind becomes."""

import math
import pickle
from typing import Any

import pytest
import torch
from torch.nn.functional import cosine_similarity, mse_loss, smooth_l1_loss

from contract.harness import Inputs, as_case, plain
from labelspace import LabelSpace, ordinal
from labelspace.criteria.static import StaticLabels
from reference import static as reference

RANDOM = torch.Generator().manual_seed(0)
VECTORS = torch.tensor([[0.0, 2.0], [1.0, 0.0], [-1.0, -1.0]])
SPACE = LabelSpace(("a", "b", "c"), VECTORS, "vectors", {"builder": "here"})


def test_losses_equal_torch() -> None:
    output, y = 2 * torch.randn(20, 2, generator=RANDOM), torch.arange(20) % 3
    torch.testing.assert_close(StaticLabels(SPACE, scale=1)(output, y), smooth_l1_loss(output, VECTORS[y]))
    torch.testing.assert_close(StaticLabels(SPACE, loss="mse", scale=1)(output, y), mse_loss(output, VECTORS[y]))
    cosine = 1 - cosine_similarity(output, VECTORS[y]).mean()
    torch.testing.assert_close(StaticLabels(SPACE, loss="cosine")(output, y), cosine)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        # z = (0.6, 0.8) against (1, 0): errors (−0.4, 0.8)
        ("huber", (0.5 * 0.16 + 0.5 * 0.64) / 2),
        ("mse", (0.16 + 0.64) / 2),
        ("cosine", 1 - 0.6),
    ],
)
def test_by_hand(loss: str, expected: float) -> None:
    got = StaticLabels(SPACE, loss=loss, scale=1)(torch.tensor([[0.6, 0.8]]), torch.tensor([1]))
    torch.testing.assert_close(got, torch.tensor(expected))


@pytest.mark.parametrize("loss", ["huber", "mse", "cosine"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("scale", ["auto", 1.0, 3.0])
def test_each_loss_against_the_reference(loss: str, soft: bool, scale: Any) -> None:
    example = plain("static")
    criterion = StaticLabels(example.criterion.label_space(), loss=loss, scale=scale).double()
    inputs = Inputs(criterion, example.output.requires_grad_(), example.y, {})
    inputs = inputs.soft() if soft else inputs
    case = as_case(inputs)
    torch.testing.assert_close(inputs.loss().item(), reference.loss(case, case))
    assert torch.autograd.gradcheck(lambda output: inputs.loss(output=output), inputs.output)
    assert torch.autograd.gradgradcheck(lambda output: inputs.loss(output=output), inputs.output)


def test_soft_labels_regress_to_the_mixed_row() -> None:
    # ½·(0, 2) + ½·(1, 0) = (½, 1)
    y = torch.tensor([[0.5, 0.5, 0.0]])
    criterion = StaticLabels(SPACE, loss="mse", scale=1)
    torch.testing.assert_close(criterion(torch.tensor([[0.5, 1.0]]), y), torch.tensor(0.0))


def test_scores_are_distances_and_the_nearest_row_is_predicted() -> None:
    criterion = StaticLabels(SPACE, scale=1)
    assert criterion.output_dim == 2
    output = torch.tensor([[1.0, 2.0], [0.9, 0.2], [-5.0, -5.0]])
    expected = -(output[:, None] - VECTORS).norm(dim=-1)
    torch.testing.assert_close(criterion.scores(output), expected)
    torch.testing.assert_close(criterion.predict(output), torch.tensor([0, 1, 2]))


def test_cosine_predicts_by_direction_whatever_the_length() -> None:
    # (0.1, 0.05) is nearest to (1, 0) in direction; among rows of unequal length distance may disagree
    space = LabelSpace(("near", "along"), torch.tensor([[0.0, 0.5], [9.0, 0.0]]), "vectors")
    output = torch.tensor([[0.1, 0.05], [1.0, 0.5]])
    torch.testing.assert_close(StaticLabels(space, loss="cosine").predict(output), torch.tensor([1, 1]))
    torch.testing.assert_close(StaticLabels(space, loss="mse", scale=1).predict(output), torch.tensor([0, 0]))


def test_cosine_is_finite_at_zero() -> None:
    output = torch.zeros(2, 2, requires_grad=True)
    StaticLabels(SPACE, loss="cosine")(output, torch.tensor([0, 1])).backward()
    assert output.grad is not None
    assert bool(torch.isfinite(output.grad).all())


def test_relations_are_taken_as_they_are() -> None:
    space = ordinal(4)
    criterion = StaticLabels(space)
    torch.testing.assert_close(criterion.label_matrix, space.matrix)
    assert criterion.label_space().kind == "relations"


def test_a_cost_becomes_relations() -> None:
    cost = LabelSpace(("a", "b", "c"), torch.tensor([[0.0, 1, 2], [1, 0, 5], [2, 5, 0]]), "cost")
    criterion = StaticLabels(cost)
    torch.testing.assert_close(criterion.label_matrix, cost.relations().matrix)
    assert criterion.label_space().kind == "relations"


@pytest.mark.parametrize("factor", [0.01, 1.0, 40.0])
def test_entries_get_a_typical_size_of_a_half(factor: float) -> None:
    # root mean square of (0, 2, 1, 0, −1, −1): √(7/6). Scaled to ½, whatever the rows were multiplied by before
    criterion = StaticLabels(LabelSpace(SPACE.names, factor * VECTORS, "vectors"))
    torch.testing.assert_close(criterion.scale.item(), 0.5 / (factor * math.sqrt(7 / 6)), rtol=1e-6, atol=0)
    target = VECTORS[0] * 0.5 / math.sqrt(7 / 6)
    torch.testing.assert_close(criterion(target[None], torch.tensor([0])), torch.tensor(0.0), rtol=0, atol=1e-9)
    distances = (target - VECTORS * 0.5 / math.sqrt(7 / 6)).norm(dim=1)
    torch.testing.assert_close(criterion.scores(target[None])[0], -distances, rtol=1e-5, atol=2e-6)


def test_unit_vectors_in_many_dimensions_train() -> None:
    """An output starts with entries of about 0.2: rows of length 1 in 384 dimensions were lost in that."""
    torch.manual_seed(0)
    rows = torch.nn.functional.normalize(torch.randn(10, 384), dim=1)
    space = LabelSpace(tuple("abcdefghij"), rows, "vectors")
    y = torch.arange(200) % 10
    x = torch.randn(10, 64)[y] + torch.randn(200, 64)
    accuracy = {}
    for scale in ("auto", 1.0):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 384))
        criterion = StaticLabels(space, scale=scale)  # type: ignore[arg-type]
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(40):
            optimiser.zero_grad()
            criterion(model(x), y).backward()
            optimiser.step()
        accuracy[scale] = (criterion.predict(model(x)) == y).double().mean().item()
    assert accuracy["auto"] > 0.9
    assert accuracy[1.0] < 0.7


def test_the_scale_travels_with_the_weights() -> None:
    saved = StaticLabels(SPACE, scale=7.0).state_dict()
    other = StaticLabels(SPACE)
    other.load_state_dict(saved)
    torch.testing.assert_close(other.scale.item(), 7.0)
    # what was saved before there was a scale had been trained on the rows as given
    del saved["scale"]
    learner = torch.nn.ModuleDict({"criterion": StaticLabels(SPACE)})
    learner.load_state_dict({f"criterion.{name}": value for name, value in saved.items()})
    torch.testing.assert_close(learner["criterion"].scale.item(), 1.0)
    twin = pickle.loads(pickle.dumps(StaticLabels(SPACE)))
    twin.load_state_dict(saved)
    torch.testing.assert_close(twin.scale.item(), 1.0)


def test_label_space_is_what_it_was_built_from() -> None:
    space = StaticLabels(SPACE).label_space()
    again = StaticLabels(space)
    torch.testing.assert_close(again.scale, StaticLabels(SPACE).scale)
    torch.testing.assert_close(space.matrix, SPACE.matrix)
    assert (space.kind, dict(space.source)) == ("vectors", {"builder": "here", "metric": "euclidean"})


@pytest.mark.parametrize("preset", ["paper", "reference"])
def test_presets(preset: str) -> None:
    assert StaticLabels(SPACE, preset=preset).loss == "huber"
    assert StaticLabels(SPACE, preset=preset).scale.item() == 1
    assert StaticLabels(SPACE, preset=preset, loss="mse").loss == "mse"


def test_bad_options() -> None:
    with pytest.raises(
        ValueError, match="`loss` of StaticLabels must be one of 'huber', 'mse', 'cosine'. Got 'hubert'"
    ):
        StaticLabels(SPACE, loss="hubert")
    with pytest.raises(ValueError, match=r"`scale` of StaticLabels must be a number in \(0, inf\). Got 0"):
        StaticLabels(SPACE, scale=0)
    with pytest.raises(ValueError, match="`scale` of StaticLabels must be 'auto' or a number above 0. Got 'aut'"):
        StaticLabels(SPACE, scale="aut")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`labels` of StaticLabels must be a LabelSpace. Got 3"):
        StaticLabels(3)  # type: ignore[arg-type]
    same = LabelSpace(("cat", "tabby"), torch.ones(2, 3), "vectors")
    with pytest.raises(
        ValueError, match="must be a LabelSpace whose rows differ. Got the same row for 'cat' and 'tabby'"
    ):
        StaticLabels(same)
