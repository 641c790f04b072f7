"""Run where nothing but the library's own requirements is installed: every criterion, and every example of a docstring.

Prints one JSON object: the methods that were trained with, and for each example "" or what it said instead.
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


def examples(application: list[str]) -> dict[str, str]:
    """Return for each docstring with an example what went wrong with it."""
    said = {}
    for found in pkgutil.walk_packages(labelspace.__path__, "labelspace."):
        if ".".join(found.name.split(".")[:2]) in application:
            continue
        for test in doctest.DocTestFinder().find(importlib.import_module(found.name)):
            text = io.StringIO()
            doctest.DocTestRunner(verbose=False).run(test, out=text.write)
            if test.examples:
                said[test.name] = text.getvalue()
    return said


if __name__ == "__main__":
    print(json.dumps({"methods": methods(), "examples": examples(["labelspace.__main__", *sys.argv[1:]])}))
