"""`labelspace doctor`: what it finds, and what it says of what is broken."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from labelspace import _packages
from labelspace.cli import doctor as health
from labelspace.cli.doctor import Finding, doctor

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(doctor)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LABELSPACE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    # the real ones take seconds to import, and are somebody else's
    monkeypatch.setattr(health, "IMPORTED", ("json", "no_such_package"))


def invoke(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output + str(result.exception)
    return result


def by_name(text: str) -> dict[str, dict[str, str]]:
    return {one["what"]: one for one in json.loads(text)["findings"]}


def test_a_sound_machine() -> None:
    text = invoke().stdout
    assert "nothing is broken" in text
    for what in ("python", "torch", "cores", "cache folder", "data folder", "disk"):
        assert what in text
    found = by_name(invoke("--json").stdout)
    assert found["json"]["state"] == "ok"
    assert found["no_such_package"]["state"] == "absent"
    assert found["torch"]["value"].startswith(health.version("torch") or "?")
    assert "will be made" in found["cache folder"]["value"]


def fake(folder: Path, name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package in front of all others, for this process and for those it starts."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(code)
    facts = folder / f"{name}-0.99.0.dist-info"
    facts.mkdir()
    facts.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.99.0\nRequires-Dist: torch==9.9.0\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))


def test_a_torchvision_of_another_torch_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "torchvision", "raise RuntimeError('operator torchvision::nms does not exist')", monkeypatch)
    fake(
        tmp_path,
        "timm",
        "try:\n    import torchvision\nexcept RuntimeError as e:\n    raise ImportError('no') from e",
        monkeypatch,
    )
    monkeypatch.setattr(health, "IMPORTED", ("torchvision", "timm"))
    result = invoke("--json", code=1)
    assert json.loads(result.stdout)["broken"] == ["torchvision", "timm"]
    for one in ("torchvision", "timm"):
        remedy = by_name(result.stdout)[one]["remedy"]
        assert "torchvision 0.99.0 does not match torch" in remedy
        assert "was built for torch==9.9.0" in remedy
        assert "pip uninstall torchvision" in remedy
    assert "operator torchvision::nms does not exist" in by_name(result.stdout)["torchvision"]["value"]
    text = " ".join(invoke(code=1).stdout.split())
    assert "does not match torch" in text


def test_the_torchvision_of_a_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.__version__", "2.6.0+cpu")  # which came with torchvision 0.21
    assert 'pip install "torchvision==0.21.*"' in health.mismatch()


@pytest.mark.parametrize(
    ("code", "words"),
    [("raise ValueError('wrong wheel')", "ValueError: wrong wheel"), ("import os; os._exit(7)", "exit code 7")],
)
def test_other_packages_that_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str) -> None:
    fake(tmp_path, "timm", code, monkeypatch)
    found = health.package("timm")
    assert found.state == "broken"
    assert words in found.value
    assert "pip install --force-reinstall timm" in found.remedy


def test_a_package_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "timm", "import time; time.sleep(60)", monkeypatch)
    monkeypatch.setattr(health, "SECONDS", 0.5)
    assert health.package("timm").state == "warning"


def test_folders_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(health.tempfile, "TemporaryFile", refuse)
    broken = [one.what for one in health.places() if one.state == "broken"]
    assert broken == ["cache folder", "runs folder"]
    assert "2 broken: cache folder, runs folder" in " ".join(invoke(code=1).stderr.split())


def test_data_and_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / "mnist").mkdir(parents=True)
    monkeypatch.setenv("LABELSPACE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(health, "LEAST_BYTES", 1 << 60)
    found = {one.what: one for one in health.places()}
    assert found["data folder"] == Finding("data folder", f"{tmp_path / 'data'}: mnist")
    assert found["disk"].state == "warning"


def test_extras_by_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = [
        "torch>=2.6",
        'numpy>=1; extra == "fast"',
        'nowhere-to-be-found; extra == "far"',
        "labelspace[fast]; extra == 'dev'",
        'numpy>=1; extra == "all"',  # builders of packages write out what an extra gathers
    ]
    monkeypatch.setattr(_packages, "requirements", lambda _: needs)
    found = {one.what: one for one in health.extras()}
    assert list(found) == ["extra far", "extra fast"]
    assert found["extra far"].state == "absent"
    assert found["extra far"].remedy == 'pip install "labelspace[far]"'
    assert found["extra fast"].value.startswith("numpy ")


def test_an_old_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.__version__", "2.5.1")
    assert health.torch_itself().state == "broken"


def test_help_has_an_example() -> None:
    assert "Example: labelspace doctor" in " ".join(invoke("--help").stdout.split())
