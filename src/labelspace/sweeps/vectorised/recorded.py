"""A computation written down once, operation by operation, and played again on other tensors.

What autograd and ``vmap`` do for every batch is the same each time and costs more than the small tensors they do it to.
torch's own ``make_fx`` writes down the same list; it takes ten times as long for it, as much as a hundred steps.
"""

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any, final

import torch
from torch import Tensor, fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

Function = Callable[..., tuple[Tensor, ...]]


def recorded(function: Function, *inputs: Tensor) -> Function:
    """Return a function that does to tensors of these shapes what ``function`` did to ``inputs``.

    Python code in ``function`` runs now and never again: it must not look at values, draw numbers or change anything.
    Tensors it uses that are not among ``inputs`` are constants: what follows from them alone is computed only now.

    Args:
        function: takes tensors and returns a tuple of tensors.
        inputs: the tensors to show it.

    Example:
        >>> import torch
        >>> twice = recorded(lambda x: (torch.func.vmap(torch.sum)(2 * x),), torch.zeros(2, 3))
        >>> twice(torch.ones(2, 3))
        (tensor([6., 6.]),)
    """
    recorder = _Recorder(inputs)
    with recorder:
        results = function(*inputs)
    if recorder.mutates:
        return function  # what an operation overwrote may have been one of the constants
    recorder.graph.output(tuple(recorder.node(result) for result in results))
    recorder.graph.eliminate_dead_code()
    played: Function = fx.GraphModule(recorder.constants, recorder.graph).forward
    return played


@final
class _Recorder(TorchDispatchMode):
    """Sees every operation below autograd and vmap, and adds it to a graph."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph = fx.Graph()
        self.constants: dict[str, Any] = {}
        self.nodes: dict[int, fx.Node] = {}
        self.seen: list[Tensor] = []  # kept alive: a tensor is known by its id
        self.mutates = False
        for number, tensor in enumerate(inputs):
            self._learn(tensor, self.graph.placeholder(f"input_{number}"))

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        keywords = keywords or {}
        result = function(*arguments, **keywords)
        self.mutates = self.mutates or function._schema.is_mutable
        if not any(id(leaf) in self.nodes for leaf in tree_leaves((arguments, keywords))):
            return result  # it depends on no input: its result is a constant, if anything uses it
        if function is torch.ops.aten.detach.default:  # autograd's own bookkeeping; the values are the same
            self._learn(result, self.node(arguments[0]))
            return result
        named, options = tree_map(self.node, (tuple(arguments), dict(keywords)))
        node = self.graph.call_function(function, named, options)
        if isinstance(result, Tensor):
            self._learn(result, node)
        elif isinstance(result, tuple | list):
            for number, part in enumerate(result):
                if isinstance(part, Tensor):
                    self._learn(part, self.graph.call_function(getitem, (node, number)))
        return result

    def node(self, value: Any) -> Any:
        """Return the node of a tensor; one that no operation made is a constant."""
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self.nodes:
            return self._constant(value)
        return self.nodes[id(value)]

    def _constant(self, value: Tensor) -> fx.Node:
        # not learned: what is made of constants alone must stay a constant
        name = f"constant_{id(value)}"
        self.constants[name] = value
        return self.graph.get_attr(name)

    def _learn(self, tensor: Tensor, node: fx.Node) -> None:
        self.nodes[id(tensor)] = node
        self.seen.append(tensor)
