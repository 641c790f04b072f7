"""A network that somebody brings along: a module, or a function that makes one."""

import copy
import inspect
from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, nn

from labelspace import _checks

Factory = Callable[..., nn.Module]


@final
class GivenNetwork(nn.Module):
    """A module as training wants it: a call returns ``(output, features)``.

    Where the module returns its output alone, the features are what its last linear layer was given; ``feature_dim``
    is None where there is no such layer.

    Args:
        module: returns output ``(N, D)``, or a pair ``(output, features)``.
        input_shape: of one sample.
        output_dim: D.
    """

    def __init__(self, module: nn.Module, input_shape: tuple[int, ...], output_dim: int) -> None:
        """Try the module on two samples."""
        super().__init__()
        self.module = module
        self.architecture = None
        self.layer = _last_linear(module)
        output, features = self._tried(input_shape)
        if output.shape != (2, output_dim):
            got = f"{type(module).__name__}, whose output has shape {tuple(output.shape)} for two samples"
            remedy = "A function (input_shape, output_dim) -> module can make it as wide as each method wants."
            raise _checks.fail("train", "model", f"a network with an output of width {output_dim}", got, remedy)
        self.feature_dim = None if features is None or features.ndim != 2 else features.shape[1]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return output and features; None where there are none."""
        if self.layer is None:
            return _pair(self.module(x))
        seen: list[Tensor] = []
        layer = self.module.get_submodule(self.layer)
        hook = layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        try:
            output, features = _pair(self.module(x))
        finally:
            hook.remove()
        return output, features if features is not None or not seen else seen[-1]

    def has_map(self, input_shape: tuple[int, ...]) -> bool:
        """Return whether features are known to be the mean of a map: they are not."""
        return False

    def head_weight(self) -> Tensor:
        """Return the weights of the last linear layer."""
        if self.layer is None:
            remedy = "Leave head_l2 out."
            raise _checks.fail("train", "head_l2", "given for a network with a linear layer", "one without", remedy)
        return self.module.get_parameter(f"{self.layer}.weight" if self.layer else "weight")

    def _tried(self, input_shape: tuple[int, ...]) -> tuple[Tensor, Tensor | None]:
        """Return what the module makes of two samples: of numbers, or of token ids where it takes no numbers."""
        like = next(self.module.parameters(), torch.zeros(()))
        kinds = (like.dtype if like.is_floating_point() else torch.float32, torch.int64)
        problem: Exception | None = None
        modes = {layer: layer.training for layer in self.module.modules()}  # a frozen layer may differ from the rest
        self.module.eval()
        for dtype in kinds:
            try:
                with torch.no_grad(), torch.device(like.device):
                    return self.forward(torch.zeros(2, *input_shape, dtype=dtype, device=like.device))
            except NotImplementedError:
                raise  # an operation without a form for tensors without content
            except Exception as error:
                if like.is_meta and isinstance(error, RuntimeError):
                    raise  # tensors of its own that have content
                problem = problem or error
            finally:
                for layer, training in modes.items():
                    layer.training = training
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        expected = f"a network for samples of shape {input_shape}"
        raise _checks.fail("train", "model", expected, f"{type(self.module).__name__}, which fails on them: {reason}")


def from_given(
    content: nn.Module | Factory, input_shape: tuple[int, ...], output_dim: int, **options: object
) -> GivenNetwork:
    """Return a network of a module or of a factory ``(input_shape, output_dim, **options) -> module``.

    A module is copied: every run begins with its weights as they were when it was given.
    """
    if not _takes(content, "vocabulary"):
        options.pop("vocabulary", None)  # which training gives to every network for texts
    if isinstance(content, nn.Module):
        if options:
            raise _checks.fail("train", "model_options", "left out for a module", list(options))
        return GivenNetwork(copy.deepcopy(content), input_shape, output_dim)
    try:
        module = content(input_shape, output_dim, **options)
    except Exception as error:  # the code of somebody else
        expected = f"a function that makes a network for input_shape={input_shape}, output_dim={output_dim}"
        got = f"{_name(content)}, which fails: {type(error).__name__}: {error}"
        raise _checks.fail("train", "model", expected, got) from error
    if not isinstance(module, nn.Module):
        got = f"{_name(content)}, which returns {type(module).__name__}"
        raise _checks.fail_type("train", "model", "a function that makes a torch module", got)
    return GivenNetwork(module, input_shape, output_dim)


def label(content: object) -> str:
    """Return what to call a module or factory in names of runs."""
    name = type(content).__name__ if isinstance(content, nn.Module) else _name(content)
    return "".join(letter if letter.isalnum() else "-" for letter in name).strip("-") or "network"


def _name(content: object) -> str:
    return str(getattr(content, "__name__", type(content).__name__))


def _takes(content: nn.Module | Factory, option: str) -> bool:
    try:
        parameters = inspect.signature(content).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(each.name == option or each.kind is each.VAR_KEYWORD for each in parameters)


def _last_linear(module: nn.Module) -> str | None:
    """Return the name of the last linear layer, in the order in which layers were added."""
    names = [name for name, layer in module.named_modules() if isinstance(layer, nn.Linear)]
    return names[-1] if names else None


def _pair(result: object) -> tuple[Tensor, Tensor | None]:
    if isinstance(result, tuple) and len(result) == 2:
        output, features = result
        return output, features
    if isinstance(result, Tensor):
        return result, None
    got = type(result).__name__
    raise _checks.fail_type("train", "model", "a network that returns a tensor, or (output, features)", got)
