"""Draws come from the given generator alone."""

import numpy as np
import pytest
import torch

from labelspace import InputError
from labelspace.augment import draws

CPU = torch.device("cpu")


def test_every_draw_is_that_of_its_generator() -> None:
    def seeded() -> torch.Generator:
        return torch.Generator().manual_seed(3)

    torch.manual_seed(0)
    before = torch.get_rng_state()
    uniform = torch.rand(4, generator=seeded(), dtype=torch.float64)
    torch.testing.assert_close(draws.uniform(4, seeded(), CPU), uniform, rtol=0, atol=0)
    assert sorted(draws.permutation(5, seeded(), CPU).tolist()) == list(range(5))
    assert set(draws.integers(2, 50, seeded(), CPU).tolist()) == {0, 1}
    seed = int(torch.randint(2**62, (1,), generator=seeded()))
    np.testing.assert_array_equal(draws.beta(0.3, 6, seeded(), CPU), np.random.default_rng(seed).beta(0.3, 0.3, 6))
    assert torch.equal(before, torch.get_rng_state())


def test_no_generator_is_refused() -> None:
    with pytest.raises(InputError, match="`generator` of crop must be a torch.Generator. Got None"):
        draws.generator_of("crop", None)  # type: ignore[arg-type]
