"""Matrices made small come back within the promised error."""

import json
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labelspace.report.document import pack, script_json
from report.unpacking import unpack


def tolerance(packed: dict[str, Any], values: torch.Tensor) -> torch.Tensor:
    levels, span = (65534 if packed["wide"] else 254), packed["span"]
    if packed["power"] == 1:
        return torch.full_like(values, span * (0.5 / levels + 2e-6))
    return span * ((values / span).sqrt() / levels + 0.25 / levels**2 + 2e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 64, 65, 100]), st.booleans(), st.booleans(), st.booleans())
def test_a_matrix_comes_back(seed: int, size: int, symmetric: bool, sparse: bool, negative: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(size, size, generator=generator, dtype=torch.float64) * 7
    values = torch.where(values < 6.5, 0, values) if sparse else values
    values = (values + values.T) / 2 if symmetric else values
    values = values - 3 if negative else values
    packed = pack(values)
    assert packed["symmetric"] or not symmetric
    assert bool(((unpack(packed) - values).abs() <= tolerance(packed, values)).all())


def test_small_weights_stay_apart_in_one_byte() -> None:
    values = torch.zeros(200, 200, dtype=torch.float64)
    values[0, 1], values[0, 2], values[0, 3] = 1.0, 0.005, 0.0051
    back = unpack(pack(values))
    assert back[0, 2].item() == pytest.approx(0.005, rel=0.06)
    assert back[5].abs().max() == 0


def test_long_runs_of_zeros_and_absent_entries() -> None:
    values = torch.zeros(100, 100, dtype=torch.float64)
    values[0, 0], values[99, 99], values[40, 2] = torch.nan, 0.5, 0.25
    packed = pack(values)
    assert packed["zeros"]
    assert len(packed["data"]) < 200
    back = unpack(packed)
    assert back[0, 0].isnan()
    assert back.isnan().sum() == 1
    torch.testing.assert_close(back[1:], values[1:], rtol=0, atol=2e-3)


@pytest.mark.parametrize("values", [torch.zeros(3, 3), torch.full((2, 2), torch.nan), torch.full((2, 3), -1.0)])
def test_matrices_without_range(values: torch.Tensor) -> None:
    torch.testing.assert_close(unpack(pack(values)), values.double(), equal_nan=True)


def test_no_text_ends_the_script() -> None:
    hostile = {"name": "</script><!-- <script>", "more": "\u2028 \ud800"}
    text = script_json(hostile)
    assert "<" not in text
    assert json.loads(text) == hostile
    text.encode("ascii")
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))
