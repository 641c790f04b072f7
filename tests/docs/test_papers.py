"""docs/papers.md names every feature of the papers, and what it shows works: each snippet is run at a small size.

Commands run in this process, on stand-ins of the datasets; where the real ones are, also on those (long).
"""

import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from docs.stand_ins import write_stand_ins
from labelspace.cli.main import app
from realdata import data_folder

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
FEATURES = range(1, 66)
NOT_YET = [64]  # studies
REAL = data_folder()
DATASETS = ("mnist", "fashion-mnist", "cifar-10", "tiny-imagenet", "imdb", "multi30k")
# starting processes takes seconds, and so does an ImageNet network
SLOW = {"21-console", "57-console", "63-python"}
# 25,000 reviews through an encoder, 16,000 pictures through an ImageNet network, and a search for 2,000 translations by
# every run are too much for a test
TOO_LARGE = {"21-console", "22-console", "24-python", "30-python", "50-console", "51-console"}
# others read the same data in the same way, and take long
REPEATED = {"23-console", "35-console", "41-console", "42-console"}
SMALL_MODELS = {
    "linear": ("resnet18", "resnet34", "resnet50", "resnet110", "wrn-28-12", "resnet8", "bottleneck-9", "cnn-5x5"),
    "resnet8-small": ("resnet32",),  # has a last feature map, which may vote
    "mlp-16": ("mlp-500-500",),
    "seq2seq-16": ("seq2seq-512x2", "seq2seq-256"),
}
# what is replaced in both kinds of snippets
NUMBERS = (
    (r"(?<=first )5000\b", "100"),
    (r"(?<=prune_after=)\d+", "1"),
    (r"(?<=--milestones )[\d,]+", "1"),
    (r"(?<=--warmup-epochs )\d+", "1"),
    (r"(?<=--batch-size )\d{3,}", "50"),
    (r"(?<=batch_size=)\d{3,}", "50"),
    (r'(?<="batch_size": )\d{3,}', "50"),
    (r"(?<=--epochs )\d+", "2"),
    (r"(?<=\bepochs=)\d+", "2"),
    (r'(?<="epochs": )\d+', "2"),
    (r"(?<=--seeds )12,123,1234", "12,123"),
    (r"seed=range\(20\)", "seed=range(2)"),
    (r"(?<=for tenth in )range\(\d\)", "(0, 3)"),
    (r'(Slurm\("logs", {"timeout_min": 60})}\)', r'\1}, cluster="local")'),
)
LIMIT = 400


class Snippet(NamedTuple):
    """A fenced block of the page."""

    section: str
    feature: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.feature}-{self.language}"

    @property
    def needs_data(self) -> bool:
        return any(re.search(rf"(?<![\w-]){name}(?![\w-])", self.text) for name in DATASETS)


def features() -> Iterator[tuple[str, int, str]]:
    """Yield the section, the number and the text of every feature."""
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        section = part.splitlines()[0]
        for found in re.finditer(r"^\*\*(\d+)\. .+?(?=^\*\*\d+\. |\Z)", part, flags=re.MULTILINE | re.DOTALL):
            yield section, int(found[1]), found[0]


def snippets() -> list[Snippet]:
    return [
        Snippet(section, number, language, text)
        for section, number, body in features()
        for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    ]


def shrunk(text: str, *, real: bool) -> str:
    """Return a snippet that trains little; stand-ins have few samples, real data are cut."""
    for small, names in SMALL_MODELS.items():
        # only where a network is trained: those that are built to be counted stay
        text = re.sub(rf'(--model |model="|"model": ")({"|".join(names)})(?![\w-])', rf"\g<1>{small}", text)
    for pattern, value in NUMBERS:
        text = re.sub(pattern, value, text)
    if real:
        text = re.sub(r', limit="50%"', "", text)
        text = re.sub(r'(labelspace\.(?:train|compare)\(\s*"[\w-]+",)', rf"\1 limit={LIMIT},", text)
        text = re.sub(r'({\s*"data": "[\w-]+",)', rf'\1 "limit": {LIMIT},', text)
    return re.sub(r'(labelspace\.compare\(\s*"[\w-]+",)', r"\1 seeds=2,", text)


def completed(words: Sequence[str], *, real: bool) -> list[str]:
    """Return the words of a command with what it leaves to defaults that take long."""
    wanted = {"--epochs": "2"} if words[0] in ("train", "compare") else {}
    wanted |= {"--seeds": "2", "--methods": "uniform,semantic", "--model": "linear"} if words[0] == "compare" else {}
    wanted |= {"--limit": str(LIMIT)} if real and wanted else {}
    return [*words, *(word for flag, value in wanted.items() if flag not in words for word in (flag, value))]


def run_console(text: str, *, real: bool) -> None:
    for line in shrunk(text, real=real).splitlines():
        program, *words = shlex.split(line)
        if program == "torchrun":
            command = [sys.executable, "-m", "torch.distributed.run", "--master-port", "29541", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[-2000:]
            continue
        assert program == "labelspace", line
        result = CliRunner().invoke(app, completed(words, real=real))
        assert result.exit_code == 0, f"{line}\n{result.output}{result.exception!r}"
        assert "Traceback" not in result.output


class InThisProcess:
    """Takes the place of worker processes, whose start would take most of the time."""

    workers = 1

    def __init__(self, *settings: Any) -> None:
        """Take what processes take."""

    def run(self, work: Any, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        return ((number, work(task)) for number, task in enumerate(tasks))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a folder for each section, with stand-ins and with real data: what two snippets share is trained once."""
    root = tmp_path_factory.mktemp("papers")
    found = {"data": write_stand_ins(root), "cache": tmp_path_factory.mktemp("cache")}
    for section in {snippet.section for snippet in snippets()}:
        for kind in ("stand-in", "real"):
            found[f"{section} {kind}"] = tmp_path_factory.mktemp("section")
    return found


def cases() -> Iterator[Any]:
    for snippet in snippets():
        slow = [pytest.mark.long] if snippet.name in SLOW else []
        yield pytest.param(snippet, False, id=snippet.name, marks=slow)
        if snippet.needs_data and snippet.name not in TOO_LARGE | REPEATED:
            absent = pytest.mark.skipif(REAL is None, reason="the real datasets are not on this machine")
            yield pytest.param(
                snippet, True, id=f"{snippet.name}-real", marks=[pytest.mark.long, pytest.mark.data, absent]
            )


def test_every_feature_is_there_once_and_shown_or_missing_in_words() -> None:
    found = list(features())
    assert [number for _, number, _ in found] == list(FEATURES)
    assert [number for _, number, text in found if "*Not yet.*" in text] == NOT_YET
    assert [number for _, number, text in found if "```" not in text] == NOT_YET


@pytest.mark.parametrize("words", ["train digits --method lsl", "train digits --no-such-flag 1", "labels show nowhere"])
def test_a_command_that_fails_is_noticed(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=words):
        run_console(f"labelspace {words}\n", real=False)


def test_shrinking_replaces_what_takes_long() -> None:
    text = "labelspace train mnist --model resnet50 --epochs 150 --validation 'first 5000'\n"
    assert shrunk(text, real=False) == "labelspace train mnist --model linear --epochs 2 --validation 'first 100'\n"
    call = 'labelspace.train("mnist", model="resnet18-128", epochs=15)'
    assert shrunk(call, real=True) == 'labelspace.train("mnist", limit=400, model="resnet18-128", epochs=2)'
    typed = ["compare", "digits", "--seeds", "12,123", "--model", "mlp-32-2"]
    assert completed(typed, real=False) == [*typed, "--epochs", "2", "--methods", "uniform,semantic"]
    assert completed(["labels", "show", "x"], real=True) == ["labels", "show", "x"]


@pytest.mark.parametrize(("snippet", "real"), list(cases()))
def test_snippet_runs(snippet: Snippet, real: bool, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folders[f"{snippet.section} {'real' if real else 'stand-in'}"])
    monkeypatch.setenv("LABELSPACE_DATA", str(REAL if real else folders["data"]))
    monkeypatch.setenv("LABELSPACE_CACHE", str(folders["cache"]))
    for place in ("labelspace.sweeps.executors", "labelspace.sweeps.grid", "labelspace.comparison.run"):
        monkeypatch.setattr(f"{place}.Processes", InThisProcess)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few samples are rightly warned of
        if snippet.language == "console":
            run_console(snippet.text, real=real)
        else:
            exec(compile(shrunk(snippet.text, real=real), f"{PAGE.name}, feature {snippet.feature}", "exec"), {})
