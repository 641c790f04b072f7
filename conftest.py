"""What every test and every example in a docstring runs under: checked shapes, one thread, quick pictures."""

import os
from collections.abc import Iterator
from pathlib import Path

# before torch and numpy are loaded, and for every process that a test starts: on busy cores, several threads wait for
# each other longer than they compute
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch
from hypothesis import settings
from jaxtyping import install_import_hook

# Shapes in the types of the inner functions are checked in every test (and cost users nothing). Installed before
# anything imports labelspace. Only the modules behind the public boundary: there a wrong type must reach the library's
# own message, not the type checker's.
install_import_hook(["labelspace.criteria.targets", "labelspace.criteria.divergences"], "beartype.beartype")

torch.set_num_threads(1)

# a busy machine makes single examples slow; pytest's own timeout guards against hanging
settings.register_profile("labelspace", deadline=None)
settings.load_profile("labelspace")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files whose tests may take longest; begun last, they would let the other workers wait."""
    patience: dict[Path, float] = {}
    for item in items:
        mark = item.get_closest_marker("timeout")
        patience[item.path] = max(patience.get(item.path, 300), mark.args[0] if mark else 300)
    items.sort(key=lambda item: -patience[item.path])


@pytest.fixture(scope="session", autouse=True)
def quick_pictures() -> Iterator[None]:
    """Draw no neighbour embeddings of comparisons, which take longer than their trainings; test_folder draws one."""
    from labelspace.comparison import folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "EMBEDDED_FROM", 10**9)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_rivals() -> Iterator[None]:
    """Compare without rivals unless a test asks for some: they would be fitted in every comparison."""
    from labelspace.comparison import rivals

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "UNSAID", ())
        yield
