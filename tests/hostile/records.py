"""Run folders, comparisons, plans and decisions that were tampered with, digests written anew."""

import importlib
import json
import math
import struct
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hostile.mutations import Chance, mutated_bytes, mutated_plain
from hostile.outcomes import Case, canary, chance
from labelspace import InputError, Run, compare, train
from labelspace._checks import WorkError
from labelspace.comparison import Comparison
from labelspace.comparison.plan import Plan
from labelspace.comparison.plan import _toml as toml_of
from labelspace.report import write_html, write_runs_html
from labelspace.serving.onnx import export_onnx
from labelspace.serving.predictions import Tally, predictions, ready
from labelspace.sweeps.executors import InProcess
from signing import digest, signed

ROWS = 3
SETTINGS: dict[str, Any] = {"model": "linear", "epochs": 1, "limit": 80}
# these change nothing of what is predicted
ASIDE = ("environment.json", "epochs.jsonl", "scores.safetensors")
# what somebody would write there who wants code to be run, or another's file to be read
TRAPS: tuple[Any, ...] = (
    "hf:./evil", "timm:evil", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "file:///etc/passwd", "evil.Evil",
    "__import__('os').system('x')", {"trust_remote_code": True}, {"auto_map": {"AutoModel": "evil.Evil"}},
    "mlp-9999999-9999",
)  # fmt: skip


class Place:
    """Folders in their original state, and what is done to them."""

    def __init__(self, folder: Path) -> None:
        """Train a little, compare a little, and remember all files."""
        self.folder = folder
        self.table = table = folder / "table.csv"
        sizes = [row * 7 % 60 for row in range(60)]
        kinds = ["high" if (size > 30) != (size % 9 == 0) else "low" for size in sizes]
        lines = [f"{size},{'red' if size % 3 else 'blue'},{kind}" for size, kind in zip(sizes, kinds, strict=True)]
        table.write_text("\n".join(["size,colour,label", *lines]) + "\n")
        self.rows = folder / "rows.csv"
        self.rows.write_text("size,colour\n1,red\n40,blue\n59,green\n")
        self.pictures = folder / "x.npz"
        np.savez(self.pictures, x=np.arange(ROWS * 64, dtype=np.uint8).reshape(ROWS, 1, 8, 8) % 17)
        evil = folder / "evil"
        evil.mkdir()
        (evil / "evil.py").write_text(f"open({str(canary())!r}, 'w')\n")
        (evil / "config.json").write_text('{"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil"}}')
        self.run = _folder_of(train(str(table), data_options={"label": "label"}, out=folder / "tables", **SETTINGS))
        found = compare(
            "digits",
            methods="onehot,lls",
            cost="squared",
            seeds=1,
            strengths={"lls": [0.1]},
            out=folder / "comparisons",
            executor=InProcess(),
            **SETTINGS,
        )
        self.comparison = _folder_of(found)
        self.inputs = {self.run: self.rows, self.comparison / "best": self.pictures}
        self.files = [
            path for top in (self.run, self.comparison) for path in sorted(top.rglob("*")) if _is_record(path)
        ]
        self.pristine = {path: path.read_bytes() for path in self.files}
        self.predicted = {run: _predicted(run, given) for run, given in self.inputs.items()}

    def restore(self) -> None:
        """Make all files what they were."""
        for path, content in self.pristine.items():
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield uses of records of which one was tampered with."""
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name))
        for number in range(first, first + count):
            yield _case(chance(seed, number), place)
            place.restore()


def _folder_of(found: Any) -> Path:
    assert found.folder is not None
    return Path(found.folder)


def _is_record(path: Path) -> bool:
    return path.is_file() and path.suffix in (".json", ".jsonl", ".toml", ".safetensors")


def _case(draw: Chance, place: Place) -> Case:
    path = place.files[int(draw.integers(len(place.files)))]
    changed = _changed(draw, path, place)
    path.write_bytes(changed)
    if draw.integers(8):
        sign_again(path.parent)
    use, right = _use(draw, place, path)
    return Case(f"{path.parent.name}/{path.name} for {use.__name__}: {changed[:120]!r}", use, right)


def _changed(draw: Chance, path: Path, place: Place) -> bytes:
    content = place.pristine[path]
    kind = draw.integers(6)
    if kind == 0:
        return mutated_bytes(draw, content, place.pristine[place.files[int(draw.integers(len(place.files)))]])
    if path.suffix == ".safetensors":
        return _other_tensors(draw, content)
    mutate = _trapped if kind == 1 else mutated_plain
    if path.suffix == ".toml":
        changed = mutate(draw, tomllib.loads(content.decode()))
        facts = changed if isinstance(changed, dict) else {"": changed}
        lines = [f"{json.dumps(key)} = {_as_toml(value)}" for key, value in facts.items()]
        return "\n".join(lines).encode("utf-8", "surrogatepass")
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in content.decode().splitlines()]
        return "\n".join(map(json.dumps, _as_list(mutate(draw, lines)))).encode()
    return json.dumps(mutate(draw, json.loads(content)), ensure_ascii=bool(draw.integers(2))).encode(
        "utf-8", "surrogatepass"
    )


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _as_toml(value: Any) -> str:
    try:
        return toml_of(value)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(str(value))


def _trapped(draw: Chance, value: Any) -> Any:
    """Put a trap in place of any one value."""
    copy = json.loads(json.dumps(value))
    holders = [copy]
    places = []
    while holders:
        holder = holders.pop()
        parts = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, part in parts:
            places.append((holder, key))
            holders.append(part)
    if places:
        holder, key = places[int(draw.integers(len(places)))]
        holder[key] = TRAPS[int(draw.integers(len(TRAPS)))]
    return copy


def _other_tensors(draw: Chance, content: bytes) -> bytes:
    size = struct.unpack("<Q", content[:8])[0]
    head, body = json.loads(content[8 : 8 + size]), bytearray(content[8 + size :])
    if draw.integers(2):
        head = mutated_plain(draw, head)
    elif body:
        odd = np.array([np.nan, np.inf, -np.inf, 1e38, -1.0, 2.0**62])[int(draw.integers(6))]
        form = "<f4" if draw.integers(2) else "<i8"
        with np.errstate(all="ignore"):
            put = np.array([odd]).astype(form).tobytes()
        start = int(draw.integers(len(body))) // 8 * 8
        body[start : start + len(put)] = put[: len(body) - start]
    text = json.dumps(head).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(text)) + text + bytes(body)


def sign_again(folder: Path) -> None:
    """Write sound digests, so that what reads behind them is reached."""
    for name in ("result.json", "environment.json", "comparison.json", "decision.json"):
        path = folder / name
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            record = json.loads(path.read_bytes())
            if name == "decision.json":
                record = {**record, "run": digest((folder / "result.json").read_bytes())}
            else:
                record["files"] = {file: digest((folder / file).read_bytes()) for file in record["files"]}
            path.write_text(json.dumps(signed(record)))


# ---------------------------------------------------------------------- what is done with them


def _use(draw: Chance, place: Place, path: Path) -> tuple[Callable[[], Any], Callable[[Any], bool]]:
    if path.name == "plan.toml":
        return _read_plan(path), lambda plan: Plan.load(_saved(plan, path)) == plan
    if path.parent == place.comparison or (path.parent.parent.name == "runs" and draw.integers(2)):
        return _report(place.comparison, place.folder / "page.html"), _is_page
    if path.parent.parent.name == "runs":
        return _load(path.parent), lambda run: isinstance(run, Run)
    given, kind = place.inputs[path.parent], draw.integers(20)
    if kind < 4:
        return _runs_report(path.parent, place.folder / "page.html"), _is_page
    if kind < 7:
        return _teach(path.parent, place), lambda student: bool(student.weights)
    if kind == 7:  # a graph takes seconds
        return _export(path.parent, place.folder / "graph.onnx"), _is_graph
    same = place.predicted[path.parent] if path.name in ASIDE else None
    return _predict(path.parent, given), lambda found: _are_predictions(found, same)


def _predict(run: Path, given: Path) -> Callable[[], Any]:
    def predict() -> Any:
        return _predicted(run, given)

    return predict


def _predicted(run: Path, given: Path) -> tuple[list[str], list[dict[str, list[Any]]]]:
    prepared = ready(run)
    repr(prepared.run)
    found = list(predictions(prepared, given, Tally()))
    return list(prepared.decision.names), found


def _are_predictions(found: tuple[list[str], list[dict[str, list[Any]]]], same: Any) -> bool:
    names, columns = found
    if same is not None:
        return found == same
    classes = [cell for part in columns for cell in part["class"]]
    shares = [cell for part in columns for cell in part["probability"]]
    # of a sample that was not read there is nothing
    sound = all((name is None) == (share is None) for name, share in zip(classes, shares, strict=True))
    likely = [share for share in shares if share is not None]
    return (
        sound
        and len(classes) == ROWS
        and all(name in names for name in classes if name is not None)
        and all(math.isfinite(share) and 0 < share <= 1 for share in likely)
    )


def _load(folder: Path) -> Callable[[], Any]:
    def load() -> Run:
        run = Run.load(folder)
        repr(run)
        run.predict(torch.zeros(2, 1, 8, 8, dtype=torch.uint8))
        return run

    return load


def _report(folder: Path, page: Path) -> Callable[[], Any]:
    def report() -> Path:
        found = Comparison.load(folder)
        found.table(), found.markdown(), found.records(), repr(found), found.verdict, found.warnings
        return write_html(folder, page)

    return report


def _runs_report(folder: Path, page: Path) -> Callable[[], Any]:
    def runs_report() -> Path:
        return write_runs_html([folder], page)

    return runs_report


def _is_page(page: Path) -> bool:
    text = page.read_text(encoding="utf-8")
    page.unlink()
    return text.lower().startswith("<!doctype html>") and "root:x:0" not in text


def _teach(run: Path, place: Place) -> Callable[[], Any]:
    def teach() -> Run:
        data, options = ("digits", {}) if run.name == "best" else (str(place.table), {"label": "label"})
        try:
            return train(data, data_options=options, method="kd", teacher=str(run), **SETTINGS)
        except WorkError as error:
            if "The loss became" not in str(error):
                raise
            # numbers so large that what the teacher says of a sample is none: one line and exit code 1
            raise InputError("train", "teacher", "one whose scores are finite", str(error)) from error

    return teach


def _export(run: Path, graph: Path) -> Callable[[], Any]:
    def export() -> tuple[Path, list[str]]:
        prepared = ready(run)
        try:
            return export_onnx(prepared.run, prepared.decision, graph).path, list(prepared.decision.names)
        except WorkError as error:
            # weights that are no numbers: one line and exit code 1, and nothing is written
            assert not graph.exists()
            raise InputError("export", "run", "one that can be written as ONNX", str(error)) from error

    return export


def _is_graph(found: tuple[Path, list[str]]) -> bool:
    """Return whether onnxruntime reads the same classes from the file, and nothing was left beside it."""
    onnxruntime = importlib.import_module("onnxruntime")
    path, names = found
    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    facts = session.get_modelmeta().custom_metadata_map
    path.unlink()
    return json.loads(facts["names"]) == names and not list(path.parent.glob(".*.part"))


def _read_plan(path: Path) -> Callable[[], Any]:
    def read() -> Plan:
        return Plan.load(path)

    return read


def _saved(plan: Plan, path: Path) -> Path:
    again = path.with_name("again.txt")
    plan.save(again)
    return again
