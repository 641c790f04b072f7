"""Every field of every record, given what names code or a place: nothing of it is imported, opened or run."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hostile.records import sign_again
from labelspace.cli.main import app
from labelspace.comparison import compare
from labelspace.comparison.plan import Plan
from labelspace.report.reading import read_comparison
from labelspace.sweeps.executors import InProcess

RECORDS = ("config.json", "preprocessing.json", "result.json", "decision.json")
FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pickle.find_class")
watching: list[tuple[str, list[str]]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what Python itself says that it does: it cannot be avoided by what is watched, nor taken out again."""
    if not watching:
        return
    place, seen = watching[-1]
    if event in FORBIDDEN or event.startswith("socket.connect"):
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
    options = {"model": "linear", "epochs": 1, "limit": 100, "seeds": 1, "strengths": {"uniform": (0.1,)}}
    folder = tmp_path_factory.mktemp("c")
    found = compare("digits", methods=("onehot", "uniform"), out=folder, executor=InProcess(), **options)
    assert found.folder is not None
    return found.folder


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value in a record, the first few of long lists."""
    if way:
        yield way
    parts = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*way, key))


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a record with one value replaced."""
    copy = json.loads(json.dumps(value))
    part = copy
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = new
    return copy


def hostile(outside: Path) -> list[Any]:
    path = str(outside)
    names = [path, f"hf:{path}", f"timm:local-dir:{path}", f"{path}/labels.json", f"../../elsewhere0/{outside.name}"]
    more = {
        "trust_remote_code": True,
        "weights": f"{path}/model.safetensors",
        "_name_or_path": path,
        "pretrained": path,
    }
    return [*names, "outsider:Outsider", "outsider.Outsider", "{0.__class__}%s%n$(touch outsider)", more, [path]]


def test_the_watch_sees(outside: Path) -> None:
    with watched(outside.name) as seen:
        (outside / "plan.toml").read_text()
        with suppress(ImportError):
            __import__("outsider")
    assert [line.split()[0] for line in seen] == ["open", "import"]


@pytest.mark.parametrize("record", RECORDS)
def test_nothing_that_a_run_says_is_reached(comparison: Path, outside: Path, tmp_path: Path, record: str) -> None:
    home = tmp_path / "best"
    shutil.copytree(comparison / "best", home)
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 1, 8, 8), np.uint8))
    before = json.loads((home / record).read_text())
    predict = ["predict", str(home), str(tmp_path / "x.npz")]
    assert CliRunner().invoke(app, predict).exit_code == 0
    outcomes: Counter[int] = Counter()
    for way in places(before):
        for value in hostile(outside):
            (home / record).write_text(json.dumps(replaced(before, way, value)))
            sign_again(home)  # whoever tampers with a record can write its digests anew
            with watched(outside.name) as seen:
                done = CliRunner().invoke(app, predict)
            assert seen == [], f"{record} {way} {value}"
            outcomes[done.exit_code] += 1
    assert outcomes.total() > 50
    if record in ("config.json", "preprocessing.json"):
        # where all were refused before they were looked at, nothing would be shown
        assert min(outcomes[0], outcomes[2]) > 0, outcomes


def test_nothing_that_a_comparison_says_is_reached(comparison: Path, outside: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c"
    shutil.copytree(comparison, copy)
    before = json.loads((copy / "comparison.json").read_text())
    ways = [way for way in places(before) if "names" not in way]
    for number, way in enumerate(ways):
        value = hostile(outside)[number % len(hostile(outside))]
        (copy / "comparison.json").write_text(json.dumps(replaced(before, way, value)))
        sign_again(copy)
        with watched(outside.name) as seen, suppress(ValueError, TypeError):
            read_comparison(copy)
        assert seen == [], f"{way} {value}"


def test_a_plan_names_no_code(comparison: Path, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # what a plan names is read as data; code is not, not even where it could be imported
    monkeypatch.syspath_prepend(str(outside))
    plan = Plan.load(comparison / "plan.toml").plain()
    for name in plan:
        for new in (f"hf:{outside}", "outsider:Outsider", {"trust_remote_code": True, "code_revision": "x"}):
            kept = "".join(f"{key} = {_toml(part)}\n" for key, part in {**plan, name: new}.items())
            (tmp_path / "plan.toml").write_text(kept)
            with watched("outsider.py") as seen:
                done = CliRunner().invoke(
                    app, ["compare", "--plan", str(tmp_path / "plan.toml"), "--out", str(tmp_path)]
                )
            assert seen == [], f"{name} {new}"
            assert done.exit_code == 2, f"{name} {new} {done.output}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)
