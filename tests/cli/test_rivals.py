"""`labelspace compare --rivals`: rows, what is taken home, and what is said of names that are none."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from comparison.small import Here, write_table
from labelspace.cli.main import app
from labelspace.sweeps import executors

SHORT = ["--methods", "uniform", "--model", "linear", "--epochs", "1", "--seeds", "1", "--space", "small<medium<large"]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in this process."""
    monkeypatch.setattr(executors, "Processes", Here)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_a_table_and_its_rivals(tmp_path: Path) -> None:
    table, out = str(write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])), str(tmp_path / "runs")
    found = run("compare", table, *SHORT, "--rivals", "SVC,GaussianNB", "--out", out, "--json")
    assert found.exit_code == 0, found.output
    content = json.loads(found.stdout)
    assert [row["label"] for row in content["rows"] if row["role"] == "rival"][:2] == ["SVC", "GaussianNB"]
    taken = next(row for row in content["rows"] if row["label"] == content["best"]["label"])
    rivals = [run for row in content["rows"] if row["label"] in ("SVC", "GaussianNB") for run in row["runs"]]
    assert taken["runs"][0] in rivals
    predicted = run("predict", str(Path(content["folder"]) / "best"), table)
    assert predicted.exit_code == 0, predicted.output
    assert predicted.stdout.startswith("row,class,probability,decision")


@pytest.mark.parametrize(
    ("rivals", "said"),
    [("SVX", "Did you mean 'SVC'"), ("none,SVC", "none, or some"), ("timm:resnet18", "classifiers of scikit-learn")],
)
def test_other_names_are_refused_before_anything_is_written(rivals: str, said: str, tmp_path: Path) -> None:
    table = str(write_table(tmp_path / "sizes.csv", ["small", "medium", "large"]))
    found = run("compare", table, *SHORT, "--rivals", rivals, "--out", str(tmp_path / "runs"))
    assert found.exit_code == 2
    assert len(found.stderr.strip().splitlines()) == 1
    assert found.stderr.startswith("labelspace: `--rivals`")
    assert said in found.stderr
    assert not (tmp_path / "runs").exists()


def test_a_plan_and_scores_decide_it_themselves(tmp_path: Path) -> None:
    for other in (["--plan", "plan.toml"], ["--scores", "a.csv", "b.csv"]):
        found = run("compare", *other, "--rivals", "SVC")
        assert found.exit_code == 2
        assert "--rivals" in found.stderr
