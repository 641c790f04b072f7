"""The critical-difference diagram: every row at its rank, bars over what is not told apart."""

import pytest

from labelspace.comparison.many import summary_of
from labelspace.report.rank_diagram import LEFT, RIGHT, diagram, rank_lines
from labelspace.results.many import Summary
from many_results import several

# ranks 1, 2, 3 and 4 everywhere: only neighbours are not told apart by so many datasets
CLEAR = {f"data {n}": {"one-hot": 4.0, "uniform": 2.0, "LLS": 1.0, "zipf": 3.0} for n in range(12)}


@pytest.fixture
def summary() -> Summary:
    return summary_of(several(CLEAR))


def test_places_in_the_figure(summary: Summary) -> None:
    drawn = diagram(summary)
    middle = (RIGHT - LEFT) / 3
    assert [mark.x for mark in drawn.marks] == pytest.approx([LEFT, LEFT + middle, LEFT + 2 * middle, RIGHT], abs=0.1)
    assert [mark.text for mark in drawn.marks] == ["LLS 1.00", "uniform 2.00", "zipf 3.00", "one-hot 4.00"]
    assert [mark.anchor for mark in drawn.marks] == ["end", "end", "start", "start"]
    # the critical difference of four rows and twelve datasets is 1.35
    assert [(low + 3, high - 3) for low, high, _ in drawn.bars] == [
        pytest.approx((drawn.marks[n].x, drawn.marks[n + 1].x)) for n in range(3)
    ]
    assert drawn.reach == pytest.approx(LEFT + 1.354 * middle, abs=0.2)
    assert drawn.height > max(mark.y for mark in drawn.marks)


def test_as_text(summary: Summary) -> None:
    lines = rank_lines(summary, 80)
    assert max(map(len, lines)) <= 80
    dots = [line.index("●") for line in lines[3:]]
    ticks = [place for place, letter in enumerate(lines[1]) if letter == "┬"]
    assert dots == ticks
    assert [lines[0][tick] for tick in ticks] == list("1234")
    assert [line.split()[-2:] for line in lines[3:]] == [["1.00", "a"], ["2.00", "ab"], ["3.00", "bc"], ["4.00", "c"]]
    assert lines[2].startswith("CD 1.35     ├─")


def test_two_rows_have_no_bars() -> None:
    table = {name: {"one-hot": 1.0, "a label of far more letters than fit": 0.5} for name in ("a", "b")}
    two = summary_of(several(table, best=None))
    drawn = diagram(two)
    assert (drawn.bars, drawn.difference) == ((), None)
    assert drawn.marks[0].text == "a label of far more… 1.00"
    assert len(rank_lines(two)) == 4
