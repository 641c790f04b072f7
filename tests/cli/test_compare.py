"""`labelspace compare` as a person types it: what it prints, what it leaves, and what it says of bad input."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from comparison.small import Here, write_table
from labelspace import comparison
from labelspace.cli import compare as commands
from labelspace.cli.main import app
from labelspace.comparison import Comparison
from labelspace.sweeps import executors
from many_results import TABLE, made

SIZES = ["small", "medium", "large"]
SHORT = ["--methods", "uniform", "--model", "linear", "--epochs", "2", "--seeds", "2"]
PROCESSES = executors.Processes
ORDER = ["--space", "small<medium<large"]


@pytest.fixture(scope="module", autouse=True)
def here() -> Iterator[None]:
    """Train in this process; other tests start workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executors, "Processes", Here)
        yield


@pytest.fixture
def sizes(tmp_path: Path) -> str:
    return str(write_table(tmp_path / "sizes.csv", SIZES))


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["compare", *arguments])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def refused(words: str, *arguments: str) -> None:
    """Check that a command ends with one clear line on stderr, exit code 2, and nothing else."""
    result = run(*arguments, code=2)
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert result.stderr.startswith("labelspace: ")
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert isinstance(result.exception, SystemExit)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    out = tmp_path_factory.mktemp("digits")
    methods = ["--methods", "uniform,semantic", "--model", "linear", "--epochs", "2", "--seeds", "2"]
    return run(*methods, "--cost", "squared", "--out", str(out)), out


def test_digits_by_default(digits: tuple[Result, Path]) -> None:
    result, out = digits
    lines = result.stdout.splitlines()
    assert "digits · 10 classes · linear · 800 train / 300 val / 697 test · 2 seeds" in lines[0]
    for label in ("one-hot", "uniform", "semantic"):
        assert any(line.startswith(label) for line in lines)
    assert any(line.split("  ")[0] in ("CHEAPER", "DEARER", "NO DIFFERENCE", "UNDECIDED") for line in lines)
    folder = next(out.iterdir())
    assert f"labelspace predict {folder / 'best'} NEW" in result.stdout
    assert f"{folder / 'report.html'} (" in result.stdout
    assert (folder / "report.html").stat().st_size < 4_000_000


def test_what_is_told_before_training(digits: tuple[Result, Path]) -> None:
    text = digits[0].stderr
    assert "order: 0 < 1 < 2 < 3 < 4 < 5 < 6 < 7 < 8 < 9" in text
    assert "squared distance: true 0 called 9 costs 81" in text
    assert "runs of 2 epochs, 5 trials a method" in text
    assert str(next(digits[1].iterdir()) / "plan.toml") in text


def test_piped_output_is_at_most_100_columns(digits: tuple[Result, Path]) -> None:
    places = ("Next", "Report")  # a path is not broken: it is there to be copied
    assert max(len(line) for line in digits[0].stdout.splitlines() if not line.startswith(places)) <= 100


def test_the_same_command_repeats_nothing(digits: tuple[Result, Path]) -> None:
    out = digits[1]
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*/result.json")}
    methods = ["--methods", "uniform,semantic", "--model", "linear", "--epochs", "2", "--seeds", "2"]
    again = run(*methods, "--cost", "squared", "--out", str(out))
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*/result.json")} == before
    assert again.stdout == digits[0].stdout


def test_json_and_markdown(sizes: str, tmp_path: Path) -> None:
    found = json.loads(run(sizes, *SHORT, *ORDER, "--out", str(tmp_path), "--json").stdout)
    assert Path(found["report"]).is_file()
    stored = json.loads((Path(found["folder"]) / "comparison.json").read_text())
    assert {**found, "files": stored["files"], "digest": stored["digest"]} == {
        **stored,
        "folder": found["folder"],
        "report": found["report"],
    }
    lines = run(sizes, *SHORT, *ORDER, "--out", str(tmp_path), "--markdown").stdout.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 7  # head, rule, two methods, their seeds as one, the constant
    assert len({line.count("|") for line in table}) == 1
    assert set(table[1]) <= set("|-: ")


def test_long_names_are_neither_cropped_nor_too_wide(tmp_path: Path) -> None:
    names = [f"{'very ' * 12}long class name number {number}" for number in ["one", "two", "three"]]
    table = write_table(tmp_path / "long.csv", names)
    result = run(str(table), *SHORT, "--space", "<".join(names), "--out", str(tmp_path))
    lines = [line for line in result.stdout.splitlines() if not line.startswith(("Next", "Report"))]
    assert max(map(len, lines)) <= 100
    assert "…" not in result.stdout


def test_odd_class_names_are_text(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "[red]hot[/red]", "a|b"]
    table = write_table(tmp_path / "odd.csv", names)
    prices = tmp_path / "prices.csv"
    with prices.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["true", "predicted", "cost"])
        writer.writerows([["*", "*", 1], [names[1], names[0], 7]])
    result = run(str(table), *SHORT, "--cost", str(prices), "--out", str(tmp_path))
    assert "true [red]hot[/red] called <script>alert(1)</script> costs 7" in result.stderr
    found = json.loads(run(str(table), *SHORT, "--cost", str(prices), "--out", str(tmp_path), "--json").stdout)
    assert set(found["data"]["names"]) == set(names)


def test_groups(tmp_path: Path) -> None:
    table = write_table(tmp_path / "scans.csv", SIZES, patients=20)
    options = ["--label", "label", "--group-by", "patient", *ORDER, "--out", str(tmp_path)]
    found = json.loads(run(str(table), *SHORT, *options, "--json").stdout)
    assert found["data"]["group_by"] == "patient"
    assert found["data"]["test_groups"] > 1


def test_started_over_and_replayed(sizes: str, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    command = [sizes, *SHORT, "--seeds", "1", *ORDER, "--out", str(out)]
    first = run(*command)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("result.json")}
    again = run(*command, "--fresh")
    after = {path: path.stat().st_mtime_ns for path in out.rglob("result.json")}
    assert set(after) == set(before)
    assert all(after[path] > before[path] for path in before)
    assert again.stdout == first.stdout
    folder = next(out.iterdir())
    found = json.loads(run("--plan", str(folder / "plan.toml"), "--out", str(tmp_path / "plan"), "--json").stdout)
    assert found["rows"] == json.loads((folder / "comparison.json").read_text())["rows"]


def test_everything_that_a_plan_can_say(sizes: str, tmp_path: Path) -> None:
    options = ["--methods", "uniform,wide=lwal", "--model", "linear", "--epochs", "2", "--seeds", "7,3", *ORDER]
    options += ["--option", "wide.dim=9", "--option", "uniform.smoothing=0.2", "--option", "wide.repel=0"]
    options += ["--label-noise", "symmetric:0.1", "--schedule", "step", "--milestones", "1"]
    options += ["--optimizer", "sgd", "--momentum", "0", "--clip", "1.0", "--level", "0.9"]
    options += ["--gamma", "0.5", "--warmup-epochs", "1", "--best-by", "error", "--set", "head_l2=0.01"]
    result = run(sizes, *options, "--out", str(tmp_path / "out"))
    assert "options wide: dim=9" in result.stderr
    assert "6 runs of 2 epochs, 1 trial a method" in result.stderr
    assert "label noise symmetric:0.1 · 2 seeds: 7, 3" in " ".join(result.stdout.split())
    assert "90 % interval" in result.stdout
    assert "wide: lwal with dim=9" in result.stdout
    folder = next((tmp_path / "out").iterdir())
    again = run("--plan", str(folder / "plan.toml"), "--out", str(tmp_path / "again"), "--json")
    assert json.loads(again.stdout)["rows"] == json.loads((folder / "comparison.json").read_text())["rows"]
    configs = [json.loads(path.read_text()) for path in folder.glob("runs/*/config.json")]
    assert {config["seed"] for config in configs} == {7, 3}
    for config in configs:
        assert (config["momentum"], config["milestones"], config["clip"]) == (0.0, [1], 1.0)
        assert (config["label_noise"], config["schedule"]) == ("symmetric:0.1", "step")
        assert (config["gamma"], config["warmup_epochs"], config["best_by"]) == (0.5, 1, "error")
        assert config["head_l2"] == 0.01


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        (["--methods", "lls"], "--methods"),
        (["--seeds", "6"], "--seeds"),
        (["--model", "auto", "--budget", "2m"], "--model, --budget"),
        (["--label-noise", "pairwise:0.1", "--set", "head_l2=1"], "--label-noise, --set"),
        (["--label", "y", "--data-dir", "."], "--label, --data-dir"),
        (["digits"], "DATA"),
    ],
)
def test_nothing_is_typed_beside_a_plan(typed: list[str], named: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('data = "digits"\nmethods = ["uniform"]\nmodel = "linear"\nepochs = 2\n')
    words = f"`--plan` must be given without {named}. Got both. The plan decides these: edit a copy of it."
    refused(words, *typed, "--plan", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_budget_is_measured_and_told(sizes: str, tmp_path: Path) -> None:
    options = ["--methods", "uniform", "--model", "linear", "--seeds", "1", *ORDER, "--out", str(tmp_path)]
    text = run(sizes, *options, "--budget", "0.001s").stderr
    assert "measuring one epoch, to see what a budget of 0.001s buys" in text
    assert "even 3 epochs and 3 trials take longer than 0.001s; going on" in text
    assert "runs of 3 epochs, 3 trials a method" in text


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    table = write_table(tmp_path / "letters.csv", ["qqa", "qqb", "qqc"])
    options = ["--methods", "uniform,semantic", *SHORT[2:], "--out", str(tmp_path)]
    result = run(str(table), *options)
    assert "left out, for want of a label space (--space): semantic" in result.stderr
    assert "Warning" not in result.stderr


def test_pictures(tmp_path: Path) -> None:
    result = run("digits", *SHORT, "--limit", "100", "--examples", "2", "--out", str(tmp_path))
    page = next(tmp_path.glob("*/report.html"))
    assert page.read_text(encoding="utf-8").count("data:image/png;base64,") == 2
    assert str(page) in result.stdout


TAXONOMIES = {
    "unknown.txt": "sizes > small\nsizes > medium\nsizes > larg\n",
    "missing.txt": "sizes > small\nsizes > medium\n",
}
PRICES = {
    "wrong-size.csv": ",small,medium\nsmall,0,1\nmedium,1,0\n",
    "unknown.csv": "true,predicted,cost\n*,*,1\nsmal,medium,3\n",
    "actions.csv": "true,small,medium,large,ask\nsmall,0,1,2,1\nmedium,1,0,1,1\nlarge,2,1,0,1\n",
    "nameless.csv": "true,small,medium,large,\nsmall,0,1,2,1\nmedium,1,0,1,1\nlarge,2,1,0,1\n",
    "text.csv": ",small,medium,large\nsmall,0,one,2\nmedium,1,0,1\nlarge,2,1,0\n",
}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("Did you mean 'uniform'?", ["--methods", "unifrom"]),
        ("methods without a teacher", ["--methods", "kd"]),
        ("`--seeds`", ["--seeds", "0"]),
        ("`--epochs`", ["--epochs", "0"]),
        ("resnet32", ["--model", "resnet-32"]),
        ("`--plan` must be given without DATA, --methods, --model", ["--plan", "nowhere.toml"]),
        ("`--names` must be given with --scores", ["--names", "a,b,c"]),
        ("`--option` must be METHOD.NAME=VALUE", ["--option", "smoothing=0.2"]),
        ("Say of which method: --option labelemb.rank=5", ["--option", "rank=5"]),
        ("`--option` must be NAME=VALUE", ["--option", "uniform.smoothing"]),
        ("Got uniform.weight twice", ["--option", "uniform.weight=1", "--option", "uniform.weight=2"]),
        ("Did you mean 'uniform'?", ["--option", "unifrom.smoothing=0.2"]),
        ("Did you mean 'smoothing'?", ["--option", "uniform.smoothin=0.2"]),
        ("`--seeds` must be a number of seeds, or seeds such as 12,123,1234", ["--seeds", "few"]),
        ("different seeds", ["--seeds", "1,1"]),
        ("`--set epochs` must be left out: it is --epochs", ["--set", "epochs=3"]),
        ("`--set method_options` must be left out: it is --option", ["--set", "method_options={}"]),
        ("`--set data_options` must be left out: it is --data-option", ["--set", "data_options={}"]),
        ("Did you mean 'head_l2'?", ["--set", "headl2=0"]),
        ("`--set` must be NAME=VALUE", ["--set", "head_l2"]),
        ("`--milestones` must be given", ["--schedule", "step"]),
        ("`--gamma` must be given", ["--schedule", "exponential"]),
        ("`--milestones` must be epochs", ["--schedule", "step", "--milestones", "one"]),
        ("`--set momentum` must be left out: it is --momentum", ["--set", "momentum=0"]),
        ("Did you mean 'pairwise'?", ["--label-noise", "pairwis:0.1"]),
        ("`--level` must", ["--level", "1"]),
        ("larg", ["--space", "unknown.txt"]),
        ("large", ["--space", "missing.txt"]),
        ("large", ["--space", "small<medium"]),
        ("'lage'", ["--space", "small<medium<lage"]),
        ("nowhere.txt", ["--space", "nowhere.txt"]),
        ("large", ["--cost", "wrong-size.csv"]),
        ("Did you mean 'small'?", ["--cost", "unknown.csv"]),
        ("one", ["--cost", "text.csv"]),
        ("nowhere.csv", ["--cost", "nowhere.csv"]),
        ("Did you mean 'squared'?", ["--cost", "sqared"]),
        ("order", ["--cost", "squared"]),
        ("`--label`", ["--label", "nothing"]),
        ("`--data-option` must be NAME=VALUE", ["--data-option", "test"]),
        ("`--logits` and `--probabilities` must be given with --scores", ["--probabilities"]),
        ("`--set probabilities` must be left out: it is --inverted", ["--set", "probabilities=inverted"]),
        ("`--margin` must", ["--margin", "0"]),
        ("`--actions` must be 'tree'. Got 'tre'", ["--actions", "tre"]),
        ("`--actions` must be 'tree' only beside a space", ["--actions", "tree"]),
        ("`--capacity` must be ACTION=SHARE", ["--cost", "actions.csv", "--capacity", "ask"]),
        ("`--capacity` must be names of actions. Got 'aks'", ["--cost", "actions.csv", "--capacity", "aks=5%"]),
        ("a name for every action", ["--cost", "nameless.csv"]),
    ],
)
def test_bad_input(words: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    for name, text in {**TAXONOMIES, **PRICES}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    refused(words, "sizes.csv", *SHORT, *arguments)
    assert not list(tmp_path.glob("runs/*/runs/*"))


def test_no_workers(sizes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "Processes", PROCESSES)
    refused(
        "`--workers` must be a whole number of at least 1",
        sizes,
        *SHORT,
        "--workers",
        "0",
        "--out",
        str(tmp_path),
    )


def test_a_budget_that_is_no_time(sizes: str, tmp_path: Path) -> None:
    options = ["--methods", "uniform", "--model", "linear", "--out", str(tmp_path / "runs")]
    refused(
        "`--budget` must be a span of time such as 90s, 2m or 1h. Got 'soon'",
        sizes,
        *options,
        "--budget",
        "soon",
    )


def test_data_that_are_not_there(tmp_path: Path) -> None:
    refused("nowhere.csv", "nowhere.csv", *SHORT, "--out", str(tmp_path))


def test_a_file_in_place_of_the_folder(sizes: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    refused("a folder that can be written to", sizes, *SHORT, "--out", str(tmp_path / "taken"))


def test_a_folder_without_permission(sizes: str, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    try:
        (locked / "probe").write_text("")
    except PermissionError:
        refused("a folder that can be written to", sizes, *SHORT, "--out", str(locked))
    else:
        pytest.skip("this user may write everywhere")


def scored(folder: Path, *arguments: str) -> Result:
    return run("--scores", *arguments, "--out", str(folder / "runs"))


def without_places(text: str) -> list[str]:
    """Return the lines but those with paths, which are as long as they are."""
    return [line for line in text.splitlines() if not line.startswith(("Next", "Report"))]


def score_files(folder: Path, names: Any = None) -> list[str]:
    chance = np.random.default_rng(0)
    paths = []
    for part in ("val", "test"):
        y = chance.integers(3, size=90)
        scores = 2 * np.eye(3)[y] + chance.normal(size=(90, 3))
        extra = {} if names is None else {"names": names}
        np.savez(folder / f"{part}.npz", scores=scores, y=y, **extra)
        paths.append(str(folder / f"{part}.npz"))
    return paths


def test_scores(tmp_path: Path) -> None:
    paths = score_files(tmp_path)
    text = scored(tmp_path, *paths, "--cost", "squared").stdout
    assert "logits of 1 model · 3 classes, 0…2 by column · 90 val / 90 test" in text
    assert "Temperature and minimum-cost decisions cost" in text
    assert max(map(len, without_places(text))) <= 100
    found = json.loads(scored(tmp_path, *paths, "--cost", "squared", "--json").stdout)
    assert Path(found["report"]) == Path(found["folder"]) / "report.html"
    assert found["next"] == f"labelspace predict {found['folder']}/best NEW_SCORES"
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [Path(found["folder"]).name]  # the same each time
    assert scored(tmp_path, *paths, "--cost", "squared", "--markdown").stdout.count("\n|") == 4  # the constant too


def test_named_scores(tmp_path: Path) -> None:
    pair = ",".join(score_files(tmp_path))
    found = json.loads(scored(tmp_path, f"ResNet={pair}", f"ViT={pair}", "--cost", "squared", "--json").stdout)
    assert [row["label"] for row in found["rows"]] == ["ResNet", "ViT"]
    assert found["verdict"]["kind"] == "undecided"  # 90 samples in which nothing differs leave room for 3 in 90
    wide = scored(tmp_path, f"{'r' * 60}={pair}", f"{'s' * 60}={pair}", "--cost", "squared").stdout
    assert max(map(len, without_places(wide))) <= 100
    assert "s" * 60 in wide


def test_scores_of_ordered_classes(tmp_path: Path) -> None:
    paths = score_files(tmp_path)
    order = ["--names", "mid, low, top", "--space", "low<mid<top", "--cost", "under=5,over=1"]
    found = json.loads(scored(tmp_path, *paths, *order, "--json").stdout)
    assert found["data"]["names"] == ["mid", "low", "top"]
    assert found["cost"]["example"] == "true top called low costs 10"


def test_scores_in_tables(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    for part in ("val", "test"):
        y = chance.integers(3, size=90)
        lines = [f"{chance.normal()},{chance.normal()},{chance.normal()},{'abc'[place]},x" for place in y]
        (tmp_path / f"{part}.csv").write_text("\n".join(["c,a,b,truth,file", *lines]))
    (tmp_path / "prices.csv").write_text(",a,b,c\na,0,1,2\nb,1,0,1\nc,9,1,0\n")
    files = [str(tmp_path / f"{part}.csv") for part in ("val", "test")]
    prices = ["--cost", str(tmp_path / "prices.csv")]
    found = scored(tmp_path, *files, "--label", "truth", "--ignore", "file", *prices, "--json")
    assert json.loads(found.stdout)["data"]["names"] == ["c", "a", "b"]
    refused("Got no y in", "--scores", *files, *prices)
    refused("The column of labels: --label", "--scores", *files, *prices)
    refused("Got 'x' for 'file' in row 0", "--scores", *files, "--label", "truth", *prices)


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        (["--methods", "nonsense", "--model", "nonsense"], "--methods, --model"),
        (["--seeds", "6"], "--seeds"),
        (["--plan", "x.toml"], "--plan"),
        (["--epochs", "3", "--text", "t", "--fresh"], "--epochs, --text, --fresh"),
        (["--option", "lls.rank=2", "--set", "head_l2=1", "--workers", "1"], "--option, --set, --workers"),
        (["--examples", "2", "--inverted"], "--inverted, --examples"),
    ],
)
def test_scores_beside_what_would_train(typed: list[str], named: str, tmp_path: Path) -> None:
    paths = score_files(tmp_path)
    refused(f"`--scores` must be given without {named}. Got both. Nothing is trained there", "--scores", *paths, *typed)


def test_scores_say_what_they_are(tmp_path: Path) -> None:
    for path in (tmp_path / "val.npz", tmp_path / "test.npz"):
        chance = np.random.default_rng(len(path.name))
        scores = chance.dirichlet([1, 1, 1], size=90)
        scores[5] *= 0.99
        np.savez(path, scores=scores, y=chance.integers(3, size=90))
    files = [str(tmp_path / "val.npz"), str(tmp_path / "test.npz")]
    refused("row 5 of", "--scores", *files)
    for kind in ("logits", "probabilities"):
        assert f"{kind} of 1 model" in scored(tmp_path, *files, f"--{kind}").stdout
    refused("`--scores` must be followed by NPZ, CSV or Parquet files", "--scores", "--probabilities")


def test_scores_at_another_level(tmp_path: Path) -> None:
    found = json.loads(scored(tmp_path, *score_files(tmp_path), "--cost", "squared", "--level", "0.9", "--json").stdout)
    assert found["verdict"]["level"] == 0.9
    assert "kappa" in [extra["key"] for extra in found["extra"]]


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("`--scores` must be followed by NPZ, CSV or Parquet files", []),
        ("which is not there", ["nowhere.npz", "test.npz"]),
        ("one or two files per model. Got 3", ["val.npz", "test.npz", "test.npz"]),
        ("without validation_scores", ["val.npz"]),
        ("Got both forms", ["a=val.npz", "test.npz"]),
        ("a different name for every model", ["a=val.npz,test.npz", "a=val.npz,test.npz"]),
        ("3 names, one per column", ["val.npz", "test.npz", "--names", "a,b"]),
        ("an NPZ file of plain arrays", ["val.npz", "broken.npz"]),
        ("an NPZ file of plain arrays", ["val.npz", "pickled.npz"]),
        ("`cost`", ["val.npz", "test.npz", "--cost", "nowhere.csv"]),
    ],
)
def test_bad_scores(words: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    score_files(tmp_path)
    (tmp_path / "broken.npz").write_bytes((tmp_path / "test.npz").read_bytes()[:200])
    np.savez(tmp_path / "pickled.npz", scores=np.array([[None, 1]]), y=np.array([0]))
    monkeypatch.chdir(tmp_path)
    refused(words, "--scores", *arguments)


@pytest.mark.slow
def test_as_a_process_of_its_own(tmp_path: Path) -> None:
    """What CliRunner cannot show: the real exit code, streams apart, and no traceback."""
    command = [sys.executable, "-m", "labelspace", "compare"]
    bad = subprocess.run([*command, "digits", "--methods", "semantik"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "Did you mean 'semantic'?" in bad.stderr
    assert len(bad.stderr.strip().splitlines()) == 1
    good = subprocess.run(
        [*command, "--scores", *score_files(tmp_path), "--cost", "squared", "--json", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout)["command"].startswith("labelspace compare --scores")


def test_help_has_examples() -> None:
    text = run("--help").stdout
    assert "Example: labelspace compare" in text
    assert '"mild<moderate<severe"' in text


def test_a_plan_that_is_not_there() -> None:
    refused("`--plan` must be a TOML file", "--plan", "nowhere.toml")


def test_names_of_scores_may_hold_commas(tmp_path: Path) -> None:
    y = np.arange(60) % 3
    np.savez(tmp_path / "part.npz", scores=np.eye(3)[y] + np.random.default_rng(0).normal(size=(60, 3)), y=y)
    part = str(tmp_path / "part.npz")
    result = scored(tmp_path, part, part, "--names", 'low,"mid, say", high,', "--json")
    assert json.loads(result.stdout)["data"]["names"] == ["low", "mid, say", "high"]


def test_wordnet_is_used_only_where_it_is_asked_for(tmp_path: Path) -> None:
    table = str(write_table(tmp_path / "tools.csv", ["saw", "hammer", "crane"]))
    common = [table, "--label", "label", *SHORT, "--out", str(tmp_path / "out"), "--json"]
    unasked = json.loads(run(*common).stdout)
    assert unasked["space"] is None
    assert [warning for warning in unasked["warnings"] if "--space wordnet" in warning]
    asked = json.loads(run(*common, "--space", "wordnet", "--senses", "saw=saw.n.02").stdout)
    assert asked["space"]["words"].startswith("WordNet: 3 of 3 names mapped, 1 by given senses")
    assert not [warning for warning in asked["warnings"] if "--space wordnet" in warning]
    assert 'space = "wordnet:saw=saw.n.02"' in (Path(asked["folder"]) / "plan.toml").read_text()
    refused("Got 'cow', which is none", *common, "--space", "wordnet", "--senses", "cow=cow.n.01")
    refused("given with the space 'wordnet'", *common, "--senses", "saw=saw.n.02")


def test_several_datasets_are_compared_one_by_one_and_summed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, object]] = []

    def compare(data: str, *, out: Path, epochs: int = 0, **options: object) -> Comparison:
        asked.append((data, epochs))
        name = Path(data).stem
        return Comparison(None, made(name, TABLE[name], "LLS")).save(out / name)

    monkeypatch.setattr(comparison, "compare", compare)
    monkeypatch.setattr(Comparison, "save_html", lambda self, examples: None)
    sizes = {"apples": 60, "plums": 90}
    paths = [str(write_table(tmp_path / f"{name}.csv", ["1", "2", "3"], rows)) for name, rows in sizes.items()]
    text = run(*paths, "--epochs", "3", "--level", "0.9", "--out", str(tmp_path / "runs")).stdout
    assert asked == [(path, 3) for path in paths]
    assert text.startswith("2 datasets · 3 rows in all of them")
    assert "90\N{NARROW NO-BREAK SPACE}% interval" in text
    assert len(list((tmp_path / "runs").glob("summary-*.html"))) == 1
    refused("different datasets", paths[0], paths[0])
    refused("`--json` must be given without --markdown", *paths, "--json", "--markdown")
    refused("priced alike", *paths, str(write_table(tmp_path / "sizes.csv", SIZES, rows=60)))
    refused("nowhere", paths[0], "nowhere")
    np.savez(tmp_path / "val.npz", scores=np.zeros((4, 2)), y=np.zeros(4))
    refused("--scores", str(tmp_path / "val.npz"), paths[0])
    assert len(asked) == 2


def test_splits_are_handed_on_and_refused_beside_what_decides_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, object]] = []

    def compare(data: str, *, splits: int | None, **options: object) -> None:
        asked.append((data, splits))

    monkeypatch.setattr(comparison, "compare", compare)
    monkeypatch.setattr(commands, "print_splits", lambda found, shown, examples: None)
    run("digits", "--splits", "4", "--out", str(tmp_path))
    assert asked == [("digits", 4)]
    refused("`--splits` must be given with one dataset. Got it with 2", "digits", "wine.csv", "--splits", "3")
    refused("`--plan` must be given without --splits", "--plan", "plan.toml", "--splits", "3")
    refused("`--scores` must be given without --splits", "--scores", "val.npz", "--splits", "3")
    assert len(asked) == 1


def test_too_few_splits() -> None:
    refused("`--splits` must be a whole number of at least 2. Got 1", "--splits", "1")
