"""A task of timm with a criterion trains what a plain loop trains, and says when targets are smoothed twice."""

import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

from integrations.plain import (
    CLASSES,
    DECAY,
    MAKE,
    METHODS,
    RATE,
    assert_same,
    batches,
    network,
    plain_loop,
    samples,
    state,
)
from integrations.torchvision_stand_in import stand_in
from labelspace import AdaptiveLabels, InputError, LabelEmbedding


def ours(name: str) -> bool:
    return name.partition(".")[0] in ("timm", "torchvision") or name == "labelspace.integrations.timm"


@pytest.fixture(scope="module")
def timm() -> Iterator[ModuleType]:
    """Return timm, and leave nothing of it behind: other tests look at whether the real torchvision loads."""
    import importlib.util

    if importlib.util.find_spec("timm") is None:
        pytest.skip("timm is not installed")
    before = {name: module for name, module in sys.modules.items() if ours(name)}
    stand_in()
    import timm.data
    import timm.optim
    import timm.task

    yield timm
    for name in [name for name in sys.modules if ours(name)]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.fixture
def label_task(timm: ModuleType) -> Any:
    from labelspace.integrations.timm import LabelTask

    return LabelTask


@pytest.mark.parametrize("method", METHODS)
def test_twenty_steps_are_those_of_a_plain_loop(method: str, timm: Any, label_task: Any) -> None:
    model, criterion = network(), MAKE[method]()
    task = label_task(model, criterion, verbose=False)
    assert isinstance(task, timm.task.TrainingTask)
    optimizer = timm.optim.create_optimizer_v2(task.get_trainable_module(), opt="adamw", lr=RATE, weight_decay=DECAY)
    task.train()
    for _ in range(5):
        for x, y in batches(*samples(), 12):
            optimizer.zero_grad()
            found = task(x, y)
            found["loss"].backward()
            optimizer.step()
        task.end_epoch()
    wanted = plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=5, biases=False)
    assert_same(state(model, criterion), wanted)
    torch.testing.assert_close(task.scores(samples()[0]), criterion.scores(model(samples()[0])))


@pytest.mark.parametrize("method", ["ols", "lls"])
def test_accumulated_batches_are_one_large_batch(method: str, timm: Any, label_task: Any) -> None:
    model, criterion = network(), MAKE[method]()
    task = label_task(model, criterion, verbose=False)
    optimizer = timm.optim.create_optimizer_v2(task.get_trainable_module(), opt="adamw", lr=RATE, weight_decay=DECAY)
    for _ in range(3):
        for number, (x, y) in enumerate(batches(*samples(), 4), 1):
            (task(x, y)["loss"] / 3).backward()  # as timm's own loop divides it
            if number % 3 == 0:
                optimizer.step()
                optimizer.zero_grad()
        task.end_epoch()
    wanted = plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=3, biases=False)
    assert_same(state(model, criterion), wanted)


@pytest.mark.parametrize("method", ["ols", "lls"])
def test_resumed_it_goes_on_as_if_nothing_had_happened(method: str, label_task: Any) -> None:
    parts = batches(*samples(), 12)

    def steps(task: Any, data: Any, end: bool) -> None:
        optimizer = torch.optim.SGD(task.get_trainable_module().parameters(), lr=0.1)
        for x, y in data:
            optimizer.zero_grad()
            task(x, y)["loss"].backward()
            optimizer.step()
        if end:
            task.end_epoch()

    whole = label_task(network(), MAKE[method](), verbose=False)
    steps(whole, parts[:2], False)
    saved = whole.get_checkpoint_state()
    assert saved["state_dict"].keys() == network().state_dict().keys()  # the model as it is anywhere
    saved = {name: {key: value for key, value in part.items()} for name, part in saved.items()}
    resumed = label_task(network(), MAKE[method](), verbose=False)
    copied = {name: value.clone() for name, value in saved["state_dict"].items()}
    labels = {"criterion": {name: value.clone() for name, value in saved["task_state"]["criterion"].items()}}
    resumed.load_checkpoint_state(copied, labels)
    for task in (whole, resumed):
        steps(task, parts[2:], True)
        steps(task, parts, True)
    first, second = whole.get_trainable_module(), resumed.get_trainable_module()
    assert_same(state(second.model, second.criterion), state(first.model, first.criterion), 1e-7)


def test_a_real_network_with_features(timm: Any, label_task: Any) -> None:
    torch.manual_seed(0)
    model = timm.create_model("test_resnet", num_classes=CLASSES)
    criterion = LabelEmbedding(CLASSES, in_features=model.num_features)
    task = label_task(model, criterion, verbose=False)
    optimizer = timm.optim.create_optimizer_v2(task.get_trainable_module(), opt="adamw", lr=1e-3, weight_decay=0.1)
    decays = {id(one): group["weight_decay"] for group in optimizer.param_groups for one in group["params"]}
    assert decays[id(criterion.embedding)] == 0.0
    assert decays[id(criterion.second_head.weight)] == 0.1
    x = torch.randn(4, 3, 32, 32)
    found = task(x, torch.tensor([0, 1, 2, 3]))
    found["loss"].backward()
    optimizer.step()
    assert found["output"].shape == (4, CLASSES)
    assert bool((criterion.embedding != torch.eye(CLASSES)).any())
    task.setup_ema()
    task.update_ema()
    assert task.get_eval_model(ema=True) is not model
    assert task.get_eval_model() is model
    assert "task_state_ema" in task.get_checkpoint_state(ema=True)


def test_a_model_whose_largest_output_does_not_predict(timm: Any, label_task: Any) -> None:
    task = label_task(network(), AdaptiveLabels(CLASSES), verbose=False)
    with pytest.warns(UserWarning, match=r"does not predict with AdaptiveLabels.*task.scores\(images\)"):
        task.get_eval_model()
    task.get_eval_model()  # once


def mixed(timm: Any, smoothing: float) -> Any:
    x, y = samples(8)
    mixup = timm.data.Mixup(mixup_alpha=1.0, label_smoothing=smoothing, num_classes=CLASSES)
    return mixup(x.reshape(8, 1, 2, 3), y)


def test_targets_that_are_smoothed_twice_are_warned_of_once(timm: Any, label_task: Any) -> None:
    x, smooth = mixed(timm, 0.1)
    task = label_task(network(), MAKE["semantic"](), verbose=False)
    with pytest.warns(UserWarning, match=r"smoothed by 0.1 already, .*Mixup\(label_smoothing=0.0\)"):
        task(x.flatten(1), smooth)
    task(x.flatten(1), smooth)


def test_mixtures_of_two_classes_are_not(timm: Any, label_task: Any) -> None:
    x, plain = mixed(timm, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        label_task(network(), MAKE["semantic"](), verbose=False)(x.flatten(1), plain)


def test_what_is_no_criterion_is_refused(label_task: Any) -> None:
    with pytest.raises(InputError, match="`criterion` of LabelTask must be a labelspace criterion"):
        label_task(network(), torch.nn.CrossEntropyLoss())
