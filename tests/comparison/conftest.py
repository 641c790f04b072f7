"""What the tests of comparisons share: one small finished comparison for everybody to look at."""

import pytest

from comparison.small import SMALL
from labelspace.comparison import Comparison, compare
from labelspace.sweeps.executors import InProcess


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Return a comparison on digits: one-hot, uniform and semantic labels, two seeds each."""
    return compare("digits", **SMALL, out=tmp_path_factory.mktemp("digits") / "runs", executor=InProcess())
