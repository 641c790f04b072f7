"""Nothing that a record says runs code or reads what lies outside of its folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from hostile import records
from hostile.outcomes import Case, judge
from labelspace.cli.main import app
from labelspace.comparison import Comparison
from labelspace.comparison.plan import make_plan
from labelspace.models import build, rebuild
from labelspace.sources.text import text
from labelspace.training.run import Run, train
from signing import signed_again

BERT = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 300}


def transformers() -> Any:
    pytest.importorskip("transformers.modeling_utils")
    return pytest.importorskip("transformers")


def hostile_model(folder: Path, model_type: str = "evil") -> Path:
    """Make a folder of transformers whose own code would leave a marker beside it."""
    folder.mkdir()
    (folder / "evil.py").write_text(
        f"from pathlib import Path\nPath({str(folder.parent / 'MARKER')!r}).touch()\n"
        "from transformers import BertConfig, BertModel\n"
        "class EvilConfig(BertConfig):\n    model_type = 'evil'\n"
        "class EvilModel(BertModel):\n    config_class = EvilConfig\n"
    )
    code = {"AutoConfig": "evil.EvilConfig", "AutoModel": "evil.EvilModel"}
    (folder / "config.json").write_text(json.dumps({"model_type": model_type, "auto_map": code, **BERT}))
    return folder


def edited(folder: Path, **values: Any) -> Path:
    """Change a run's configuration as somebody would who wants it to be believed."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return signed_again(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = train("digits", model="linear", epochs=1, limit=100, out=tmp_path_factory.mktemp("runs")).folder
    assert found is not None
    return found


@pytest.mark.parametrize("trust", [{}, {"trust_remote_code": True}, {"trust_remote_code": True, "code_revision": "x"}])
@pytest.mark.parametrize("model_type", ["evil", "bert"])
def test_the_code_of_a_model_folder_is_never_run(tmp_path: Path, model_type: str, trust: dict[str, Any]) -> None:
    transformers()
    folder = hostile_model(tmp_path / "m", model_type)
    if model_type == "bert" and not trust:
        assert build(f"hf:{folder}", (6,), 3, pretrained=False).feature_dim == 16
    else:
        with pytest.raises(
            ValueError, match="must be an option that shapes the network|that transformers itself knows"
        ):
            build(f"hf:{folder}", (6,), 3, pretrained=False, **trust)
    assert not (tmp_path / "MARKER").exists()


def test_the_control_shows_that_the_marker_would_be_seen(tmp_path: Path) -> None:
    library = transformers()
    folder = hostile_model(tmp_path / "m")
    library.AutoConfig.from_pretrained(str(folder), trust_remote_code=True)
    assert (tmp_path / "MARKER").exists()


@pytest.mark.parametrize("command", ["predict", "export", "compare", "train"])
def test_no_command_runs_it(run: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers()
    hostile_model(tmp_path / "m")
    options = {"trust_remote_code": True}
    copy = tmp_path / "run"
    copy.mkdir()
    for file in run.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    edited(copy, model="hf:./m", model_options=options)
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 1, 8, 8), np.uint8))
    plan = make_plan(data="digits", methods=("onehot", "uniform"), model="hf:./m", epochs=1, model_options=options)
    plan.save(tmp_path / "plan.toml")
    words = {
        "predict": ["run", "x.npz"],
        "export": ["run", "--onnx", "m.onnx"],
        "compare": ["--plan", "plan.toml"],
        "train": ["digits", "--model", "hf:./m", "--set", f"model_options={json.dumps(options)}"],
    }[command]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [command, *words])
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    assert not (tmp_path / "MARKER").exists()


@pytest.mark.parametrize(
    "option",
    [
        "auto_map", "_name_or_path", "name_or_path", "_attn_implementation", "attn_implementation", "cache_dir",
        "quantization_config", "model_type", "architectures", "token", "revision", "custom_pipelines", "hiden_size",
    ],
)  # fmt: skip
def test_only_what_shapes_a_network_is_an_option(option: str) -> None:
    transformers()
    with pytest.raises(ValueError, match=f"must be an option that shapes the network. Got '{option}'"):
        build("hf:bert", (6,), 3, **{option: "x"})


def test_a_value_must_be_plain() -> None:
    transformers()
    with pytest.raises(TypeError, match="`hidden_size` of .* must be a number, a text, or a list of them. Got dict"):
        build("hf:bert", (6,), 3, hidden_size={"a": 1})
    with pytest.raises(ValueError, match="must be values that 'bert' takes|must be"):
        build("hf:bert", (6,), 3, **{**BERT, "hidden_size": "many"})


def test_a_folder_cannot_name_kernels_adapters_or_other_networks(tmp_path: Path) -> None:
    transformers()
    folder = hostile_model(tmp_path / "m", "bert")
    values = {"model_type": "bert", "_attn_implementation": "somebody/kernel", **BERT}
    (folder / "config.json").write_text(json.dumps(values))
    made = build(f"hf:{folder}", (6,), 3, pretrained=False)
    assert made.body.model.config._attn_implementation in ("sdpa", "eager")  # type: ignore[union-attr]
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/model"}')
    with pytest.raises(ValueError, match="the folder of a whole model. Got one with adapter_config.json"):
        build(f"hf:{folder}", (6,), 3)
    (folder / "adapter_config.json").unlink()
    (folder / "config.json").write_text(json.dumps({**values, "quantization_config": {"quant_method": "x"}}))
    with pytest.raises(ValueError, match="must be a network by itself. Got 'bert' with quantization_config"):
        build(f"hf:{folder}", (6,), 3, pretrained=False)


def test_a_run_needs_no_folder_but_its_own(tmp_path: Path) -> None:
    library = transformers()
    folder = tmp_path / "m"
    library.AutoModel.from_config(library.AutoConfig.for_model("bert", **BERT)).save_pretrained(folder)
    texts = {"text": [f"word{i % 7} and {i}" for i in range(60)], "label": [str(i % 2) for i in range(60)]}
    (tmp_path / "t.csv").write_text(
        "text,label\n" + "".join(f"{a},{b}\n" for a, b in zip(*texts.values(), strict=True))
    )
    run = train(str(tmp_path / "t.csv"), model=f"hf:{folder}", epochs=1, out=tmp_path / "runs")
    before = run.scores_of(texts["text"][:5])
    for file in folder.iterdir():
        file.unlink()
    assert run.folder is not None
    torch.testing.assert_close(Run.load(run.folder).scores_of(texts["text"][:5]), before, rtol=0, atol=0)


def test_a_record_without_its_configuration_does_not_look_for_the_folder(run: Path, tmp_path: Path) -> None:
    transformers()
    hostile_model(tmp_path / "m", "bert")
    found = Run.load(run)
    config = found.config.model_copy(update={"model": f"hf:{tmp_path / 'm'}"})
    with pytest.raises(ValueError, match="in the record: folders that it names are not read"):
        Run(**{**vars(found), "config": config}).learner()


def test_weights_and_pretrained_are_passed_over_when_a_model_is_built_again(tmp_path: Path) -> None:
    package = pytest.importorskip("efficientnet_lite_pytorch")
    assert package is not None
    with pytest.raises(ValueError, match="must be left out|must be one of"):
        build("linear", (4,), 3, weights="/nowhere")
    assert rebuild("linear", (4,), 3, weights="/nowhere", pretrained=True).feature_dim == 4
    assert rebuild("efficientnet-lite0", (3, 32, 32), 3, pretrained=True).feature_dim == 1280


def test_a_network_of_any_size_is_compared_before_memory_is_taken(run: Path) -> None:
    found = Run.load(run)
    text = "weights fit .* as they are built here. Got .* (in the file|half of the free memory)"
    for values in ({"model": "mlp-900000-900000"}, {"method": "lwal", "method_options": {"dim": 10**10}}):
        config = found.config.model_copy(update=values)
        with pytest.raises(ValueError, match=text):
            Run(**{**vars(found), "config": config}).learner()


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("evil.Evil", ""),
        # a name in a module of the library need not be a part of a model: each of these has a load()
        ("sentence_transformers.base.model.torch", ""),
        ("sentence_transformers.base.model.json", ""),
        ("sentence_transformers.models.Router", ""),
        ("sentence_transformers.models.WordEmbeddings", ""),
        ("sentence_transformers.models.Transformer", "../elsewhere"),
        ("sentence_transformers.models.Transformer", "/elsewhere"),
    ],
)
def test_an_encoder_with_code_or_places_of_its_own_is_refused(tmp_path: Path, kind: str, place: str) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'MARKER')!r}, 'w')\nclass Evil: pass\n")
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": place, "type": kind}]))
    with pytest.raises(ValueError, match=r"modules of sentence-transformers \(|must be a model in one folder"):
        text(["cat", "dog"], str(tmp_path))
    assert not (tmp_path / "MARKER").exists()


@pytest.mark.parametrize("name", ["../x", "/etc", "a/b", "", ".."])
def test_options_that_are_files_are_those_of_the_method(run: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    for file in run.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    edited(copy, option_keys={name: "0"})
    with pytest.raises(ValueError, match="sound config.json.*`option_keys` of Run.load must be one of"):
        Run.load(copy)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> records.Place:
    return records.Place(tmp_path_factory.mktemp("records"))


def test_a_teacher_is_read_like_any_run(place: records.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.folder)
    edited(place.run, model="hf:./evil", model_options={"trust_remote_code": True})
    records.sign_again(place.run)
    case = Case(
        "",
        lambda: train(
            str(place.folder / "table.csv"),
            data_options={"label": "label"},
            method="kd",
            teacher=str(place.run),
            model="linear",
            epochs=1,
        ),
        bool,
    )
    assert judge(case)[0] == "refused"
    place.restore()


def test_examples_are_of_the_data_that_were_compared(place: records.Place) -> None:
    """A plan that names other data shows none of their pictures."""
    path = place.comparison / "plan.toml"
    path.write_text(path.read_text().replace('data = "digits"', f'data = "{place.pictures}"'))
    case = Case(
        "",
        lambda: Comparison.load(place.comparison).save_html(place.folder / "page.html", examples=2),
        lambda page: "data:image/png" not in page.read_text(),
    )
    assert judge(case)[0] in ("refused", "accepted and right")
    place.restore()
