"""`labelspace predict` and `export` with a model of sequences."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labelspace.cli.main import app
from labelspace.training.run import Run, train
from small_corpus import SMALL, write_corpus

TEXTS = ["one two three.", "", "nine."]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("sequences")
    (place / "new.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    return train(write_corpus(place / "corpus"), out=place, **SMALL)


def place_of(run: Run) -> Path:
    assert run.folder is not None
    return run.folder.parent


@pytest.mark.filterwarnings("default")
def test_a_line_for_each_line(run: Run, tmp_path: Path) -> None:
    new, wanted = str(place_of(run) / "new.txt"), [run.translate(TEXTS[:1])[0], "", run.translate(TEXTS[2:])[0]]
    shown = CliRunner().invoke(app, ["predict", str(run.folder), new])
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.splitlines() == wanted
    assert shown.stderr == "labelspace: 1 of 3 lines is empty: it stays so.\n"
    kept = CliRunner().invoke(app, ["predict", str(run.folder), new, "-o", str(tmp_path / "made.txt")])
    assert "3 texts → " in kept.stdout
    assert (tmp_path / "made.txt").read_text().splitlines() == wanted
    told = json.loads(CliRunner().invoke(app, ["predict", str(run.folder), new, "--json"]).stdout)
    assert [each["translation"] for each in told["translations"]] == wanted
    assert [each["source"] for each in told["translations"]] == TEXTS


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ("`--output` of predict must be a file that ends in .txt", ["-o", "made.csv"]),
        ("`--keep` must be left out for a model of sequences", ["--keep", "id"]),
        ("`--abstain-cost` must be left out for a model of sequences", ["--abstain-cost", "1"]),
        ("must be at most 1", ["--beam", "100"]),
    ],
)
def test_bad_input_is_one_line(run: Run, words: str, flags: list[str]) -> None:
    done = CliRunner().invoke(app, ["predict", str(run.folder), str(place_of(run) / "new.txt"), *flags])
    assert done.exit_code == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_line_that_is_too_long_is_one_line_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    new, made = tmp_path / "new.txt", tmp_path / "made.txt"
    new.write_text("one two.\n" + "one " * 300 + "\n")
    for flags in ([], ["-o", str(made)], ["--json"]):
        done = CliRunner().invoke(app, ["predict", str(run.folder), str(new), *flags])
        assert done.exit_code == 2
        assert "`NEW` of predict must be of at most 256 tokens each" in done.stderr
        assert "1 of 2 longer, up to 301 in line 2 ('one one" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not done.stdout.strip()
    assert not made.exists()


def test_export_says_why_not(run: Run, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["export", str(run.folder), "--onnx", str(tmp_path / "model.onnx")])
    assert done.exit_code == 2
    assert "one of sequences. Its search writes token by token" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_search_is_for_sequences_alone(tmp_path: Path) -> None:
    other = train("digits", model="linear", epochs=1, limit=100, out=tmp_path)
    done = CliRunner().invoke(app, ["predict", str(other.folder), "digits.npz", "--beam", "3"])
    assert done.exit_code == 2
    assert "`--beam` must be given for a model of sequences" in done.stderr


def test_train_tells_the_scores(run: Run, tmp_path: Path) -> None:
    corpus = place_of(run) / "corpus"
    flags = ["--data-option", "kind=sequences", "--model", "seq2seq-8", "--epochs", "1", "--set", "beam=2"]
    done = CliRunner().invoke(app, ["train", str(corpus), *flags, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.stderr
    assert "BLEU" in done.stdout
    assert "token accuracy" in done.stdout
    assert "BLEU by     nrefs:1|case:mixed" in done.stdout
    assert "search      beam of 2, length penalty 1, at most 2 × source + 10 tokens, " in done.stdout
    assert "of 30 test texts were ended by force" in done.stdout
