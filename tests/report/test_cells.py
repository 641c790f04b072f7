"""Cells and columns as a page lays them out."""

from labelspace.report.cells import Cell, Column, Heads, number_cells, page_table
from small_results import result


def test_numbers_of_a_column_have_as_many_decimals() -> None:
    cells = number_cells([0.151, None, 2.05])
    assert [cell.text for cell in cells] == ["0.15", "–", "2.05"]
    assert [cell.sort for cell in cells] == [0.151, None, 2.05]
    assert [cell.text for cell in number_cells([1.0], 1)] == ["1.0"]


def test_columns_of_one_group_stand_under_one_head() -> None:
    rows = result().rows
    columns = [Column(Heads(group, "x"), "said", (Cell("1", 1.0),)) for group in ("a", "a", "b")]
    table = page_table(columns, rows)
    assert table.groups == (("a", 2), ("b", 1))
    assert [cell.text for cell in table.rows[0].cells] == ["1", "1", "1"]
    assert table.rows[0].label == rows[0].label


def test_a_column_without_numbers_is_not_used() -> None:
    assert not Column(Heads("", "x"), "said", (Cell("–", None),)).used
    assert Cell("long", None, brief="short").printed == "short"
