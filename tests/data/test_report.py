import numpy as np

from labelspace import data


def test_many_classes_show_the_largest_and_smallest():
    y = np.repeat(np.arange(40), np.arange(4, 44))
    report = data.check((np.arange(len(y), dtype=float)[:, None], y))
    rows = report.rows()
    assert len(rows) == 12
    assert {rows[0][0], rows[1][0]} == {"38", "39"}
    assert rows[5][0] == "… 30 more"
    assert rows[10][0] == "0"
