"""What a method needs from a loop is what it declares, and the page has the table."""

import subprocess
import sys
from pathlib import Path

import pytest

from labelspace import (
    AdaptiveLabels,
    LabelEmbedding,
    LearnableSmoothing,
    MixedCrossEntropy,
    OnlineSmoothing,
    methods,
    ordinal,
)
from labelspace.integrations.needs import loop_needs, needs_table

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


@pytest.mark.parametrize(
    ("criterion", "wanted"),
    [
        (LabelEmbedding(3, in_features=2), ("parameters", "features")),
        (LabelEmbedding(3, pretrained=ordinal(3)), ()),
        (MixedCrossEntropy(ordinal(3)), ()),
        (MixedCrossEntropy(ordinal(3), learn="class"), ("parameters",)),
        (OnlineSmoothing(3, commit_every=5), ()),
        (LearnableSmoothing(3).requires_grad_(False), ()),
        (AdaptiveLabels(3), ("predict",)),
    ],
)
def test_options_count(criterion, wanted) -> None:
    assert loop_needs(criterion) == wanted


def test_the_table_has_every_method_once() -> None:
    rows = [line.split("|")[1].strip(" `") for line in needs_table().splitlines()[2:]]
    assert rows == list(methods())


def test_rows_that_anybody_can_check() -> None:
    rows = {line.split("|")[1].strip(" `"): line for line in needs_table(["kd", "lwr", "mixed"]).splitlines()[2:]}
    assert rows["kd"] == "| `kd` | | | | | ● | | |"
    assert rows["lwr"] == "| `lwr` | | | | ● | | ● | |"
    assert rows["mixed"] == "| `mixed` | ● | * | | | | | |"


def test_the_page_has_the_table() -> None:
    # in a process of its own: other tests bring methods along
    command = [sys.executable, "-c", "from labelspace.integrations.needs import needs_table; print(needs_table())"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, encoding="utf-8")
    assert done.stdout.count("\n") > 10
    assert done.stdout.strip() in PAGE.read_text(encoding="utf-8"), "write what needs_table() returns into the page"
