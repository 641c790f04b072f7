"""Labels come into the order in which a dataset numbers its classes, whatever the method."""

import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import labelspace
from contract.harness import METHODS, required_arguments
from labelspace import Criterion, InputError, LabelSpace, OneHot, SemanticSmoothing, UniformSmoothing, ordinal
from labelspace.criteria import criterion_class

KNOWN = ["low", "mid", "high"]
CLASSES = ["high", "low", "mid"]  # as a folder or an encoder sorts them


def test_an_order_trains_the_classes_it_names() -> None:
    """Mass goes to the neighbours in the order, found by name: worked by hand, not with the library."""
    output = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    criterion = SemanticSmoothing(ordinal(KNOWN), smoothing=0.3, classes=CLASSES)
    # high: mid 2/3, low 1/3; low: mid 2/3, high 1/3; mid: half each; columns are high, low, mid
    targets = torch.tensor([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2], [0.15, 0.15, 0.7]], dtype=torch.float64)
    torch.testing.assert_close(criterion(output, torch.arange(3)), F.cross_entropy(output, targets), rtol=1e-6, atol=0)
    assert criterion.names == criterion.label_space().names == tuple(CLASSES)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_classes(method: str) -> None:
    options = required_arguments(method)
    space = ordinal(KNOWN)
    found = labelspace.make_criterion(method, space, classes=CLASSES, **options)
    wanted = labelspace.make_criterion(method, space.subset(CLASSES), **options)
    assert found.names == tuple(CLASSES)
    torch.testing.assert_close(found.label_space().matrix, wanted.label_space().matrix)
    by_keyword = criterion_class(method)(labels=space, classes=np.array(CLASSES), **options)
    torch.testing.assert_close(by_keyword.label_space().matrix, wanted.label_space().matrix)
    with pytest.raises(InputError, match=r"all 3 names, in any order. Got without 'mid'. .*space.subset\(classes\)"):
        labelspace.make_criterion(method, space, classes=["low", "high"], **options)
    with pytest.raises(InputError, match="Got unknown 'hi' and without 'high'. The classes are: 'low', 'mid', 'high'"):
        labelspace.make_criterion(method, space, classes=["hi", "low", "mid"], **options)


def test_numbers_are_named_and_names_are_checked() -> None:
    assert OneHot(3, classes=CLASSES).names == tuple(CLASSES)
    assert OneHot(CLASSES, classes=CLASSES).names == tuple(CLASSES)
    with pytest.raises(InputError, match="`classes` of OneHot must be 3 names, as many as `labels` says. Got 2"):
        OneHot(3, classes=["a", "b"])
    with pytest.raises(InputError, match="in their order, 'high', 'low', 'mid'. Got 'low', 'mid', 'high'. Give labels"):
        OneHot(KNOWN, classes=CLASSES)
    with pytest.raises(InputError, match="`classes` of OneHot must be the names of classes"):
        OneHot(3, classes=3)
    with pytest.raises(InputError, match="unknown 'high'.*without '0'"):
        SemanticSmoothing(ordinal(3), classes=CLASSES)


def test_weights_by_name() -> None:
    output, y = torch.randn(6, 3), torch.tensor([0, 1, 2, 2, 1, 0])
    weight = {"low": 1.0, "mid": 2.0, "high": 5.0}
    found = UniformSmoothing(ordinal(KNOWN), smoothing=0.0, weight=weight, classes=CLASSES)(output, y)
    torch.testing.assert_close(found, F.cross_entropy(output, y, weight=torch.tensor([5.0, 1.0, 2.0])))
    with pytest.raises(InputError, match="`weight` of OneHot must be all 3 names.* Got without 'mid', 'high'. Give a"):
        OneHot(KNOWN, weight={"low": 1.0})


def test_a_method_that_has_never_heard_of_it() -> None:
    """Methods of other people read the space before they call the base class."""

    class Foreign(Criterion):
        name, scope, class_axes = "foreign", "sample", {"relations": (0, 1)}
        relations: Tensor

        def __init__(self, labels: LabelSpace, **common: object) -> None:
            relations = self.needs_space(labels).relations().matrix
            super().__init__(labels, **common)
            self.register_buffer("relations", relations)

        def terms(self, output: Tensor, y: Tensor) -> list:
            raise NotImplementedError

        def label_space(self) -> LabelSpace:
            return LabelSpace(self.names, self.relations, "relations")

        @classmethod
        def example(cls):
            raise NotImplementedError

    assert "classes" in inspect.signature(Foreign).parameters
    space = ordinal(KNOWN)
    torch.testing.assert_close(Foreign(space, classes=CLASSES).relations, space.subset(CLASSES).matrix)

    class Own(Foreign):
        def __init__(self, **common: object) -> None:
            super().__init__(ordinal(KNOWN), **common)

    with pytest.raises(InputError, match="`labels` of Own must be for the classes in their order, .* take `labels` fi"):
        Own(classes=CLASSES)
    assert Own(classes=KNOWN).names == tuple(KNOWN)
    assert Foreign(space, classes=iter(CLASSES)).names == tuple(CLASSES)


def test_indices_by_name_are_an_order_and_a_set_is_none() -> None:
    """As ``class_to_idx`` of torchvision's folders, whose keys may be in any order."""
    space = ordinal(["mild", "moderate", "severe"])
    criterion = SemanticSmoothing(space, classes={"severe": 2, "mild": 0, "moderate": 1})
    assert criterion.names == ("mild", "moderate", "severe")
    for wrong in ({"severe", "mild", "moderate"}, {"mild": 1, "moderate": 2, "severe": 3}, {"mild": "a"}):
        with pytest.raises(TypeError, match="`classes` of SemanticSmoothing must be the names of classes"):
            SemanticSmoothing(space, classes=wrong)
