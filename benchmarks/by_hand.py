"""What a user would type in plain PyTorch for each method: the rivals of ``losses.py``.

Every entry of ``BY_HAND`` makes a function ``(output, y) -> loss`` for K classes and learned tensors, if there are any.
Short rather than careful: no ignored samples, no class weights, no soft labels, no infinite logits, no other ranks.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]
Made = tuple[Loss, list[Tensor]]  # the loss, and what it learns


def onehot(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Plain cross-entropy."""
    return F.cross_entropy, []


def uniform(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Torch's own label smoothing."""
    return lambda output, y: F.cross_entropy(output, y, label_smoothing=0.1), []


def semantic(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Cross-entropy with rows of one matrix, mixed beforehand."""
    matrix = 0.9 * torch.eye(classes) + 0.1 * relations
    return lambda output, y: F.cross_entropy(output, matrix[y]), []


def symmetric(output: Tensor, logits: Tensor, y: Tensor) -> Tensor:
    """Return both divergences of a softmax from a target that mixes a label with a learned row."""
    target = 0.9 * F.one_hot(y, output.shape[1]) + 0.1 * logits.softmax(dim=1)
    log_p, log_t = output.log_softmax(dim=1), target.log()
    return 0.5 * ((target - log_p.exp()) * (log_t - log_p)).sum(dim=1).mean()


def lls(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Symmetric divergence from a learned row."""
    logits = torch.zeros(classes, classes, requires_grad=True)
    return lambda output, y: symmetric(output, logits[y], y), [logits]


def lls_rows(classes: int, relations: Tensor, features: Tensor) -> Made:
    """The same with a gradient of the rows that were read alone."""
    logits = torch.zeros(classes, classes, requires_grad=True)
    return lambda output, y: symmetric(output, F.embedding(y, logits, sparse=True), y), [logits]


def lls_rank(classes: int, relations: Tensor, features: Tensor) -> Made:
    """The same with rows from two thin matrices."""
    left = torch.zeros(classes, 64, requires_grad=True)
    right = torch.randn(64, classes, requires_grad=True)
    return lambda output, y: symmetric(output, left[y] @ right, y), [left, right]


def labelemb(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Five terms of a second head and an embedding of labels."""
    embedding = torch.eye(classes).requires_grad_()
    return _five(classes, features, lambda y: embedding[y], [embedding])


def labelemb_rows(classes: int, relations: Tensor, features: Tensor) -> Made:
    """The same with a gradient of the rows that were read alone."""
    embedding = torch.eye(classes).requires_grad_()
    return _five(classes, features, lambda y: F.embedding(y, embedding, sparse=True), [embedding])


def labelemb_rank(classes: int, relations: Tensor, features: Tensor) -> Made:
    """The same with an embedding of two thin matrices."""
    left = torch.randn(classes, 100, requires_grad=True)
    right = (torch.rand(100, classes) / 5 - 0.1).requires_grad_()
    return _five(classes, features, lambda y: torch.relu(left[y] @ right), [left, right])


def _five(classes: int, features: Tensor, rows: Callable[[Tensor], Tensor], learned: list[Tensor]) -> Made:
    head = torch.nn.Linear(features.shape[1], classes)

    def loss(output: Tensor, y: Tensor) -> Tensor:
        second, log_e = head(features.detach()), rows(y).log_softmax(dim=1)
        log_p = second.log_softmax(dim=1)
        sure = log_p.gather(1, y[:, None]).squeeze(1).exp()
        right = (second.argmax(dim=1) == y).float()
        last = -((second.detach() / 2).softmax(dim=1) * log_e).sum(dim=1)
        return (
            F.cross_entropy(output, y)
            + F.cross_entropy(output, log_e.detach().exp())
            + F.nll_loss(log_p, y)
            + (sure - 0.9).clamp_min(0).mean()
            + (right * last).sum() / right.sum().clamp_min(1)
        )

    return loss, [head.weight, head.bias, *learned]


def lwal(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Nearness to class means, by one matrix product each for sums and distances."""
    labels = torch.eye(classes)

    def loss(output: Tensor, y: Tensor) -> Tensor:
        nonlocal labels
        member = F.one_hot(y, classes).to(output.dtype)
        counts = member.sum(dim=0)[:, None]
        now = torch.where(counts > 0, (member.T @ output) / counts.clamp_min(1), labels)
        squared = output.square().sum(1)[:, None] + now.square().sum(1) - 2 * output @ now.T
        labels = now.detach()
        return F.cross_entropy(-squared.clamp_min(1e-12).sqrt(), y)

    return loss, []


def ols(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Cross-entropy with last epoch's mean softmax, and sums for the next."""
    matrix, sums, counts = relations.clone(), torch.zeros(classes, classes), torch.zeros(classes)

    def loss(output: Tensor, y: Tensor) -> Tensor:
        with torch.no_grad():
            right = output.argmax(dim=1) == y
            sums.index_add_(0, y[right], output[right].softmax(dim=1))
            counts.index_add_(0, y[right], torch.ones(int(right.sum())))
        return 0.5 * F.cross_entropy(output, y) + 0.5 * F.cross_entropy(output, matrix[y])

    return loss, []


def focal(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Cross-entropy damped where the model is sure."""

    def loss(output: Tensor, y: Tensor) -> Tensor:
        surprise = F.cross_entropy(output, y, reduction="none")
        return ((1 - torch.exp(-surprise)) ** 3 * surprise).mean()

    return loss, []


def zipf(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Cross-entropy and a divergence from one over the rank, among the other classes."""

    def loss(output: Tensor, y: Tensor) -> Tensor:
        ranks = output.detach().argsort(dim=1, descending=True).argsort(dim=1) + 1
        mass = (1 / ranks).scatter(1, y[:, None], 0)
        others = output.scatter(1, y[:, None], -1e9).log_softmax(dim=1)
        return F.cross_entropy(output, y) + 0.1 * F.kl_div(
            others, mass / mass.sum(dim=1, keepdim=True), reduction="batchmean"
        )

    return loss, []


def maxent(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Cross-entropy less a share of the entropy."""

    def loss(output: Tensor, y: Tensor) -> Tensor:
        log_p = output.log_softmax(dim=1)
        return F.nll_loss(log_p, y) + 0.1 * (log_p.exp() * log_p).sum(dim=1).mean()

    return loss, []


def tfkd(classes: int, relations: Tensor, features: Tensor) -> Made:
    """Cross-entropy and a divergence from a teacher made by hand."""

    def loss(output: Tensor, y: Tensor) -> Tensor:
        teacher = torch.full_like(output, 0.01 / (classes - 1)).scatter(1, y[:, None], 0.99)
        soft = (teacher / 20).softmax(dim=1)
        return 0.9 * F.cross_entropy(output, y) + 0.1 * F.kl_div(output.log_softmax(dim=1), soft, reduction="batchmean")

    return loss, []


BY_HAND: dict[str, Callable[[int, Tensor, Tensor], Made]] = {
    "onehot": onehot,
    "uniform": uniform,
    "semantic": semantic,
    "lls": lls,
    "lls by rows": lls_rows,
    "lls rank 64": lls_rank,
    "labelemb": labelemb,
    "labelemb by rows": labelemb_rows,
    "labelemb rank 100": labelemb_rank,
    "lwal": lwal,
    "ols": ols,
    "focal": focal,
    "zipf": zipf,
    "maxent": maxent,
    "tfkd": tfkd,
}
