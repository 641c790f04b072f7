"""Lazy SGD against torch.optim.SGD: the same trajectory, whatever reads the rows in between."""

import copy
import io
import pickle

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from labelspace import InputError, LabelEmbedding, LearnableSmoothing, Learner, optim
from labelspace._lazy_rows import HISTORY, LazyRows

FORMS = {
    "plain": {},
    "decay": {"weight_decay": 0.1},
    "momentum": {"momentum": 0.9},
    "both": {"momentum": 0.9, "weight_decay": 0.05},
    "dampening": {"momentum": 0.8, "dampening": 0.3, "weight_decay": 0.05},
    "nesterov": {"momentum": 0.9, "nesterov": True, "weight_decay": 0.05},
}


def made(classes: int = 12, dtype: torch.dtype = torch.float64, **options: object) -> Learner:
    generator = torch.Generator().manual_seed(0)
    learner = Learner(nn.Linear(4, classes), LearnableSmoothing(classes, smoothing=0.3, decay_labels=True, **options))
    learner = learner.to(dtype)
    for parameter in learner.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=dtype)
    return learner


def batch(step: int, classes: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(step)
    # some classes are met in nearly every step, some seldom, one never
    y = (torch.rand(6, generator=generator).square() * (classes - 1)).long()
    return torch.randn(6, 4, generator=generator, dtype=dtype), y


def both(form: str, classes: int = 12, dtype: torch.dtype = torch.float64, **options: object) -> list:
    """Return a learner with torch's optimizer, and its twin with ours, under the same schedule."""
    pairs = []
    for lazy in (False, True):
        learner = made(classes, dtype, **options)
        kind = optim.SGD if lazy else torch.optim.SGD
        optimizer = kind(learner.parameter_groups(rows=True), lr=0.5, **FORMS[form])  # torch knows no rows
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200)
        pairs.append((learner, optimizer, schedule))
    return pairs


def train(learner: Learner, optimizer: torch.optim.Optimizer, schedule, steps: range, dtype=torch.float64) -> None:
    for step in steps:
        optimizer.zero_grad()
        learner(*batch(step, len(learner.criterion.names), dtype)).backward()
        optimizer.step()
        schedule.step()


def same(one: Learner, other: Learner, tolerance: float = 1e-11) -> None:
    for (name, first), (_, second) in zip(one.named_parameters(), other.named_parameters(), strict=True):
        assert_close(second.detach(), first.detach(), rtol=0, atol=tolerance, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("form", FORMS)
def test_the_trajectory_is_that_of_dense_steps_under_a_schedule(form: str) -> None:
    steps = range(200 if form == "nesterov" else 40)
    dense, lazy = both(form)
    train(*dense, steps)
    train(*lazy, steps)
    assert isinstance(lazy[0].criterion.label_logits, LazyRows)
    assert lazy[0].criterion.label_logits.grad.is_sparse
    same(dense[0], lazy[0])


@pytest.mark.parametrize("options", [{"rank": 3}, {"top": 2, "prune_after": 1}])
def test_factors_and_pruned_rows_too(options: dict[str, int]) -> None:
    dense, lazy = both("both", **options)
    for pair in (dense, lazy):
        train(*pair, range(20))
        pair[0].end_epoch()  # which looks at all rows, and writes them, where it prunes
        train(*pair, range(20, 60))
    same(dense[0], lazy[0])


def test_in_single_precision_and_with_the_stopped_embedding() -> None:
    pairs = []
    for lazy in (False, True):
        torch.manual_seed(0)
        learner = Learner(Pair(), LabelEmbedding(9, in_features=4))
        kind = optim.SGD if lazy else torch.optim.SGD
        pairs.append((learner, kind(learner.parameter_groups(0.01, rows=lazy), lr=0.3, momentum=0.9)))
    for learner, optimizer in pairs:
        for step in range(60):
            optimizer.zero_grad()
            learner(*batch(step, 9, torch.float32)).backward()
            optimizer.step()
    same(pairs[0][0], pairs[1][0], 1e-6)


class Pair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 9)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.head(x), x


def test_longer_than_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelspace._lazy_rows.HISTORY", 7)
    dense, lazy = both("both")
    train(*dense, range(40))
    train(*lazy, range(40))
    assert HISTORY > 200  # the other tests stay inside
    same(dense[0], lazy[0])


@pytest.mark.parametrize(
    "look",
    [
        lambda learner: learner.criterion.label_space().matrix,
        lambda learner: learner.state_dict()["criterion.label_logits"],
        lambda learner: copy.deepcopy(learner).criterion.label_logits,
        lambda learner: pickle.loads(pickle.dumps(learner)).criterion.label_logits,
        lambda learner: learner.criterion.label_logits.data,
        lambda learner: torch.stack([learner.criterion.label_logits]),
        lambda learner: learner.criterion.label_logits * 1,
        lambda learner: torch.tensor(learner.criterion.label_logits.tolist(), dtype=torch.float64),
    ],
)
def test_whoever_looks_finds_all_rows_up_to_date(look) -> None:
    dense, lazy = both("both")
    train(*dense, range(9))
    train(*lazy, range(9))
    missed = lazy[0].criterion.label_logits.missed
    assert bool((missed.since < missed.taken).any())  # otherwise there would be nothing to see
    assert_close(look(lazy[0]).detach(), look(dense[0]).detach(), rtol=0, atol=1e-7)


def test_a_step_looks_at_the_rows_of_the_batch_alone() -> None:
    (_, lazy) = both("both")
    learner, optimizer, _ = lazy
    train(*lazy, range(3))
    logits = learner.criterion.label_logits
    with torch._C.DisableTorchFunctionSubclass():
        before = logits.detach().clone()
    x, y = batch(50, 12)
    optimizer.zero_grad()
    learner(x, y).backward()
    optimizer.step()
    with torch._C.DisableTorchFunctionSubclass():
        changed = (logits.detach() != before).any(dim=1)
    assert set(changed.nonzero()[:, 0].tolist()) <= set(y.tolist())


def test_probabilities_several_backwards_and_no_gradient() -> None:
    dense, lazy = both("both")
    for learner, optimizer, _ in (dense, lazy):
        for step in range(30):
            optimizer.zero_grad(set_to_none=step % 4 != 0)
            x, y = batch(step, 12)
            if step % 5 == 0:  # probabilities read all rows
                learner(x, torch.softmax(torch.eye(12, dtype=torch.float64)[y] * 3, dim=1)).backward()
            if step % 5 != 4:  # at 4 there is no gradient at all: torch leaves the parameter alone
                learner(x, y).backward()
                learner(*batch(step + 1000, 12)).backward()
            optimizer.step()
    same(dense[0], lazy[0])


def test_closures_and_scaled_gradients() -> None:
    dense, lazy = both("momentum", dtype=torch.float32)
    for learner, optimizer, _ in (dense, lazy):
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=5)
        for step in range(20):
            x, y = batch(step, 12, torch.float32)
            optimizer.zero_grad()
            loss = learner(x, y) * (float("inf") if step == 7 else 1)  # a step that the scaler leaves out
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

        def closure(learner=learner, optimizer=optimizer) -> Tensor:
            optimizer.zero_grad()
            loss = learner(*batch(99, 12, torch.float32))
            loss.backward()
            return loss

        assert_close(optimizer.step(closure), learner(*batch(99, 12, torch.float32)), rtol=1, atol=1)
    same(dense[0], lazy[0], 1e-5)


def test_clipping() -> None:
    dense, lazy = both("both")
    for learner, optimizer, _ in (dense, lazy):
        clip = optim.clip_grad_norm_ if isinstance(optimizer, optim.SGD) else nn.utils.clip_grad_norm_
        for step in range(10):
            optimizer.zero_grad()
            (20 * learner(*batch(step, 12))).backward()
            assert clip(list(learner.parameters()), 0.5) > 0.5
            optimizer.step()
    same(dense[0], lazy[0])
    assert optim.clip_grad_norm_([nn.Parameter(torch.zeros(2))], 1.0) == 0


def test_a_resumed_run_goes_on_bit_for_bit_and_torch_reads_the_state() -> None:
    _, through = both("nesterov", dtype=torch.float32)
    train(*through, range(17), torch.float32)
    file = io.BytesIO()
    torch.save([part.state_dict() for part in through], file)
    train(*through, range(17, 50), torch.float32)
    for place in (1, 0):  # ours, then torch's
        file.seek(0)
        again = both("nesterov", dtype=torch.float32)[place]
        for part, state in zip(again, torch.load(file), strict=True):
            part.load_state_dict(state)
        train(*again, range(17, 50), torch.float32)
        same(through[0], again[0], 0 if place else 1e-5)


def test_a_newer_optimizer_takes_the_rows_over() -> None:
    _, (learner, old, schedule) = both("both")
    train(learner, old, schedule, range(5))
    kept = learner.criterion.label_logits.detach().clone()
    new = optim.SGD(learner.parameter_groups(rows=True), lr=0.1)
    assert_close(learner.criterion.label_logits.detach(), kept, rtol=0, atol=0)
    learner(*batch(0, 12)).backward()
    with pytest.raises(InputError, match="`params` of SGD.step must be rows of no other optimizer"):
        old.step()
    new.step()


def test_what_has_no_rows_is_refused() -> None:
    group = {"params": [nn.Parameter(torch.zeros(3))], "rows": True}
    with pytest.raises(InputError, match="parameters of two dimensions in a group with rows=True"):
        optim.SGD([group], lr=0.1)
