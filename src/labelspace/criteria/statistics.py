"""What a running method has seen since its last commit, and what it remembers of single samples.

These tensors are deliberately not registered buffers: DistributedDataParallel overwrites every rank's buffers with
rank 0's before each forward, which would silently drop what the other ranks have counted. A memory is the same on
every rank, but sending a row per training sample before each forward would take longer than the forward.

They live in a module of their own all the same, which names them to whoever asks it alone and not the module around it:
so torch's distributed checkpoints find them, and DistributedDataParallel does not.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, NamedTuple, final

import torch
from torch import Tensor, nn

from labelspace import _sharded
from labelspace._devices import may_look_at
from labelspace._distributed import ALL, Ranks
from labelspace.criteria.options import OptionsModule
from labelspace.criteria.soundness import Rows
from labelspace.criteria.voices import Loop, Still
from labelspace.criteria.waiting import SMALL, Waiting

UNGATHERED = (
    "state_dict() in mid-epoch holds what a criterion has observed on this rank, not what it has on others."
    " Call learner.gather() on every rank before it, or criterion.gather()."
)


class RowSum(NamedTuple):
    """A sum of which a batch touches few rows: ``sum[rows] += values``, a row as often as it comes."""

    rows: Tensor  # (n,)
    values: Tensor  # (n, …)


Observed = Mapping[str, Tensor | RowSum | float]  # of one batch, by name
Commit = Callable[[], Mapping[str, Tensor]]


class Learnt(NamedTuple):
    """The loss of a batch of a method that commits in every step, which has what it learns of the batch on the way."""

    loss: Tensor
    commit: Commit  # what ``commit`` would return of this batch alone, without gradients; pure


def parted(found: Tensor | Learnt | None) -> tuple[Tensor | None, Commit | None]:
    """Return a loss, and what is committed with it where that came along."""
    return found if isinstance(found, Learnt) else (found, None)


@final
class Statistics(nn.Module):
    """Sums over samples, tables with one row per sample of the training set, and a memory that commits write.

    Args:
        sums: names and shapes of statistics that are added up.
        tables: names and ``(shape, dtype)`` of per-sample tables, whose rows are overwritten.
        memory: names and ``(shape, dtype)`` of committed per-sample tensors: never cleared, the same on every rank.
        ranks: that count together.
    """

    def __init__(
        self,
        sums: Mapping[str, tuple[int, ...]],
        tables: Mapping[str, tuple[tuple[int, ...], torch.dtype]],
        memory: Mapping[str, tuple[tuple[int, ...], torch.dtype]],
        ranks: Ranks = ALL,
    ) -> None:
        """Allocate everything as zeros, so that compiled code never meets a new tensor."""
        super().__init__()
        self.ranks = ranks
        self.waiting = Waiting()  # batches that sums have nothing of yet
        self._observe: Callable[[Tensor, Tensor], Observed] | None = None  # what they wait for
        self.sums = {name: torch.zeros(shape) for name, shape in sums.items()}
        self.tables = {name: torch.zeros(shape, dtype=dtype) for name, (shape, dtype) in tables.items()}
        self.memory = {name: torch.zeros(shape, dtype=dtype) for name, (shape, dtype) in memory.items()}
        rows = next(iter(self.tables.values())).shape[0] if self.tables else 0
        self.seen = torch.zeros(rows, dtype=torch.bool)
        self.alone = False  # whether this rank has counted what no other knows
        self.saved: dict[str, Tensor] = {}  # what all had counted, on ranks that do not go on with it
        self.quiet = False  # whether nothing is said of it: it was, or who saves brings ranks together afterwards

    def __bool__(self) -> bool:
        """Return whether there is anything to observe."""
        return bool(self.sums or self.tables)

    @property
    def sums(self) -> dict[str, Tensor]:
        """Return what was added up, of every batch."""
        # compiled code adds to what is there: what waits comes later, and a number of samples would be compiled in
        if not torch.compiler.is_compiling() and self.waiting.count:
            self._catch_up()
        found: dict[str, Tensor] = self.__dict__["sums"]
        return found

    @sums.setter
    def sums(self, sums: dict[str, Tensor]) -> None:
        self.__dict__["sums"] = sums
        self.waiting.count = 0  # in place of all that was observed

    def later(self, observe: Callable[[Tensor, Tensor], Observed], output: Tensor, y: Tensor) -> bool:
        """Keep a small batch until somebody asks for sums: they take no longer of ten than of one. False: too large."""
        waiting = self.waiting
        with waiting.lock:
            if not waiting.fits(output):
                if waiting.count:
                    self._catch_up()
                if not waiting.room(output):
                    return False
            if not waiting.count:
                self._counts_alone()
                self._observe = observe
            waiting.put(output, y)
        return True

    def _catch_up(self) -> None:
        with self.waiting.lock:
            if not self.waiting.count:  # another thread was quicker
                return
            assert self._observe is not None
            with torch.inference_mode(False), torch.no_grad():  # whoever asks
                self.add(self._observe(*self.waiting.taken()), None)

    def _counts_alone(self) -> None:
        if self.saved or not self.alone:  # else left alone: a module takes long to write what it has
            self.alone, self.saved = True, {}

    def add(self, observed: Observed, index: Tensor | None) -> None:
        """Add one batch's statistics; rows of tables go to ``index``, a negative index being left out."""
        self._counts_alone()
        sums = self.sums
        for name, value in observed.items():
            if isinstance(value, RowSum):
                sums[name] = _added(sums[name], value)
            elif isinstance(value, float):
                sums[name] = sums[name] + value
            elif name in sums:
                total = sums[name]
                sums[name] = total + value.to(torch.promote_types(total.dtype, value.dtype))
            else:
                assert index is not None
                self.tables[name] = self._written(self.tables[name], value, index)
        if self.tables and index is not None:
            self.seen = self._written(self.seen, torch.ones_like(index, dtype=torch.bool), index)

    @staticmethod
    def _written(table: Tensor, value: Tensor, index: Tensor) -> Tensor:
        if index.shape[0] == 0:
            return table
        # So that no shape depends on the data, an ignored sample repeats what the last valid one writes. A row of its
        # own choice could undo what another sample of the batch has written there; with no valid sample at all, row 0
        # is rewritten with what it holds.
        keep = index >= 0
        last = torch.where(keep, torch.arange(len(index), device=index.device), 0).amax(dim=0, keepdim=True)
        place = torch.where(keep, index, index[last]).clamp_min(0)
        tail = [1] * (value.ndim - 1)
        repeated = torch.where(keep.reshape(-1, *tail), value, value[last]).to(table.dtype)
        rows = torch.where(keep[last].reshape(-1, *tail), repeated, table[place])
        if torch._C._functorch.peek_interpreter_stack() is not None:
            # a transform forbids changes of what it did not make
            return table.index_copy(0, place, rows)
        return table.index_copy_(0, place, rows)

    def gathered(self) -> dict[str, Tensor]:
        """Return the statistics of all ranks together, ``seen`` among them where there are tables."""
        together = dict(zip(self.sums, self.ranks.sum(*self.sums.values()), strict=True))
        if self.tables:
            seen, tables = self.ranks.merge_rows(self.seen, self.tables)
            together |= {"seen": seen, **tables}
        return together

    def local(self) -> dict[str, Tensor]:
        """Return the statistics of this rank alone, in the form of ``gathered``."""
        return {**self.sums, **({"seen": self.seen, **self.tables} if self.tables else {})}

    def clear(self) -> None:
        """Forget what was observed; the memory stays."""
        self.alone, self.saved, self.waiting.count = False, {}, 0
        self.sums = {name: torch.zeros_like(total) for name, total in self.sums.items()}
        if self.tables:
            self.tables = {name: torch.zeros_like(table) for name, table in self.tables.items()}
            self.seen = torch.zeros_like(self.seen)

    def gather(self) -> None:
        """Bring together what all ranks have seen, so that the checkpoint of any of them holds everything."""
        self.load({**self.gathered(), **self.memory})

    def load(self, saved: Mapping[str, Tensor]) -> None:
        """Take over what was saved: rank 0 goes on with it, others would count it twice and keep it to be saved."""
        for name, mine in self.memory.items():
            self.memory[name] = saved[name].detach().clone().to(mine.device)
        own = {name: saved[name].detach().clone().to(mine.device) for name, mine in self.local().items()}
        self.clear()
        if self.ranks.rank() != 0:
            self.saved = own
            return
        self.sums = {name: own[name] for name in self.sums}
        self.tables = {name: own[name] for name in self.tables}
        self.seen = own.get("seen", self.seen) if self.tables else self.seen

    def state(self) -> dict[str, Tensor]:
        """Return everything by name, to be saved."""
        return {**self.local(), **self.memory, **self.saved}

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy has, in which nothing waits."""
        return {**self.__dict__, "sums": self.sums, "waiting": Waiting(), "_observe": None}

    def __getattr__(self, name: str) -> Tensor:
        """Return a tensor by its name in a checkpoint, where distributed checkpoints look for it."""
        if name in self.__dict__.get("sums", {}):
            return self.sums[name]
        for store in ("saved", "sums", "tables", "memory"):
            if name in self.__dict__.get(store, {}):
                found: Tensor = self.__dict__[store][name]
                return found
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def extra_repr(self) -> str:
        """Return names and shapes."""
        return ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in self.state().items())

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield everything by name; a module that holds this one does not, it looks at what is registered."""
        for name, tensor in self.state().items():
            yield f"{prefix}.{name}" if prefix else name, tensor

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Statistics":
        # sums stay in float32 or better, as the criterion sees to; what is kept of samples stays as narrow as it is
        self.sums = {name: fn(total) for name, total in self.sums.items()}
        self.tables = {name: table.to(fn(table).device) for name, table in self.tables.items()}
        self.memory = {name: table.to(fn(table).device) for name, table in self.memory.items()}
        self.saved = {name: tensor.to(fn(tensor).device) for name, tensor in self.saved.items()}
        self.seen = fn(self.seen)
        return self

    def _save_to_state_dict(self, destination: dict[str, Tensor], prefix: str, keep_vars: bool) -> None:
        if self.alone and not self.quiet and self.ranks.size() > 1:
            self.quiet = True
            warnings.warn(UNGATHERED, stacklevel=3)
        destination.update({f"{prefix}{name}": tensor.detach() for name, tensor in self.state().items()})

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Tensor],
        prefix: str,
        metadata: object,
        strict: bool,
        missing: list[str],
        unexpected: list[str],
        errors: list[str],
    ) -> None:
        state = {f"{prefix}{name}": tensor for name, tensor in self.state().items()}
        missing.extend(name for name in state if name not in state_dict)
        if strict:
            unexpected.extend(name for name in state_dict if name.startswith(prefix) and name not in state)
        pairs = [(name, state_dict[name].shape, mine.shape) for name, mine in state.items() if name in state_dict]
        text = "size mismatch for {}: the checkpoint has {}, this criterion {}"
        errors.extend(text.format(name, tuple(theirs), tuple(mine)) for name, theirs, mine in pairs if theirs != mine)
        if len(pairs) == len(state) and not errors:
            self.load({name.removeprefix(prefix): state_dict[name] for name in state})


def _added(total: Tensor, added: RowSum) -> Tensor:
    rows, values = added
    if values.dtype is total.dtype and torch._C._functorch.peek_interpreter_stack() is None:
        return total.index_add_(0, rows, values)
    wide = torch.promote_types(total.dtype, values.dtype)
    if wide != total.dtype or torch._C._functorch.peek_interpreter_stack() is not None:
        # a transform forbids changes of what it did not make
        return total.to(wide).index_add(0, rows, values.to(wide))
    return total.index_add_(0, rows, values.to(wide))


class StatisticsModule(OptionsModule):
    """A module that observes batches and commits what it saw; its ``statistics`` are saved and loaded with it."""

    statistics: Statistics
    commit_every: int | None
    loop: Loop
    global_mean: bool
    observes: bool  # whether there is anything to observe: a module looks long for its statistics
    additive: ClassVar[bool] = False  # whether ``observe`` of batches put together is what it returns of each, in sum
    same_on_ranks: ClassVar[bool] = False  # whether every rank observes the same, so that one's are all
    steps_observed: Tensor
    _counted: tuple[int, Tensor | None, int] = (0, None, 0)  # the last step's number, where it is, and its version

    def _hold(self, statistics: Statistics) -> None:
        self.observes = bool(statistics)
        if statistics or statistics.memory:
            self.statistics = statistics
        else:
            self.__dict__["statistics"] = statistics  # no part of the module: nothing to move, to save or to show

    def observe(self, output: Tensor, y: Tensor) -> Observed:
        """Return this batch's statistics by name; pure. Running methods only."""
        raise NotImplementedError

    def commit(self, gathered: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return new values of buffers from the gathered statistics; pure. Running methods only."""
        raise NotImplementedError

    def watch(self) -> None:
        """Look whether a loop moves the parameters, until it does."""
        if any(parameter.requires_grad for parameter in self.parameters()):
            Still(self, self.loop)

    def train(self, mode: bool = True) -> "StatisticsModule":
        """Take to training or leave it."""
        if self.training and not mode:
            self.loop.left(self)
        self.loop.training = mode
        super().train(mode)
        return self

    def _observe(self, rows: Rows, commit: Commit | None = None) -> None:
        if commit is not None:
            self._commit_at_once(commit)
        elif self.additive and self.commit_every is None and rows.valid is None and self._waits(rows):
            self.loop.observed(self, len(rows.output), 0)
        else:
            self._observe_now(rows)

    def _waits(self, rows: Rows) -> bool:
        """Keep a batch that looks like others until sums are asked for."""
        if rows.output.numel() > SMALL or rows.y.ndim != 1 or not may_look_at(rows.output):
            return False
        return self.statistics.later(self.observe, rows.output, rows.y)

    def _observe_now(self, rows: Rows) -> None:
        statistics, (output, y, valid, extras) = self._modules["statistics"], rows  # a module looks long for one
        assert isinstance(statistics, Statistics)
        given, place = {}, None
        with torch.no_grad():
            if extras:
                given = {name: value.detach() for name, value in extras.items()}
                place = given["index"].long() if "index" in given else None
                if place is not None and valid is not None:
                    place = torch.where(valid, place, -1)
            statistics.add(self.observe(output.detach(), y.detach(), **given), place)
            if self.commit_every is not None:
                self._commit_in_step(self.commit_every)
            elif not torch.compiler.is_compiling():
                self.loop.observed(self, len(output), len(statistics.seen))

    def _commit_at_once(self, commit: Commit) -> None:
        statistics = self._modules["statistics"]  # a module looks long for an attribute that is one
        assert isinstance(statistics, Statistics)
        if statistics.saved:
            statistics.clear()
        self._rebind(commit())

    def _commit_in_step(self, every: int) -> None:
        # in a compiled step the choice is made by a tensor: a branch in Python would compile every step anew
        if every > 1 and torch.compiler.is_compiling():
            self.steps_observed = self.steps_observed + 1
        elif every > 1 and self._count_step() % every != 0:
            return
        alone = self.same_on_ranks or not self.global_mean
        new = self.commit(self.statistics.local() if alone else self.statistics.gathered())
        if every == 1 or not torch.compiler.is_compiling():
            self._rebind(new)
            self.statistics.clear()
            return
        due = self.steps_observed % every == 0
        old = {**dict(self.named_buffers()), **self.statistics.memory}
        self._rebind({name: torch.where(due, value, old[name]) for name, value in new.items()})
        sums = self.statistics.sums
        self.statistics.sums = {name: torch.where(due, 0, total) for name, total in sums.items()}

    def _count_step(self) -> int:
        """Return the number of this step; a device is waited for only where others have written the last one's."""
        number, step, version = self._counted
        known = step is self.steps_observed and step._version == version
        number = 1 + (number if known else int(self.steps_observed))
        self.steps_observed = self.steps_observed + 1
        self._counted = number, self.steps_observed, self.steps_observed._version
        return number

    def _rebind(self, values: Mapping[str, Tensor]) -> None:
        # rebound, not copied into: the graph of the last loss may still hold the old tensor
        memory = self.statistics.memory
        for name, value in values.items():
            if name in memory:
                memory[name] = value.to(memory[name])
            elif name in self._parameters:
                _sharded.put(value, self.get_parameter(name))
            else:
                held = self._buffers[name]  # a module looks long for where a name belongs
                assert held is not None
                alike = value.dtype is held.dtype and value.device == held.device
                self._buffers[name] = value if alike else value.to(held)
