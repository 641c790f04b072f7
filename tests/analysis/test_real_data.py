"""The geometry of real images: Fashion-MNIST's shoes lie together, seen in three ways."""

import pytest
import torch

from labelspace import data, tree
from labelspace.analysis import agreement, center_distances, dendrogram, kendall, naa_distances, neighbours
from realdata import data_folder

KINDS = {
    "top": ["T-shirt/top", "Pullover", "Coat", "Shirt", "Dress"],
    "shoe": ["Sandal", "Sneaker", "Ankle boot"],
    "other": ["Trouser", "Bag"],
}


@pytest.fixture(scope="module")
def fashion():
    folder = data_folder()
    if folder is None or not (folder / "fashion-mnist").is_dir():
        pytest.skip("Fashion-MNIST is not on this machine")
    loaded = data.load("fashion-mnist", data_dir=folder)
    return loaded.test.x.flatten(1)[:4000], loaded.test.y[:4000], loaded.names


@pytest.mark.data
def test_both_sides_agree_on_real_images(fashion):
    x, y, _ = fashion
    x, y = x[:1500], y[:1500]
    both = [naa_distances(x, y, side=side) for side in ("features", "samples")]
    torch.testing.assert_close(both[0], both[1], atol=1e-5, rtol=0)


@pytest.mark.data
def test_shoes_lie_together(fashion):
    x, y, names = fashion
    near = neighbours(center_distances(x, y), names, k=2)
    assert {name for name, _ in near["Sneaker"]} == {"Sandal", "Ankle boot"}
    left, right = dendrogram(naa_distances(x, y), names).nested()
    assert any(set(_leaves(part)) == set(KINDS["shoe"]) for part in (left, right))


@pytest.mark.data
def test_pixels_know_the_taxonomy_better_than_chance(fashion):
    x, y, names = fashion
    hops = tree(KINDS, leaves=names)
    distances = naa_distances(x, y)
    result = kendall(distances, hops)
    assert result.p_value < 0.01
    assert result.tau > result.null_high
    assert agreement(distances, hops.hops, metric="precomputed").p_value < 0.01


def _leaves(node):
    return [node] if isinstance(node, str) else [leaf for part in node for leaf in _leaves(part)]
