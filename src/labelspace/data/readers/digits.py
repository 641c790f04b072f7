"""The digits that come with scikit-learn: 1,797 grey images of 8×8."""

import numpy as np

from labelspace.data import digests
from labelspace.data.found import Found, Shares, ranges, rows_of

NAMES = tuple(str(digit) for digit in range(10))
# so many images for choices and for the last measurement, which leaves 800 to learn from: a usual share of so small a
# pool would be a test part in which differences between methods drown
VALIDATION, TEST = 300, 697


def read() -> Found:
    """Return scikit-learn's digits; their values 0 to 16 are stored as 0 to 240 (×15), so nothing is rounded.

    Unless shares are asked for, they are split into 800 images for training, 300 for validation and 697 for test.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    x = (bunch.images * 15).astype(np.uint8)[:, None]
    y = bunch.target.astype(np.int64)
    found = digests.of_rows(x)
    source = {"reader": "digits", "path": "digits", "options": {}}
    content = digests.of_values(x, y)
    shares = Shares(VALIDATION / len(y), TEST / len(y))
    given = ranges({"all": len(y)})
    return Found("images", y, NAMES, given, found, content, source, rows_of(x, found), shares=shares)
