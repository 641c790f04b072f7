"""Criteria inside other people's modules: whether an optimizer has their parameters, what checkpoints hold of them."""

from collections.abc import Iterable, MutableMapping

from torch import Tensor, nn
from torch.optim import Optimizer

from labelspace import _checks
from labelspace.criteria.base import Criterion


def criteria_in(module: nn.Module) -> dict[str, Criterion]:
    """Return the criteria that are parts of a module, by their place in it."""
    return {name: part for name, part in module.named_modules() if isinstance(part, Criterion)}


def check_criterion(owner: str, criterion: object) -> Criterion:
    """Return what was given as a criterion if it is one."""
    if isinstance(criterion, Criterion):
        return criterion
    remedy = "Build one with labelspace.make_criterion(name, labels)."
    raise _checks.fail_type(owner, "criterion", "a labelspace criterion", type(criterion).__name__, remedy)


def check_optimized(owner: str, criterion: Criterion, optimizers: Iterable[Optimizer], remedy: str) -> None:
    """Refuse label parameters that no optimizer has: they would receive gradients and never move.

    Args:
        owner: the adapter that asks.
        criterion: whose parameters they are.
        optimizers: all that there are.
        remedy: what to do about it.
    """
    known = {id(one) for optimizer in optimizers for group in optimizer.param_groups for one in group["params"]}
    free = [name for name, one in criterion.named_parameters() if one.requires_grad and id(one) not in known]
    if free:
        got = f"without {', '.join(free)} of {type(criterion).__name__}"
        raise _checks.fail(owner, "optimizer", "one that has the parameters of the criterion", got, remedy)


def say_nothing_of_ranks(module: nn.Module) -> None:
    """Let the criteria of a module not warn of checkpoints that ``put_statistics`` makes whole later."""
    for criterion in criteria_in(module).values():
        criterion.statistics.quiet = True


def put_statistics(module: nn.Module, state: MutableMapping[str, Tensor]) -> None:
    """Write into a checkpoint what the criteria of all ranks have counted; every rank calls it.

    Whoever saves has often taken the state of this rank alone before anybody is asked. What others are counting is on
    rank 0 from here on, so that the run that goes on and the one that is resumed are the same.

    Args:
        module: of which some parts may be criteria.
        state: its state, which is changed; keys that it does not have are left out of it.
    """
    for name, criterion in criteria_in(module).items():
        criterion.gather()
        fresh = criterion.state_dict(prefix=f"{name}." if name else "")
        state.update({key: value for key, value in fresh.items() if key in state})
