"""Small tables: nothing too wide, and numbers that are never cut."""

import pytest

from labelspace.report.grids import Grid, aligned, in_markdown, said, shortened

GRID = Grid(("labels", "mean cost", "regret"), (("a" * 40, "0.250", "1.0"), ("b", "12.5", "0.0")))


@pytest.mark.parametrize("width", [30, 40, 80])
def test_texts_give_way_and_numbers_do_not(width: int) -> None:
    lines = aligned(GRID, width)
    assert max(map(len, lines)) <= width
    assert any("0.250" in line for line in lines)
    assert [line.index("12.5") + 4 for line in lines if "12.5" in line] == [
        line.index("0.250") + 5 for line in lines if "0.250" in line
    ]


def test_markdown_and_sentences() -> None:
    assert in_markdown(GRID).splitlines()[1] == "| --- | ---: | ---: |"
    assert said("NO DIFFERENCE", "one two three", 22, 15) == ["NO DIFFERENCE  one two", " " * 15 + "three"]
    assert shortened("abc", 2) == "a…"
