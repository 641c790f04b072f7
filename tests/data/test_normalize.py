import json

import pytest
import torch
from torch.testing import assert_close

from labelspace.data.normalize import Normalize, statistics


def test_images_are_scaled_per_channel():
    x = torch.randint(0, 256, (50, 3, 4, 5), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    normalize = statistics(x, "images")
    wanted = x.double() / 255
    assert_close(normalize.mean, wanted.mean((0, 2, 3)).float())
    assert_close(normalize.std, wanted.std((0, 2, 3), correction=0).float())
    out = normalize(x)
    assert out.dtype == torch.float32
    assert_close(out.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)


def test_constant_columns_become_zero():
    x = torch.tensor([[1.0, 0.1, 1e6], [3.0, 0.1, 1e6], [8.0, 0.1, 1e6]])
    out = statistics(x, "table")(x)
    assert_close(out[:, 1:], torch.zeros(3, 2), atol=1e-6, rtol=0)
    assert_close(out[:, 0].std(correction=0), torch.tensor(1.0))


def test_black_images_and_features_with_axes():
    assert torch.isfinite(
        statistics(torch.zeros(2, 1, 2, 2, dtype=torch.uint8), "images")(torch.zeros(2, 1, 2, 2))
    ).all()
    x = torch.randn(20, 3, 4, generator=torch.Generator().manual_seed(0))
    assert statistics(x, "features").mean.shape == (3,)


def test_text_is_left_alone():
    ids = torch.tensor([[1, 2, 0]])
    assert statistics(ids, "text")(ids) is ids


@pytest.mark.parametrize("kind", ["images", "table", "text"])
def test_what_is_written_down_gives_the_same_bits(kind):
    x = torch.randint(0, 256, (40, 3, 2, 2), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    x = x if kind == "images" else x.flatten(1).float().log1p() if kind == "table" else x.flatten(1).long()
    normalize = statistics(x, kind)
    again = Normalize.stored(json.loads(json.dumps(normalize.plain() | {"names": ["passed over"]})))
    assert torch.equal(again(x), normalize(x))
