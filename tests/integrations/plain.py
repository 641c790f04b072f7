"""What every adapter is held against: a small network, labels, and a loop of a dozen lines that uses no library."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from labelspace import AdaptiveLabels, LearnableSmoothing, OneHot, OnlineSmoothing, SemanticSmoothing, ordinal
from labelspace.criteria import Criterion

CLASSES, INPUTS, WIDTH = 4, 6, 5
NAMES = ["a", "b", "c", "d"]
RATE, DECAY = 0.02, 0.1
MAKE: dict[str, Callable[..., Criterion]] = {
    "onehot": lambda **more: OneHot(NAMES, **more),
    "semantic": lambda **more: SemanticSmoothing(ordinal(NAMES), smoothing=0.3, **more),
    "lls": lambda **more: LearnableSmoothing(NAMES, smoothing=0.2, **more),
    "ols": lambda **more: OnlineSmoothing(NAMES, **more),
    "lwal": lambda **more: AdaptiveLabels(NAMES, **more),
}
METHODS = list(MAKE)
SPLIT = [name for name in METHODS if name != "lwal"]  # whose unit is the sample, not the batch


class Network(nn.Module):
    """Two layers, of which the first shows its features."""

    def __init__(self, outputs: int = CLASSES) -> None:
        super().__init__()
        self.first = nn.Linear(INPUTS, WIDTH)
        self.head = nn.Linear(WIDTH, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.first(x)))


class Shows(nn.Module):
    """The same network, which returns the pair ``(output, features)``."""

    def __init__(self, outputs: int = CLASSES) -> None:
        super().__init__()
        self.network = Network(outputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = torch.tanh(self.network.first(x))
        return self.network.head(features), features


def network(kind: type[nn.Module] = Network) -> nn.Module:
    """Return the network that every run starts from."""
    torch.manual_seed(5)
    return kind()


def samples(count: int = 48) -> tuple[Tensor, Tensor]:
    """Return inputs, and labels that can be learned from them."""
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(count, INPUTS, generator=generator)
    return x, (x[:, :CLASSES] + 0.3 * torch.randn(count, CLASSES, generator=generator)).argmax(dim=1)


def batches(x: Tensor, y: Tensor, size: int) -> list[tuple[Tensor, Tensor]]:
    return list(zip(x.split(size), y.split(size), strict=True))


def groups(model: nn.Module, criterion: Criterion, biases: bool) -> list[dict[str, object]]:
    """Return everything for an optimizer: what is learned of labels does not decay, and biases only where asked."""
    free = [one for name, one in criterion.named_parameters() if name == "label_logits"]
    free += [] if biases else [one for one in model.parameters() if one.ndim == 1]
    kept = [one for one in model.parameters() if biases or one.ndim > 1]
    return [{"params": kept, "weight_decay": DECAY}, {"params": free, "weight_decay": 0.0}]


def plain_loop(
    model: nn.Module,
    criterion: Criterion,
    data: Iterable[tuple[Tensor, Tensor]],
    *,
    epochs: int = 1,
    steps: int = 10**9,
    clip: float | None = None,
    biases: bool = True,
) -> dict[str, Tensor]:
    """Train as anybody would by hand; return the state of model and labels."""
    optimizer = torch.optim.AdamW(groups(model, criterion, biases), lr=RATE)
    data, done = list(data), 0
    for _ in range(epochs):
        for x, y in data:
            if done == steps:
                return state(model, criterion)
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            if clip is not None:
                torch.nn.utils.clip_grad_norm_([*model.parameters(), *criterion.parameters()], clip)
            optimizer.step()
            done += 1
        criterion.end_epoch()
    return state(model, criterion)


def state(model: nn.Module, criterion: Criterion) -> dict[str, Tensor]:
    parts = {"model": model, "criterion": criterion}
    return {f"{part}.{name}": value.clone() for part in parts for name, value in parts[part].state_dict().items()}


def assert_same(found: dict[str, Tensor], wanted: dict[str, Tensor], tolerance: float = 1e-5) -> None:
    """Compare two states; one that has not moved would be equal to anything that has not."""
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        torch.testing.assert_close(
            found[name], value, rtol=tolerance, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}"
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep to one thread where a library would take more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
