"""Options of a method that are label spaces: by file, by name, as objects, in keys and in records."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import Decision, LabelSpace, Run, ordinal, train
from labelspace.serving.take_home import take_home
from labelspace.sweeps.grid import grid, sweep
from labelspace.training.build import Outline, make_learner, prepare
from labelspace.training.config import make_config

DIGITS = [str(number) for number in range(10)]
SHORT: dict[str, Any] = {"method": "labelemb", "model": "linear", "epochs": 2, "limit": 200}


def pretrained(value: Any, **options: Any) -> Run:
    return train("digits", **{**SHORT, **options}, method_options={"pretrained": value})


def test_an_embedding_of_one_run_trains_another(tmp_path: Path) -> None:
    first = train("digits", **SHORT, out=tmp_path, learning_rate=0.05)
    assert first.folder is not None
    from_folder = pretrained(first.folder, out=tmp_path)
    from_file = pretrained(str(first.folder / "label_space.safetensors"), out=tmp_path)
    from_memory = pretrained(first.space, out=tmp_path)
    # the same labels are the same run, however they were given
    assert from_folder.folder == from_file.folder == from_memory.folder
    criterion = from_file.learner().criterion
    assert not hasattr(criterion, "second_head")
    # ê is softmax(E) of the first run
    logits = first.weights["criterion.embedding"].double().numpy()
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    soft = powers / powers.sum(axis=1, keepdims=True)
    torch.testing.assert_close(criterion.fixed, torch.from_numpy(soft).float(), rtol=1e-5, atol=1e-6)
    # eq. (17): H(y, p) + H(ê, p), per sample on average
    output, y = torch.randn(6, 10, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 3, 3, 9, 1, 7])
    shifted = output.double().numpy()
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    expected = np.mean([-log_p[n, k] - soft[k] @ log_p[n] for n, k in enumerate(y.tolist())])
    torch.testing.assert_close(criterion(output, y).double(), torch.tensor(expected), rtol=1e-5, atol=1e-6)


def test_it_comes_back_after_the_file_is_gone(tmp_path: Path) -> None:
    file = ordinal(DIGITS[::-1]).save(tmp_path / "labels.safetensors")
    run = pretrained(file, out=tmp_path / "runs")
    file.unlink()
    assert run.folder is not None
    loaded = Run.load(run.folder)
    # in the order of the data's classes, whatever that of the file was
    torch.testing.assert_close(loaded.learner().criterion.fixed, ordinal(DIGITS).matrix)
    assert loaded.option_spaces["pretrained"].names == tuple(DIGITS)
    home = take_home(loaded, Decision("argmax", 1.0, None, DIGITS), tmp_path / "home")
    x = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
    scores = run.scores_of(x)  # its weights go with its folder
    shutil.rmtree(run.folder)
    assert Run.load(home).learner().criterion.pretrained
    torch.testing.assert_close(Run.load(home).scores_of(x), scores)


def test_another_file_at_the_same_place_is_another_run(tmp_path: Path) -> None:
    file = tmp_path / "labels.safetensors"
    ordinal(DIGITS).save(file)
    one = pretrained(file, out=tmp_path / "runs")
    shutil.move(file, tmp_path / "elsewhere.safetensors")
    moved = pretrained(tmp_path / "elsewhere.safetensors", out=tmp_path / "runs")
    ordinal(DIGITS, power=2).save(file)
    two = pretrained(file, out=tmp_path / "runs")
    assert one.folder == moved.folder != two.folder
    assert one.config.option_keys["pretrained"] != two.config.option_keys["pretrained"]
    assert make_config(method="lls").key() == make_config(method="lls", option_keys={}).key()


def test_a_compressed_embedding_stays_compressed(tmp_path: Path) -> None:
    first = train("digits", **SHORT, out=tmp_path, learning_rate=0.05, **{"method_options": {"rank": 3}})
    second = pretrained(first.folder, out=tmp_path)
    criterion = second.learner().criterion
    assert criterion.factor.shape == (10, 3)
    assert not list(criterion.parameters())
    torch.testing.assert_close(second.space.matrix, first.space.matrix, rtol=0, atol=0)


def test_a_sweep_reads_it_in_every_process_and_group(tmp_path: Path) -> None:
    file = ordinal(DIGITS).save(tmp_path / "labels.safetensors")
    base = {"data": "digits", **SHORT, "method_options": {"pretrained": str(file)}}
    runs = sweep(grid(base, seed=range(4)), tmp_path / "runs")
    assert {run.config.path for run in runs} == {"vectorised"}
    alone = pretrained(file, seed=3)
    for name in ("accuracy", "nll"):
        assert runs[3].result["test"][name] == pytest.approx(alone.result["test"][name], rel=1e-4)
    torch.testing.assert_close(runs[3].learner().criterion.fixed, ordinal(DIGITS).matrix)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            ordinal(["a", "b"]),
            "`pretrained` .* must be a label space with every class. Got nothing for '0'",
        ),
        ("nowhere.safetensors", "There is no label file at nowhere.safetensors"),
        ("wordnett", "`pretrained` .* must be one of .* Did you mean 'wordnet'"),
        (3, "`pretrained` .* must be one of"),
    ],
)
def test_what_cannot_be_read_is_said(value: Any, text: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=text):
        pretrained(value)


def test_a_space_where_none_belongs() -> None:
    with pytest.raises(TypeError, match=r"`method_options.temperature` of train must be plain data"):
        train("digits", **SHORT, method_options={"temperature": ordinal(3)})
    with pytest.raises(ValueError, match="`option_keys` of train must be left out"):
        train("digits", **SHORT, option_keys={"pretrained": "0"})
    assert train("digits", **SHORT, method_options={"pretrained": None}).config.option_keys == {}


def test_a_damaged_option_file_is_noticed(tmp_path: Path) -> None:
    run = pretrained(ordinal(DIGITS), out=tmp_path)
    assert run.folder is not None
    (run.folder / "option-pretrained.safetensors").write_bytes(b"x")
    with pytest.warns(UserWarning, match="damaged; the run is computed again"):
        pretrained(ordinal(DIGITS), out=tmp_path)
    assert isinstance(Run.load(run.folder).option_spaces["pretrained"], LabelSpace)


@pytest.mark.parametrize("method", ["uniform", "lls", "lwal", "ols", "labelemb"])
def test_a_model_starts_alike_whatever_the_method(method: str) -> None:
    """Labels that draw, as the heads of label embeddings do, must not move what the model draws."""
    config = make_config(data="digits", model="mlp-8", limit=50, seed=3)
    outline = Outline.of(prepare(config).dataset)
    plain, other = (
        make_learner(config.model_copy(update={"method": each}), outline, None).model.state_dict()
        for each in ("onehot", method)
    )
    assert plain.keys() == other.keys()
    alike = [name for name in plain if plain[name].shape == other[name].shape]
    assert len(alike) >= len(plain) - 2  # of the output layer, where a method's labels have another size
    for name in alike:
        torch.testing.assert_close(other[name], plain[name], rtol=0, atol=0)
