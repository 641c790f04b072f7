"""`labelspace predict`, as a person types it."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from click.testing import Result
from PIL import Image
from typer.testing import CliRunner

from labelspace import compare_scores, data
from labelspace.cli.predict import predict
from labelspace.decisions.decision import Decision
from labelspace.serving.take_home import take_home
from labelspace.training.run import Run, train

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(predict)
OWN = ["class", "probability", "decision", "abstained", "note"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Decision, Path]:
    """A run on digits with squared prices, taken home, and its test part as an NPZ file."""
    folder = tmp_path_factory.mktemp("digits")
    dataset = data.load("digits")
    run = train(dataset, model="linear", epochs=8, learning_rate=0.01, out=folder / "runs")
    place = torch.arange(10.0)
    decision = Decision("min_cost", 1.4, (place[:, None] - place).square(), dataset.names)
    take_home(run, decision, folder / "comparison" / "best")
    np.savez(folder / "new.npz", x=dataset.test.x.numpy(), who=np.arange(len(dataset.test)) + 100)
    return run, decision, folder


def invoke(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + str(result.exception)
    return result


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_plain_run_says_the_likeliest_class(digits: tuple[Run, Decision, Path]) -> None:
    run, _, folder = digits
    rows = rows_of(invoke(run.folder, folder / "new.npz").stdout)
    p, best = torch.softmax(run.scores["test_scores"], dim=1).max(dim=1)
    assert list(rows[0]) == ["row", *OWN]
    assert [row["row"] for row in rows] == [str(number) for number in range(len(best))]
    assert [row["class"] for row in rows] == [str(index) for index in best.tolist()]
    assert [row["decision"] for row in rows] == [row["class"] for row in rows]
    assert {row["abstained"] for row in rows} == {"false"}
    said = torch.tensor([float(row["probability"]) for row in rows])
    torch.testing.assert_close(said, p, atol=1e-6, rtol=0)


@pytest.mark.parametrize("place", ["comparison/best", "comparison"])
def test_prices_temperature_and_abstention(digits: tuple[Run, Decision, Path], place: str) -> None:
    run, decision, folder = digits
    rows = rows_of(invoke(folder / place, folder / "new.npz", "--abstain-cost", "4.0", "--keep", "who").stdout)
    p = torch.softmax(run.scores["test_scores"].double() / 1.4, dim=1)
    costs = p @ torch.as_tensor(decision.cost)
    least, cheapest = costs.min(dim=1)
    assert list(rows[0]) == ["row", "who", *OWN]
    assert rows[5]["who"] == "105"
    assert [row["class"] for row in rows] == [str(index) for index in p.argmax(dim=1).tolist()]
    assert [row["abstained"] for row in rows] == [str(flag).lower() for flag in (least > 4.0).tolist()]
    wanted = ["" if price > 4.0 else str(index) for price, index in zip(least.tolist(), cheapest.tolist(), strict=True)]
    assert [row["decision"] for row in rows] == wanted
    assert 0 < wanted.count("") < len(wanted)
    assert any(row["decision"] not in ("", row["class"]) for row in rows)


def test_files_are_written_whole(digits: tuple[Run, Decision, Path], tmp_path: Path) -> None:
    run, _, folder = digits
    result = invoke(run.folder, folder / "new.npz", "-o", tmp_path / "out.csv")
    assert "697 samples" in result.stdout
    assert (tmp_path / "out.csv").read_text() == invoke(run.folder, folder / "new.npz").stdout
    parquet = pytest.importorskip("pyarrow.parquet")
    invoke(run.folder, folder / "new.npz", "-o", tmp_path / "out.parquet", "--keep", "who")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["row", "who", *OWN]
    assert table.column("who").to_pylist()[:2] == [100, 101]
    csv_rows = rows_of((tmp_path / "out.csv").read_text())
    assert table.column("class").to_pylist() == [row["class"] for row in csv_rows]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.parquet"], "nothing is left over"


def test_json(digits: tuple[Run, Decision, Path], tmp_path: Path) -> None:
    run, _, folder = digits
    said = json.loads(invoke(run.folder, folder / "new.npz", "--json").stdout)
    assert said["rows"] == len(said["predictions"]) == 697
    assert sum(said["decisions"].values()) == 697
    assert said["decision"] == {"rule": "argmax", "temperature": 1.0, "abstain_cost": None}
    assert said["predictions"][0]["abstained"] is False
    said = json.loads(invoke(run.folder, folder / "new.npz", "--json", "-o", tmp_path / "o.csv").stdout)
    assert "predictions" not in said
    assert said["output"] == str(tmp_path / "o.csv")


def pictures(run: Run, folder: Path) -> Path:
    for number, image in enumerate(data.load("digits").test.x[:5, 0].numpy()):
        (folder / "new" / "in").mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / "new" / "in" / f"{number}.png")
    return folder / "new"


def test_pictures_are_named_and_unreadable_ones_too(digits: tuple[Run, Decision, Path], tmp_path: Path) -> None:
    run, _, _ = digits
    folder = pictures(run, tmp_path)
    rows = rows_of(invoke(run.folder, folder).stdout)
    assert [row["file"] for row in rows] == [f"in/{number}.png" for number in range(5)]
    assert [int(row["class"]) for row in rows] == run.scores["test_scores"][:5].argmax(1).tolist()
    (folder / "a, <bad>.png").write_bytes(b"nothing")
    Image.new("L", (9, 9)).save(folder / "large.png")
    result = invoke(run.folder, folder)
    found = {row["file"]: row for row in rows_of(result.stdout)}
    assert list(found["a, <bad>.png"].values()) == ["a, <bad>.png", "", "", "", "", "cannot identify image file"]
    assert [int(found[f"in/{number}.png"]["class"]) for number in range(5)] == [int(row["class"]) for row in rows]
    assert "not read: a, <bad>.png (cannot identify image file)" in result.stderr
    assert "not read: large.png (9×9 pixels" in result.stderr
    assert "warning: 2 of 7 samples could not be read" in result.stderr
    said = json.loads(invoke(run.folder, folder, "--json").stdout)
    assert [one["name"] for one in said["unread"]] == ["a, <bad>.png", "large.png"]
    for good in (folder / "in").iterdir():
        good.unlink()
    result = invoke(run.folder, folder, "-o", tmp_path / "none.csv", code=2)
    assert "samples that can be read. Got 2 that cannot" in result.stderr
    assert not (tmp_path / "none.csv").exists()


def test_a_table_with_what_training_never_saw(tmp_path: Path) -> None:
    rows = [f"k{i},{i * 7 % 60},{'red' if i % 3 else 'blue'},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("key,v,colour,class\n" + "\n".join(rows) + "\n")
    options = {"ignore": ["key"], "missing": "median"}
    run = train(tmp_path / "t.csv", model="linear", epochs=1, data_options=options, out=tmp_path / "runs")
    (tmp_path / "n.csv").write_text("key;v;colour;class\nx;3;green;a\ny;;red;b\nz;?;red;b\n")
    result = invoke(run.folder, tmp_path / "n.csv", "--keep", "key", "--keep", "class")
    found = rows_of(result.stdout)
    assert list(found[0]) == ["row", "key", "input_class", *OWN]
    assert [row["input_class"] for row in found] == ["a", "b", "b"]
    assert [bool(row["class"]) for row in found] == [True, True, False]
    assert [row["note"] for row in found] == ["", "", "'?' in 'v', which is no finite number"]
    assert "Training had no 'green' in 'colour' (1 row)" in result.stderr
    assert "not read: 2 ('?' in 'v', which is no finite number)" in result.stderr
    parquet = pytest.importorskip("pyarrow.parquet")
    invoke(run.folder, tmp_path / "n.csv", "-o", tmp_path / "o.parquet")
    assert parquet.read_table(tmp_path / "o.parquet").column("class").to_pylist()[2] is None


def test_cells_for_spreadsheets(tmp_path: Path) -> None:
    rows = [f"{i},{('=a', '-1')[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("v,class\n" + "\n".join(rows) + "\n")
    run = train(tmp_path / "t.csv", model="linear", epochs=1, out=tmp_path / "runs")
    notes = ['=HYPERLINK("x")', "-5", "plain", "@now"]
    (tmp_path / "n.csv").write_text(
        "v,+note\n" + "\n".join(f"-{i},{n!r}".replace("'", "") for i, n in enumerate(notes))
    )
    exact = rows_of(invoke(run.folder, tmp_path / "n.csv", "--keep", "+note").stdout)
    assert [row["+note"] for row in exact] == notes
    path = tmp_path / "o.csv"
    invoke(run.folder, tmp_path / "n.csv", "--keep", "+note", "--spreadsheet", "-o", path)
    safe = rows_of(path.read_text())
    assert [row["'+note"] for row in safe] == ['\'=HYPERLINK("x")', "-5", "plain", "'@now"]
    assert {row["class"] for row in safe} <= {"'=a", "-1"}
    assert [row["probability"] for row in safe] == [row["probability"] for row in exact]
    for arguments in (["--json"], ["-o", str(tmp_path / "o.parquet")]):
        refused = invoke(run.folder, tmp_path / "n.csv", "--spreadsheet", *arguments, code=2)
        assert "`--spreadsheet` must be given for CSV" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{run}", "nowhere"], "Got 'nowhere'. There is no file nowhere."),
        (["nowhere", "{new}"], "There is no folder nowhere."),
        (["{run}", "{new}", "-o", "out.txt"], "a file that ends in .csv or .parquet"),
        (["{run}", "{new}", "-o", "no/where/out.csv"], "a folder that can be written to"),
        (["{run}", "{new}", "--keep", "whoo"], "`--keep` must be columns of new.npz. Got 'whoo'"),
        (["{run}", "{new}", "--abstain-cost", "-1"], "`--abstain-cost`"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    digits: tuple[Run, Decision, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    run, _, folder = digits
    monkeypatch.chdir(tmp_path)
    given = [argument.format(run=run.folder, new=folder / "new.npz") for argument in arguments]
    result = invoke(*given, code=2)
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.glob("**/*.csv"))


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("decision.json", '{"rule": "argmax"}', "a decision with rule, temperature"),
        ("config.json", "{", "labelspace: "),
        ("preprocessing.json", "{}", "a sound preprocessing.json"),
        ("preprocessing.json", "[]", "a sound preprocessing.json"),
        ("result.json", "[1]", "a sound result.json"),
        ("model.safetensors", "no", "a sound model.safetensors"),
    ],
)
def test_damaged_folders_give_no_traceback(
    digits: tuple[Run, Decision, Path], tmp_path: Path, file: str, content: str, words: str
) -> None:
    run, decision, folder = digits
    home = take_home(run, decision, tmp_path / "home")
    (home / file).write_text(content)
    assert words in invoke(home, folder / "new.npz", code=2).stderr


def test_a_decision_about_other_classes_is_refused(digits: tuple[Run, Decision, Path], tmp_path: Path) -> None:
    run, decision, folder = digits
    home = take_home(run, decision, tmp_path / "home")
    Decision("argmax", 1.0, None, [str(digit) for digit in range(9, -1, -1)]).save(home / "decision.json")
    assert "the classes of the run, in its order" in invoke(home, folder / "new.npz", code=2).stderr


def test_the_file_that_is_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v,y\n" + "\n".join(f"{i},{i % 2}" for i in range(40)) + "\n")
    run = train(path, model="linear", epochs=1, out=tmp_path / "runs")
    assert "another file than the one that is read" in invoke(run.folder, path, "-o", path, code=2).stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_seen_enough(digits: tuple[Run, Decision, Path], options: list[str]) -> None:
    run, _, folder = digits
    code = "import typer; from labelspace.cli.predict import predict; typer.run(predict)"
    command = [sys.executable, "-c", code, str(run.folder), str(folder / "new.npz"), *options]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 0


def test_help_has_an_example() -> None:
    assert "Example: labelspace predict" in " ".join(invoke("--help").stdout.split())


def test_one_bad_cell_spoils_one_row(tmp_path: Path) -> None:
    rows = [f"{i % 30},{i % 7},{'ab'[i % 2]}" for i in range(60)]  # without gaps, as training allows none
    (tmp_path / "t.csv").write_text("v,w,class\n" + "\n".join(rows) + "\n")
    run = train(tmp_path / "t.csv", model="linear", epochs=1, out=tmp_path / "runs")
    plain, spoilt = (tmp_path / name for name in ("plain.csv", "spoilt.csv"))
    plain.write_text("v,w\n" + "".join(f"{i},{i % 7}\n" for i in range(40)))
    lines = plain.read_text().splitlines()
    lines[4], lines[9], lines[20] = ",3", "oops,1", "5000,5"
    spoilt.write_text("\n".join(lines) + "\n")
    wanted, result = rows_of(invoke(run.folder, plain).stdout), invoke(run.folder, spoilt)
    found = rows_of(result.stdout)
    others = [row for row in range(40) if row not in (3, 8, 19)]
    assert [found[row] for row in others] == [wanted[row] for row in others]
    assert found[3] == {"row": "3", **dict.fromkeys(OWN, ""), "note": "no value in 'v'"}
    assert found[8] == {"row": "8", **dict.fromkeys(OWN, ""), "note": "'oops' in 'v', which is no finite number"}
    low, high = (side[0] for side in run.preprocessing["ranges"])
    assert found[19]["note"] == f"'v' is 5000, training had {low:g} to {high:g}"
    assert found[19]["class"]
    assert "warning: 2 of 40 samples could not be read; their rows are empty but for `note`." in result.stderr
    assert "note: 1 sample far from those of training: 19 ('v' is 5000" in result.stderr
    spoilt.write_text("v,w\n,1\nx,2\n")
    refused = invoke(run.folder, spoilt, "-o", tmp_path / "o.csv", code=2)
    assert "samples that can be read. Got 2 that cannot, first 0 (no value in 'v')" in refused.stderr
    assert not (tmp_path / "o.csv").exists()


def test_probabilities_of_all_classes_and_expected_costs(digits: tuple[Run, Decision, Path]) -> None:
    run, _, folder = digits
    options = ["--per-class", "--expected-cost", "--abstain-cost", "4.0", "--keep", "who"]
    rows = rows_of(invoke(folder / "comparison", folder / "new.npz", *options).stdout)
    names = [f"probability_{digit}" for digit in range(10)]
    assert list(rows[0]) == ["row", "who", *OWN, "expected_cost", *names]
    # by hand, in float64
    scores = run.scores["test_scores"].double().numpy() / 1.4
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    digit = np.arange(10.0)
    least = (p @ (digit[:, None] - digit) ** 2).min(1)
    said = np.array([[float(row[name]) for name in names] for row in rows])
    np.testing.assert_allclose(said, p, atol=1e-6)
    np.testing.assert_allclose([float(row["expected_cost"]) for row in rows], np.minimum(least, 4.0), atol=1e-5)
    plain = rows_of(invoke(run.folder, folder / "new.npz", "--expected-cost").stdout)
    missed = [1 - float(row["probability"]) for row in plain]  # without prices every mistake costs 1
    np.testing.assert_allclose([float(row["expected_cost"]) for row in plain], missed, atol=1e-6)


@pytest.fixture(scope="module")
def of_scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a comparison of scores left, and new ones, some of them no numbers."""
    folder = tmp_path_factory.mktemp("scores")
    chance = np.random.default_rng(0)
    y = chance.integers(3, size=200)
    scores = 2 * np.eye(3)[y] + chance.normal(size=(200, 3))
    names = np.array(["low", "mid", "high"])
    parts = [{"scores": scores[place], "y": y[place], "names": names} for place in (slice(100), slice(100, None))]
    compare_scores(parts, cost=PRICES, out=folder)
    lines = [f"{who},{high},{low},{mid}" for who, (low, mid, high) in enumerate(scores[:20].tolist())]
    (folder / "new.csv").write_text("\n".join(["id,high,low,mid", *lines]))
    (folder / "bad.csv").write_text("\n".join(["id,high,low,mid", "7,1,x,2", *lines]))
    np.save(folder / "scores.npy", scores[:20])
    return folder


PRICES = np.array([[0.0, 1, 4], [2, 0, 1], [9, 2, 0]])


def test_a_decision_without_a_model_takes_scores(of_scores: Path, tmp_path: Path) -> None:
    (folder,) = of_scores.glob("scores-*")
    text = invoke(folder / "best", of_scores / "new.csv", "--keep", "id").stdout
    more = rows_of(invoke(folder, of_scores / "new.csv", "--keep", "id", "--expected-cost", "--per-class").stdout)
    temperature = json.loads((folder / "best" / "decision.json").read_text())["temperature"]
    scores = np.load(of_scores / "scores.npy")
    p = np.exp(scores / temperature)
    p /= p.sum(axis=1, keepdims=True)
    names = ["low", "mid", "high"]
    found = rows_of(text)
    assert [row["decision"] for row in found] == [names[place] for place in (p @ PRICES).argmin(axis=1)]
    assert [row["class"] for row in found] == [names[place] for place in p.argmax(axis=1)]
    assert [row["id"] for row in found] == [str(who) for who in range(20)]
    np.testing.assert_allclose([float(row["expected_cost"]) for row in more], (p @ PRICES).min(axis=1), atol=1e-6)
    shares = [[float(row[f"probability_{name}"]) for name in names] for row in more]
    np.testing.assert_allclose(shares, p, atol=1e-6)
    np.testing.assert_allclose([float(row["probability"]) for row in found], p.max(axis=1), atol=1e-6)
    invoke(folder, of_scores / "new.csv", "--keep", "id", "-o", tmp_path / "out.csv")  # its best is meant
    assert (tmp_path / "out.csv").read_text() == text
    facts = json.loads(invoke(folder, of_scores / "new.csv", "--keep", "id", "--json", "--abstain-cost", "0").stdout)
    assert (facts["rows"], facts["abstained"], facts["run"]) == (20, 20, str(folder / "best"))


def test_new_scores_that_are_none(of_scores: Path) -> None:
    (folder,) = of_scores.glob("scores-*")
    bad = invoke(folder, of_scores / "bad.csv", "--keep", "id")
    assert "not read: 0 ('x' for 'low')" in bad.stderr
    assert rows_of(bad.stdout)[0] == {"row": "0", "id": "7", **dict.fromkeys(OWN, ""), "note": "'x' for 'low'"}
    for words, arguments in (
        ("`NEW` must be scores of the classes of the decision. Got 'id' in", [of_scores / "new.csv"]),
        ("`NEW` must be the path of an NPZ, CSV or Parquet file. Got 'nowhere.csv'", ["nowhere.csv"]),
        ("`--beam` must be given for a model", [of_scores / "new.csv", "--beam", "2"]),
        ("`--device` must be given for a model", [of_scores / "new.csv", "--device", "cuda"]),
        ("a table with a column 'nothing'. Got no 'nothing' among", [of_scores / "new.csv", "--keep", "nothing"]),
    ):
        said = invoke(folder, *arguments, code=2).stderr
        assert words in said
        assert len(said.strip().splitlines()) == 1
