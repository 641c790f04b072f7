"""What a run leaves on disk. The folder is the truth; the index beside it can be rebuilt from the folders.

A run's folder holds ``config.json``, ``environment.json``, ``checkpoint.pt`` while it runs, and when it is finished
``epochs.jsonl``, ``model.safetensors``, ``label_space.safetensors``, ``scores.safetensors``, ``preprocessing.json``,
``option-NAME.safetensors`` for an option of the method that is a label space, and, written last, ``result.json``. All
of these but ``environment.json`` are bit-identical for equal runs; how long the epochs took, where it was asked for, is
in a file of its own, ``times.jsonl``.
"""

import errno
import hashlib
import json
import os
import platform
import sqlite3
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from labelspace import _checks, _files
from labelspace.space import LabelSpace

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps two processes from one run
    fcntl = None  # type: ignore[assignment]

NAME = "index.sqlite"
INSERT = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)"
FILES = ("epochs.jsonl", "model.safetensors", "scores.safetensors", "label_space.safetensors", "preprocessing.json")
TIMES = "times.jsonl"  # not one of them: no two runs take equally long


class RunFolder:
    """One run on disk.

    Args:
        path: the folder; made if absent.
    """

    def __init__(self, path: str | Path) -> None:
        """Point at the folder."""
        self.path = Path(path)

    @property
    def finished(self) -> bool:
        """Whether the run is complete and sound: its result, written last, names the digests of the other files."""
        if not (self.path / "result.json").is_file():
            return False
        try:
            files = _files.read_json(self.path / "result.json")["files"]
            damaged = [name for name, digest in files.items() if _digest(self.path / name) != digest]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            damaged = ["result.json"]
        if damaged:
            warnings.warn(f"{self.path / damaged[0]} is damaged; the run is computed again.", stacklevel=3)
        return not damaged

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other process works on this run; the lock goes with the process that holds it."""
        with (self.path / ".lock").open("a") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def create(self, config: dict[str, Any]) -> None:
        """Make the folder, see that it can be written to, and say what runs in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _files.write_json(self.path / "config.json", config)
            _files.write_json(self.path / "environment.json", environment())
        except OSError as error:
            remedy = "Choose another folder with out=… (--out), or make this one writable."
            expected = "a folder that can be written to"
            raise _checks.fail("train", "out", expected, f"{self.path} ({error.strerror})", remedy) from error

    def write_epochs(self, epochs: list[dict[str, Any]]) -> None:
        """Write one JSON line per epoch, all of them: a resumed run must not leave lines it will write again."""
        self._write_lines("epochs.jsonl", epochs)

    def _write_lines(self, name: str, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)
        _files.write_bytes(self.path / name, text.encode())

    def finish(
        self,
        *,
        epochs: list[dict[str, Any]],
        weights: dict[str, Tensor],
        scores: dict[str, Tensor],
        space: LabelSpace,
        preprocessing: dict[str, Any],
        result: dict[str, Any],
        option_spaces: Mapping[str, LabelSpace] | None = None,
        times: list[dict[str, Any]] | None = None,
    ) -> None:
        """Write everything a finished run leaves, the result last, then drop the checkpoints."""
        try:
            if times:
                self._write_lines(TIMES, times)
            self._write(epochs, weights, scores, space, preprocessing, result, option_spaces or {})
        except OSError as error:
            what = "The disk is full" if error.errno == errno.ENOSPC else f"Writing failed ({error.strerror})"
            remedy = "Make room and run the same command again: it goes on from the last checkpoint."
            raise OSError(error.errno, f"{what} at {self.path}. {remedy}") from error
        self._sweep("checkpoint*.pt", ".*.part")

    def _write(
        self,
        epochs: list[dict[str, Any]],
        weights: dict[str, Tensor],
        scores: dict[str, Tensor],
        space: LabelSpace,
        preprocessing: dict[str, Any],
        result: dict[str, Any],
        option_spaces: Mapping[str, LabelSpace],
    ) -> None:
        _files.write_json(self.path / "environment.json", environment())
        self.write_epochs(epochs)
        _files.write_bytes(self.path / "model.safetensors", to_bytes(weights))
        _files.write_bytes(self.path / "scores.safetensors", to_bytes(scores))
        space.save(self.path / "label_space.safetensors")
        _files.write_json(self.path / "preprocessing.json", preprocessing)
        for name, option in option_spaces.items():
            option.save(self.path / option_file(name))
        files = {name: _digest(self.path / name) for name in (*FILES, *map(option_file, option_spaces))}
        _files.write_json(self.path / "result.json", {**result, "files": files})

    def _sweep(self, *patterns: str) -> None:
        for pattern in patterns:
            for stale in self.path.glob(pattern):
                stale.unlink(missing_ok=True)

    def config(self) -> dict[str, Any]:
        """Return the configuration."""
        return self._json("config.json", "method", "seed")

    def result(self) -> dict[str, Any]:
        """Return the result of a finished run."""
        return {name: value for name, value in self._json("result.json", "key").items() if name != "files"}

    def preprocessing(self) -> dict[str, Any]:
        """Return what a batch goes through before the model."""
        return self._json("preprocessing.json")

    def epochs(self) -> list[dict[str, Any]]:
        """Return the epoch lines."""
        return self._lines("epochs.jsonl")

    def times(self) -> list[dict[str, Any]]:
        """Return how long the epochs took; nothing where that was not asked for."""
        return self._lines(TIMES) if (self.path / TIMES).is_file() else []

    def _lines(self, name: str) -> list[dict[str, Any]]:
        try:
            lines = _files.read_bytes(self.path / name).decode("utf-8").splitlines()
            found = [json.loads(line) for line in lines]
        except (OSError, ValueError, RecursionError) as error:
            raise self._unsound(name, str(error)) from error
        wrong = next((line for line in found if not isinstance(line, dict)), None)
        if wrong is not None:
            raise self._unsound(name, f"a line with {wrong!r}")
        return found

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of model and criterion."""
        return self._tensors("model.safetensors")

    def scores(self) -> dict[str, Tensor]:
        """Return ``validation_scores``, ``validation_y``, ``test_scores`` and ``test_y``."""
        return self._tensors("scores.safetensors")

    def label_space(self) -> LabelSpace:
        """Return what the run used or learned."""
        return LabelSpace.load(self.path / "label_space.safetensors")

    def option_space(self, name: str) -> LabelSpace:
        """Return an option of the method that is a label space."""
        return LabelSpace.load(self.path / option_file(name))

    def _tensors(self, name: str) -> dict[str, Tensor]:
        try:
            return from_bytes(_files.read_bytes(self.path / name))
        except (OSError, SafetensorError) as error:
            raise self._unsound(name, str(error)) from error

    def _unsound(self, name: str, why: str) -> ValueError:
        remedy = "The command that made the run computes it again."
        return _checks.fail("Run.load", "folder", f"a run with a sound {name}", f"{self.path / name}: {why}", remedy)

    def _json(self, name: str, *needed: str) -> dict[str, Any]:
        path = self.path / name
        if not path.is_file():
            inside = sorted(entry.parent.name for entry in self.path.glob("*/result.json"))
            remedy = f"It holds runs: {', '.join(inside[:3])}." if inside else "Finish it, or name the folder of a run."
            raise _checks.fail("Run.load", "folder", f"a run with {name}", str(self.path), remedy)
        try:
            content = _files.read_json(path)
        except (OSError, ValueError, RecursionError) as error:
            raise self._unsound(name, str(error)) from error
        if not isinstance(content, dict):
            raise self._unsound(name, f"{type(content).__name__} where names and values belong")
        missing = next((key for key in needed if key not in content), None)
        if missing is not None:
            raise self._unsound(name, f"no {missing!r}")
        return content


def option_file(name: str) -> str:
    """Return the name of the file that holds an option which is a label space."""
    return f"option-{name}.safetensors"


class Index:
    """One SQLite row per run, for questions over many runs. Only one process, the parent of a sweep, writes it.

    Args:
        folder: where the runs are; the index is ``index.sqlite`` in it.
    """

    def __init__(self, folder: str | Path) -> None:
        """Make the table if it is not there; an index that cannot be read is made again from the folders."""
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._make_table()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _unwritable(self.folder, error) from error
            warnings.warn(f"{self.folder / NAME} is damaged; it is made again from the runs.", stacklevel=2)
            for stale in self.folder.glob(f"{NAME}*"):
                stale.unlink()
            self._make_table()
            self.rebuild()

    def _make_table(self) -> None:
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS runs (key TEXT, seed INTEGER, method TEXT, folder TEXT, config TEXT,"
                " result TEXT, PRIMARY KEY (key, seed))"
            )

    def record(self, run: RunFolder, key: str) -> None:
        """Write the row of a finished run; writing it again changes nothing."""
        with _explained(self.folder), closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")  # deferred transactions of several writers fail instead of waiting
            connection.execute(INSERT, _row(run, key))
            connection.execute("COMMIT")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield every run's key, seed, method, folder, config and result."""
        with closing(self._connect()) as connection:
            found = connection.execute("SELECT * FROM runs ORDER BY method, key, seed").fetchall()
        for key, seed, method, folder, config, result in found:
            yield {
                "key": key,
                "seed": seed,
                "method": method,
                "folder": folder,
                "config": json.loads(config),
                "result": json.loads(result),
            }

    def rebuild(self) -> int:
        """Make the index again from the folders; return how many finished runs there are."""
        finished = [RunFolder(path.parent) for path in sorted(self.folder.glob("*/result.json"))]
        rows = [_row(run, run.result()["key"]) for run in finished if run.finished]
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM runs")
            connection.executemany(INSERT, rows)
            connection.execute("COMMIT")
        return len(rows)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / NAME, timeout=60, isolation_level=None)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:  # locked for a minute, a full disk, a file that cannot be written
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: Exception) -> OSError:
    remedy = "The runs themselves are kept; the same command writes it again."
    return OSError(f"The index {folder / NAME} cannot be written ({error}). {remedy}")


def _row(run: RunFolder, key: str) -> tuple[Any, ...]:
    config, result = run.config(), run.result()
    return (key, config["seed"], config["method"], run.path.name, json.dumps(config), json.dumps(result))


def _digest(path: Path) -> str:
    return hashlib.blake2b(_files.read_bytes(path), digest_size=16).hexdigest()


def environment() -> dict[str, Any]:
    """Return what a run depended on: versions and the machine's kind, nothing that names its user or host."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
