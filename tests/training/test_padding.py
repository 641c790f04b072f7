"""Padding of pairs of texts takes part in nothing, whatever stands in it."""

from pathlib import Path

import pytest
import torch

from labelspace import Learner
from labelspace.criteria.targets import IGNORED
from labelspace.models.sentences import Sentences
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from labelspace.training.sentences import SentenceFeed
from small_corpus import SMALL, write_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("method", ["onehot", "labelemb", "lls"])
def test_padding_has_no_gradient(corpus: Path, method: str) -> None:
    """Padding of other tokens gives every gradient bit by bit, those of its own positions and tokens exactly zero."""
    options = {"labelemb": {"rank": 3}, "lls": {"rank": 3}}.get(method, {})
    config = make_config(data=str(corpus), method=method, method_options=options, **SMALL, model_options={"dropout": 0})
    loop = Loop(prepare(config))
    assert isinstance(loop.feed, SentenceFeed)
    rows = torch.tensor([loop.feed.lengths.argmin(), loop.feed.lengths.argmax(), 0])
    x, labels = loop.feed.pair(rows, loop.y[rows])
    x = more_padding(x, 2)
    behind = torch.arange(x.source.shape[1]) >= x.lengths[:, None]
    unread = torch.ones_like(x.previous, dtype=torch.bool)
    unread.view(-1)[x.kept] = False
    read = len(loop.job.dataset.vocabulary or ())
    strange = [absent(x.source[~behind], read), absent(x.previous[~unread], loop.feed.classes)]
    other = x._replace(
        source=x.source.masked_fill(behind, strange[0]), previous=x.previous.masked_fill(unread, strange[1])
    )
    assert behind.any()
    assert not torch.equal(other.source, x.source)
    assert not torch.equal(other.previous, x.previous)
    plain, _ = gradients(loop.learner, x, labels)
    changed, embedded = gradients(loop.learner, other, labels)
    assert plain.keys() == changed.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(changed[name], gradient, rtol=0, atol=0, msg=name)
    assert not embedded[behind].any()
    assert embedded[~behind].any(dim=1).all()
    for table, token in zip(("source", "target"), strange, strict=True):
        assert not changed[f"model.{table}.weight"][token].any()
    # and there is as little of it in the gradients of pairs that are alone, each weighed by its tokens
    alone = [gradients(loop.learner, *loop.feed.pair(row[None], loop.y[row][None]))[0] for row in rows]
    shares = (loop.feed.lengths[rows] / loop.feed.lengths[rows].sum()).tolist()
    for name in (name for name in plain if name.startswith("model.")):
        expected = sum(share * each[name] for share, each in zip(shares, alone, strict=True))
        torch.testing.assert_close(plain[name], expected, rtol=1e-4, atol=1e-6, msg=name)
    # were one position of the padding a target, all of this would show it
    place = unread.flatten().nonzero()[-1]
    leaking = other._replace(kept=torch.cat([other.kept, place]))
    leaked, _ = gradients(loop.learner, leaking, torch.cat([labels, labels[:1]]))
    assert leaked["model.target.weight"][strange[1]].any()


def test_a_pair_that_fills_a_rank_has_no_gradient(corpus: Path) -> None:
    """It repeats the first pair without labels: a trace of it would weigh that one twice."""
    config = make_config(data=str(corpus), **SMALL, model_options={"dropout": 0})
    loop = Loop(prepare(config))
    assert isinstance(loop.feed, SentenceFeed)
    rows, filler = torch.tensor([0, 1, 2]), torch.full_like(loop.y[:1], IGNORED)
    plain, _ = gradients(loop.learner, *loop.feed.pair(rows, loop.y[rows]))
    both = loop.feed.pair(torch.cat([rows, rows[:1]]), torch.cat([loop.y[rows], filler]))
    filled, embedded = gradients(loop.learner, *both)
    assert not embedded[3].any()
    for name, gradient in plain.items():
        torch.testing.assert_close(filled[name], gradient, rtol=1e-5, atol=1e-8)


def more_padding(batch: Sentences, more: int) -> Sentences:
    """Return a batch with more padding than it needs."""
    length = batch.previous.shape[1]
    source, previous = (torch.nn.functional.pad(ids, (0, more)) for ids in (batch.source, batch.previous))
    return batch._replace(source=source, previous=previous, kept=batch.kept + batch.kept // length * more)


def absent(tokens: torch.Tensor, count: int) -> int:
    """Return a token that is none of these."""
    return min(set(range(1, count)) - set(tokens.tolist()))  # 0 is what padding holds anyway


def gradients(learner: Learner, x: Sentences, y: torch.Tensor) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Return the gradients of all parameters, and that of every embedded position of the sources."""
    seen: list[torch.Tensor] = []
    handle = learner.model.get_submodule("source").register_forward_hook(lambda _, __, made: seen.append(made))
    learner.zero_grad()
    loss = learner(x, y)
    handle.remove()
    seen[0].retain_grad()
    loss.backward()
    assert seen[0].grad is not None
    return {name: p.grad.clone() for name, p in learner.named_parameters() if p.grad is not None}, seen[0].grad
