"""Every field of every record, given what names code or a place: nothing of it is imported, opened or run.

Each field gets one hostile value in turn, and with ``make fuzz`` all of them; digests are written anew, as whoever
tampers with a record would. The records are then used by the commands that read them, which end with exit code 0, or
2 and one line. What Python does meanwhile is watched by an audit hook, which nothing that is watched can avoid.
"""

import hashlib
import io
import itertools
import json
import os
import shutil
import socket
import struct
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from hostile.records import sign_again
from labelspace._checks import WorkError
from labelspace.cli.main import app
from labelspace.comparison import compare
from labelspace.comparison.plan import Plan
from labelspace.data import digests
from labelspace.serving import onnx
from labelspace.sweeps.executors import InProcess
from labelspace.training import checkpoint
from labelspace.training.run import Run, train
from small_corpus import SMALL as SEQUENCES
from small_corpus import write_corpus

OF_RUNS = ("config.json", "preprocessing.json", "result.json", "environment.json", "decision.json")
USES = ("predict", "export", "report", "teach")
SMALL = ["--model", "linear", "--epochs", "1", "--limit", "40"]
FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pickle.find_class")
CALLS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
# what torch.load lets a checkpoint name
TORCH_OWN = ("torch._utils", "collections", "torch", "torch.storage")
HOW_MANY = pytest.mark.parametrize(
    "everything",
    [False, pytest.param(True, marks=pytest.mark.skipif("LABELSPACE_FUZZ" not in os.environ, reason="make fuzz"))],
    ids=["few", "all"],
)
watching: list[tuple[str, list[str]]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what Python itself says that it does."""
    if not watching:
        return
    place, seen = watching[-1]
    if (event in FORBIDDEN and arguments[0] not in TORCH_OWN) or event in CALLS:
        seen.append(f"{event} {arguments}")
    elif event in ("open", "import", "os.listdir", "os.scandir") and place in str(arguments[0]):
        seen.append(f"{event} {arguments[0]}")


sys.addaudithook(_audit)


@contextmanager
def watched(place: str) -> Iterator[list[str]]:
    """Give the list of what was run, and of what was opened or imported that has the text in its name."""
    seen: list[str] = []
    watching.append((place, seen))
    try:
        yield seen
    finally:
        watching.pop()


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that no record may reach: a model with code, a plan, labels and pictures."""
    folder = tmp_path_factory.mktemp("elsewhere") / "outsider"
    folder.mkdir()
    (folder / "outsider.py").write_text("raise SystemExit('executed')\n")
    (folder / "config.json").write_text('{"model_type": "bert", "auto_map": {"AutoModel": "outsider.Outsider"}}')
    (folder / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "outsider.Outsider"}]')
    for name in ("plan.toml", "labels.json", "model.safetensors"):
        (folder / name).write_text("")
    return folder


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a comparison whose best run was taken home."""
    options = {"model": "linear", "epochs": 1, "limit": 40, "seeds": 1, "strengths": {"uniform": (0.1,)}}
    folder = tmp_path_factory.mktemp("c")
    found = compare("digits", methods=("onehot", "uniform"), out=folder, executor=InProcess(), **options)
    assert found.folder is not None
    return found.folder


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value in a record, the first of long lists."""
    if way:
        yield way
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*way, key))


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a record with one value replaced."""
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(copy[way[0]], way[1:], new) if way[1:] else new
    return copy


def hostile(outside: Path) -> list[Any]:
    path = str(outside)
    names = [path, f"hf:{path}", f"timm:local-dir:{path}", f"{path}/labels.json", f"../../elsewhere0/{outside.name}"]
    more = {"trust_remote_code": True, "weights": f"{path}/model.safetensors", "_name_or_path": path}
    return [*names, "outsider:Outsider", "outsider.Outsider", "{0.__class__}%s%n$(touch outsider)", more, [path]]


def attacks(record: Any, outside: Path, everything: bool) -> Iterator[tuple[str, Any]]:
    """Yield records with one hostile value: of each field in turn another, or of each all."""
    values = hostile(outside)
    for number, way in enumerate(places(record)):
        for value in values if everything else [values[number % len(values)]]:
            yield f"{way} {value}", replaced(record, way, value)


def test_the_watch_sees(outside: Path) -> None:
    with watched(outside.name) as seen:
        (outside / "plan.toml").read_text()
        with suppress(ImportError):
            __import__("outsider")
        with suppress(OSError), socket.socket() as nobody:
            nobody.connect(("127.0.0.1", 9))
    assert [line.split()[0] for line in seen] == ["open", "import", "socket.connect"]


@pytest.fixture
def commands(comparison: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, list[str]]]:
    """Return a run, and the commands that read one; of a graph, which takes seconds, only the writing is left out."""

    def nothing(*arguments: Any) -> None:
        raise WorkError("reached")

    home = tmp_path / "best"
    best = comparison / "best"
    # several models that are one write no graph, but each of them does
    shutil.copytree(best / "members" / "0" if (best / "members").exists() else best, home)
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 1, 8, 8), np.uint8))
    monkeypatch.setattr(onnx, "_write", nothing)
    return home, {
        "predict": ["predict", str(home), str(tmp_path / "x.npz")],
        "export": ["export", str(home), "--onnx", str(tmp_path / "graph.onnx")],
        "report": ["report", str(home), "-o", str(tmp_path / "page.html")],
        "teach": ["train", "digits", "--method", "kd", "--teacher", str(home), *SMALL, "--out", str(tmp_path / "runs")],
    }


def run_attacked(words: list[str], outside: Path, about: str) -> int:
    """Run a command that reads a run; an export that comes to its graph has read all that there is."""
    # a code key that is another is told of, and no error
    with watched(outside.name) as seen, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The code of method")
        done = CliRunner().invoke(app, words)
    assert seen == [], about
    assert done.exception is None or isinstance(done.exception, SystemExit), f"{about}: {done.exception!r}"
    reached = words[0] == "export" and done.exit_code == 1 and "labelspace: reached" in done.output
    assert reached or done.exit_code in (0, 2), f"{about}: {done.output}"
    return 0 if reached else done.exit_code


@HOW_MANY
@pytest.mark.parametrize("name", [*OF_RUNS, "label_space.safetensors"])
def test_nothing_that_a_run_says_is_reached(
    commands: tuple[Path, dict[str, list[str]]], outside: Path, name: str, everything: bool
) -> None:
    home, words = commands
    path = home / name
    before = path.read_bytes()
    record = words_of(before) if name.endswith(".safetensors") else json.loads(before)
    uses = itertools.cycle(USES)
    outcomes: Counter[int] = Counter()
    for use in USES:
        assert run_attacked(words[use], outside, use) == 0, use
    for about, changed in attacks(record, outside, everything):
        path.write_bytes(with_words(before, changed) if name.endswith(".safetensors") else json.dumps(changed).encode())
        sign_again(home)
        for use in USES if everything else [next(uses)]:
            outcomes[run_attacked(words[use], outside, f"{use} {name} {about}")] += 1
    assert outcomes.total() >= 5
    if name in ("config.json", "preprocessing.json"):
        # where all were refused before they were looked at, nothing would be shown
        assert min(outcomes[0], outcomes[2]) > 0, outcomes


@HOW_MANY
@pytest.mark.parametrize("name", ["config.json", "preprocessing.json", "translations.json"])
def test_nothing_that_a_run_of_sequences_says_is_reached(
    outside: Path, tmp_path: Path, name: str, everything: bool
) -> None:
    home = train(write_corpus(tmp_path / "corpus"), out=tmp_path / "runs", **SEQUENCES).folder
    assert home is not None
    (tmp_path / "new.txt").write_text("one two.\n")
    uses = {
        "predict": ["predict", str(home), str(tmp_path / "new.txt"), "--beam", "2"],
        "report": ["report", str(home), "-o", str(tmp_path / "page.html")],
    }
    path, outcomes = home / name, Counter[int]()
    record = json.loads(path.read_text())
    for use, words in uses.items():
        assert run_attacked(words, outside, use) == 0, use
    for number, (about, changed) in enumerate(attacks(record, outside, everything)):
        path.write_text(json.dumps(changed))
        sign_again(home)
        for use in uses if everything else [("predict", "report")[number % 2]]:
            outcomes[run_attacked(uses[use], outside, f"{use} {name} {about}")] += 1
    assert outcomes[2] > 0, outcomes


def words_of(content: bytes) -> dict[str, Any]:
    """Return what a label file says beside its numbers, without a digest."""
    size = struct.unpack("<Q", content[:8])[0]
    found = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["labelspace"])
    return {key: value for key, value in found.items() if key != "digest"}


def with_words(content: bytes, words: Any) -> bytes:
    size = struct.unpack("<Q", content[:8])[0]
    head = json.loads(content[8 : 8 + size])
    head["__metadata__"]["labelspace"] = json.dumps(words)
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + size :]


@HOW_MANY
def test_nothing_that_a_comparison_says_is_reached(
    comparison: Path, outside: Path, tmp_path: Path, everything: bool
) -> None:
    copy = tmp_path / "c"
    shutil.copytree(comparison, copy)
    before = json.loads((copy / "comparison.json").read_text())
    words = ["report", str(copy), "-o", str(tmp_path / "page.html")]
    assert run_attacked(words, outside, "as it is") == 0
    chosen = list(attacks(before, outside, everything))
    for about, changed in chosen if everything else chosen[::4]:
        (copy / "comparison.json").write_text(json.dumps(changed))
        sign_again(copy)
        run_attacked(words, outside, about)


@HOW_MANY
def test_a_plan_names_no_code(
    comparison: Path, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    # what a plan names is read as data; code is not, not even where it could be imported
    monkeypatch.syspath_prepend(str(outside))
    plan = Plan.load(comparison / "plan.toml").plain()
    values = [f"hf:{outside}", "outsider:Outsider", {"trust_remote_code": True, "code_revision": "x"}]
    for number, name in enumerate(plan):
        for new in values if everything else [values[number % 3]]:
            kept = "".join(f"{key} = {_toml(part)}\n" for key, part in {**plan, name: new}.items())
            (tmp_path / "plan.toml").write_text(kept)
            words = ["compare", "--plan", str(tmp_path / "plan.toml"), "--out", str(tmp_path)]
            with watched("outsider.py") as seen:
                done = CliRunner().invoke(app, words)
            assert seen == [], f"{name} {new}"
            assert done.exit_code == 2, f"{name} {new} {done.output}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


@HOW_MANY
def test_nothing_that_a_checkpoint_says_is_reached(outside: Path, tmp_path: Path, everything: bool) -> None:
    """A checkpoint of something else is passed over, and the run ends as it would have."""
    data = (torch.arange(120, dtype=torch.float32).reshape(60, 2) / 120, [str(row % 3) for row in range(60)])
    options: dict[str, Any] = {"model": "linear", "epochs": 2}
    whole, kept = train(data, **options), tmp_path / "kept.pt"

    def keep(event: str, numbers: dict[str, Any]) -> None:
        if event == "saved":
            shutil.copy(next(tmp_path.glob("runs/*/checkpoint.pt")), kept)

    folder = train(data, **options, out=tmp_path / "runs", report=keep, checkpoint_seconds=0).folder
    assert folder is not None
    state = torch.load(io.BytesIO(kept.read_bytes()[checkpoint.DIGEST :]), weights_only=True)
    for about, changed in attacks(state, outside, everything):
        buffer = io.BytesIO()
        torch.save(changed, buffer)
        digest = hashlib.blake2b(buffer.getvalue(), digest_size=checkpoint.DIGEST).digest()
        (folder / "result.json").unlink()
        (folder / checkpoint.CURRENT).write_bytes(digest + buffer.getvalue())
        with watched(outside.name) as seen, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = train(data, **options, out=tmp_path / "runs")
        assert seen == [], about
        # the rate of the next step follows from the epoch: what a checkpoint says of it is not read
        assert "'lr'" in about or "checkpoint.pt is damaged" in str(said[0].message), about
        torch.testing.assert_close(found.weights, whole.weights, rtol=0, atol=0)


@HOW_MANY
def test_nothing_that_a_cache_says_is_reached(
    outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    """An entry that is not what was written is made anew, and the model is the same."""
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))
    draw = np.random.default_rng(0)
    for number in range(16):
        folder = tmp_path / "pictures" / ("cat", "dog")[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(draw.integers(0, 255, (8, 8), dtype=np.uint8)).save(folder / f"{number}.png")

    def trained() -> Run:
        return train(tmp_path / "pictures", model="linear", epochs=1)

    whole = trained()
    path = next((tmp_path / "cache").rglob("entry.json"))
    record = {key: value for key, value in json.loads(path.read_text()).items() if key != "checksum"}
    for about, changed in attacks(record, outside, everything):
        path.write_text(json.dumps({**changed, "checksum": digests.of_values(changed)}))
        with watched(outside.name) as seen:
            found = trained()
        assert seen == [], about
        torch.testing.assert_close(found.weights, whole.weights, rtol=0, atol=0)
