"""Run where nothing but the library's own requirements is installed: every criterion, and every example of a docstring.

Prints one JSON object: the methods that were trained with, for each example "" or what it said instead, and what
adapters to libraries that are not here said.
Arguments are the packages of the application, which are left out.
"""

import doctest
import importlib
import io
import json
import pkgutil
import sys

import torch

import labelspace
import labelspace.integrations


def methods() -> list[str]:
    """Return the methods whose example trains, and whose labels come back from a file."""
    done = []
    for name in labelspace.methods():
        example = labelspace.criterion_class(name).example()
        output = example.output.detach().requires_grad_()
        learner = labelspace.Learner(torch.nn.Identity(), example.criterion)
        example.criterion(output, example.y, **example.extras).backward()
        assert output.grad is not None
        assert bool(output.grad.isfinite().all())
        learner.end_epoch()
        space = example.criterion.label_space()
        loaded = labelspace.LabelSpace.load(space.save(f"{name}.safetensors"))
        torch.testing.assert_close(loaded.matrix, space.matrix, rtol=0, atol=0)
        done.append(name)
    return done


def adapters() -> dict[str, str]:
    """Return what each adapter said that cannot be imported."""
    said = {}
    for found in pkgutil.iter_modules(labelspace.integrations.__path__):
        try:
            importlib.import_module(f"labelspace.integrations.{found.name}")
        except ImportError as error:
            said[f"labelspace.integrations.{found.name}"] = str(error)
    return said


def examples(left_out: list[str]) -> dict[str, str]:
    """Return for each docstring with an example what went wrong with it."""
    said = {}
    for found in pkgutil.walk_packages(labelspace.__path__, "labelspace."):
        if ".".join(found.name.split(".")[:2]) in left_out or found.name in left_out:
            continue
        for test in doctest.DocTestFinder().find(importlib.import_module(found.name)):
            text = io.StringIO()
            doctest.DocTestRunner(verbose=False).run(test, out=text.write)
            if test.examples:
                said[test.name] = text.getvalue()
    return said


if __name__ == "__main__":
    absent = adapters()
    found = examples(["labelspace.__main__", *absent, *sys.argv[1:]])
    print(json.dumps({"methods": methods(), "examples": found, "adapters": absent}))
