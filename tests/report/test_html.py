"""The file: self-contained, small, safe, and honest about what it holds."""

import base64
import hashlib
import json
import re
import shutil
import time
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import labelspace
from labelspace.report import write_html, write_runs_html
from labelspace.report.document import PRODUCERS, SCRIPTS
from report.folders import HOSTILE, write_run

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)


class Page(HTMLParser):
    """Every element with its attributes, and the text of each script."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def data(self) -> Any:
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.source, re.DOTALL)
        assert found is not None
        return json.loads(found[1])


@pytest.fixture(scope="module")
def page(comparison: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(write_html(comparison, tmp_path_factory.mktemp("page") / "report.html"))


def test_nothing_is_fetched(page: Page) -> None:
    assert not [tag for tag, _ in page.elements if tag in ("link", "iframe", "object", "embed", "base", "a")]
    assert not [names for _, names in page.elements if "src" in names or "href" in names]
    policies = [names["content"] for _, names in page.elements if names.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    rules = dict(rule.split(" ", 1) for rule in str(policies[0]).split("; "))
    assert (rules["default-src"], rules["base-uri"], rules["form-action"]) == ("'none'",) * 3
    # only the scripts that are there may run, each by its digest
    scripts = re.findall(r"<script>(.*?)</script>", page.source, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]


def test_a_class_named_like_a_script_is_text(page: Page) -> None:
    assert len([tag for tag, _ in page.elements if tag == "script"]) == len(SCRIPTS) + 1  # and the data
    assert any(HOSTILE in text for text in page.texts)
    assert HOSTILE not in page.source
    assert page.data()["names"][3] == HOSTILE


def test_it_is_small_and_quick(comparison: Path, tmp_path: Path) -> None:
    start = time.process_time()
    path = write_html(comparison, tmp_path / "report.html")
    assert path.stat().st_size < 2_000_000
    assert time.process_time() - start < 6


def test_200_classes_stay_below_four_megabytes(large_comparison: Path, tmp_path: Path) -> None:
    start = time.process_time()
    path = write_html(large_comparison, tmp_path / "report.html")
    assert time.process_time() - start < 15
    assert path.stat().st_size < 4_000_000
    data = Page(path).data()
    assert len(data["names"]) == 200
    assert len(data["spaces"]) >= 4
    assert set(data["confusions"]["validation"]["rows"]) == {"uniform", "semantic", "lls", "adaptive"}
    assert len(data["distances"]) == 7
    assert data["targets"]["rows"][0]["classes"][0].__len__() == 15


def test_what_does_not_fit_is_left_out_and_said(
    large_comparison: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.report.html.LIMIT", 2_000_000)
    path = write_html(large_comparison, tmp_path / "report.html")
    assert path.stat().st_size < 2_000_000
    assert re.search(r"\d+ figures left out to keep this file small", path.read_text())
    assert Page(path).data()["spaces"]


def test_the_first_screen_says_what_the_folder_says(page: Page, comparison: Path) -> None:
    facts = json.loads((comparison / "comparison.json").read_text())
    for text in [facts["title"], *facts["verdict"]["sentences"], facts["next"], *facts["warnings"], facts["command"]]:
        assert any(text in shown for shown in page.texts), text
    change = {row["label"]: row for row in page.data()["change"]["rows"]}
    winner = next(row for row in facts["rows"] if row["winner"])
    assert change["semantic"]["estimate"] == pytest.approx(winner["change"]["estimate"], rel=1e-5)
    assert change["semantic"]["winner"]
    assert "one-hot" not in change


@pytest.mark.parametrize("marked", [False, True])
def test_a_verdict_without_its_mark_is_explained(comparison: Path, tmp_path: Path, marked: bool) -> None:
    facts = json.loads((comparison / "comparison.json").read_text())
    for row in facts["rows"]:
        row["marked"] = marked
    (tmp_path / "comparison.json").write_text(json.dumps(facts))
    said = "Why cheaper without a filled point (●): the verdict rests on the interval of semantic alone"
    assert (said in write_html(tmp_path).read_text()) != marked


def test_how_the_training_was_chosen_is_a_table(comparison: Path, tmp_path: Path, page: Page) -> None:
    title = "How the training was chosen"
    assert title not in page.source
    facts = json.loads((comparison / "comparison.json").read_text())
    tried = [(0.01, 0.0, 21, 0.13), (0.03, 0.5, 21, 0.0987), (0.03, 0.5, 7, 0.138)]
    names = ("learning_rate", "weight_decay", "epochs", "nll")
    facts["rehearsal"] = [dict(zip(names, each, strict=True)) for each in tried]
    (tmp_path / "comparison.json").write_text(json.dumps(facts))
    shown = Page(write_html(tmp_path))
    assert title in shown.texts
    section = shown.source.split(title)[1].split("</details>")[0]
    cells = [re.findall(r"<t[hd] .*?>(.*?)</t[hd]>", row) for row in section.split("<tr")[2:]]
    assert cells == [["0.01", "0", "21", "0.1300"], ["▸ 0.03", "0.5", "21", "0.0987"], ["0.03", "0.5", "7", "0.1380"]]
    said = "the best of 3 tried for one-hot labels on validation data (rates 0.01–0.03, decay 0–0.5, 7–21 epochs)"
    assert any(text.endswith(said) for text in shown.texts)


def test_every_figure_has_its_data_its_place_and_its_script(page: Page) -> None:
    parts = set(page.data()) - {"names"}
    assert parts == set(PRODUCERS) | {"change", "quality"}
    assert parts == set(re.findall(r'^prepare\.set\("(\w+)"', page.source, re.MULTILINE))
    template = files("labelspace.report").joinpath("page.html.j2").read_text()
    assert parts == set(re.findall(r'"(\w+)" in sections', template))


def test_pictures_only_when_asked_for(comparison: Path, tmp_path: Path, page: Page) -> None:
    assert "No sample of the data is in this file" in page.source
    path = write_html(comparison, tmp_path / "report.html", [(PIXEL, f"true {HOSTILE}")])
    shown = Page(path)
    pictures = [names for tag, names in shown.elements if tag == "img"]
    assert len(pictures) == 1
    assert pictures[0]["alt"] == f"true {HOSTILE}"
    assert "This file contains 1 picture from the data" in shown.source
    with pytest.raises(ValueError, match="`examples` of write_html must be PNG or JPEG pictures"):
        write_html(comparison, tmp_path / "report.html", [(b"GIF89a", "a dog")])


def test_parts_that_are_absent_leave_their_figures_out(comparison: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    shutil.copy(comparison / "comparison.json", tmp_path / "bare")
    data = Page(write_html(tmp_path / "bare")).data()
    assert data["change"]
    assert not any(data[name] for name in ("curves", "spaces", "targets", "projections", "honesty", "distances"))
    assert data["confusions"] is None
    assert (tmp_path / "bare" / "report.html").is_file()


def test_folders_that_are_no_comparison(comparison: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no comparison.json. The same compare command finishes it"):
        write_html(tmp_path)
    with pytest.raises(ValueError, match="It holds plain runs: write_runs_html shows those"):
        write_html(comparison / "runs")
    (tmp_path / "comparison.json").write_text("{")
    with pytest.raises(ValueError, match="a damaged .*comparison.json"):
        write_html(tmp_path)
    (tmp_path / "comparison.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match="a comparison of format 1. Got 2 in"):
        write_html(tmp_path)
    (tmp_path / "comparison.json").write_text('{"format": 1}')
    with pytest.raises(ValueError, match="comparison.json without 'title'"):
        write_html(tmp_path)


def test_a_report_is_whole_or_not_there(comparison: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_html(comparison, tmp_path / "none" / "report.html")
    assert not list(tmp_path.iterdir())


def test_plain_runs(tmp_path: Path) -> None:
    space = labelspace.ordinal(["low", "mid", "<b>high</b>"])
    for seed in range(2):
        write_run(tmp_path / f"onehot-{seed}", "onehot", seed, space, 1.0, 40)
        write_run(tmp_path / f"semantic-{seed}", "semantic", seed, space, 0.5, 40)
    page = Page(write_runs_html([tmp_path], tmp_path / "report.html"))
    data = page.data()
    assert [row["label"] for row in data["curves"]["rows"]] == ["onehot", "semantic"]
    assert [len(row["seeds"]["train_loss"]) for row in data["curves"]["rows"]] == [2, 2]
    assert len(data["spaces"]) == 1
    assert "not tuned alike" in page.source
    single = write_runs_html([tmp_path / "onehot-0", tmp_path / "semantic-1"], tmp_path / "other.html")
    assert "2 runs · 3 classes" in single.read_text()


def test_runs_that_cannot_share_a_page(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="folders of finished runs. Got .*, which holds none"):
        write_runs_html([tmp_path], tmp_path / "report.html")
    write_run(tmp_path / "a", "onehot", 0, labelspace.ordinal(3), 1.0, 20)
    write_run(tmp_path / "b", "onehot", 0, labelspace.ordinal(4), 1.0, 20)
    with pytest.raises(ValueError, match="runs on the same classes. Got a and b, whose classes differ"):
        write_runs_html([tmp_path], tmp_path / "report.html")
