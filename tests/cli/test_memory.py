"""What does not fit into memory is one line that says what to do."""

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from labelspace import data
from labelspace._checks import WorkError
from labelspace.cli.main import app


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 74.5 GiB for an array with shape (100000, 100000) and data type float64"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
    ],
)
def test_one_line(monkeypatch, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(data, "check", fail)
    result = CliRunner().invoke(app, ["data", "check", "digits"])
    assert result.exit_code == 1
    assert result.stderr.startswith("labelspace: this takes more memory than there is. Give fewer samples (--limit)")
    assert result.stderr.count("\n") == 1


def test_another_error_keeps_its_words(monkeypatch):
    def fail(*arguments, **options):
        raise WorkError("the disk is full")

    monkeypatch.setattr(data, "check", fail)
    assert CliRunner().invoke(app, ["data", "check", "digits"]).stderr == "labelspace: the disk is full\n"


def test_a_file_made_to_fill_the_memory_is_one_line(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    codes = arrow.array(np.zeros(300, np.int32))
    texts = arrow.DictionaryArray.from_arrays(codes, arrow.array(["x" * 1_000_000]))
    parquet.write_table(arrow.table({"text": texts, "label": np.arange(300) % 2}), tmp_path / "t.parquet")
    result = CliRunner().invoke(app, ["data", "check", str(tmp_path / "t.parquet")])
    assert result.exit_code == 2
    assert "LABELSPACE_MAX_UNPACKED=16G" in result.stderr
    assert result.stderr.count("\n") == 1
