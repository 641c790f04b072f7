"""Logits or probabilities: one decision for all parts and models, and none that is guessed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from labelspace.comparison import Comparison, compare_scores

SQUARED = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]


def logits(seed: int, samples: int = 300) -> tuple[Tensor, Tensor]:
    chance = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (samples,), generator=chance)
    return 3 * torch.nn.functional.one_hot(y, 3) + 2.5 * torch.randn(samples, 3, generator=chance).double(), y


VALIDATION, TEST = logits(0), logits(1)


def compared(validation: Any, test: Any, **options: Any) -> Comparison:
    return compare_scores([(validation, VALIDATION[1]), (test, TEST[1])], cost=SQUARED, **options)


def shares(part: tuple[Tensor, Tensor]) -> Tensor:
    return part[0].softmax(dim=1)


def one_row(table: Tensor, factor: float) -> Tensor:
    changed = table.clone()
    changed[7] *= factor
    return changed


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_probabilities_say_what_their_logits_say(dtype: torch.dtype) -> None:
    found = compared(shares(VALIDATION).to(dtype), shares(TEST).to(dtype))
    assert found.content["title"].startswith("probabilities of 1 model")
    expected = compared(VALIDATION[0], TEST[0])
    assert expected.content["title"].startswith("logits of 1 model")
    rough = 1e-6 if dtype == torch.float64 else 0.03
    assert found.verdict.estimate == pytest.approx(expected.verdict.estimate, abs=rough)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_one_row_of_many_turns_nothing_over(part: str) -> None:
    whole = {"validation": shares(VALIDATION), "test": shares(TEST)}
    odd = {**whole, part: one_row(whole[part], 0.99)}
    with pytest.raises(ValueError, match=rf"Got row 7 of the {part} scores of 'model', which sums to 0\.99\. Say what"):
        compared(**odd)
    # a factor of a row says nothing about its classes
    assert compared(**odd, kind="probabilities").verdict == compared(**whole).verdict


def test_the_file_is_named(tmp_path: Path) -> None:
    for name, part in (("val", VALIDATION), ("test", TEST)):
        np.savez(tmp_path / f"{name}.npz", scores=one_row(shares(part), 1.2 if name == "test" else 1), y=part[1])
    with pytest.raises(ValueError, match=r"row 7 of .*test\.npz, which sums to 1\.2"):
        compare_scores([tmp_path / "val.npz", tmp_path / "test.npz"])
    both = {"validation_scores": VALIDATION[0], "validation_y": VALIDATION[1], "test_y": TEST[1]}
    np.savez(tmp_path / "both.npz", **both, test_scores=one_row(shares(TEST), 0.9))
    with pytest.raises(ValueError, match=r"row 0 of validation_scores in .*both\.npz, which sums to "):
        compare_scores([tmp_path / "both.npz"])


@pytest.mark.parametrize(
    ("validation", "test"),
    [
        (VALIDATION[0], shares(TEST)),
        (shares(VALIDATION), TEST[0]),
        (shares(VALIDATION) * 0.98, shares(TEST) * 0.98),
        (100 * shares(VALIDATION), 100 * shares(TEST)),
        (torch.sigmoid(VALIDATION[0]), torch.sigmoid(TEST[0])),
        (shares(VALIDATION) - 1e-3, shares(TEST)),
    ],
    ids=["mixed", "mixed the other way", "nearly 1", "percentages", "from 0 to 1", "slightly negative"],
)
def test_what_is_unclear_is_refused_and_taken_as_told(validation: Tensor, test: Tensor) -> None:
    with pytest.raises(ValueError, match="probabilities in every row of every part, or logits in all of them"):
        compared(validation, test)
    assert compared(validation, test, kind="logits").content["title"].startswith("logits")


def test_models_are_decided_together() -> None:
    pairs = {"a": [(shares(VALIDATION), VALIDATION[1]), (shares(TEST), TEST[1])], "b": [VALIDATION, TEST]}
    with pytest.raises(ValueError, match="Got row 0 of the validation scores of 'b'"):
        compare_scores(pairs, cost=SQUARED)


@pytest.mark.parametrize("bad", [0.5, 1.2, 0.0])
def test_probabilities_must_be_such(bad: float) -> None:
    with pytest.raises(ValueError, match=rf"summing to 1 within 0\.05. Got row 7 of the test .* sums to {bad:g}"):
        compared(shares(VALIDATION), one_row(shares(TEST), bad), kind="probabilities")
    with pytest.raises(ValueError, match="smallest entry -"):
        compared(VALIDATION[0], TEST[0], kind="probabilities")


def test_a_kind_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="`kind` of compare must be one of 'logits', 'probabilities'. Got 'logit'"):
        compared(VALIDATION[0], TEST[0], kind="logit")


def test_logits_stay_logits_where_some_rows_sum_to_one_by_chance() -> None:
    by_chance = VALIDATION[0].clone()
    by_chance[:30] = torch.tensor([0.2, 0.3, 0.5])
    assert compared(by_chance, TEST[0]).content["title"].startswith("logits")


def test_scores_that_are_not_finite_are_named() -> None:
    bad = TEST[0].clone()
    bad[11, 1] = torch.nan
    with pytest.raises(ValueError, match="`scores` of compare must be finite. Got nan in row 11 of the test scores"):
        compared(VALIDATION[0], bad)


def test_seeds_are_told() -> None:
    several = torch.stack([shares(TEST), one_row(shares(TEST), 0.9)])
    with pytest.raises(ValueError, match=r"row 7 of seed 1 of the test scores of 'model', which sums to 0\.9"):
        compared(shares(VALIDATION).expand(2, -1, -1), several)
