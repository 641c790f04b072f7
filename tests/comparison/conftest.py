"""What the tests of comparisons share: quick pictures, and one small finished comparison for everybody to look at."""

from collections.abc import Iterator

import pytest
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from comparison.small import SMALL
from labelspace.comparison import Comparison, compare, folder
from labelspace.sweeps.executors import InProcess


def first_two(features: Tensor) -> Tensor:
    return torch.nn.functional.pad(features.float(), (0, 2))[:, :2]


@pytest.fixture(scope="session", autouse=True)
def quick_pictures() -> Iterator[None]:
    """Draw no neighbour embeddings, which take longer than all trainings here together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "_picture", first_two)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep numpy to one thread: on busy cores, several wait for each other longer than they compute."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Return a comparison on digits: one-hot, uniform and semantic labels and two controls, two seeds each."""
    return compare("digits", **SMALL, out=tmp_path_factory.mktemp("digits") / "runs", executor=InProcess())
