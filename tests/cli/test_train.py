"""`labelspace train` and `labelspace` alone, as a person types them."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import labelspace
from comparison.small import write_table
from labelspace.cli.main import app
from labelspace.cli.train import uses_space

SHORT = ["--model", "mlp-16", "--epochs", "2", "--limit", "200"]


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output + str(result.exception)
    return result.stdout


def test_alone_it_says_what_a_newcomer_needs() -> None:
    text = run()
    assert "labelspace data check PATH" in text
    assert len(text.splitlines()) <= 10


def test_trains_and_resumes(tmp_path: Path) -> None:
    text = run("train", "digits", "--method", "lls", "--smoothing", "0.2", "--out", str(tmp_path), *SHORT)
    assert "test        accuracy" in text
    again = json.loads(
        run("train", "digits", "--method", "lls", "--smoothing", "0.2", "--out", str(tmp_path), "--json", *SHORT)
    )
    assert Path(again["folder"]).is_dir()
    assert 0 <= again["test"]["accuracy"] <= 1
    assert len(list(tmp_path.glob("lls-*"))) == 1


def test_options_of_the_method(tmp_path: Path) -> None:
    text = run("train", "digits", "--method", "lwal", "--option", "repel=0.1", "--json", "--out", str(tmp_path), *SHORT)
    config = json.loads((Path(json.loads(text)["folder"]) / "config.json").read_text())
    assert config["method_options"] == {"repel": 0.1}


def test_settings_of_the_papers_are_flags(tmp_path: Path) -> None:
    flags = ["--optimizer", "sgd", "--momentum", "0", "--schedule", "step", "--milestones", "1, 2", "--gamma", "0.2"]
    flags += ["--warmup-epochs", "1", "--clip", "5", "--weight-decay", "0.0001", "--best-by", "error"]
    flags += ["--record", "test-curve", "--augment", "rotate:10", "--augment", "resized-crop:0.5", "--epochs", "3"]
    text = run("train", "digits", "--json", "--out", str(tmp_path), *SHORT, *flags)
    folder = Path(json.loads(text)["folder"])
    config = json.loads((folder / "config.json").read_text())
    assert (config["momentum"], config["gamma"], config["milestones"]) == (0, 0.2, [1, 2])
    assert (config["warmup_epochs"], config["clip"], config["best_by"]) == (1, 5, "error")
    assert (config["record"], config["augment"]) == (["test-curve"], ["rotate:10.0", "resized-crop:0.5"])
    lines = [json.loads(line) for line in (folder / "epochs.jsonl").read_text().splitlines()]
    assert [round(line["learning_rate"], 9) for line in lines] == [1e-3, 2e-4, 4e-5]
    assert all(0 <= line["test_accuracy"] <= 1 for line in lines)
    assert len((folder / "times.jsonl").read_text().splitlines()) == 3
    again = run("train", "digits", "--out", str(tmp_path), *SHORT, *flags)
    assert f"3 epochs (kept: {json.loads(text)['best_epoch'] + 1})" in again
    assert "recorded    test accuracy in epochs.jsonl, seconds in times.jsonl" in again


def test_a_rate_that_falls_every_epoch(tmp_path: Path) -> None:
    flags = ["--schedule", "exponential", "--gamma", "0.5"]
    folder = Path(json.loads(run("train", "digits", "--json", "--out", str(tmp_path), *SHORT, *flags))["folder"])
    lines = [json.loads(line) for line in (folder / "epochs.jsonl").read_text().splitlines()]
    assert [line["learning_rate"] for line in lines] == [1e-3, 5e-4]
    assert not (folder / "times.jsonl").exists()


def test_a_pretrained_label_embedding(tmp_path: Path) -> None:
    common = ["train", "digits", "--method", "labelemb", "--json", "--out", str(tmp_path), *SHORT]
    first = json.loads(run(*common))["folder"]
    second = json.loads(run(*common, "--option", f"pretrained={first}/label_space.safetensors"))["folder"]
    assert json.loads(run(*common, "--option", f"pretrained={first}"))["folder"] == second != first
    loaded = labelspace.Run.load(second)
    torch.testing.assert_close(loaded.space.matrix, labelspace.Run.load(first).space.matrix)
    assert loaded.learner().criterion.pretrained


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run("train", "digits", "--tensorboard", "--out", str(tmp_path), *SHORT)
    assert list(tmp_path.rglob("events.out.tfevents*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "nowhere"], "nowhere"),
        (["train", "digits", "--method", "semantik"], "Did you mean 'semantic'"),
        (["train", "digits", "--method", "semantic"], "`--space` must be given for semantic"),
        (["train", "digits", "--method", "lls", "--option", "top=2"], "`--space` must be given for lls"),
        (["train", "digits", "--epochs", "0"], "`--epochs` must be"),
        (["train", "digits", "--method", "labelemb", "--option", "pretrained=3"], "`pretrained` of labelspace must be"),
        (
            ["train", "digits", "--method", "labelemb", "--option", "pretrained=no.safetensors"],
            "There is no label file at no.safetensors",
        ),
        (
            ["train", "digits", "--method", "labelemb", "--option", "pretrained=a<b"],
            "`pretrained` of labelspace must be",
        ),
        (["train", "digits", "--option", "repel"], "`--option` must be NAME=VALUE"),
        (["train", "digits", "--data-option", "test"], "`--data-option` must be NAME=VALUE"),
        (["train", "digits", "--schedule", "exponential"], "`--gamma` must be given for schedule='exponential'"),
        (["train", "digits", "--schedule", "step"], "`--milestones` must be given for schedule='step'"),
        (
            ["train", "digits", "--milestones", "4;8"],
            "`--milestones` must be epochs separated by commas, such as 40,80",
        ),
        (
            ["train", "digits", "--best-by", "loss"],
            "`--best-by` must be 'last', 'nll', 'calibrated' or 'error'. Got 'loss'",
        ),
        (["train", "digits", "--record", "all"], "`--record` must be 'test-curve'. Got 'all'"),
        (["train", "digits", "--momentum", "1"], "`--momentum` must be less than 1"),
        (["train", "digits", "--set", "clip"], "`--set` must be NAME=VALUE"),
        (["train", "digits", "--set", "smoothing=0.2"], "`--set smoothing` must be left out: it is --smoothing"),
        (["train", "digits", "--set", "report=1"], "`--set` must be one of"),
        (["train", "digits", "--label", "y"], "`--label` must be an option of this kind of data"),
        (["train", "digits", "--data-option", "test=2"], "`--data-option test` must be a number in (0, 1)"),
        (["train", "digits", "--model", "resnet-32"], "resnet32"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_bad_input_of_a_process_is_one_line_too(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "labelspace", "train", "digits", "--epochs", "0", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "`--epochs` must be" in done.stderr


@pytest.mark.parametrize("arguments", [["train"], ["data", "list"], ["data", "check"]])
def test_help_has_an_example(arguments: list[str]) -> None:
    assert "xample" in run(*arguments, "--help")


def test_an_order_is_never_guessed_from_the_alphabet(tmp_path: Path) -> None:
    table = tmp_path / "order.csv"
    rows = [f"{number},{number * number},{['low', 'mid', 'high'][number % 3]}" for number in range(90)]
    table.write_text("a,b,label\n" + "\n".join(rows) + "\n")
    command = ["train", str(table), "--method", "semantic", "--space", "ordinal", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert "Text has no order of its own" in result.output
    text = run("train", "digits", "--method", "semantic", "--space", "ordinal", "--out", str(tmp_path), *SHORT)
    assert "0 < 1 < 2" in text


def test_infogain_takes_a_space_or_a_matrix(tmp_path: Path) -> None:
    command = ["train", "digits", "--method", "infogain", "--json", "--out", str(tmp_path), *SHORT]
    matrix = [[2.0 if row == column else 0.1 for column in range(10)] for row in range(10)]
    for given in (["--space", "ordinal"], ["--option", f"matrix={json.dumps(matrix)}"]):
        result = CliRunner().invoke(app, [*command, *given])
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
    neither = CliRunner().invoke(app, command)
    assert neither.exit_code == 2
    assert "`--space` must be given for infogain" in neither.output
    both = CliRunner().invoke(app, [*command, *given, "--space", "ordinal"])
    assert "--space ordinal changes nothing" in both.stderr


def test_half_of_the_mass_may_leave(tmp_path: Path) -> None:
    text = run(
        "train", "digits", "--method", "mixed", "--space", "lda", "--smoothing", "0.5", "--out", str(tmp_path), *SHORT
    )
    assert "accuracy" in text


@pytest.mark.parametrize(
    ("space", "order"),
    [("ordinal", ["1", "2", "10"]), ("1<2<10", ["1", "2", "10"]), ("2<10<1", ["2", "10", "1"])],
)
@pytest.mark.parametrize("method", [["semantic"], ["mixed"], ["lls", "--option", "top=1"]])
def test_the_order_told_is_the_order_trained_on(
    space: str, order: list[str], method: list[str], tmp_path: Path
) -> None:
    """The classes of the data come as 10, 2, 1: neither the order of their values nor one that anybody gave."""
    chance = np.random.default_rng(0)
    y = np.arange(90) % 3
    np.savez(tmp_path / "numbers.npz", x=np.eye(3)[y] + chance.normal(size=(90, 3)), y=y, names=["10", "2", "1"])
    command = ["train", str(tmp_path / "numbers.npz"), "--method", *method, "--space", space, "--epochs", "1"]
    text = run(*command, "--out", str(tmp_path / "runs"))
    assert [line for line in text.splitlines() if line.startswith("order")] == [f"order       {' < '.join(order)}"]
    if method == ["semantic"]:
        trained = labelspace.Run.load(next((tmp_path / "runs").glob("semantic-*"))).space
        ends = [order[0], order[2]]
        # of three classes in an order, 1/|i−j| gives the end next to a class twice what the other end gives it
        assert trained.nearest(ends[0], k=1)[0] == (order[1], pytest.approx(2 / 3))
        assert trained.nearest(ends[1], k=1)[0] == (order[1], pytest.approx(2 / 3))


def test_no_order_is_told_where_none_was_trained_on(tmp_path: Path) -> None:
    text = run("train", "digits", "--method", "onehot", "--space", "ordinal", "--out", str(tmp_path), *SHORT)
    assert not [line for line in text.splitlines() if line.startswith("order")]
    text = run("train", "digits", "--method", "semantic", "--space", "lda", "--out", str(tmp_path), *SHORT)
    assert not [line for line in text.splitlines() if line.startswith("order")]


@pytest.mark.parametrize("arguments", [["--method", "onehot"], ["--method", "focal"], ["--method", "lls"]])
def test_a_space_that_is_not_used_is_told(arguments: list[str], tmp_path: Path) -> None:
    command = ["train", "digits", "--space", "ordinal", "--json", "--out", str(tmp_path), *SHORT, *arguments]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    told = f"--space ordinal changes nothing: {arguments[1]} does not look at a label space ("
    assert told in result.stderr
    assert "mixed, semantic, static do)" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    json.loads(result.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method", "semantic", "--space", "ordinal"],
        ["--method", "lls", "--space", "ordinal", "--option", "top=2"],
        ["--method", "lls", "--option", "top=2", "--option", "prune_after=1"],
        ["--method", "lwr", "--option", "top=3"],
        ["--method", "onehot", "--head-l2", "0.1"],
    ],
)
def test_a_space_that_is_used_is_not_warned_of(arguments: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", "digits", "--out", str(tmp_path), *SHORT, *arguments])
    assert result.exit_code == 0
    assert result.stderr == ""


def refuses_names_alone(method: str) -> bool:
    """Return whether a method cannot be made without a label space."""
    needed = {"samples": 5, "epochs": 2, "in_features": 4}
    known = inspect.signature(labelspace.criterion_class(method)).parameters
    try:
        labelspace.make_criterion(method, 3, **{name: value for name, value in needed.items() if name in known})
    except TypeError as error:
        if "must be a LabelSpace" not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize("method", labelspace.methods())
def test_methods_that_use_a_space(method: str) -> None:
    assert uses_space(method, {}) == refuses_names_alone(method)


def test_lists_and_version() -> None:
    assert "lls" in run("methods")
    assert "resnet32" in run("models")
    assert run("--version").startswith("labelspace ")


def test_senses_go_with_wordnet(tmp_path: Path) -> None:
    table = write_table(tmp_path / "tools.csv", ["saw", "hammer", "crane"])
    common = [
        "train",
        str(table),
        "--label",
        "label",
        "--method",
        "semantic",
        "--out",
        str(tmp_path),
        "--model",
        "linear",
    ]
    said = run(*common, "--epochs", "1", "--space", "wordnet", "--senses", "saw=saw.n.02", "--senses", "hammer=2")
    assert "space       WordNet: 3 of 3 names mapped, 2 by given senses" in said
    result = CliRunner().invoke(app, [*common, "--space", "wordnet", "--senses", "saw=saw.n.09"])
    assert result.exit_code == 2
    assert "`--senses` must be noun senses of WordNet. Got 'saw.n.09' for 'saw'" in result.stderr
    assert "saw.n.02 (saw: hand tool › tool)" in result.stderr
    result = CliRunner().invoke(app, [*common, "--space", "lda", "--senses", "saw=saw.n.02"])
    assert "`--senses` must be given with the space 'wordnet'" in result.stderr
