"""Forward passes on a cuda that is not there, under autocast too: torch's fake tensors have shapes, types and a device.

Run as a script (torch is told of a device for good) with the first words of cases, it prints one JSON object: case ->
"" or what went wrong.
"""

import ctypes
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from contract.harness import METHODS
from labelspace import _devices, models
from labelspace.augment import draws
from labelspace.augment.named import ENTRIES, Augment
from labelspace.criteria import Criterion, criterion_class
from labelspace.criteria.onehot import OneHot
from labelspace.data.dataset import Split
from labelspace.data.loading import load
from labelspace.learner import Learner
from labelspace.models.sentences import sentences
from labelspace.training.config import Config
from labelspace.training.feed import Feed, autocast, scores_of

CUDA = torch.device("cuda", 0)
GUARDS, NOBODYS, CUDAS, KINDS = "_ZN3c104impl26device_guard_impl_registryE", 14, 1, 21


def pretend() -> None:
    """Let torch change to cuda devices as it does to meta ones: not at all. Built without CUDA it would refuse to."""
    if not torch.backends.cuda.is_built():
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
        guards = (ctypes.c_void_p * KINDS).in_dll(library, GUARDS)
        guards[CUDAS] = guards[NOBODYS]


@contextmanager
def fake() -> Iterator[FakeTensorMode]:
    """Enter torch's fake mode, without gradients (cuda's would be asked for a stream) and without pinned memory."""
    with (
        FakeTensorMode(allow_non_fake_inputs=True) as mode,
        torch.no_grad(),
        patch.object(Tensor, "pin_memory", lambda tensor: tensor),
        patch.object(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False),
        patch.object(torch.cuda, "is_bf16_supported", lambda: True),
    ):
        yield mode


def moved(module: nn.Module, mode: FakeTensorMode) -> nn.Module:
    """Move a module as ``Module.to`` does, which does not know fake tensors."""
    for part in module.modules():
        for store in (part._parameters, part._buffers):
            for name, tensor in store.items():
                if tensor is not None:
                    store[name] = mode.from_tensor(tensor.detach()).to(CUDA)
        if isinstance(part, Criterion):
            part.statistics._apply(lambda tensor: mode.from_tensor(tensor).to(CUDA))
    return module


def of_criterion(method: str) -> None:
    """One batch, with what a running method counts."""
    example = criterion_class(method).example()
    with fake() as mode:
        criterion = moved(example.criterion.train(), mode)
        output, y = mode.from_tensor(example.output.detach()).to(CUDA), mode.from_tensor(example.y).to(CUDA)
        extras = {name: mode.from_tensor(value.detach()).to(CUDA) for name, value in example.extras.items()}
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            with torch.enable_grad():  # nothing requires one; without it nothing is counted
                loss = criterion(output.to(dtype), y, **extras)
            there(loss, torch.float32)
        criterion.end_epoch()
        there(criterion.scores(output), torch.float32)


def of_network(name: str) -> None:
    """A loss under autocast, and scores without."""
    text = name.startswith("text-")
    shape = (12,) if text else (3, 32, 32)
    options = {"vocabulary": 50} if text else {}
    with fake() as mode:
        network = models.build(name, shape, 10, **options)
        learner = moved(Learner(network, OneHot(10)).train(), mode)
        x = torch.zeros(2, *shape, dtype=torch.int64 if text else torch.float32).to(CUDA)
        with autocast(Config(precision="float16", device="cuda"), CUDA):
            output, _ = network(x)
            there(output, torch.float16)
            there(learner.criterion(output, torch.zeros(2, dtype=torch.int64).to(CUDA)), torch.float32)
        there(learner(x), torch.float32)


def of_sentences(name: str) -> None:
    """A loss of pairs of texts under autocast, and scores without; only packing is left out, which reads lengths."""
    batch, labels = sentences(torch.tensor([[3, 4, 0], [5, 0, -100]]), torch.tensor([[2, 0], [0, -100]]), 10)
    packing = {
        "pack_padded_sequence": lambda texts, lengths, **_: texts,
        "pad_packed_sequence": lambda texts, **_: (texts, None),
    }
    unpacked = patch.multiple("labelspace.models.seq2seq", **packing)
    with fake() as mode, unpacked, patch.object(nn.LSTM, "flatten_parameters", lambda lstm: None):  # asks for cuDNN
        network = models.build(name, (3,), 10, vocabulary=50, targets=10)
        learner = moved(Learner(network, OneHot(10)).train(), mode)
        there_too = {key: mode.from_tensor(getattr(batch, key)).to(CUDA) for key in ("source", "previous", "kept")}
        x = batch._replace(**there_too, lengths=mode.from_tensor(batch.lengths))
        with autocast(Config(precision="float16", device="cuda"), CUDA):
            output, features = network(x)
            there(output, torch.float16)
            there(features, torch.float16)
            there(learner.criterion(output, mode.from_tensor(labels).to(CUDA)), torch.float32)
        there(learner(x), torch.float32)


def of_augmentation(spec: str) -> None:
    """Images and labels through an augmentation whose draws come from the CPU."""
    with fake():
        x, y = torch.rand(8, 3, 8, 8).to(CUDA), torch.arange(8).to(CUDA)
        generator = torch.Generator().manual_seed(0)
        # what is counted or read on the CPU before it moves has no numbers there
        with patch.object(Tensor, "nonzero", _some), patch.object(draws, "beta", _shares):
            x, y = Augment.parse([spec])(x, y, 8, generator)
        there(x, torch.float32)
        assert y.device == CUDA


def _some(tensor: Tensor) -> Tensor:
    assert tensor.device.type == "cpu", "a count that makes the CPU wait for the device"
    return torch.arange(2)[:, None]


def _shares(alpha: float, count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    return _devices.widest(torch.rand(count, generator=generator, dtype=torch.float64), device)


def of_evaluation(whole: bool) -> None:
    """Batches that are fed from pinned memory, or from data that are on the device whole; scores on the CPU."""
    digits = load("digits")
    with fake() as mode, patch.object(_devices, "free_memory", lambda device: 2**30 if whole else 0):
        part = Split(mode.from_tensor(digits.test.x), mode.from_tensor(digits.test.y))
        config = Config(device="cuda", precision="bfloat16")
        feed = Feed(part, digits, config)
        assert feed.ready is not None
        assert (feed.ready.device == CUDA) == whole
        learner = moved(Learner(models.build("mlp-16", (1, 8, 8), 10), OneHot(10)), mode)
        scores = scores_of(learner, feed, config)
        assert (scores.device.type, scores.dtype, len(scores)) == ("cpu", torch.float32, len(digits.test))


def there(tensor: Tensor, dtype: torch.dtype) -> None:
    """Check where a result is, and how exact."""
    assert tensor.device == CUDA, tensor.device
    assert tensor.dtype == dtype, tensor.dtype


def cases() -> dict[str, Callable[[], None]]:
    """Return everything that is tried, by name."""
    built_in = [name for name in models.names() if not {":", "H"} & set(name) and name != "efficientnet-lite0"]
    found: dict[str, Callable[[], Any]] = {f"criterion {method}": partial(of_criterion, method) for method in METHODS}
    for name in built_in:
        found[f"network {name}"] = partial(of_sentences if name.startswith("seq2seq") else of_network, name)
    found |= {f"augmentation {name}": partial(of_augmentation, name) for name in ENTRIES}
    return found | {f"evaluation {whole}": partial(of_evaluation, whole) for whole in (False, True)}


def main(words: tuple[str, ...]) -> None:
    """Try everything whose name begins with one of the words."""
    pretend()
    results = {}
    for name, case in cases().items():
        if not name.startswith(words):
            continue
        try:
            case()
            results[name] = ""
        except Exception:
            results[name] = traceback.format_exc()[-3000:]
    print(json.dumps(results))


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
