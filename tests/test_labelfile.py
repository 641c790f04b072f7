"""The label file: read with safetensors alone, and refused where it is not what was written."""

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from labelspace import LabelFileError, _labelfile

HEADER = {"names": ["a", "b"], "kind": "relations", "source": {"builder": "mine"}}


def test_it_is_a_safetensors_file_with_one_key(tmp_path: Path) -> None:
    path = _labelfile.write(tmp_path / "x.safetensors", {"matrix": torch.eye(2)}, HEADER)
    with safe_open(path, framework="pt") as file:
        (key,) = file.metadata()
        facts = json.loads(file.metadata()[key])
        assert torch.equal(file.get_tensor("matrix"), torch.eye(2))
    assert {name: facts[name] for name in HEADER} == HEADER
    tensors, header = _labelfile.read(path)
    assert torch.equal(tensors["matrix"], torch.eye(2))
    assert header == facts
    again, same = _labelfile.parse(path, path.read_bytes())
    assert same == header
    assert torch.equal(again["matrix"], tensors["matrix"])


def test_equal_spaces_are_equal_bytes(tmp_path: Path) -> None:
    one = _labelfile.write(tmp_path / "1", {"matrix": torch.eye(2)}, HEADER)
    two = _labelfile.write(tmp_path / "2", {"matrix": torch.eye(2)}, dict(reversed(HEADER.items())))
    assert one.read_bytes() == two.read_bytes()


def test_a_changed_number_or_word_is_noticed(tmp_path: Path) -> None:
    path = _labelfile.write(tmp_path / "x", {"matrix": torch.eye(2)}, HEADER)
    for old, new in ((b"mine", b"thin"), (torch.ones(1).numpy().tobytes(), torch.full((1,), 2.0).numpy().tobytes())):
        changed = tmp_path / "changed"
        changed.write_bytes(path.read_bytes().replace(old, new, 1))
        with pytest.raises(LabelFileError, match="not what was written"):
            _labelfile.read(changed)
        with pytest.warns(UserWarning, match="it is read as it is"):
            _labelfile.read(changed, allow_damaged=True)


def test_other_files_are_refused(tmp_path: Path) -> None:
    save_file({"matrix": torch.eye(2)}, tmp_path / "weights")
    with pytest.raises(LabelFileError, match="but not a label file"):
        _labelfile.read(tmp_path / "weights")
    head = b'{"__metadata__": null, "matrix": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}}'
    with pytest.raises(LabelFileError, match="but not a label file"):
        _labelfile.parse(tmp_path / "null", len(head).to_bytes(8, "little") + head + bytes(4))
    save_file({"matrix": torch.eye(2)}, tmp_path / "later", {"labelspace": '{"version": 99}'})
    with pytest.raises(LabelFileError, match="it is of version 99"):
        _labelfile.read(tmp_path / "later")
    with pytest.raises(ValueError, match="`source` of LabelSpace must be plain JSON data"):
        _labelfile.plain({"when": object()})
