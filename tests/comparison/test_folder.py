"""What the report holds networks against: the targets that their losses saw, at the strength they had."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from sklearn.manifold import TSNE
from torch.testing import assert_close

from labelspace import analysis, data, ordinal, train
from labelspace.comparison import folder
from labelspace.training.run import Run


def trained(method: str, epochs: int = 1, **options: object) -> Run:
    space = ordinal([str(digit) for digit in range(10)]) if method in ("semantic", "mixed", "static") else None
    return train("digits", method=method, model="linear", epochs=epochs, limit=200, space=space, **options)


def squared_cosines(rows: torch.Tensor) -> torch.Tensor:
    given = rows.double().numpy()
    distances = 1 - (1 - cdist(given, given, "cosine")) ** 2
    np.fill_diagonal(distances, 0)
    return torch.from_numpy(distances).float()


@pytest.mark.parametrize("sigma", [0.1, 0.5])
@pytest.mark.parametrize("method", ["lls", "semantic", "mixed", "uniform", "ols"])
def test_smoothing_methods_are_held_against_their_targets(method: str, sigma: float) -> None:
    run = trained(method, epochs=2, smoothing=sigma if method != "mixed" else sigma - 0.05)
    chosen = sigma if method != "mixed" else sigma - 0.05
    spread = run.weights["criterion.label_logits"].softmax(1) if method == "lls" else run.space.matrix
    expected = squared_cosines((1 - chosen) * torch.eye(10) + chosen * spread)
    assert_close(folder._targets(run), expected, rtol=0, atol=1e-5)


def test_vectors_are_held_against_as_they_predict() -> None:
    run = trained("lwal")
    rows = run.space.matrix.double()
    assert_close(folder._targets(run), torch.from_numpy(cdist(rows, rows)).float(), rtol=1e-5, atol=1e-6)


def test_targets_of_samples_are_not_those_of_classes() -> None:
    assert folder._targets(trained("zipf")) is None


def test_learned_smoothing_agrees_with_the_network_it_trained() -> None:
    digits = data.load("digits")
    run = train(digits, method="lls", model="mlp-128", epochs=60)
    some = folder._some(digits)
    between = analysis.naa_distances(run.features(digits.test.x[some]), digits.test.y[some], digits.names)
    seen = analysis.kendall(between, folder._targets(run), permutations=99)
    alone = analysis.kendall(between, squared_cosines(run.space.matrix), permutations=99)
    assert seen.tau > 0.45
    assert seen.p_value <= 0.02
    assert alone.tau < 0.25


def test_many_samples_are_drawn_by_their_neighbourhoods_and_few_on_principal_components(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folder, "EMBEDDED_FROM", 40)
    clouds = 9 * torch.eye(5)[torch.arange(45) % 5] + torch.randn(45, 5, generator=torch.Generator().manual_seed(0))
    expected = TSNE(init="pca", perplexity=44 / 3, random_state=0).fit_transform(clouds.double().numpy())
    assert_close(folder._picture(clouds), torch.from_numpy(expected))
    left, sizes, _ = np.linalg.svd(clouds[:40].double().numpy() - clouds[:40].double().numpy().mean(0))
    assert_close(folder._picture(clouds[:40]).abs(), torch.from_numpy(np.abs(left[:, :2] * sizes[:2])).float())
    assert_close(folder._picture(clouds[:, :1]), torch.nn.functional.pad(clouds[:, :1], (0, 1)))
