"""Compiles forms of methods that change at the end of an epoch, as ``contract/compile_all.py`` does with examples."""

from dataclasses import replace
from functools import partial

import torch

from contract.compile_all import compare, main
from contract.harness import Inputs, plain
from labelspace import AdaptiveLabels, LearnableSmoothing, OnlineSmoothing


def printed() -> Inputs:
    """Return adaptive labels as printed: the step counter restarts between the compared steps."""
    criterion = AdaptiveLabels(4, dim=5, every=2, repel=0.3, preset="paper")
    return replace(plain("lwal"), criterion=criterion.double().train())


def pruned() -> Inputs:
    """Return learnable smoothing that is pruned between the compared steps."""
    criterion = LearnableSmoothing(4, smoothing=0.3, top=1, prune_after=1)
    criterion.label_logits.data = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    return replace(plain("lls"), criterion=criterion.double().train())


def mixed() -> None:
    """Call one criterion compiled and not: how many batches wait must not be compiled in."""
    criterion, given = OnlineSmoothing(4), plain("ols")
    step = torch.compile(criterion, fullgraph=True, backend="aot_eager")
    for number in range(12):  # more than there may be compilations
        for each in [criterion] * number + [step]:
            each(given.output.detach().clone().requires_grad_(), given.y)
    assert criterion.statistics.sums["seen"] == len(given.y) * (12 + sum(range(12)))


if __name__ == "__main__":
    main({"printed": partial(compare, printed), "pruned": partial(compare, pruned), "mixed": mixed})
