"""Comparisons of some classes, with groups: what is trained on, judged and shown."""

import json
from pathlib import Path

import numpy as np
import torch
from torch.testing import assert_close

from comparison.small import SMALL
from labelspace import LabelSpace, Run, compare, data
from labelspace.sweeps.executors import InProcess


def test_groups_and_prices_of_all_classes_serve_some(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("round: 0, 6, 8, 9\ntall: 1, 7, 4\nopen: 2, 3, 5\n")
    prices = np.add.outer(np.arange(1, 11), np.arange(10))
    np.fill_diagonal(prices, 0)
    rows = [["", *range(10)], *([digit, *row] for digit, row in enumerate(prices))]
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "prices.csv").write_text("\n".join(lines))
    found = compare(
        "digits",
        **{**SMALL, "methods": ["semantic"], "strengths": {"semantic": [0.3]}},
        classes=["9", "7", "0", "1"],
        validation="first 400",
        limit="50%",
        space=tmp_path / "g.txt",
        cost=str(tmp_path / "prices.csv"),
        out=tmp_path / "out",
        executor=InProcess(),
    )
    dataset = data.load("digits", classes="9,7,0,1", validation="first 400")
    content = found.content
    assert content["data"]["names"] == ["9", "7", "0", "1"]
    assert content["data"]["counts"]["validation"] == len(dataset.validation)
    assert content["data"]["counts"]["train"] == round(len(dataset.train) / 2)
    assert content["space"]["words"] == "groups: 4 classes in 2 groups; all mass stays inside the groups"
    assert found.folder is not None
    chosen = [9, 7, 0, 1]
    expected = torch.tensor(prices[np.ix_(chosen, chosen)], dtype=torch.float32)
    assert_close(LabelSpace.load(found.folder / "cost.safetensors").matrix, expected)
    relations = torch.tensor([[0.0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    assert_close(LabelSpace.load(found.folder / "space.safetensors").matrix, relations)
    row = next(row for row in content["rows"] if row["label"] == "semantic")
    run = Run.load(found.folder / "runs" / row["runs"][0])
    assert run.config.data_options == {"classes": ["9", "7", "0", "1"], "validation": "first 400"}
    # in the right group: 9 and 0 are even places here, 7 and 1 odd ones
    shares = []
    for name in row["runs"]:
        scores = Run.load(found.folder / "runs" / name).scores
        shares.append((scores["test_scores"].argmax(1) % 2 == scores["test_y"] % 2).double().mean().item())
    assert_close(row["argmax"]["group_accuracy"], float(np.mean(shares)))
    assert content["extra"] == [{"key": "group_accuracy", "title": "right group ↑"}] + [
        extra for extra in content["extra"] if extra["key"] != "group_accuracy"
    ]
    assert "right group" in found.table()
    assert "right group" in found.save_html().read_text(encoding="utf-8")
    # the plan repeats it, and the same question goes on in the same folder
    again = compare(plan=found.folder / "plan.toml", out=tmp_path / "other", executor=InProcess())
    assert json.dumps(again.content["rows"]) == json.dumps(content["rows"])
