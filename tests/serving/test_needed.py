"""What raw samples need is in the file: a text goes through the graph with json, re and onnxruntime alone."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace.decisions.decision import Decision
from labelspace.models.backbones import MINILM
from labelspace.serving.needed import needed
from labelspace.serving.onnx import export_onnx
from labelspace.training.run import train


def facts(kind: str, shape: list[int], **more: Any) -> Any:
    return {"kind": kind, "names": ["a", "b"], "input_shape": shape, "tokens": None, "vocabulary": None, **more}


def test_a_text_is_prepared_by_the_metadata_alone(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    lines = [f"{'Good' if i % 2 else 'bad'} film's number {i},{i % 2}" for i in range(60)]
    (tmp_path / "s.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    run = train(tmp_path / "s.csv", model="text-bag", epochs=1, data_options={"max_length": 6})
    done = export_onnx(run, Decision("argmax", 1.3, None, run.names), tmp_path / "m.onnx")
    assert f"the {run.preprocessing['tokens']} words are under preprocessing.vocabulary" in done.needed.words
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    metadata = {name: json.loads(text) for name, text in session.get_modelmeta().custom_metadata_map.items()}
    texts = ["A GOOD film's end, nobody knows it", "bad"]
    rule, words = metadata["input"]["tokeniser"], metadata["preprocessing"]["vocabulary"]
    ids = np.full((2, rule["length"]), rule["padding"])
    for row, text in enumerate(texts):
        assert rule["lower"]
        for place, word in enumerate(re.findall(rule["pattern"], text.lower())[: rule["length"]]):
            ids[row, place] = words.index(word) if word in words else rule["unknown"]
    found = session.run(["probabilities"], {"x": ids})[0]
    wanted = torch.softmax(run.scores_of(texts).double() / 1.3, dim=1).float()
    torch.testing.assert_close(torch.from_numpy(found), wanted, atol=1e-5, rtol=1e-4)


def test_a_network_that_reads_texts_is_named_and_one_that_reads_pictures_is_inside() -> None:
    outside = needed(facts("features", [384]), "minilm", "minilm/abc")
    assert outside.facts["backbone"] == {"name": "minilm", "package": MINILM, "key": "minilm/abc", "inside": False}
    assert "the graph does not hold that network" in outside.words
    inside = needed(facts("features", [1280]), "efficientnet-lite0", "efficientnet-lite0/224/abc")
    assert inside.facts["backbone"] == {
        "name": "efficientnet-lite0",
        "key": "efficientnet-lite0/224/abc",
        "inside": True,
    }
    assert "efficientnet-lite0 is in the graph" in inside.words


def test_columns_are_named_and_plain_arrays_need_nothing() -> None:
    table = needed(facts("table", [2], input={"encoding": [{"name": "v", "fill": 0.0}]}))
    assert table.facts == {"takes": "table", "encoding": "preprocessing.input.encoding"}
    assert needed(facts("images", [1, 8, 8])) == ({"takes": "images"}, "")
