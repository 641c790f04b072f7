"""The benchmark of sequences runs, and records what it says."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from small_corpus import write_corpus

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_it_measures_and_records_a_small_corpus(tmp_path: Path) -> None:
    for name in ("sequences.py", "results.py"):  # what is recorded lies beside the script
        shutil.copy(SCRIPTS / name, tmp_path)
    corpus = write_corpus(tmp_path / "numbers")
    words = [
        "--data",
        str(corpus),
        "--model",
        "seq2seq-8",
        "--methods",
        "onehot,lls,labelemb",
        "--steps",
        "2",
        "--record",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(tmp_path / "sequences.py"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) == 1 + 2 * 3
    with (tmp_path / "results" / "sequences.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["onehot", "lls", "labelemb"]
    for row in rows:
        assert (row["data"], row["model"], row["steps"]) == ("numbers", "seq2seq-8", "2")
        assert min(float(row["speed"]), float(row["cpu_speed"]), float(row["tokens_per_second"])) > 0
