"""train(): determinism, folders, bad input, and every method on digits."""

import dataclasses
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import LabelSpace, _files, data, methods, ordinal
from labelspace.comparison.entries import takes_space
from labelspace.learner import Learner
from labelspace.records import RunFolder
from labelspace.sweeps.executors import Processes
from labelspace.training import checkpoint
from labelspace.training.build import prepare, training_labels
from labelspace.training.config import Config, make_config
from labelspace.training.loop import Loop, TrainingError
from labelspace.training.optimizer import learning_rate
from labelspace.training.run import Run, keep, train
from labelspace.training.sentences import measured
from signing import signed_again

SHORT: dict[str, Any] = {"model": "mlp-16", "epochs": 2, "limit": 200, "batch_size": 64}


def same_weights(left: Run, right: Run) -> bool:
    return all(torch.equal(left.weights[name], right.weights[name]) for name in left.weights)


@pytest.mark.parametrize("method", [name for name in methods() if name != "kd"])
def test_every_method_trains_and_comes_back_from_disk(method: str, tmp_path: Path) -> None:
    space = "ordinal" if takes_space(method) else None
    run = train("digits", method=method, space=space, out=tmp_path, **SHORT)
    loaded = Run.load(run.folder)
    assert loaded.result == run.result
    assert loaded.space.names == tuple(str(digit) for digit in range(10))
    digits = data.load("digits")
    torch.testing.assert_close(loaded.predict(digits.test.x), run.scores["test_scores"].argmax(dim=1))
    assert len(run.epochs) == 2


def test_the_same_configuration_gives_the_same_bits_and_another_seed_does_not() -> None:
    one, two = (train("digits", method="lls", augment=["mixup:0.2"], **SHORT) for _ in range(2))
    other = train("digits", method="lls", augment=["mixup:0.2"], seed=1, **SHORT)
    assert same_weights(one, two)
    assert one.epochs == two.epochs
    assert not same_weights(one, other)
    assert one.config.key() == other.config.key()


def test_streams_do_not_shift_each_other() -> None:
    """Switching augmentation on must leave the start and the order of samples alone."""
    plain = train("digits", **{**SHORT, "epochs": 1})
    mixed = train("digits", **{**SHORT, "epochs": 1}, augment=["mixup:1e-9"])
    torch.testing.assert_close(plain.scores["test_scores"], mixed.scores["test_scores"], rtol=1e-3, atol=1e-3)


def test_a_finished_run_is_read_not_computed(tmp_path: Path) -> None:
    first = train("digits", out=tmp_path, **SHORT)
    events: list[str] = []
    second = train("digits", out=tmp_path, report=lambda event, _: events.append(event), **SHORT)
    assert events == ["finished"]
    assert same_weights(first, second)
    assert not list(first.folder.glob("checkpoint*"))


def test_a_teacher_is_a_run(tmp_path: Path) -> None:
    options = {**SHORT, "model": "linear", "learning_rate": 0.01}
    teacher = train("digits", out=tmp_path, **options)
    student = train("digits", method="kd", teacher=str(teacher.folder), **{**options, "epochs": 60})
    agreed = student.scores["test_scores"].argmax(1) == teacher.scores["test_scores"].argmax(1)
    assert teacher.result["test"]["accuracy"] < 0.9 < agreed.float().mean(), "it learns the teacher's answers"
    with pytest.raises(ValueError, match="`teacher` of train must be given for kd"):
        train("digits", method="kd", **SHORT)


def test_spaces_by_name_by_file_and_as_objects(tmp_path: Path) -> None:
    names = tuple(str(digit) for digit in range(10))
    by_name = train("digits", method="semantic", space="ordinal", smoothing=0.4, **SHORT)
    by_object = train("digits", method="semantic", space=ordinal(names), smoothing=0.4, **SHORT)
    file = ordinal(names[::-1]).save(tmp_path / "reversed.safetensors")
    by_file = train("digits", method="semantic", space=str(file), smoothing=0.4, **SHORT)
    assert same_weights(by_name, by_object)
    torch.testing.assert_close(by_file.space.matrix, by_name.space.matrix)
    assert train("digits", method="mixed", space="lda", **SHORT).space.kind == "relations"


def test_early_stopping_returns_the_best_epoch() -> None:
    run = train("digits", **{**SHORT, "epochs": 60}, patience=2, learning_rate=0.1)
    losses = [line["validation_nll"] for line in run.epochs]
    assert len(losses) < 60
    assert run.result["validation"]["nll"] == pytest.approx(min(losses))
    assert losses.index(min(losses)) == len(losses) - 3


@pytest.mark.parametrize("precision", ["float64", "bfloat16"])
def test_precisions(precision: str) -> None:
    run = train("digits", method="lls", precision=precision, learning_rate=0.01, **{**SHORT, "epochs": 10})
    assert run.result["test"]["accuracy"] > 0.5
    assert run.weights["model.head.weight"].dtype == (torch.float64 if precision == "float64" else torch.float32)


def test_schedules() -> None:
    step = Config(schedule="step", milestones=(2, 4), gamma=0.2, learning_rate=1.0, warmup_epochs=2)
    expected = [0.5, 1.0, 0.2, 0.2, 0.04]
    assert [learning_rate(step, epoch) for epoch in range(5)] == pytest.approx(expected)


def test_label_noise_reaches_training_labels_only() -> None:
    clean = data.load("digits")
    job = prepare(make_config(data="digits", label_noise="symmetric:0.3"), clean)
    noisy = training_labels(job)
    assert 0.25 < (noisy != clean.train.y).double().mean() < 0.35
    run = train(clean, label_noise="symmetric:0.3", **{**SHORT, "epochs": 1})
    torch.testing.assert_close(run.scores["test_y"], clean.test.y)
    seen: list[torch.Tensor] = []
    loop = Loop(prepare(make_config(data="digits", method="lwal", label_noise="symmetric:0.3", epochs=1), clean))
    loop.learner.criterion.fit_labels = lambda batches: seen.extend(y for _, y in batches)
    loop.run()
    torch.testing.assert_close(torch.cat(seen), loop.y, msg="labels for prediction come from what was trained on")
    spaces = [
        train(clean, method="mixed", space="lda", label_noise=noise, **SHORT).space for noise in (None, "symmetric:0.9")
    ]
    assert not torch.equal(spaces[0].matrix, spaces[1].matrix)


@pytest.mark.parametrize("method", ["onehot", "ols"])  # ols has counted the bad batch before its loss is known
def test_a_loss_that_is_not_a_number_stops_and_keeps_the_last_good_checkpoint(tmp_path: Path, method: str) -> None:
    options = {**SHORT, "epochs": 50, "optimizer": "sgd", "learning_rate": 1e30, "method": method, "batch_size": 16}
    with pytest.raises(
        TrainingError, match=rf"The loss became (nan|inf).*method '{method}', epoch \d+, learning rate 1e\+30"
    ):
        train("digits", out=tmp_path, checkpoint_seconds=0.0, **options)
    (kept,) = tmp_path.glob("*/checkpoint.pt")
    state = checkpoint.load(kept.parent)
    assert state is not None
    numbers = [value for value in state["learner"].values() if value.is_floating_point()]
    assert numbers
    assert all(bool(torch.isfinite(value).all()) for value in numbers)
    assert not list(tmp_path.glob("*/result.json"))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "semantik"}, "Did you mean 'semantic'"),
        ({"learning_rat": 1.0}, "Did you mean 'learning_rate'"),
        ({"epochs": 0}, "`epochs` of train must be greater than or equal to 1. Got 0"),
        ({"method": "semantic"}, "must be a LabelSpace"),
        ({"optimizer": "lion"}, "`optimizer` of train must be"),
        ({"space": "ordnal", "method": "semantic"}, "`space` of labelspace must be.*Did you mean 'ordinal'"),
        ({"method": "onehot", "smoothing": 0.1}, "option name"),
        ({"model": "mlp-x"}, "mlp-"),
        ({"augment": ["mixupp"]}, "mixup"),
    ],
)
def test_bad_input(options: dict[str, Any], text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        train("digits", **{**SHORT, **options})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="`out` of train must be a folder that can be written to"):
        train("digits", out=tmp_path, **SHORT)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="`out` of train must be a folder that can be written to"):
        train("digits", out=tmp_path / "file", **SHORT)


def interrupted(tmp_path: Path, after: int, **options: Any) -> Path:
    """Train until an epoch's report and stop as Ctrl-C would; return the run's folder."""

    def stop(event: str, numbers: dict[str, Any]) -> None:
        if event == "epoch" and numbers["epoch"] == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("digits", out=tmp_path, checkpoint_seconds=0.0, report=stop, **options)
    return next(tmp_path.glob("onehot-*"))


def test_a_damaged_checkpoint_falls_back_and_the_run_ends_the_same(tmp_path: Path) -> None:
    options = {**SHORT, "epochs": 4}
    folder = interrupted(tmp_path / "broken", 1, **options)
    (folder / "checkpoint.pt").write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match="is damaged; going on from the one before it"):
        resumed = train("digits", out=tmp_path / "broken", **options)
    assert same_weights(resumed, train("digits", **options))


def test_a_full_disk_stops_with_a_clear_message_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**SHORT, "epochs": 4}
    interrupted(tmp_path, 1, **options)
    writes: list[int] = []

    def filling(handle: int) -> None:
        writes.append(handle)
        if len(writes) > 3:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", filling)
        with pytest.raises(OSError, match="The disk is full at .* Nothing is lost"):
            train("digits", out=tmp_path, checkpoint_seconds=0.0, **options)
    events: list[str] = []
    resumed = train("digits", out=tmp_path, report=lambda event, _: events.append(event), **options)
    assert "resumed" in events
    assert same_weights(resumed, train("digits", **options))


def test_a_run_that_diverges_in_its_last_step_is_not_finished(tmp_path: Path) -> None:
    options = {"model": "linear", "optimizer": "sgd", "learning_rate": 1e38, "limit": 100, "epochs": 1}
    with pytest.raises(TrainingError, match="The validation loss became"):
        train("digits", out=tmp_path, **options)
    assert not list(tmp_path.glob("*/result.json"))


def test_the_last_good_weights_are_kept_when_the_loss_fails(tmp_path: Path) -> None:
    options = {**SHORT, "epochs": 50, "optimizer": "sgd", "learning_rate": 1e30, "batch_size": 16}
    with pytest.raises(TrainingError, match="The last good checkpoint is kept in"):
        train("digits", out=tmp_path, **options)
    assert list(tmp_path.glob("*/checkpoint.pt"))


def test_another_teacher_at_the_same_place_is_another_run(tmp_path: Path) -> None:
    options = {**SHORT, "model": "linear"}
    keys = []
    for epochs in (1, 3):
        teacher = train("digits", out=tmp_path / str(epochs), **{**options, "epochs": epochs})
        shutil.rmtree(tmp_path / "teacher", ignore_errors=True)
        shutil.copytree(teacher.folder, tmp_path / "teacher")
        keys.append(train("digits", method="kd", teacher=tmp_path / "teacher", **options).config.key())
    assert keys[0] != keys[1]


def test_a_teacher_must_know_the_same_classes_and_may_have_other_statistics(tmp_path: Path) -> None:
    digits = data.load("digits")
    teacher = train(digits, out=tmp_path, precision="float64", **{**SHORT, "limit": 150})
    train(digits, method="kd", teacher=teacher.folder, **SHORT)
    renamed = dataclasses.replace(digits, names=tuple(reversed(digits.names)))
    with pytest.raises(ValueError, match="`teacher` of train must be a run whose names are those of the data"):
        train(renamed, method="kd", teacher=teacher.folder, **SHORT)


def test_replaced_parts_of_a_dataset_are_other_data(tmp_path: Path) -> None:
    digits = data.load("digits")
    flipped = dataclasses.replace(digits, train=dataclasses.replace(digits.train, y=9 - digits.train.y))
    runs = [train(part, out=tmp_path, **SHORT) for part in (digits, flipped)]
    assert runs[0].config.key() != runs[1].config.key()


def test_pairs_of_tensors_are_data() -> None:
    digits = data.load("digits")
    run = train((digits.train.x.float().flatten(1), digits.train.y), method_options={"weight": torch.ones(10)}, **SHORT)
    assert run.result["train_samples"] == 200


def test_a_damaged_finished_run_is_computed_again(tmp_path: Path) -> None:
    run = train("digits", out=tmp_path, **SHORT)
    (run.folder / "model.safetensors").write_bytes(b"half")
    with pytest.warns(UserWarning, match="model.safetensors is damaged; the run is computed again"):
        again = train("digits", out=tmp_path, **SHORT)
    assert same_weights(run, again)


def test_the_callers_threads_and_draws_are_left_alone() -> None:
    torch.set_num_threads(2)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train("digits", **SHORT)
    assert torch.get_num_threads() == 2
    torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)
    torch.set_num_threads(1)


def test_one_way_of_writing_gives_one_key(tmp_path: Path) -> None:
    keys = {train("digits", augment=[spec], **SHORT).config.key() for spec in ("mixup", "mixup:0.2", "mixup:0.2:batch")}
    assert len(keys) == 1
    digits = data.load("digits")
    file = tmp_path / "digits.npz"
    np.savez(file, x=digits.train.x.float().flatten(1).numpy(), y=digits.train.y.numpy())
    options = {**SHORT, "limit": None}
    assert train(file, **options).config.key() == train(str(file.parent / "." / file.name), **options).config.key()


def work_on_one_run(out: str) -> bytes:
    run = train("digits", out=out, checkpoint_seconds=0.0, **SHORT)
    assert run.folder is not None
    return (run.folder / "model.safetensors").read_bytes()


def test_two_processes_on_one_run_wait_for_each_other(tmp_path: Path) -> None:
    outcomes = dict(Processes(workers=2).run(work_on_one_run, [str(tmp_path)] * 3))
    assert len(set(outcomes.values())) == 1


@pytest.mark.parametrize("option", ["path", "world", "data_key"])
def test_what_is_filled_in_is_not_for_users(option: str) -> None:
    with pytest.raises(ValueError, match=f"`{option}` of train must be left out"):
        train("digits", **SHORT, **{option: "loop"})


def test_predictions_refuse_samples_of_another_form() -> None:
    digits = data.load("digits")
    run = train(digits, **SHORT)
    assert "test accuracy" in repr(run)
    for wrong in (digits.test.x.float() / 255, digits.test.x[:, :, :4], digits.test.x.numpy()[:, :, :4]):
        with pytest.raises(ValueError, match=r"`x` of Run must be a uint8 tensor of shape \(N, 1, 8, 8\)"):
            run.predict(wrong)


def test_spaces_that_train_differently_have_different_keys(tmp_path: Path) -> None:
    names, points = [str(digit) for digit in range(10)], torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
    spaces = [LabelSpace(names, points, "vectors", {"builder": "text", "temperature": t}) for t in (0.05, 5.0)]
    keys = []
    for number, space in enumerate(spaces):
        file = space.save(tmp_path / f"{number}.safetensors") or tmp_path / f"{number}.safetensors"
        given = train("digits", method="semantic", space=space, **SHORT)
        assert train("digits", method="semantic", space=str(file), **SHORT).config.key() == given.config.key()
        keys.append(given.config.key())
    assert keys[0] != keys[1]


def test_a_finished_run_is_read_and_not_written_to(tmp_path: Path) -> None:
    run = train("digits", out=tmp_path, **SHORT)
    assert run.folder is not None
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in run.folder.iterdir()}
    again = train("digits", out=tmp_path, **SHORT)
    assert before == {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in run.folder.iterdir()}
    torch.testing.assert_close(run.scores["test_scores"], again.scores["test_scores"], rtol=0, atol=0)


def test_a_full_disk_at_the_end_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> Path:
        raise OSError(28, "No space left on device")

    folder = RunFolder(tmp_path)
    run = train("digits", **SHORT)
    monkeypatch.setattr(_files, "write_bytes", full)
    with pytest.raises(OSError, match="The disk is full at .*run the same command again"):
        keep(run, folder)


def test_clipping_bounds_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    norms: list[float] = []
    plain = torch.optim.SGD.step

    def step(self: torch.optim.SGD, *arguments: Any) -> Any:
        parameters = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        norms.append(float(torch.linalg.vector_norm(torch.cat([p.grad.flatten() for p in parameters]))))
        return plain(self, *arguments)

    monkeypatch.setattr(torch.optim.SGD, "step", step)
    train("digits", optimizer="sgd", **{**SHORT, "epochs": 1})
    assert max(norms) > 0.1
    norms.clear()
    train("digits", optimizer="sgd", clip=0.01, **{**SHORT, "epochs": 1})
    assert max(norms) == pytest.approx(0.01, rel=1e-3)


def test_a_batch_of_one_is_refused_where_the_model_normalises_over_it() -> None:
    images = torch.randint(256, (40, 3, 2, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="`batch_size` of train must be at least 2 for this model"):
        train((images, torch.arange(40) % 2), model="resnet8-small", batch_size=1, epochs=1)


def test_a_run_of_another_network_of_the_same_name_is_not_taken_for_it(tmp_path: Path) -> None:
    images = torch.randint(256, (40, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    run = train((images, torch.arange(40) % 2), model="resnet8-small", epochs=1, out=tmp_path)
    assert run.folder is not None
    config = _files.read_json(run.folder / "config.json")
    _files.write_json(run.folder / "config.json", {**config, "model": "resnet8"})  # what the name once stood for
    old = Run.load(signed_again(run.folder))
    with pytest.raises(ValueError, match="weights fit 'onehot' on 'resnet8' as they are built here.*train it again"):
        old.learner()


def test_pictures_get_a_small_residual_network_by_themselves() -> None:
    images = torch.randint(256, (40, 3, 16, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    assert train((images, torch.arange(40) % 2), epochs=1).config.model == "resnet8-small"


@pytest.mark.parametrize("best_by", ["last", "nll"])
def test_validation_data_are_not_read_again_after_the_last_epoch(best_by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record holds the scores of the epoch that is kept: those that a restored network gives anew."""
    asked: list[int] = []

    def counted(learner: Learner, feed: Any, config: Config) -> Any:
        asked.append(len(feed))
        return measured(learner, feed, config)

    monkeypatch.setattr("labelspace.training.run.measured", counted)
    run = train("digits", method="lwal", best_by=best_by, **{**SHORT, "learning_rate": 0.3, "epochs": 4})
    digits = prepare(run.config).dataset
    assert asked == [len(digits.test)]
    again = run.learner()(digits.normalize(digits.validation.x))
    torch.testing.assert_close(again, run.scores["validation_scores"], rtol=0, atol=1e-6)
    assert run.result["validation"]["nll"] == run.epochs[run.result["best_epoch"]]["validation_nll"]
