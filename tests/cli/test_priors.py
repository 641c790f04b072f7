"""Class frequencies as people type them."""

import csv
import io
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from labelspace import InputError
from labelspace.cli.main import app
from labelspace.cli.priors import prior_of, said_frequencies
from labelspace.decisions import Decision

NAMES, SCORES = ["ill", "well"], [[0.5, 0.0], [3.0, 0.0], [0.0, 1.0]]


def test_typed_and_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prior.txt"
    path.write_text("ill = 2%\n\nwell, or nearly=0.98\n")
    assert prior_of(str(path)) == {"ill": 0.02, "well, or nearly": 0.98}
    assert prior_of('ill=0.02,"well, or nearly=98%"') == {"ill": 0.02, "well, or nearly": 0.98}


@pytest.mark.parametrize("text", ["ill", "=0.3", "ill=some", "ill=0.5,ill=0.5"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="`--prior` must be shares of samples by class"):
        prior_of(text)


def predicted(folder: Path, prior: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["predict", str(folder), str(folder / "new.csv"), "--per-class", "--prior", prior])
    assert result.exit_code == code, result.output
    return result.output


def test_predict_decides_for_other_class_frequencies(tmp_path: Path) -> None:
    decision = Decision("min_cost", 1.0, [[0, 1], [1, 0]], NAMES, frequencies=[0.5, 0.5])
    decision.save(tmp_path / "decision.json")
    (tmp_path / "new.csv").write_text("ill,well\n" + "".join(f"{a},{b}\n" for a, b in SCORES))
    lines = predicted(tmp_path, "ill=10%,well=90%")
    rows = list(csv.DictReader(io.StringIO(lines[lines.index("row,") :])))[: len(SCORES)]
    wanted = torch.tensor(SCORES).double().softmax(dim=1) * torch.tensor([0.2, 1.8]).double()
    wanted /= wanted.sum(dim=1, keepdim=True)
    found = torch.tensor([[float(row[f"probability_{name}"]) for name in NAMES] for row in rows]).double()
    torch.testing.assert_close(found, wanted, atol=1e-6, rtol=0)
    assert [row["decision"] for row in rows] == [NAMES[int(each)] for each in wanted.argmax(dim=1)]
    assert rows[0]["class"] == "well"  # of the largest score it would be ill
    assert "--prior" in predicted(tmp_path, "ill=10%,well=80%", code=2)
    assert "--prior" in predicted(tmp_path, "ill=10%,sick=90%", code=2)


def test_frequencies_in_words():
    names = [f"c{number}" for number in range(10)]
    decision = Decision("argmax", 1.0, None, names, frequencies=[0.1] * 10, prior=[0.5, *[0.5 / 9] * 9])
    assert said_frequencies(decision).startswith("c0 50.0% (10.0% in the validation data), c1 5.6% (10.0%), ")
    assert said_frequencies(decision).endswith(", 2 others")
