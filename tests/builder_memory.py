"""How much memory a builder takes beyond what it starts with. Called as ``python builder_memory.py WHAT CLASSES``."""

import sys
from collections.abc import Callable
from pathlib import Path

import torch

import labelspace
from labelspace import LabelSpace


def highest() -> int:
    """Return the most bytes that this process has had in memory since it was last asked to forget that."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def builder(what: str, count: int) -> Callable[[], LabelSpace]:
    names = [f"c{place}" for place in range(count)]
    if what == "tree":
        taxonomy = {f"g{start}": names[start : start + 50] for start in range(0, count, 50)}
        return lambda: labelspace.tree(taxonomy)
    if what == "lda":
        y = torch.arange(2 * count) % count
        x = torch.randn(2 * count, 8) + y[:, None] % 7
        return lambda: labelspace.lda(x, y, names=names)
    table = torch.rand(count, count).fill_diagonal_(0)
    if what == "permuted":
        space = LabelSpace(names, table / table.sum(dim=1, keepdim=True), "relations")
        return lambda: labelspace.permuted(space, 0)
    return lambda: getattr(labelspace, what)(table, names)


def main(what: str, count: int) -> None:
    build = builder(what, count)
    Path("/proc/self/clear_refs").write_text("5")
    before = highest()
    space = build()
    held = [space.matrix] if space.rule is None else list(space.rule.tensors().values())
    held += [] if space.hops is None else [space.hops]
    print(highest() - before, sum(tensor.nbytes for tensor in held))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1], int(sys.argv[2]))
