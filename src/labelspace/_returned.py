"""What a model returned: its output, and the features that its last layer read."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from labelspace import _checks

Getter = Callable[[Any], Tensor]


def output_of(owner: str, returned: Any, getter: Getter | None = None) -> Tensor:
    """Return the output: a tensor itself, what is named ``logits``, or the first of a tuple.

    Args:
        owner: who asks, for the message.
        returned: by the model; names are keys of a mapping or attributes, as of Hugging Face's ``ModelOutput``.
        getter: finds it instead.

    Example:
        >>> import torch
        >>> output_of("Learner", {"logits": torch.tensor([1.0, 2.0])})
        tensor([1., 2.])
    """
    if getter is not None:
        found: Any = getter(returned)
    elif isinstance(returned, Tensor):
        return returned
    elif type(returned) is tuple and returned and isinstance(returned[0], Tensor):
        return returned[0]
    else:
        found = _named(returned, "logits")
        if found is None and isinstance(returned, (tuple, list)) and len(returned):
            found = returned[0]
    if not isinstance(found, Tensor):
        expected = "one that returns a tensor, something with `logits`, or a pair (output, features)"
        got = f"{type(returned).__name__}{f' of {_checks.listed([*map(str, returned)])}' if _keys(returned) else ''}"
        remedy = "Say where the output is: output=lambda returned: …"
        raise _checks.fail_type(owner, "model", expected, got, remedy)
    return found


def features_of(owner: str, returned: Any, output: Tensor, getter: Getter | None = None) -> Tensor | None:
    """Return the features: what is named so, the last of the ``hidden_states``, or the second of a tuple.

    Args:
        owner: who asks, for the message.
        returned: by the model.
        output: found in it; hidden states serve where there is a row of them for each row of it, classes last.
        getter: finds them instead.
    """
    if getter is not None:
        return getter(returned)
    found = _named(returned, "features")
    if found is not None or isinstance(returned, Tensor):
        return found if isinstance(found, Tensor) else None
    states = _named(returned, "hidden_states")
    if states is not None:
        return _last(owner, states[-1], output)
    if isinstance(returned, (tuple, list)):
        second = returned[1] if len(returned) > 1 else None
        return second if isinstance(second, Tensor) else None
    remedy = "Set model.config.output_hidden_states = True, or give features=."
    raise _checks.fail(owner, "features", "in the output of the model", "no hidden states", remedy)


def _last(owner: str, last: Tensor, output: Tensor) -> Tensor:
    if last.shape[:-1] == output.shape[:-1]:
        return last
    remedy = "Give features=lambda outputs: outputs.hidden_states[-1][:, 0], or whatever the head of the model reads."
    got = f"hidden states of shape {tuple(last.shape)} for logits of {tuple(output.shape)}"
    raise _checks.fail(owner, "features", "one row for each row of logits", got, remedy)


def _keys(returned: Any) -> bool:
    return isinstance(returned, Mapping) and bool(returned)


def _named(returned: Any, name: str) -> Any:
    return returned.get(name) if isinstance(returned, Mapping) else getattr(returned, name, None)
