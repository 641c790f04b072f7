"""Real outputs: a small network trained on smoothed labels of MNIST, then judged and decided with."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from labelspace import SemanticSmoothing, data, ordinal
from labelspace.decisions import Temperature, expected_cost_of, invert_smoothing, min_cost
from labelspace.metrics import accuracy, calibration_error, class_calibration_error, expected_cost, nll
from realdata import data_folder

FOLDER = data_folder()
pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(FOLDER is None, reason="the real datasets are not on this machine"),
]
SMOOTHING = 0.3
TRAINING, HELD_OUT = 4000, 2000
# the price of a digit misread is how far off it is
PRICES = (torch.arange(10)[:, None] - torch.arange(10)).abs()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Return scores and labels of a validation and a test part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABELSPACE_CACHE", str(tmp_path_factory.mktemp("cache")))
        digits = data.load("mnist", data_dir=str(FOLDER))
    parts = [(digits.train, TRAINING), (digits.validation, HELD_OUT), (digits.test, HELD_OUT)]
    x, validation_x, test_x = (part.x[:size].flatten(1).float() / 255 for part, size in parts)
    y, validation_y, test_y = (part.y[:size] for part, size in parts)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
        criterion = SemanticSmoothing(ordinal(10), smoothing=SMOOTHING)
        optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
        for _ in range(10):
            for batch in torch.randperm(TRAINING).split(100):
                optimiser.zero_grad()
                criterion(model(x[batch]), y[batch]).backward()
                optimiser.step()
    with torch.no_grad():
        yield model(validation_x), validation_y, model(test_x), test_y


def test_the_network_has_learned(judged):
    _, _, scores, y = judged
    assert accuracy(scores, y) > 0.9


def test_min_cost_never_costs_more_than_argmax_under_the_probabilities_themselves(judged):
    _, _, scores, _ = judged
    p = torch.softmax(scores, dim=1)
    expected = expected_cost_of(p, PRICES)
    cheapest = expected.gather(1, min_cost(p, PRICES)[:, None])
    likeliest = expected.gather(1, p.argmax(dim=1, keepdim=True))
    assert bool((cheapest <= likeliest).all())
    # and it is not the same decision throughout
    assert bool((cheapest < likeliest).any())


def test_temperature_scaling_halves_the_calibration_error_of_a_smoothed_model(judged):
    validation_scores, validation_y, scores, y = judged
    temperature = Temperature().fit(validation_scores, validation_y)
    before, after = torch.softmax(scores, dim=1), temperature(scores)
    # smoothed models are too modest: confidence has to rise
    assert temperature.value < 1
    assert calibration_error(after, y) <= 0.5 * calibration_error(before, y)
    assert class_calibration_error(after, y) < class_calibration_error(before, y)
    assert nll(after, y) < nll(before, y)
    assert accuracy(after, y) == accuracy(before, y)


def test_a_known_smoothing_can_be_undone(judged):
    _, _, scores, y = judged
    q = torch.softmax(scores, dim=1)
    p = invert_smoothing(q, ordinal(10).targets(SMOOTHING))
    assert calibration_error(p, y) < calibration_error(q, y)
    assert expected_cost(min_cost(p, PRICES), y, PRICES) < expected_cost(min_cost(q, PRICES), y, PRICES)
