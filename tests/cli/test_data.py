import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labelspace.cli.data import app
from labelspace.cli.main import app as main
from parallel_text import PARTS, write_lines

run = CliRunner()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LABELSPACE_DATA", raising=False)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    with path.open("w", newline="") as file:
        rows = [["" if i == 5 else i, f"p{i // 4}", ["[b]well", "ill"][i % 2]] for i in range(40)]
        csv.writer(file).writerows([["age", "patient", "diagnosis"], *rows])
    return path


def test_list_says_what_is_known_and_found(tmp_path):
    (tmp_path / "mnist").mkdir()
    result = run.invoke(app, ["list", "--data-dir", str(tmp_path)])
    assert result.exit_code == 0
    assert "digits         built in" in result.output
    assert "cifar-10       not here" in result.output
    found = json.loads(run.invoke(app, ["list", "--data-dir", str(tmp_path), "--json"]).output)
    assert {row["name"]: row["found"] for row in found["datasets"]}["mnist"] == "mnist"


def test_check_of_sound_data_exits_with_0():
    result = run.invoke(app, ["check", "digits"])
    assert result.exit_code == 0
    assert "no problems found" in result.output


def test_check_of_data_with_problems_exits_with_1(table):
    result = run.invoke(app, ["check", str(table), "--label", "diagnosis", "--group-by", "patient"])
    assert result.exit_code == 1
    assert "problem: Values are missing: 1 in 'age'" in result.output
    assert run.invoke(app, ["check", str(table), "--missing", "drop", "--ignore", "patient"]).exit_code == 0


def test_what_is_on_both_sides_of_a_split_can_be_kept_on_one(tmp_path):
    path = tmp_path / "repeated.csv"
    with path.open("w", newline="") as file:
        rows = [[i % 30 / 7, i % 30 * 3, i % 2, f"p{i % 8}"] for i in range(60)]
        csv.writer(file).writerows([["size", "weight", "label", "patient"], *rows])
    result = run.invoke(app, ["check", str(path), "--label", "label", "--ignore", "patient"])
    assert result.exit_code == 1
    assert "Name what belongs together (patients, users, devices) with --group-by." in result.output
    whole = run.invoke(app, ["check", str(path), "--label", "label", "--group-by=patient", "--validation", "first 9"])
    assert "A share in place of an end of the data (--validation 0.15) keeps groups whole." in whole.output
    (tmp_path / "parts").mkdir()
    for part in ("train", "test"):
        (tmp_path / "parts" / f"{part}.csv").write_text(path.read_text())
    parts = run.invoke(app, ["check", str(tmp_path / "parts"), "--label", "label", "--group-by", "patient"])
    assert "Take them out of one part, or put all" in parts.output
    assert "Parts that come with the data stay as they are" in parts.output


def test_check_prints_json(table):
    result = run.invoke(app, ["check", str(table), "--ignore", "patient", "--json"])
    report = json.loads(result.output)
    assert report["missing"] == {"age": 1}
    assert report["classes"] == ["[b]well", "ill"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "`PATH` must be the name of a dataset"),
        (["mnist"], "looked for"),
        (["mnist"], "say where it is with --data-dir or $LABELSPACE_DATA"),
        (["digits", "--label", "x"], "`--label` must be"),
        (["digits", "--resize", "big"], "`--resize` must be a size"),
        (["digits", "--seed", "-1"], "`--seed` must be"),
        (["digits", "--data-option", "tset=0.5"], "`--data-option tset` must be"),
        (
            ["digits", "--resize", "8", "--data-option", "resize=9"],
            "`--resize` must be given once, without --data-option resize",
        ),
    ],
)
def test_bad_input_is_one_line_and_exits_with_2(arguments, message):
    result = run.invoke(app, ["check", *arguments])
    assert result.exit_code == 2
    assert result.stderr.startswith("labelspace: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ["1,u"],
            "`PATH` must be data with labels of at least two classes. Got only 'u'. There is nothing to tell apart: ",
        ),
        (
            ["1,u", "2,v", "3,u", "4,v"],
            "Got 4 samples, at most 2 of a class. For a training, a validation and a test part",
        ),
    ],
)
def test_too_few_rows_are_refused_with_what_is_missing(tmp_path, rows, message):
    path = tmp_path / "few.csv"
    path.write_text("\n".join(["a,label", *rows]))
    result = run.invoke(app, ["check", str(path)])
    assert result.exit_code == 2
    assert message in result.stderr
    path.write_text("a,label\n" + "".join(f"{number},{'uv'[number % 2]}\n" for number in range(6)))
    result = run.invoke(app, ["check", str(path)])
    assert "note: Only 2 test samples: a comparison decides nothing on fewer than 20." in result.output


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (
            "a,b,y\n1,,0\n2,3,1\n" * 9,
            [],
            "Say --missing indicator, which fills them from the training part and marks where.",
        ),
        ("a y\n1 0\n", [], "--delimiter says what separates them"),
        ("a,y\n1,0\n2\n", [], "say with --delimiter what separates the cells"),
        ("a,y\n1,0\n", ["--missing", "mean"], "`--missing` must be one of"),
        ("".join(["r,y\n", *(f"text {i},{i % 2}\n" for i in range(150))]), [], "--text r, --data-option 'categorical="),
        ("a,y\n1,0\n", ["--delimiter", "::"], "`--delimiter` must be one character"),
    ],
)
def test_messages_speak_of_flags(tmp_path, content, arguments, message):
    (tmp_path / "t.csv").write_text(content.replace("\na,b,y", ""))
    # training, which stops where the check reports
    command = ["train", str(tmp_path / "t.csv"), "--out", str(tmp_path / "runs"), *arguments]
    result = run.invoke(main, command)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "data.load" not in result.stderr


def test_problems_speak_of_flags(table):
    result = run.invoke(app, ["check", str(table), "--ignore", "patient"])
    assert "Training stops on them; --missing indicator fills them and marks where." in result.output


def test_flags_reach_the_reader(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id|kind|value|who\n" + "".join(f"{i}|{'ab'[i % 2]}|{i * i}|p{i // 4}\n" for i in range(80)))
    flags = ["--label", "kind", "--ignore", "id", "--ignore", "who", "--delimiter", "|", "--data-option", "test=0.4"]
    report = json.loads(run.invoke(app, ["check", str(path), *flags, "--json"]).output)
    assert report["classes"] == ["a", "b"]
    assert report["shape"] == [1]
    assert sum(report["counts"]["test"].values()) == 32
    out = ["--out", str(tmp_path / "runs"), "--epochs", "1", "--json"]
    trained = json.loads(run.invoke(main, ["train", str(path), *flags, *out]).stdout)
    config = json.loads((Path(trained["folder"]) / "config.json").read_text())
    assert config["data_options"] == {"label": "kind", "ignore": ["id", "who"], "delimiter": "|", "test": 0.4}
    # the same, said the long way, is the same run
    long = [f"{name}={json.dumps(value)}" for name, value in config["data_options"].items()]
    options = [part for text in long for part in ("--data-option", text)]
    assert json.loads(run.invoke(main, ["train", str(path), *options, *out]).stdout)["folder"] == trained["folder"]


def test_a_folder_that_cannot_be_read_exits_with_2(tmp_path, monkeypatch):
    def refused(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("labelspace.data.check", refused)
    result = run.invoke(app, ["check", str(tmp_path)])
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr


def test_on_a_terminal_there_are_tables(table, monkeypatch):
    monkeypatch.setattr("labelspace.cli.data._on_terminal", lambda: True)
    result = run.invoke(app, ["check", str(table), "--ignore", "patient"])
    assert "[b]well" in result.output
    assert "┃" in result.output
    assert "┃" in run.invoke(app, ["list"]).output


@pytest.mark.parametrize("terminal", [False, True])
def test_pairs_of_texts(tmp_path, monkeypatch, terminal):
    monkeypatch.setattr("labelspace.cli.data._on_terminal", lambda: terminal)
    write_lines(tmp_path / "d", {**PARTS, "val": [*PARTS["val"], ("A [b] dog", "[/b]")]})
    arguments = ["check", str(tmp_path / "d"), "--data-option", "source=en"]
    result = run.invoke(app, [*arguments, "--data-option", "vocabulary=[9,12]"])
    assert result.exit_code == 0, result.output
    for said in ("9 → 12 tokens", "en unknown", "repeated sources", "first pair: A dog number 0 runs .", "no problems"):
        assert said in " ".join(result.output.split())
    result = run.invoke(app, [*arguments, "--data-option", "longest=6"])
    assert result.exit_code == 1
    assert "unless --data-option cut=true or --data-option longest=7 is given" in " ".join(result.output.split())
    (tmp_path / "d" / "val.de").write_text("x\n")
    result = run.invoke(app, arguments)
    assert result.exit_code == 2
    assert "3 in val.en and 1 in val.de" in result.stderr


@pytest.mark.parametrize("command", ["list", "check"])
def test_help_has_an_example(command):
    assert "Example: labelspace data" in run.invoke(app, [command, "--help"]).output
