"""Models and methods that are given as objects, from plain Python to a package that is installed."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import labelspace
from comparison.small import write_table
from labelspace import InputError, Run, train
from labelspace._plugins import content_key
from labelspace.criteria.base import Criterion, Example, Term
from labelspace.sweeps.executors import InProcess, Processes
from labelspace.sweeps.grid import grid, sweep

QUICK = {"data": "digits", "epochs": 2, "limit": 100}


def narrow(input_shape, output_dim):
    """A network as people write it: it returns its output alone."""
    size = torch.Size(input_shape).numel()
    return nn.Sequential(nn.Flatten(), nn.Linear(size, 12), nn.ReLU(), nn.Linear(12, output_dim))


class Pair(nn.Module):
    """A network that returns features of its own."""

    def __init__(self, width):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Flatten(), nn.Linear(64, 7)), nn.Linear(7, width)

    def forward(self, x):
        features = self.body(x)
        return self.head(features), features


class Halved(Criterion):
    """Half of the cross-entropy."""

    name = "halved"
    scope = "sample"
    class_axes = {"output": (1,)}

    def terms(self, output, y):
        log_p = torch.log_softmax(output, dim=-1)
        chosen = log_p.gather(1, y[:, None])[:, 0] if y.ndim == 1 else (log_p * y).sum(dim=1)
        return [Term(-chosen / 2)]

    def label_space(self):
        return labelspace.uniform(self.names)

    @classmethod
    def example(cls):
        return Example(cls(3), torch.zeros(2, 3), torch.tensor([0, 1]), {})


def test_a_function_is_trained_as_the_same_network_by_hand():
    run = train(model=narrow, **QUICK)
    again = train(model=narrow, **QUICK)
    torch.testing.assert_close(run.scores["test_scores"], again.scores["test_scores"], rtol=0, atol=0)
    assert run.config.model.startswith("given-narrow-")
    assert run.config.code_key
    samples = torch.zeros(3, 1, 8, 8, dtype=torch.uint8)
    assert run.predict(samples).shape == (3,)
    assert run.features(samples).shape == (3, 12)


def test_a_module_is_copied():
    module = Pair(10)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    run = train(model=module, method="labelemb", **QUICK)
    for name, value in module.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)
        assert not torch.equal(run.weights[f"model.module.{name}"], before[name])
    assert run.weights["criterion.second_head.weight"].shape == (10, 7)


def test_other_weights_and_other_code_are_other_runs(tmp_path):
    torch.manual_seed(0)
    first, second = Pair(10), Pair(10)
    runs = [train(model=module, out=tmp_path, **QUICK) for module in (first, second, first)]
    assert len({run.folder for run in runs}) == 2
    assert runs[0].folder == runs[2].folder
    widths = [functools.partial(made, width) for made, width in ((_sized, 3), (_sized, 4))]
    assert len({train(model=width, out=tmp_path, **QUICK).folder for width in widths}) == 2


def _sized(width, input_shape, output_dim):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.Linear(width, output_dim))


def test_what_cannot_be_read_is_never_resumed(tmp_path):
    held = {"layers": [4]}

    def unknown(shape, width):
        return _sized(held["layers"][0], shape, width)

    scope = {"nn": nn}
    exec("def typed(shape, width): return nn.Sequential(nn.Flatten(), nn.Linear(64, width))", scope)
    folders = {train(model=each, out=tmp_path, **QUICK).folder for each in (unknown, scope["typed"]) for _ in range(2)}
    assert len(folders) == 4


def test_a_class_and_a_partial_are_methods():
    run = train(method=Halved, **QUICK)
    assert run.config.method == "halved"
    assert "halved" in labelspace.methods()
    strong = train(method=functools.partial(labelspace.UniformSmoothing, smoothing=0.4), model="linear", **QUICK)
    same = train(method="uniform", smoothing=0.4, model="linear", **QUICK)
    torch.testing.assert_close(strong.scores["test_scores"], same.scores["test_scores"], rtol=0, atol=0)


def test_workers_know_what_was_given(tmp_path):
    configs = grid({**QUICK}, model=[narrow], method=[Halved, "onehot"], seed=range(2))
    runs = sweep(configs, tmp_path, executor=Processes(workers=2))
    assert [run.config.method for run in runs] == ["halved", "halved", "onehot", "onehot"]
    alone = train(model=narrow, method=Halved, seed=1, **QUICK)
    torch.testing.assert_close(runs[1].scores["test_scores"], alone.scores["test_scores"], rtol=0, atol=0)


def test_a_comparison_of_objects(tmp_path):
    methods = {"half-price": Halved, "soft": functools.partial(labelspace.UniformSmoothing, smoothing=0.3)}
    options = {"seeds": 2, "epochs": 2, "limit": 100, "out": tmp_path, "executor": InProcess()}
    result = labelspace.compare("digits", methods=methods, model=narrow, **options)
    rows = [row["label"] for row in result.content["rows"] if row["role"] in ("reference", "method")]
    assert rows == ["one-hot, tuned", "half-price", "soft"]
    assert result.best.predict(torch.zeros(1, 1, 8, 8, dtype=torch.uint8)).shape == (1,)


class Tempered(nn.Module):
    """Plain attributes are part of what a network does."""

    def __init__(self, temperature):
        super().__init__()
        torch.manual_seed(0)
        self.temperature, self.layer = temperature, nn.Linear(64, 10)

    def forward(self, x):
        return self.layer(x.flatten(1)) * torch.ones(10) / self.temperature


class Maker:
    def __init__(self, width):
        self.width = width

    def build(self, input_shape, output_dim):
        return _sized(self.width, input_shape, output_dim)


def test_what_an_object_holds_is_part_of_its_key():
    assert content_key(Tempered(1.0)) == content_key(Tempered(1.0))
    assert content_key(Tempered(1.0)) != content_key(Tempered(20.0))
    assert content_key(Maker(1).build) != content_key(Maker(2).build)

    def variant(power):
        class Variant(Halved):
            name = "variant"
            factor = power

        return Variant

    labelspace.register_method(variant(1))
    with pytest.raises(InputError, match="'variant', which is taken"):
        labelspace.register_method(variant(2))


def test_a_network_that_makes_tensors_of_its_own():
    run = train(model=Tempered(2.0), method="labelemb", **QUICK)
    assert run.predict(torch.zeros(2, 1, 8, 8, dtype=torch.uint8)).shape == (2,)


def _raises(shape, width):
    raise RuntimeError("no such layer")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": Pair(9)}, "an output of width 10. Got Pair, whose output has shape"),
        ({"model": Pair(10), "method": "lwal", "method_options": {"dim": 20}}, "an output of width 20"),
        ({"model": _raises}, "_raises, which fails: RuntimeError: no such layer"),
        ({"model": lambda shape, width: 3}, "a function that makes a torch module"),
        ({"model": nn.Linear(3, 10)}, r"samples of shape \(1, 8, 8\). Got Linear, which fails on them"),
        ({"model": nn.Sequential(nn.Flatten(), nn.AdaptiveAvgPool1d(10)), "method": "labelemb"}, "a linear layer"),
        ({"model": 3}, "a name, a torch module"),
        ({"method": 3}, "a name, a subclass of Criterion"),
        ({"method": dict}, "a name, a subclass of Criterion"),
    ],
)
def test_bad_parts(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        train(out=tmp_path, **QUICK, **options)
    assert not list(tmp_path.iterdir())


ROWS = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)


@pytest.mark.parametrize(
    ("data", "options", "problem", "message"),
    [
        (
            {"train": (ROWS, ["a", "b", "c"] * 20), "test": (ROWS, ["a", "b", "d"] * 20)},
            {},
            InputError,
            "'d'",
        ),
        ("digits", {"device": "cuda:7"}, InputError, "`device` of train must be one of the devices of this machine"),
        ("digits", {"model": "timm:resnet18"}, ImportError, r'pip install "labelspace\[timm\]"'),
        ("digits", {"model": "no-such-network"}, InputError, "the name of a model"),
    ],
)
def test_bad_input_leaves_nothing(data, options, problem, message, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)  # as where the extra is not installed
    with pytest.raises(problem, match=message) as caught:
        train(data, out=tmp_path, epochs=1, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["columns", "DataFrame"])
def test_a_table_in_memory_and_a_module_of_ones_own(kind, tmp_path):
    rows = {"size": ROWS[:, 0].tolist(), "weight": ROWS[:, 1].tolist(), "grade": ["low", "mid", "tall"] * 20}
    table = pytest.importorskip("pandas").DataFrame(rows) if kind == "DataFrame" else rows
    module = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 3))
    options = {"methods": ["onehot", "uniform"], "seeds": 2, "epochs": 1, "out": tmp_path, "executor": InProcess()}
    result = labelspace.compare(table, label="grade", model=module, **options)
    assert result.best.config.model.startswith("given-Sequential-")
    assert len(result.best.predict({"size": [0.5], "weight": [1.0]})) == 1


def test_names_that_are_taken():
    taken = type("Taken", (Halved,), {"name": "onehot"})
    with pytest.raises(InputError, match="a name that no method has. Got 'onehot', which is taken"):
        labelspace.register_method(taken)
    for name in ("resnet18", "mlp-3-3", "auto", "timm:mine"):
        with pytest.raises(InputError, match="a name that no model has"):
            labelspace.register_model(name)(narrow)
    labelspace.register_model("narrow")(narrow)
    labelspace.register_model("narrow")(narrow)
    with pytest.raises(InputError, match="'narrow', which is taken"):
        labelspace.register_model("narrow")(_sized)
    assert "narrow" in labelspace.models.names()


def test_a_run_of_a_given_model_says_how_to_load_it(tmp_path):
    run = train(model=narrow, out=tmp_path, **QUICK)
    code = f"import labelspace; labelspace.Run.load({str(run.folder)!r}).learner()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "It was given in Python: labelspace.register_model(" in done.stderr
    assert Run.load(run.folder).learner() is not None


PLUGIN = Path(__file__).parent / "plugin"
# one interpreter for all: starting it is most of the work. The first starts a worker, which finds the package too
COMMANDS = """
import json
from pathlib import Path
from typer.testing import CliRunner
from labelspace.cli.main import app

def said(*words):
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout

small = "--methods mine --model mine --seeds 2 --epochs 2 --workers 1 --rivals none --out runs".split()
compared = [said("compare", "sizes.csv", *small, *form) for form in (["--json"], [])]
best = next(Path("runs").glob("*/best"))
print(json.dumps([*compared, said("methods"), said("models"), said("predict", str(best), "new.csv")]))
"""


def test_an_installed_package(tmp_path):
    """Its method and its network are known to every command by their names; nothing of ours was edited."""
    site = tmp_path / "site"
    info = site / "labelspace_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    for file in PLUGIN.glob("*.py"):
        (site / file.name).write_text(file.read_text())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: labelspace-plugin\nVersion: 1.0\n")
    entries = "[labelspace.methods]\nmine = mine_method:Mine\n[labelspace.models]\nmine = mine_network:mine\n"
    (info / "entry_points.txt").write_text(entries)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    write_table(tmp_path / "sizes.csv", ["small", "medium", "large"], rows=60)
    (tmp_path / "new.csv").write_text("a,b\n0.5,1.0\n2.0,0.0\n")
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found, table, methods, networks, predicted = json.loads(done.stdout)
    rows = [row["label"] for row in json.loads(found)["rows"] if row["role"] in ("reference", "method")]
    assert rows == ["one-hot", "my own"]
    assert "my own" in table
    assert "my own" in next((tmp_path / "runs").glob("*/report.html")).read_text()
    assert "\nmine " in "\n" + methods
    assert "\nmine\n" in networks
    assert len(predicted.splitlines()) == 3
