"""Compiles every method in a process of its own: the shape-checking hook of the other tests breaks fullgraph.

Prints one JSON object: method -> "" or what went wrong.
"""

import json
import sys
import traceback
from collections.abc import Callable
from functools import partial

import torch

from contract.harness import IGNORED, METHODS, Inputs, plain, state_of

RUNNING = [method for method in METHODS if plain(method).criterion.statistics]
SPOILT = "{} with a sample that is not finite"


def compare(make: Callable[[], Inputs]) -> None:
    """Train three steps eagerly and compiled; the third must not compile anew."""
    eager, compiled = make(), make()
    compiled_call = torch.compile(compiled.criterion, fullgraph=True, backend="aot_eager")
    for step in range(4):
        torch.compiler.set_stance("fail_on_recompile" if step > 1 else "default")
        scaled = eager.output * (1 + 0.1 * step)
        left, right = scaled.clone().requires_grad_(), scaled.clone().requires_grad_()
        expected = eager.loss(output=left)
        got = compiled_call(right, compiled.y, **compiled.extras)
        torch.testing.assert_close(got, expected)
        expected.backward()
        got.backward()
        torch.testing.assert_close(right.grad, left.grad)
        for name, parameter in eager.criterion.named_parameters():
            torch.testing.assert_close(dict(compiled.criterion.named_parameters())[name].grad, parameter.grad)
        if step == 1:
            eager.criterion.end_epoch()
            compiled.criterion.end_epoch()
    for name, value in state_of(eager.criterion).items():
        torch.testing.assert_close(state_of(compiled.criterion)[name], value)


def compare_spoilt(method: str) -> None:
    """Train a compiled step with a sample that is not finite, and an eager one that ignores it."""
    eager, compiled = plain(method), plain(method)
    eager.y[1], compiled.output[1] = IGNORED, torch.nan
    eager.loss(output=eager.output.requires_grad_())
    torch.compile(compiled.criterion, fullgraph=True, backend="aot_eager")(
        compiled.output.requires_grad_(), compiled.y, **compiled.extras
    )
    for inputs in (eager, compiled):
        inputs.criterion.end_epoch()
    for name, value in state_of(eager.criterion).items():
        torch.testing.assert_close(state_of(compiled.criterion)[name], value)


def main(cases: dict[str, Callable[[], None]]) -> None:
    """Run all cases and print what came out."""
    results = {}
    for name, case in cases.items():
        torch.compiler.reset()
        try:
            case()
            results[name] = ""
        except Exception:
            results[name] = traceback.format_exc(limit=-4)
        finally:
            torch.compiler.set_stance("default")
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    found: dict[str, Callable[[], None]] = {method: partial(compare, partial(plain, method)) for method in METHODS}
    main(found | {SPOILT.format(method): partial(compare_spoilt, method) for method in RUNNING})
