"""`labelspace report`: pages from what is on disk, without data and without training."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from comparison.small import TINY, write_table
from labelspace.cli.main import app
from labelspace.comparison import Comparison, compare
from labelspace.sweeps.executors import InProcess
from many_results import TABLE, made


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Return a comparison on a table that is no longer there."""
    folder = tmp_path_factory.mktemp("table")
    path = write_table(folder / "sizes.csv", ["small", "medium", "large"])
    found = compare(path, **TINY, out=folder / "runs", executor=InProcess())
    path.unlink()
    return found


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compare("digits", **TINY, limit=100, out=tmp_path_factory.mktemp("digits"), executor=InProcess())


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["report", *arguments])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def refused(words: str, *arguments: str) -> None:
    result = run(*arguments, code=2)
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert words in result.stderr
    assert result.stdout == ""


def test_a_comparison_needs_nothing_but_its_folder(table: Comparison, tmp_path: Path) -> None:
    assert table.folder is not None
    place = tmp_path / "moved"
    shutil.copytree(table.folder, place)
    text = run(str(place)).stdout
    page = place / "report.html"
    assert text.startswith(f"{page} (")
    assert text.strip().endswith("MB)")
    assert "Uniform labels cost" in page.read_text(encoding="utf-8")
    assert page.read_bytes() == table.save_html(tmp_path / "page.html").read_bytes()


def test_another_file(table: Comparison, tmp_path: Path) -> None:
    assert str(tmp_path / "page.html") in run(str(table.folder), "-o", str(tmp_path / "page.html")).stdout
    assert (tmp_path / "page.html").stat().st_size < 4_000_000


def test_plain_runs(table: Comparison, tmp_path: Path) -> None:
    assert table.folder is not None
    page = tmp_path / "runs.html"
    folders = [str(path.parent) for path in sorted(table.folder.glob("runs/*/result.json"))]
    run(*folders, "--output", str(page))
    assert "These runs were not tuned alike" in page.read_text(encoding="utf-8")


def test_pictures(digits: Comparison, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run(str(digits.folder), "-o", str(page))
    assert "data:image/png;base64," not in page.read_text(encoding="utf-8")
    run(str(digits.folder), "--examples", "2", "-o", str(page))
    assert page.read_text(encoding="utf-8").count("data:image/png;base64,") == 2


def test_several_comparisons(tmp_path: Path) -> None:
    for name, costs in TABLE.items():
        (tmp_path / name).mkdir()
        made(name, costs, "LLS").write(tmp_path / name)
    folders = [str(tmp_path / name) for name in TABLE]
    text = run(*folders).stdout
    assert text.startswith("3 datasets · 3 rows in all of them")
    assert run(str(tmp_path)).stdout == text  # the folder that holds them
    assert len(list(tmp_path.glob("summary-*.html"))) == 1
    run(*folders, "-o", str(tmp_path / "page.html"))
    assert "Mean ranks" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert run(folders[0], "--methods-text").stdout.startswith("We compared models on apples (2 classes).")
    refused("has no comparison.json", *folders, str(tmp_path))
    refused("different folders", *folders, folders[0])
    refused("`--examples` must be left out for several comparisons", *folders, "--examples", "2")
    refused("`--methods-text` must be given with folders of comparisons", folders[0], "--methods-text", "-o", "a.html")
    refused("`--methods-text` must be given with folders of comparisons", "nowhere", "--methods-text")


def test_bad_input(table: Comparison, tmp_path: Path) -> None:
    assert table.folder is not None
    one = str(next(table.folder.glob("runs/*/result.json")).parent)
    refused("nowhere", "nowhere")
    refused("`--examples` must be left out for folders of runs", one, "--examples", "2")
    refused("only images can be shown. Got table", str(table.folder), "--examples", "2")
    refused("`examples` of report must be a whole number of at least 1. Got -1", str(table.folder), "--examples", "-1")
    refused("There is no folder", str(table.folder), "-o", str(tmp_path / "nowhere" / "page.html"))
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "comparison.json").write_text('{"format": 1')
    refused("comparison", str(broken))
    assert run(code=2).stdout == ""
