"""Estimators as bytes: the same after reading, and nothing in them that could run."""

import io
import os
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer

from labelspace.models.estimator_files import Untrusted, dumped, loaded, unknown

X, Y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3


@pytest.mark.parametrize(
    "estimator",
    [ExtraTreesClassifier(3, random_state=0), HistGradientBoostingClassifier(max_iter=3), KNeighborsClassifier()],
)
def test_says_the_same_bit_for_bit(estimator) -> None:
    estimator.fit(X, Y)
    content = dumped(estimator)
    assert unknown(content) == []
    again = loaded(content)
    assert type(again) is type(estimator)
    np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))


def test_what_could_run_is_refused() -> None:
    hostile = skops.io.dumps(FunctionTransformer(os.system))
    for refuse in (loaded, lambda content: dumped(FunctionTransformer(os.system))):
        with pytest.raises(Untrusted, match="it holds (posix|nt).system, which is not known to be harmless"):
            refuse(hostile)
    # a package that somebody vouches for is not another one
    with pytest.raises(Untrusted, match="system"):
        loaded(hostile, ["posixpath.", "mine."])


def test_what_is_no_file_of_an_estimator_is_refused() -> None:
    with pytest.raises(Untrusted, match="it cannot be read"):
        loaded(b"PK nothing")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}" * 1000)
    with pytest.raises(Untrusted, match="its file is packed"):
        loaded(buffer.getvalue())


def test_what_cannot_be_written_down_is_refused() -> None:
    with pytest.raises(Untrusted, match="it cannot be written down"):
        dumped(FunctionTransformer(kw_args={"one": (number for number in range(3))}))
