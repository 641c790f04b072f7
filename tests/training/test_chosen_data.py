"""Training on some classes, on a chosen validation part, and on everything."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import labelspace
from labelspace import LearnableSmoothing, Run, data, train
from labelspace.report.html import write_runs_html
from labelspace.sweeps.executors import InProcess
from labelspace.sweeps.grid import grid, sweep
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from realdata import data_folder

SHORT: dict[str, Any] = {"model": "mlp-16", "epochs": 3, "batch_size": 64}


def test_a_run_on_some_classes_is_a_run_on_data_that_have_only_those(tmp_path: Path) -> None:
    some = train("digits", classes=["7", "1", "4"], **SHORT, out=tmp_path)
    whole = data.load("digits")
    parts = {}
    for name, part in whole.parts.items():
        rows = torch.isin(part.y, torch.tensor([7, 1, 4])).nonzero().flatten()
        parts[name] = part.x[rows], torch.tensor([-1, 1, -1, -1, 2, -1, -1, 0])[part.y[rows]]
    np.savez(tmp_path / "by-hand.npz", **{f"{'xy'[i]}_{n}": v[i].numpy() for n, v in parts.items() for i in (0, 1)})
    by_hand = train(tmp_path / "by-hand.npz", data_options={"names": ["7", "1", "4"]}, **SHORT)
    assert some.preprocessing["names"] == ["7", "1", "4"]
    assert_close(some.scores["test_scores"], by_hand.scores["test_scores"], rtol=0, atol=0)
    assert some.result["test"] == by_hand.result["test"]
    # the command line's spelling is the same run, and a Dataset is cut too
    assert train("digits", classes="7, 1,4", **SHORT, out=tmp_path).folder == some.folder
    assert train("digits", data_options={"classes": ["7", "1", "4"]}, **SHORT, out=tmp_path).folder == some.folder
    assert train("digits", classes=["1", "7", "4"], **SHORT, out=tmp_path).folder != some.folder
    assert train(whole, classes="7,1,4", **SHORT).result["test"] == some.result["test"]


def test_labels_learned_on_all_classes_are_cut_as_the_paper_does(tmp_path: Path) -> None:
    teacher = train("digits", method="lls", **SHORT, learning_rate=0.05, out=tmp_path)
    assert teacher.folder is not None
    criterion = teacher.learner().criterion
    assert isinstance(criterion, LearnableSmoothing)
    logits = criterion.label_logits.detach().double().numpy()[:5, :5]  # slice the logits, then softmax
    relations = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    file = str(teacher.folder / "label_space.safetensors")
    half = train("digits", method="semantic", smoothing=0.1, space=file, classes="first 50%", **SHORT)
    assert half.space.names == tuple("01234")
    assert_close(half.space.targets(0.1), torch.tensor(0.9 * np.eye(5) + 0.1 * relations, dtype=torch.float32))
    # half of the samples use the matrix whole
    fewer = train("digits", method="semantic", smoothing=0.1, space=file, limit="50%", **SHORT)
    assert fewer.result["train_samples"] == 400
    assert fewer.config.limit == 400
    assert_close(fewer.space.matrix, teacher.space.matrix)


def test_spaces_written_for_all_classes_are_cut(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"{'round' if d in '0689' else 'open'} > {d}\n" for d in "0123456789"))
    for space, near in (
        (str(tmp_path / "t.txt"), "6"),
        ("groups:0,6,8,9|1,7|4,2,3,5", "6"),
        ("0<1<2<3<4<5<6<7<8<9", "1"),
    ):
        run = train("digits", method="semantic", space=space, classes="6,0,1", **{**SHORT, "epochs": 1})
        assert run.space.names == ("6", "0", "1")
        assert run.space.nearest("0", k=1)[0][0] == near


def test_a_space_may_be_a_path_in_python_too(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("round: 0, 6, 8, 9\nothers: 1, 2, 3, 4, 5, 7\n")
    run = train("digits", method="semantic", space=tmp_path / "g.txt", **{**SHORT, "epochs": 1})
    assert run.space.source["builder"] == "groups"


def test_training_on_everything(tmp_path: Path) -> None:
    run = train("digits", validation="none", **SHORT, out=tmp_path)
    assert run.result["train_samples"] == 1100
    assert run.result["validation"] == {}
    assert run.scores["validation_scores"].shape == (0, 10)
    assert len(run.epochs) == 3
    assert not any(name.startswith("validation") for line in run.epochs for name in line)
    assert run.folder is not None
    again = Run.load(run.folder)
    assert_close(again.scores, run.scores)
    digits = data.load("digits", validation="none")
    assert_close(again.scores_of(digits.test.x), run.scores["test_scores"])
    assert write_runs_html([run.folder], tmp_path / "report.html").stat().st_size > 10_000


def test_everything_trained_on_together_is_as_one_by_one(tmp_path: Path) -> None:
    base = {"data": "digits", "data_options": {"validation": "none", "classes": "1,2,3"}, **SHORT}
    configs = grid(base, method=["uniform"], seed=range(3))
    together = sweep(configs, tmp_path / "a", executor=InProcess())
    alone = sweep(configs, tmp_path / "b", executor=InProcess(), vectorise=False)
    assert {run.config.path for run in alone} == {"loop"}
    for one, other in zip(together, alone, strict=True):
        assert one.result["validation"] == {}
        assert_close(one.scores["test_scores"], other.scores["test_scores"], rtol=1e-4, atol=1e-4)


def test_a_run_without_validation_goes_on_where_it_was(tmp_path: Path) -> None:
    config = make_config(data="digits", data_options={"validation": "first 200", "classes": "3,8,5"}, **SHORT)
    everything = make_config(data="digits", data_options={"validation": "none"}, **SHORT)
    for number, each in enumerate((config, everything)):
        job = prepare(each)
        folder = tmp_path / str(number)
        folder.mkdir()
        whole = Loop(job).run().state_dict()
        half = Loop(job._replace(config=job.config.model_copy(update={"epochs": 1})), folder, seconds=0)
        half.run()
        resumed = Loop(job, folder)
        assert resumed.progress.step > 0
        assert_close(resumed.run().state_dict(), whole, rtol=0, atol=0)


def test_nothing_is_chosen_without_validation(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`patience` of train must be given with a validation part.*never used for"):
        train("digits", validation="none", patience=2, **SHORT)
    with pytest.raises(ValueError, match="`validation` of compare must be a part of the data.*never on test data"):
        labelspace.compare("digits", validation="none", methods=["uniform"], epochs=1, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_options_that_cannot_be_followed_are_refused() -> None:
    with pytest.raises(ValueError, match="`validation` of data.load must be left out for a Dataset, but for classes"):
        train(data.load("digits"), validation="none", **SHORT)
    with pytest.raises(ValueError, match="`classes` of train must be given once"):
        train("digits", classes="1,2", data_options={"classes": "1,3"}, **SHORT)
    with pytest.raises(ValueError, match="`limit` of train must be a whole number of at least 1, or a share"):
        train("digits", limit="many", **SHORT)
    pair = np.arange(60.0)[:, None], np.array(["a", "b", "c"] * 20)
    assert train(pair, classes="c,a", validation="none", **SHORT).preprocessing["names"] == ["c", "a"]


@pytest.mark.data
@pytest.mark.skipif(data_folder() is None, reason="the real datasets are not here")
def test_mnist_as_paper_004_splits_it(tmp_path: Path) -> None:
    options = {"data_dir": str(data_folder())}
    run = train(
        "mnist", validation="first 5000", classes="4,9", limit=500, data_options=options, model="linear", epochs=1
    )
    assert run.result["train_samples"] == 500
    assert len(run.scores["validation_y"]) == 535 + 495  # fours and nines among the first 5,000
