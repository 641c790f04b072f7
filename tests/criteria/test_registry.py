"""Methods by their names."""

import pkgutil

import pytest

import labelspace.criteria
from labelspace import Criterion, UniformSmoothing, criterion_class, make_criterion, methods
from labelspace.criteria.registry import method_name, method_summary

HELPERS = {
    "class_order",
    "described",
    "base",
    "divergences",
    "embedding_kernel",
    "inputs",
    "kernels",
    "known",
    "layout",
    "learnt_kernel",
    "maths",
    "narrow",
    "nearness_few",
    "nearness_kernel",
    "options",
    "penalties",
    "products",
    "reducing",
    "registry",
    "scratch",
    "soundness",
    "statistics",
    "targets",
    "voices",
    "waiting",
    "wide",
}


def test_every_file_is_a_method_of_its_name() -> None:
    files = {module.name for module in pkgutil.iter_modules(labelspace.criteria.__path__)} - HELPERS
    assert files <= set(methods())
    for name in files:
        kind = criterion_class(name)
        assert (kind.name, kind.__module__) == (name, f"labelspace.criteria.{name}")
        assert method_summary(name)


def test_names_and_classes() -> None:
    assert method_name("uniform") == method_name(UniformSmoothing) == "uniform"
    assert float(make_criterion("uniform", 3, smoothing=0.3).smoothing) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_criterion("unifrom", 3), "Did you mean 'uniform'?"),
        (lambda: make_criterion("uniform", 3, smothing=0.1), "Did you mean 'smoothing'?"),
        (lambda: criterion_class(3), "`name` of make_criterion must be one of"),
        (lambda: method_name(lambda labels: None), "a name, a subclass of Criterion, or a factory"),
        (lambda: method_name(Criterion), "a finished class"),
    ],
)
def test_bad_names(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
