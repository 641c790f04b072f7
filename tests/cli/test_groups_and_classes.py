"""Groups, classes and validation parts as people type them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from labelspace import data
from labelspace.cli.main import app

TRAIN = ["train", "digits", "--model", "linear", "--epochs", "1"]
LINES = "round: 0, 6, 8, 9\ntall: 1, 7, 4\nopen: 2, 3, 5\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("groups.txt").write_text(LINES)
    arrows = [
        f"{line.split(':')[0]} > {name.strip()}\n"
        for line in LINES.splitlines()
        for name in line.split(":")[1].split(",")
    ]
    Path("tree.txt").write_text("".join(arrows))


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result


def refused(words: str, *arguments: str) -> None:
    result = run(*arguments, code=2)
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert words in result.stderr


def test_groups_and_a_taxonomy_say_where_mass_goes() -> None:
    inside = "all mass stays inside the groups"
    for spec in ("groups.txt", "groups:tree.txt", "groups:0,6,8,9|1,7,4|2,3,5"):
        said = run(*TRAIN, "--method", "semantic", "--space", spec).stdout
        assert f"space       groups: 10 classes in 3 groups; {inside}\n" in said
        folder = said.split("folder")[1].strip()
        assert inside in run("labels", "show", f"{folder}/label_space.safetensors").stdout
        assert inside in run("labels", "build", spec).stdout
    # siblings are 2 edges away, others 4: of a group of four (3/4)/(3/4 + 6/16) stays, of three (2/4)/(2/4 + 7/16)
    share = (4 * (3 / 4) / (3 / 4 + 6 / 16) + 6 * (2 / 4) / (2 / 4 + 7 / 16)) / 10
    words = f"of the mass, {100 * share:.0f} % stays in a class's own group and {100 - 100 * share:.0f} % leaves it"
    assert words in run(*TRAIN, "--method", "semantic", "--space", "tree.txt").stdout
    assert json.loads(run("labels", "show", "tree.txt", "--json").stdout)["mass"].startswith(words)
    assert "groups: 10 classes in 4 groups" in run("labels", "show", "groups:cifar10-4").stdout


def test_groups_that_do_not_fit_the_data() -> None:
    Path("bad.txt").write_text(LINES.replace("9", "1"))
    semantic = [*TRAIN, "--method", "semantic", "--space"]
    refused("Got '1' (in 'round', line 1) again (in 'tall', line 2)", *semantic, "bad.txt")
    refused("which is none of the classes", *semantic, "groups:cifar10-1")
    refused("nothing for '0' and 7 more of 10 classes", *semantic, "groups:1,2")


def test_some_classes_and_a_chosen_validation_part() -> None:
    said = run(*TRAIN, "--classes", "7, 1,4", "--validation", "First 400", "--limit", "50%", "--json").stdout
    config = json.loads((Path(json.loads(said)["folder"]) / "config.json").read_text())
    samples = round(len(data.load("digits", classes="7,1,4", validation="first 400").train) / 2)
    assert config["data_options"] == {"classes": ["7", "1", "4"], "validation": "first 400"}
    assert config["limit"] == json.loads(said)["train_samples"] == samples
    again = run(*TRAIN, "--data-option", 'classes=["7","1","4"]', "--validation", "first 400", "--limit", str(samples))
    assert "already finished" in again.stderr
    told = run("data", "check", "digits", "--classes", "first 50%", "--validation", "last 10%", "--json")
    counts = json.loads(told.stdout)["counts"]
    assert list(counts["train"]) == list("01234")
    assert "none: nothing was held out" in run(*TRAIN, "--validation", "none").stdout


def test_bad_classes_and_validation_parts_get_one_line() -> None:
    refused("`--classes` must be names of classes. Got '17', which is none", *TRAIN, "--classes", "1,17")
    refused("`--classes` must be at least two classes. Got only '1'", *TRAIN, "--classes", "1")
    refused("`--classes` must be different classes. Got '1' more than once", *TRAIN, "--classes", "1,2,1")
    refused("`--validation` must be a share in (0, 1), 'first 5000'", *TRAIN, "--validation", "some")
    refused(
        "`--validation` must be some training samples, not all", "data", "check", "digits", "--validation", "first 9999"
    )
    refused("`--patience` must be given with a validation part", *TRAIN, "--validation", "none", "--patience", "1")
    refused("Strengths and temperatures are chosen on it", "compare", "digits", "--validation", "none")
    refused("`--limit` must be a whole number of at least 1, or a share such as '50%'", *TRAIN, "--limit", "x")


def test_help_shows_the_options() -> None:
    for command in (["train"], ["compare"], ["data", "check"]):
        said = run(*command, "--help").stdout
        assert "--classes" in said
        assert "--validation" in said
    assert "groups:cat,dog|car,bus" in run("labels", "build", "--help").stdout.replace("\n", "")


def test_an_order_of_all_classes_is_cut_to_those_that_were_kept(tmp_path: Path) -> None:
    order = "<".join(str(digit) for digit in range(10))
    given = ["--classes", "first 50%", "--method", "semantic", "--space", order, "--out", str(tmp_path)]
    result = CliRunner().invoke(app, [*TRAIN, *given])
    assert result.exit_code == 0, result.output
    assert "accuracy" in result.output
