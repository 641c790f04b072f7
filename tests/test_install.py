"""What `pip install labelspace` brings is enough for the library; the application says what else to install."""

import importlib.metadata
import inspect
import json
import os
import re
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

import labelspace
from labelspace import analysis, decisions, metrics
from labelspace.criteria.registry import _classes

SOURCE = Path(labelspace.__file__).parent
PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())
ADVICE = 'pip install "labelspace[compare]"'
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
(LIBRARY,) = [contract for contract in CONTRACTS if contract["name"].startswith("the library imports neither")]
APPLICATION = [name for name in LIBRARY["forbidden_modules"] if name.startswith("labelspace.")]
# examples of what scikit-learn computes
WITH_MORE = {"labelspace.metrics.probes.superclass_accuracy", "labelspace.metrics.probes.linear_probe"}
OF_PANDAS = {"labelspace.space.LabelSpace.from_frame"}  # whose example makes a frame
# adapters that are subclasses of what a library offers, and its extra
EXTRA_OF = {name: name for name in ("lightning", "skorch", "timm", "torchmetrics")} | {"huggingface": "hf"}


def distributions(names: list[str]) -> dict[str, importlib.metadata.Distribution]:
    """Return the installed distributions of these requirements, and of theirs, and so on."""
    reached: dict[str, importlib.metadata.Distribution] = {}
    waiting = list(names)
    while waiting:
        requirement = waiting.pop()
        name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")  # type: ignore[index]
        if name in reached or "extra ==" in requirement:
            continue
        try:
            reached[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # for another platform or Python
            continue
        waiting.extend(reached[name].requires or [])
    return reached


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with labelspace and its requirements, linked to those installed here."""
    folder = tmp_path_factory.mktemp("five") / "venv"
    venv.create(folder, symlinks=True, with_pip=False)
    packages = next(folder.glob("lib/python*/site-packages"))
    for distribution in distributions(PROJECT["project"]["dependencies"]).values():
        files = distribution.files or []
        for name in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (packages / name).symlink_to(str(distribution.locate_file(name)))
    (packages / "labelspace").symlink_to(SOURCE)
    extras = PROJECT["project"]["optional-dependencies"]
    needs = [f'{one}; extra == "{extra}"' for extra, names in extras.items() for one in names]
    facts = packages / f"labelspace-{labelspace.__version__}.dist-info"
    facts.mkdir()
    lines = ["Metadata-Version: 2.4", "Name: labelspace", f"Version: {labelspace.__version__}"]
    lines += [f"Requires-Dist: {one}" for one in [*PROJECT["project"]["dependencies"], *needs]]
    (facts / "METADATA").write_text("\n".join(lines) + "\n")
    return folder / "bin" / "python"


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it in an empty folder, without anything of this environment."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "COV"))}
    own["OMP_NUM_THREADS"] = "1"
    return subprocess.run([str(python), *arguments], capture_output=True, text=True, cwd=python.parents[1], env=own)


def test_five_packages_are_required() -> None:
    names = [re.match(r"[\w-]+", one)[0] for one in PROJECT["project"]["dependencies"]]  # type: ignore[index]
    assert names == ["torch", "numpy", "scipy", "safetensors", "jaxtyping"]


def test_the_library_works_with_the_five_alone(python: Path) -> None:
    done = run(python, str(Path(__file__).parent / "five_alone.py"), *APPLICATION)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["methods"] == sorted(_classes())  # ours; another test may have registered more
    assert {name for name, said in found["examples"].items() if said} == WITH_MORE | OF_PANDAS
    for name in WITH_MORE:
        assert (
            f"needs the package 'sklearn', which is not installed. Install it with: {ADVICE}" in found["examples"][name]
        )
    said = {name.rpartition(".")[2]: text for name, text in found["adapters"].items()}
    assert said.keys() == EXTRA_OF.keys()
    for adapter, extra in EXTRA_OF.items():
        assert said[adapter].endswith(f'is not installed. Install it with: pip install "labelspace[{extra}]"')
    tried = {name.rpartition(".")[2] for name in found["examples"]}
    assert functions() - tried <= {"criterion_class", "infogain_loss"}  # which the methods use


def functions() -> set[str]:
    """Return the names of the functions that the library offers."""
    parts = [part for room in (labelspace, metrics, analysis, decisions) for part in vars(room).values()]
    public = {part.__name__ for part in parts if inspect.isfunction(part) and part.__module__.startswith("labelspace.")}
    return {name for name in public if not name.startswith("_")}


PIECES = """
import importlib, json, sys
said = {}
def attempt(name, act):
    try:
        act()
        said[name] = ""
    except ImportError as error:
        said[name] = str(error)
import labelspace
for name in ("train", "Run", "compare", "compare_scores", "Comparison", "data", "models"):
    attempt(name, lambda: getattr(labelspace, name))
for name in sys.argv[1:]:
    attempt(name, lambda: importlib.import_module(name))
attempt("tsne", lambda: labelspace.analysis.projection([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]], "tsne"))
print(json.dumps(said))
"""


def test_every_part_of_the_application_says_which_extra(python: Path) -> None:
    done = run(python, "-c", PIECES, *APPLICATION)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {name for name, text in said.items() if not text} == {"labelspace.records"}  # plain files
    for name, text in said.items():
        assert text.endswith(ADVICE) or name == "labelspace.records", (name, text)
        assert "\n" not in text


@pytest.mark.parametrize("arguments", [["compare", "digits"], ["doctor"]], ids=" ".join)
def test_the_command_says_which_extra(python: Path, arguments: list[str]) -> None:
    module, _, function = PROJECT["project"]["scripts"]["labelspace"].partition(":")
    script = f"import sys; from {module} import {function}; sys.argv[0] = 'labelspace'; sys.exit({function}())"
    done = run(python, "-c", script, *arguments)
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(rf"labelspace: .*pillow.*typer.*{re.escape(ADVICE)}\n", done.stderr)
    if arguments == ["doctor"]:
        lines = done.stdout.splitlines()
        extras = PROJECT["project"]["optional-dependencies"].keys() - {"all", "dev"}
        assert [line.split()[1] for line in lines] == sorted(f"{extra}:" for extra in extras)
        assert "extra onnx: without onnx, onnxruntime, onnxscript" in lines
    else:
        assert done.stdout == ""
