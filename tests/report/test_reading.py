"""A record that is not what it should be is one sentence that names it, whichever part of it is wrong."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace.comparison import Comparison
from labelspace.records import RunFolder
from labelspace.report import write_html, write_runs_html
from labelspace.training.run import Run
from report.folders import SPREADS, spaces, write_comparison, write_run
from signing import signed_again

LEFT_OUT = object()
NONSENSE: list[Any] = [[1], [], {"a": 1}, "text", 7, None, LEFT_OUT]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the numbers of a comparison, one method and one control of it, without its runs."""
    folder = write_comparison(tmp_path_factory.mktemp("whole") / "a", seeds=1, samples=40)
    facts: dict[str, Any] = json.loads((folder / "comparison.json").read_text())
    facts["rows"] = [row for row in facts["rows"] if row["label"] in ("one-hot", "semantic", "semantic shuffled")]
    facts["costliest"] = facts["costliest"][:1]
    for row in facts["rows"]:
        row["trials"] = row["trials"][:1]
    return facts


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every part of a record, the record itself first."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, part in parts:
        yield from places(part, (*path, key))


def put(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a place, or with nothing there."""
    if not path:
        return {} if value is LEFT_OUT else value
    copy = dict(content) if isinstance(content, dict) else list(content)
    if len(path) == 1 and value is LEFT_OUT:
        del copy[path[0]]
    else:
        copy[path[0]] = put(content[path[0]], path[1:], value)
    return copy


def told(comparison: Comparison) -> list[Any]:
    """Return all that a comparison says of itself."""
    return [comparison.table(), comparison.markdown(), comparison.records(), comparison.verdict, repr(comparison)]


def test_any_part_of_a_comparison_may_be_nonsense(content: dict[str, Any], tmp_path: Path) -> None:
    """Each reader takes it or refuses it in one sentence; nothing else may come out."""
    refused = []
    for path in places(content):
        for value in NONSENSE:
            (tmp_path / "comparison.json").write_text(json.dumps(put(content, path, value)))
            for read in (lambda: write_html(tmp_path), lambda: told(Comparison.load(tmp_path))):
                try:
                    read()
                except ValueError as error:
                    refused.append(str(error))
                except Exception as error:
                    pytest.fail(f"{value!r} at {path}: {error!r}")
    assert len(refused) > 100
    assert all("comparison" in text and "\n" not in text for text in refused)


def test_a_comparison_whose_rows_are_something_else(content: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "comparison.json").write_text(json.dumps({**content, "rows": {"a": 1}}))
    words = r"`folder` of write_html must be .*comparison\.json whose 'rows' is wrong \(a valid list\)"
    with pytest.raises(ValueError, match=words):
        write_html(tmp_path)
    with pytest.raises(
        ValueError, match=r"`folder` of Comparison.load must be .*comparison\.json whose 'rows' is wrong"
    ):
        Comparison.load(tmp_path)


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "a/b", "..", "", "a\\b", "c:x", "a\0b"])
@pytest.mark.parametrize("place", ["runs", "trials"])
def test_a_comparison_that_names_runs_elsewhere(content: dict[str, Any], tmp_path: Path, name: str, place: str) -> None:
    row = dict(content["rows"][1])
    row |= {"runs": [name]} if place == "runs" else {"trials": [{**row["trials"][0], "run": name}]}
    (tmp_path / "comparison.json").write_text(json.dumps({**content, "rows": [content["rows"][0], row]}))
    for read in (lambda: write_html(tmp_path), lambda: Comparison.load(tmp_path)):
        with pytest.raises(ValueError, match=f"'rows.1.{place}.0.*the name of a folder inside"):
            read()


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    space = spaces([str(number) for number in range(10)], torch.Generator())["one-hot"]
    return write_run(tmp_path / "runs" / "onehot-abc-seed0", "onehot", 0, space, SPREADS["one-hot"], 30)


@pytest.mark.parametrize("name", ["result.json", "config.json"])
@pytest.mark.parametrize("text", ["[1]", "null", '"text"', "{", "", "{}", "\x00"])
def test_a_run_whose_record_is_no_record(name: str, text: str, run: RunFolder, tmp_path: Path) -> None:
    (run.path / name).write_text(text)
    if name != "result.json":
        signed_again(run.path)
    for read in (lambda: Run.load(run.path), lambda: write_runs_html([run.path], tmp_path / "page.html")):
        with pytest.raises(ValueError, match=f"`folder` of Run.load must be a run with a sound {name}") as caught:
            read()
        assert "\n" not in str(caught.value)
        assert str(run.path) in str(caught.value)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("text", ["[1]\n", "{\n", '"text"\n', "{}\n7\n"])
def test_epochs_that_are_no_epochs(text: str, run: RunFolder) -> None:
    (run.path / "epochs.jsonl").write_text(text)
    signed_again(run.path)
    with pytest.raises(ValueError, match="`folder` of Run.load must be a run with a sound epochs.jsonl"):
        run.epochs()
