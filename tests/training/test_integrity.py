"""Damage and mixtures are noticed by whoever reads a run, and a folder that is replaced is never read half and half."""

import json
import os
import random
import shutil
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from labelspace import LabelFileError, LabelSpace, _files, ordinal
from labelspace._checks import DamagedError
from labelspace.cli.main import app
from labelspace.decisions.decision import Decision
from labelspace.records import RunFolder
from labelspace.report import write_runs_html
from labelspace.serving import take_home as taking
from labelspace.serving.predictions import ready
from labelspace.serving.take_home import take_home
from labelspace.training.run import Run, finished_run, train
from signing import signed_again

FLIPS = int(os.environ.get("LABELSPACE_FLIPS", "40"))
OPTIONS: dict[str, Any] = {"model": "linear", "epochs": 1, "limit": 100}
NAMES = tuple(str(digit) for digit in range(10))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with every kind of file that a run can have."""
    pretrained = LabelSpace(NAMES, torch.randn(10, 4, generator=torch.Generator().manual_seed(0)), "vectors")
    options = {"method": "labelemb", "method_options": {"pretrained": pretrained}, "record": "test-curve"}
    run = train("digits", out=tmp_path_factory.mktemp("runs"), **OPTIONS, **options)
    assert run.folder is not None
    return run.folder


@pytest.fixture
def home(trained: Path, tmp_path: Path) -> Path:
    run = Run.load(trained)
    return take_home(run, Decision("argmax", 1.3, None, run.preprocessing["names"]), tmp_path / "best")


def flipped(path: Path, draw: random.Random) -> bytes:
    """Flip one bit of a file; return what it was."""
    before = path.read_bytes()
    changed = bytearray(before)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    path.write_bytes(changed)
    return before


def test_every_file_of_a_run_is_checked(home: Path) -> None:
    draw = random.Random(0)
    names = sorted(path.name for path in home.iterdir() if path.name != "README.md")
    assert {"option-pretrained.safetensors", "times.jsonl", "decision.json", "environment.json"} < set(names)
    for name in names:
        for _ in range(8):
            before = flipped(home / name, draw)
            with pytest.raises((ValueError, LabelFileError), match=name):
                ready(home)
            (home / name).write_bytes(before)
    assert ready(home).run.folder == home


def test_no_flipped_bit_of_the_model_gets_through(home: Path) -> None:
    draw, counts = random.Random(1), Counter[str]()
    for _ in range(FLIPS):
        before = flipped(home / "model.safetensors", draw)
        try:
            Run.load(home)
            counts["read"] += 1
        except DamagedError as error:
            counts["refused" if "model.safetensors: its content" in str(error) else "unclear"] += 1
        (home / "model.safetensors").write_bytes(before)
    print(f"flipped bits in model.safetensors: {dict(counts)}")
    assert counts == {"refused": FLIPS}


def test_the_curious_are_warned(home: Path) -> None:
    content = bytearray((home / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (home / "model.safetensors").write_bytes(content)
    with pytest.warns(UserWarning, match=r"model.safetensors is damaged \(its content .* read as it is"):
        Run.load(home, allow_damaged=True).learner()
    with pytest.warns(UserWarning, match="model.safetensors is damaged"):
        ready(home, allow_damaged=True)


@pytest.mark.parametrize("command", ["predict", "export", "report", "teacher"])
def test_every_command_refuses_damage(command: str, home: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 1, 8, 8), np.uint8))
    name = "scores.safetensors" if command == "report" else "model.safetensors"
    content = bytearray((home / name).read_bytes())
    content[-1] ^= 64
    (home / name).write_bytes(content)
    words = {
        "predict": ["predict", home, tmp_path / "x.npz"],
        "export": ["export", home, "--onnx", tmp_path / "m.onnx"],
        "report": ["report", home, "-o", tmp_path / "page.html"],
        "teacher": ["train", "digits", "--method", "kd", "--teacher", home, "--model", "linear", "--epochs", "1"],
    }[command]
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 2, done.output
    assert f"{home / name}: its content is not what the run was finished with" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    if command in ("predict", "report"):
        with warnings.catch_warnings():
            warnings.simplefilter("always")  # commands print them
            done = CliRunner().invoke(app, [*map(str, words), "--allow-damaged"])
        assert done.exit_code == 0, done.output
        assert f"labelspace: {home / name} is damaged (its content is not" in done.stderr


def test_a_label_file_says_that_it_is_damaged(tmp_path: Path) -> None:
    path = ordinal(["low", "mid", "high"]).save(tmp_path / "space.safetensors")
    content = path.read_bytes()
    changed = bytearray(content)
    changed[-1] ^= 1
    path.write_bytes(changed)
    with pytest.raises(LabelFileError, match=r"space.safetensors: its content is not what was written. Build it again"):
        LabelSpace.load(path)
    with pytest.warns(UserWarning, match="is damaged"):
        assert LabelSpace.load(path, allow_damaged=True).names == ("low", "mid", "high")
    path.write_bytes(content.replace(b"low", b"law"))
    with pytest.raises(LabelFileError, match="is not what was written"):
        LabelSpace.load(path)


def test_files_of_two_runs_are_refused_in_words(trained: Path, home: Path, tmp_path: Path) -> None:
    other = train("digits", out=tmp_path / "other", seed=1, **OPTIONS).folder
    assert other is not None
    for name in ("config.json", "model.safetensors", "scores.safetensors", "label_space.safetensors", "epochs.jsonl"):
        shutil.copyfile(other / name, home / name)
        with pytest.raises(DamagedError, match=f"a run with a sound {name}"):
            ready(home)
        shutil.copyfile(trained / name, home / name)
    take_home(Run.load(other), Decision("argmax", 2.0, None, NAMES), tmp_path / "second")
    shutil.copyfile(tmp_path / "second" / "decision.json", home / "decision.json")
    with pytest.raises(DamagedError, match="it was written for another run than the one beside it"):
        ready(home)


def test_names_must_agree_even_where_digests_do(home: Path) -> None:
    LabelSpace(tuple("abcdefghij"), torch.eye(10), "relations").save(home / "label_space.safetensors")
    signed_again(home)
    with pytest.raises(DamagedError, match=r"classes \['a', 'b'.* where preprocessing.json has \['0', '1'"):
        Run.load(home)
    with pytest.raises(DamagedError, match=r"classes \['a', 'b'"):
        ready(home)
    with pytest.warns(UserWarning, match="where preprocessing.json has"):
        Run.load(home, allow_damaged=True)


def test_records_of_earlier_versions_are_read(home: Path) -> None:
    record = json.loads((home / "result.json").read_text())
    del record["digest"], record["files"]["config.json"]
    (home / "result.json").write_text(json.dumps(record))
    facts = json.loads((home / "decision.json").read_text())
    (home / "decision.json").write_text(json.dumps({k: v for k, v in facts.items() if k not in ("digest", "run")}))
    (home / "environment.json").unlink()
    assert ready(home).decision.temperature == 1.3


def test_a_report_refuses_what_is_damaged(trained: Path, home: Path, tmp_path: Path) -> None:
    content = (home / "result.json").read_text()
    (home / "result.json").write_text(content.replace('"epochs": 1', '"epochs": 3'))
    with pytest.raises(DamagedError, match="result.json: its content is not what was written"):
        write_runs_html([home], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.fixture(params=["at once", "one by one"])
def swapping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "one by one":  # where the system cannot let two folders change places
        monkeypatch.setattr(_files, "_exchanged", lambda one, other: False)
    return str(request.param)


@pytest.mark.timeout(120)
def test_a_reader_never_meets_half_of_each(swapping: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)  # slow disks would swap seldom
    runs = [train("digits", out=tmp_path / "runs", seed=seed, **OPTIONS) for seed in (0, 1)]
    known = {_facts(run, 1.0 + place): place for place, run in enumerate(runs)}
    home, stop, swaps = tmp_path / "best", threading.Event(), [0]
    take_home(runs[0], Decision("argmax", 1.0, None, NAMES), home)
    (home / "mine.txt").write_text("somebody's")

    def swap() -> None:
        while not stop.is_set():
            swaps[0] += 1
            place = swaps[0] % 2
            take_home(runs[place], Decision("argmax", 1.0 + place, None, NAMES), home)

    writer, counts, end = threading.Thread(target=swap), Counter[str](), time.monotonic() + 4
    writer.start()
    try:
        while time.monotonic() < end or min(counts["first"], counts["second"]) < 3:
            try:
                found = ready(home)
            except ValueError as error:
                counts["refused" if " must be " in str(error) else "unclear"] += 1
                continue
            seen = known.get(_facts(found.run, found.decision.temperature))
            counts["mixture" if seen is None else ("first", "second")[seen]] += 1
    finally:
        stop.set()
        writer.join()
    print(f"swapped {swapping}, {swaps[0]} times: {dict(counts)}")
    assert counts["mixture"] == counts["unclear"] == 0
    assert (home / "mine.txt").read_text() == "somebody's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "runs"]


def _facts(run: Run, temperature: float) -> tuple[Any, ...]:
    weights = b"".join(run.weights[name].numpy().tobytes() for name in sorted(run.weights))
    return run.config.seed, weights, run.scores["test_scores"].numpy().tobytes(), temperature


def test_what_somebody_keeps_there_goes_along(swapping: str, trained: Path, home: Path) -> None:
    (home / "notes").mkdir()
    (home / "notes" / "deep.txt").write_text("deep")
    (home / "predictions.csv").write_text("mine")
    (home / "link").symlink_to("nowhere")
    run = Run.load(trained)
    take_home(run, Decision("argmax", 2.0, None, NAMES), home)
    assert (home / "notes" / "deep.txt").read_text() == "deep"
    assert (home / "predictions.csv").read_text() == "mine"
    assert os.readlink(home / "link") == "nowhere"
    assert ready(home).decision.temperature == 2.0
    plain = train("digits", **OPTIONS)
    take_home(plain, Decision("argmax", 3.0, None, NAMES), home)
    assert not (home / "option-pretrained.safetensors").exists(), "a file of the model before"
    assert not (home / "times.jsonl").exists()
    assert (home / "predictions.csv").read_text() == "mine"
    assert [path.name for path in home.parent.iterdir()] == ["best"]


def test_what_killed_processes_left_beside_it_goes(home: Path, trained: Path) -> None:
    litter = _files.beside(home)
    litter.mkdir()
    (litter / "config.json").write_text("{")
    _files.beside(litter / "model.safetensors").write_text("half")
    (litter / "mine.txt").write_text("moved with the old folder")
    take_home(Run.load(trained), Decision("argmax", 2.0, None, NAMES), home)
    assert [path.name for path in home.parent.iterdir()] == ["best"]
    assert (home / "mine.txt").exists()
    assert not list(home.glob(".*"))
    # while somebody else works there nothing is taken away
    litter.mkdir()
    with _files.sharing(home.parent, lambda: None):
        take_home(Run.load(trained), Decision("argmax", 2.0, None, NAMES), home)
        assert litter.is_dir()
    # between two renames: the old folder is whole, and goes back
    os.rename(home, _files.beside(home))
    taking.tidy(home)
    assert ready(home).decision.temperature == 2.0


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    found: Counter[str] = Counter()
    plain: Callable[..., bytes] = Path.read_bytes

    def counted(path: Path) -> bytes:
        found[path.name] += 1
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    return iter([found])


def test_every_file_is_read_once(home: Path, reads: Iterator[Counter[str]]) -> None:
    counts = next(reads)
    Run.load(home)
    assert counts["model.safetensors"] == counts["scores.safetensors"] == counts["result.json"] == 1
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("name", ["config.json", "preprocessing.json", "label_space.safetensors", "epochs.jsonl"])
def test_a_run_that_is_not_sound_behind_sound_digests_is_computed_again(name: str, tmp_path: Path) -> None:
    run = train("digits", out=tmp_path, **OPTIONS)
    assert run.folder is not None
    stored = RunFolder(run.folder)
    assert finished_run(stored) is not None
    before = (run.folder / name).read_bytes()
    spoilt = {"config.json": b'{"method": "onehot", "seed": 0, "epochs": "many"}', "preprocessing.json": b"{}"}
    (run.folder / name).write_bytes(spoilt.get(name, b"[]"))
    signed_again(run.folder)
    with pytest.raises(DamagedError, match=f"sound {name}"):
        Run.load(run.folder)
    with pytest.warns(UserWarning, match=f"{name} is damaged; the run is computed again"):
        assert finished_run(stored) is None
    with pytest.warns(UserWarning, match="is damaged; the run is computed again"):
        again = train("digits", out=tmp_path, **OPTIONS)
    assert (run.folder / name).read_bytes() == before
    torch.testing.assert_close(again.weights, run.weights, rtol=0, atol=0)


def test_what_is_not_finished_is_no_run(tmp_path: Path) -> None:
    assert finished_run(RunFolder(tmp_path / "none")) is None
