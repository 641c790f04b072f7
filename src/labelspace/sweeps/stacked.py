"""Many small networks of one shape as one: a layer's weights in one tensor, one step for all of them.

A small network spends its time between operations, not in them. Here every operation works on all members at once. The
network is a few batched matrix products; the criterion, written for one member, is lifted by ``vmap``; autograd goes
through both. All that costs more Python than a plain step, so it happens once and is played again for further batches.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import getitem
from typing import Any, final

import torch
from torch import Tensor, fx, nn
from torch.func import functional_call, vmap
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from labelspace.criteria.base import Criterion
from labelspace.criteria.layout import Batch
from labelspace.learner import Learner
from labelspace.sweeps.running import Running


@final
class Stack:
    """The members' weights, label parameters and options, each stacked into one tensor.

    The learners keep working: their parameters become parts of the stack, so they are always up to date.

    Args:
        learners: of one model and one method, apart from numbers; the model is ``linear`` or an MLP.
    """

    def __init__(self, learners: Sequence[Learner]) -> None:
        """Stack what differs between members; what they share stays as it is."""
        first = learners[0]
        self.learners = learners
        self.parameters = {name: _stacked(learners, name) for name, _ in first.named_parameters()}
        for number, learner in enumerate(learners):
            for name, parameter in learner.named_parameters():
                parameter.data = self.parameters[name][number]
        self.options = {name: _stacked(learners, name) for name, _ in first.named_buffers() if _differs(learners, name)}
        self.layers = [name for name, module in first.model.named_modules() if isinstance(module, nn.Linear)]
        self.rectified = _rectified(first.model)
        self.loss = _Loss(first.criterion)
        self.running = Running(learners)
        self.options = {name: value for name, value in self.options.items() if name not in self.running.state}
        self._recorded: dict[torch.Size, Function] = {}
        self._commits: Function | None = None

    def parameter_groups(self, weight_decay: float) -> list[dict[str, object]]:
        """Return groups for an optimizer: those of one learner, with the stacked tensors in place of its own."""
        names = {id(parameter): name for name, parameter in self.learners[0].named_parameters()}
        groups = self.learners[0].parameter_groups(weight_decay)
        for group in groups:
            own = group["params"]
            assert isinstance(own, list)
            group["params"] = [self.parameters[names[id(parameter)]] for parameter in own]
        return groups

    def backward(self, x: Tensor, y: Tensor) -> Tensor:
        """Set every parameter's gradient and return the members' losses ``(M,)``.

        Args:
            x: flattened samples ``(M, B, F)``, each member's own batch.
            y: class indices ``(M, B)``, or probabilities ``(M, B, K)``.
        """
        running, count = self.running, len(self.parameters)
        values = [*self.parameters.values(), *running.state.values(), *running.sums.values()]
        if y.shape not in self._recorded:
            self._recorded[y.shape] = recorded(self._step, x, y, *values)
        with torch.no_grad():
            losses, *found = self._recorded[y.shape](x, y, *values)
        for parameter, gradient in zip(values, found[:count], strict=False):
            parameter.grad = gradient
        running.sums = dict(zip(running.sums, found[count:], strict=True))
        if running.is_due():
            self._commit()
        return losses

    @torch.no_grad()
    def _commit(self) -> None:
        running = self.running
        tensors = [*self.options.values(), *running.state.values(), *running.sums.values()]
        if self._commits is None:
            running.held = (*self.options, *running.state)
            self._commits = recorded(running.committed, *tensors)
        running.state = dict(zip(running.state, self._commits(*tensors), strict=True))
        running.sums = {name: torch.zeros_like(total) for name, total in running.sums.items()}

    @torch.no_grad()
    def scores(self, batches: Iterable[Tensor]) -> Tensor:
        """Return every member's scores ``(M, N, K)`` of the same N samples, which come in batches."""
        shape = (len(self.learners), -1, -1)
        output = torch.cat([self._network(self.parameters, x.flatten(1).expand(shape))[0] for x in batches], dim=1)
        if type(self.loss.criterion).row_scores is Criterion.row_scores:
            return output
        criteria = [learner.criterion for learner in self.learners]
        return torch.stack([criterion.scores(rows) for criterion, rows in zip(criteria, output, strict=True)])

    def _step(self, x: Tensor, y: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        """Return losses and gradients."""
        count, running = len(self.parameters), self.running
        leaves = [value.detach().requires_grad_() for value in values[:count]]
        state = {**self.options, **dict(zip(running.state, values[count:], strict=False))}
        parameters = dict(zip(self.parameters, leaves, strict=True))
        output, features = self._network(parameters, x)
        labels = {name: value for name, value in parameters.items() if name.startswith("criterion.")}
        losses = vmap(self._member_loss)({**labels, **state}, output, y, features)
        # members share nothing, so the gradient of the sum is each member's own
        gradients = torch.autograd.grad(losses.sum(), leaves, materialize_grads=True)
        sums = list(values[count + len(running.state) :])
        seen = running.observed(state, sums, output.detach(), y) if sums else []
        return losses.detach(), *gradients, *seen

    def _member_loss(self, state: dict[str, Tensor], output: Tensor, y: Tensor, features: Tensor) -> Tensor:
        loss = functional_call(self.loss, state, (output, y, features))
        assert isinstance(loss, Tensor)
        return loss

    def _network(self, parameters: dict[str, Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
        """Return outputs ``(M, B, D)`` and features ``(M, B, F)``."""
        features = x
        *body, head = [(parameters[f"model.{name}.weight"], parameters[f"model.{name}.bias"]) for name in self.layers]
        for (weight, bias), rectified in zip(body, self.rectified, strict=False):  # the head has no say here
            features = _linear(features, weight, bias)
            features = torch.relu(features) if rectified else features
        return _linear(features, *head), features


class _Linear(torch.autograd.Function):
    # Z = X·Wᵀ + b, so ∂W = ∂Zᵀ·X, ∂b = Σ_rows ∂Z and ∂X = ∂Z·W, each with its factors as in a single layer. Other
    # ways to write the same products are faster (samples in the last axis) or slower (autograd's own ∂W), but add in
    # another order; and where rounding switches a ReLU, two runs part for good.

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return torch.baddbmm(bias.unsqueeze(1), x, weight.transpose(1, 2))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        to_x = torch.bmm(gradient, weight) if ctx.needs_input_grad[0] else None
        return to_x, torch.bmm(gradient.transpose(1, 2), x), gradient.sum(dim=1)


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    output = _Linear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    assert isinstance(output, Tensor)
    return output


class _Loss(nn.Module):
    """A criterion's loss of samples that are known to be good: none ignored, already flat.

    ``Criterion.forward`` would check and mask them again in every step.
    """

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion

    def forward(self, output: Tensor, y: Tensor, features: Tensor) -> Tensor:
        extras = {"features": features} if "features" in self.criterion.needs else {}
        terms = self.criterion.terms(output, y, **extras)
        return self.criterion._reduced(terms, Batch(output, y, None, extras, y.shape[:1]))


def _rectified(model: nn.Module) -> list[bool]:
    """Return for each linear layer whether a ReLU comes next."""
    found: list[bool] = []
    for module in model.modules():
        if isinstance(module, nn.Linear):
            found.append(False)
        elif isinstance(module, nn.ReLU):
            found[-1] = True
    return found


def _stacked(learners: Sequence[Learner], name: str) -> Tensor:
    return torch.stack([_tensor(learner, name) for learner in learners])


def _differs(learners: Sequence[Learner], name: str) -> bool:
    first = _tensor(learners[0], name)
    return any(not torch.equal(first, _tensor(learner, name)) for learner in learners[1:])


def _tensor(learner: Learner, name: str) -> Tensor:
    module, _, own = name.rpartition(".")
    tensor = getattr(learner.get_submodule(module), own)
    assert isinstance(tensor, Tensor)
    return tensor.detach()


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
        self.constants: dict[str, object] = {}
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
