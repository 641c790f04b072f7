"""The answer from Python: tables, records, pages, and what a notebook shows."""

import base64
import builtins
import io
import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from comparison.small import TINY, write_table
from labelspace.comparison import Comparison, Verdict, compare, compare_scores
from labelspace.comparison.result import varied
from labelspace.results import Best, Result
from labelspace.sweeps.executors import InProcess


def test_load_reads_what_was_found(finished: Comparison) -> None:
    assert finished.folder is not None
    again = Comparison.load(finished.folder)
    assert again == finished
    assert isinstance(again.verdict, Verdict)
    assert again.verdict == finished.verdict
    assert again.table() == finished.table()
    assert Comparison.load(str(finished.folder)).folder == finished.folder


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "must be the folder of a finished comparison.*no comparison.json"),
        ("{}", "must be a comparison of format 1"),
        ('{"format": 2}', "must be a comparison of format 1"),
        ("[1]", "must be a comparison of format 1"),
        ('{"format": 1', "must be the folder of a finished comparison. Got a damaged"),
    ],
)
def test_load_refuses_what_is_no_comparison(content: str | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "comparison.json").write_text(content)
    with pytest.raises(ValueError, match=f"`folder` of Comparison.load {words}"):
        Comparison.load(tmp_path)


def test_repr_is_the_verdict(finished: Comparison) -> None:
    assert repr(finished) == f"Comparison({finished.verdict.kind}: {finished.verdict.sentences[0]})"


def test_records_are_tidy(finished: Comparison) -> None:
    records = finished.records()
    rows = finished.content["rows"]
    assert [(each["label"], each["decision"]) for each in records] == [
        (row["label"], rule) for row in rows for rule in ("argmax", "min_cost")
    ]
    assert len({tuple(each) for each in records}) == 1  # the same columns everywhere
    for each in records:
        row = next(row for row in rows if row["label"] == each["label"])
        assert each["cost"] == row[each["decision"]]["cost"]
        assert each["accuracy"] == row[each["decision"]]["accuracy"]
        # the change is that of the headline rule
        expected = row["change"]["estimate"] if row["change"] and each["decision"] == "min_cost" else None
        assert each["change"] == expected
    json.dumps(records, allow_nan=False)


def test_to_frame(finished: Comparison) -> None:
    pandas = pytest.importorskip("pandas")
    frame = finished.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(finished.records())
    assert list(frame["label"]) == [each["label"] for each in finished.records()]


def test_to_frame_says_what_it_needs(finished: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without_pandas(name: str, *rest: Any, **options: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return plain(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r'pip install "labelspace\[pandas\]"'):
        finished.to_frame()


def test_a_notebook_shows_text_as_text(finished: Comparison) -> None:
    content = {**finished.content, "title": "<script>alert(1)</script> & co", "warnings": ["<b>bold</b>"]}
    page = Comparison(None, Result.model_validate(content))._repr_html_()
    assert set(re.findall(r"<[^>]*>", page)) == {"<pre>", "</pre>"}
    assert unescape(page).startswith("<pre><script>alert(1)</script> & co")


def test_a_page(finished: Comparison, tmp_path: Path) -> None:
    place = finished.save_html(tmp_path / "page.html")
    text = place.read_text(encoding="utf-8")
    assert place == tmp_path / "page.html"
    assert finished.verdict.sentences[0].split(":")[0] in unescape(text)
    assert "data:image/png;base64" not in text  # no pictures unless somebody asks for them
    assert finished.folder is not None
    assert finished.save_html() == finished.folder / "report.html"


def test_pictures_of_costly_mistakes(finished: Comparison, tmp_path: Path) -> None:
    text = finished.save_html(tmp_path / "page.html", examples=3).read_text(encoding="utf-8")
    pictures = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", text)
    assert len(pictures) == 3
    for picture in pictures:
        assert min(Image.open(io.BytesIO(base64.b64decode(picture))).size) >= 96
    captions = re.findall(r"(\d) called (\d) \(cost (\d)\)", text)
    assert len(captions) >= 3
    assert all(abs(int(true) - int(called)) == int(price) for true, called, price in captions)
    assert {price for _, _, price in captions} <= {"7", "8", "9"}  # the costliest of many


def test_pictures_are_of_different_mistakes_first(finished: Comparison, tmp_path: Path) -> None:
    text = finished.save_html(tmp_path / "page.html", examples=4).read_text(encoding="utf-8")
    captions = re.findall(r"<figcaption>(\d called \d) \(cost \d\)", text)
    assert len(captions) == len(set(captions)) == 4
    # then the second of each kind, the costliest first
    assert varied([5, 3, 8, 1, 2], [(0, 9), (0, 9), (9, 0), (0, 9), (9, 0)]) == [5, 8, 3, 2, 1]


def test_pictures_that_a_plan_merely_names_are_not_shown(finished: Comparison, tmp_path: Path) -> None:
    """A folder from elsewhere must not put the reader's own pictures into a report."""
    assert finished.folder is not None
    other = tmp_path / "other"
    shutil.copytree(finished.folder, other)
    private = tmp_path / "private"
    for name in range(10):
        (private / str(name)).mkdir(parents=True)
        for number in range(8):
            pixels = torch.randint(256, (8, 8), dtype=torch.uint8).numpy()
            Image.fromarray(pixels).save(private / str(name) / f"{number}.png")
    plan = (other / "plan.toml").read_text()
    (other / "plan.toml").write_text(re.sub(r"(?m)^data = .*$", f'data = "{private}"', plan))
    with pytest.raises(ValueError, match="`examples` of report must be left out: what the plan names as its data are"):
        Comparison.load(other).save_html(tmp_path / "page.html", examples=1)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("count", [-1, 2.5])
def test_a_wrong_number_of_pictures(count: Any, finished: Comparison) -> None:
    with pytest.raises((ValueError, TypeError), match="`examples` of report must be a whole number of at least 1"):
        finished.save_html(examples=count)


def test_tables_have_no_pictures(tmp_path: Path) -> None:
    table = write_table(tmp_path / "sizes.csv", ["small", "medium", "large"])
    found = compare(table, **TINY, out=tmp_path, executor=InProcess())
    with pytest.raises(ValueError, match="`examples` of report must be left out: only images can be shown. Got table"):
        found.save_html(examples=1)


def test_images_in_memory_are_not_on_disk_to_be_shown(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (90, 1, 8, 8), generator=generator, dtype=torch.uint8)
    found = compare((images, torch.arange(90) % 3), **TINY, out=tmp_path, executor=InProcess())
    with pytest.raises(
        ValueError, match="`examples` of report must be left out: the pictures are not on disk. Got data given in"
    ):
        found.save_html(examples=1)


def test_scores_alone_have_no_run_and_no_page() -> None:
    y = torch.arange(30) % 3
    part = (torch.nn.functional.one_hot(y, 3).double(), y)
    found = compare_scores([part, part], cost="squared")
    with pytest.raises(ValueError, match="asked of a trained comparison. Got one of scores alone"):
        _ = found.best
    with pytest.raises(ValueError, match="asked of a comparison with a folder. Got one of scores alone. .* out="):
        found.save_html()


def test_scores_alone_are_saved_loaded_and_drawn(tmp_path: Path) -> None:
    y = torch.arange(30) % 3
    part = (torch.nn.functional.one_hot(y, 3).double(), y)
    found = compare_scores([part, part], cost="squared")
    saved = found.save(tmp_path / "kept")
    again = Comparison.load(tmp_path / "kept")
    assert again == saved
    assert again.result == found.result
    assert [row.label for row in again.rows] == ["model"]
    assert again.recommendation == Best(label="model", run=None, rule="min_cost")
    assert "<table" in again.save_html().read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="`folder` of Comparison.save must be a folder that is empty or not there yet"):
        found.save(tmp_path / "kept")


def test_a_trained_comparison_is_saved_with_its_runs(finished: Comparison, tmp_path: Path) -> None:
    saved = finished.save(tmp_path / "kept")
    assert saved.best.result == finished.best.result
    assert saved.recommendation == finished.recommendation
    assert Comparison.load(tmp_path / "kept").rows == finished.rows
