"""What a run leaves on disk. The folder is the truth; the index beside it can be rebuilt from the folders.

A run's folder holds ``config.json``, ``environment.json``, ``checkpoint.pt`` while it runs, and when it is finished
``epochs.jsonl``, ``model.safetensors``, ``label_space.safetensors``, ``scores.safetensors``, ``preprocessing.json``
and, written last, ``result.json``.
"""

import json
import os
import platform
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from labelspace import _checks, _files
from labelspace.space import LabelSpace


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
        """Whether the run is complete: its result is the last file written."""
        return (self.path / "result.json").is_file()

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
        text = "".join(json.dumps(line, sort_keys=True) + "\n" for line in epochs)
        _files.write_bytes(self.path / "epochs.jsonl", text.encode())

    def finish(
        self,
        *,
        epochs: list[dict[str, Any]],
        weights: dict[str, Tensor],
        scores: dict[str, Tensor],
        space: LabelSpace,
        preprocessing: dict[str, Any],
        result: dict[str, Any],
    ) -> None:
        """Write everything a finished run leaves, the result last, then drop the checkpoints."""
        self.write_epochs(epochs)
        _files.write_bytes(self.path / "model.safetensors", to_bytes(weights))
        _files.write_bytes(self.path / "scores.safetensors", to_bytes(scores))
        space.save(self.path / "label_space.safetensors")
        _files.write_json(self.path / "preprocessing.json", preprocessing)
        _files.write_json(self.path / "result.json", result)
        for stale in self.path.glob("checkpoint*.pt"):
            stale.unlink()

    def config(self) -> dict[str, Any]:
        """Return the configuration."""
        return self._json("config.json")

    def result(self) -> dict[str, Any]:
        """Return the result of a finished run."""
        return self._json("result.json")

    def preprocessing(self) -> dict[str, Any]:
        """Return what a batch goes through before the model."""
        return self._json("preprocessing.json")

    def epochs(self) -> list[dict[str, Any]]:
        """Return the epoch lines."""
        lines = (self.path / "epochs.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of model and criterion."""
        return from_bytes((self.path / "model.safetensors").read_bytes())

    def scores(self) -> dict[str, Tensor]:
        """Return ``validation_scores``, ``validation_y``, ``test_scores`` and ``test_y``."""
        return from_bytes((self.path / "scores.safetensors").read_bytes())

    def label_space(self) -> LabelSpace:
        """Return what the run used or learned."""
        return LabelSpace.load(self.path / "label_space.safetensors")

    def _json(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.is_file():
            remedy = "Finish it with the command that started it."
            raise _checks.fail("Run.load", "folder", f"a run with {name}", str(self.path), remedy)
        content = _files.read_json(path)
        assert isinstance(content, dict)
        return content


class Index:
    """One SQLite row per run, for questions over many runs. Only one process, the parent of a sweep, writes it.

    Args:
        folder: where the runs are; the index is ``index.sqlite`` in it.
    """

    def __init__(self, folder: str | Path) -> None:
        """Make the table if it is not there."""
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS runs (key TEXT, seed INTEGER, method TEXT, folder TEXT, config TEXT,"
                " result TEXT, PRIMARY KEY (key, seed))"
            )

    def record(self, run: RunFolder, key: str) -> None:
        """Write the row of a finished run; writing it again changes nothing."""
        config, result = run.config(), run.result()
        row = (key, config["seed"], config["method"], run.path.name, json.dumps(config), json.dumps(result))
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")  # deferred transactions of several writers fail instead of waiting
            connection.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)
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
        with closing(self._connect()) as connection:
            connection.execute("DELETE FROM runs")
        finished = [RunFolder(path.parent) for path in sorted(self.folder.glob("*/result.json"))]
        for run in finished:
            self.record(run, run.result()["key"])
        return len(finished)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / "index.sqlite", timeout=60, isolation_level=None)


def environment() -> dict[str, Any]:
    """Return what a run depended on: versions and the machine's kind, nothing that names its user or host."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
