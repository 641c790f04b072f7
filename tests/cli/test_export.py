"""`labelspace export`, as a person types it."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from labelspace.cli.export import export
from labelspace.training.run import Run, train

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(export)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train("digits", model="linear", epochs=1, limit=100, out=tmp_path_factory.mktemp("runs"))


def invoke(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + str(result.exception)
    return result


def test_it_says_what_it_wrote_and_how_far_it_is_from_torch(run: Run, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    text = invoke(run.folder, "--onnx", tmp_path / "m.onnx").stdout
    assert "x uint8 (batch, 1, 8, 8) → probabilities, class, decision" in text
    assert "largest difference" in text
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    assert session.get_inputs()[0].shape == ["batch", 1, 8, 8]
    said = json.loads(invoke(run.folder, "--onnx", tmp_path / "m.onnx", "--json").stdout)
    assert said["largest_difference"] < 1e-5
    assert said["bytes"] == (tmp_path / "m.onnx").stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"], "nothing is left over"


def test_bad_input_is_one_line_and_code_2(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    for arguments, words in (
        ((tmp_path / "nowhere", "--onnx", tmp_path / "m.onnx"), "There is no folder"),
        ((run.folder, "--onnx", tmp_path / "no" / "m.onnx"), "a file in a folder that is there"),
    ):
        error = invoke(*arguments, code=2).stderr.strip()
        assert words in error
        assert len(error.splitlines()) == 1
    assert invoke(run.folder, code=2).stdout == ""


def test_without_its_packages_it_names_the_extra(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    error = invoke(run.folder, "--onnx", tmp_path / "m.onnx", code=2).stderr
    assert 'pip install "labelspace[onnx]"' in error
    assert not (tmp_path / "m.onnx").exists()


def test_help_has_an_example() -> None:
    assert "Example: labelspace export" in " ".join(invoke("--help").stdout.split())
