"""Forms of methods that change with the epochs, broken off and started again, end in the same bits."""

from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace.training.run import Run, train

FORMS: dict[str, dict[str, Any]] = {
    "head": {"head_l2": 0.1},
    "printed": {"method": "lwal", "method_options": {"preset": "paper", "every": 2, "warmup": 1, "repel": 1e-3}},
    "pruned": {"method": "lls", "method_options": {"top": 2, "prune_after": 2}},
    "scaled": {"method": "static", "space": "ordinal"},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("broken", [1, 2])
def test_a_run_broken_off_ends_in_the_same_bits(form: str, broken: int, tmp_path: Path) -> None:
    options = {"model": "mlp-16", "epochs": 4, "limit": 200, "batch_size": 64, **FORMS[form]}

    def stop(event: str, numbers: dict[str, Any]) -> None:
        if event == "epoch" and numbers["epoch"] == broken:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("digits", out=tmp_path, checkpoint_seconds=0.0, report=stop, **options)
    events: list[str] = []
    resumed = train("digits", out=tmp_path, report=lambda event, _: events.append(event), **options)
    assert "resumed" in events
    whole = train("digits", **options)
    torch.testing.assert_close(resumed.weights, whole.weights, rtol=0, atol=0)
    torch.testing.assert_close(resumed.scores, whole.scores, rtol=0, atol=0)
    torch.testing.assert_close(resumed.space.matrix, whole.space.matrix, rtol=0, atol=0)
    loaded = Run.load(resumed.folder).learner().criterion.label_space()
    torch.testing.assert_close(loaded.matrix, whole.space.matrix, rtol=0, atol=0)
