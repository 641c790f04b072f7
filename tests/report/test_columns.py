"""The columns of the table, from rows written by hand, as a page shows them and as a terminal prints them."""

from dataclasses import replace
from typing import Any

from labelspace.report import columns as module
from labelspace.report.cells import Cell, Column, Heads, Table, page_table
from labelspace.report.columns import columns
from labelspace.report.table import markdown_table, text_table
from labelspace.results import Result
from small_results import REFERENCE, of_texts, result

THIN = "\N{NARROW NO-BREAK SPACE}"


def row(label: str, role: str, trials: int, cost: float, **facts: Any) -> dict[str, Any]:
    strength = {"name": "smoothing", "symbol": "σ", "value": 0.5} if trials > 1 else None
    tried = [{"value": 0.1 * place, "validation_cost": 1.0} for place in range(trials)]
    numbers = {"argmax": {"cost": 2.05, "accuracy": 0.91}, "min_cost": {"cost": cost, "accuracy": 0.8}}
    names = {"label": label, "role": role, "strength": strength, "trials": tried}
    return {**REFERENCE, "ece_after": None, **names, **numbers, **facts}


def found(**facts: Any) -> Result:
    cheap = {"estimate": -0.58, "low": -0.66, "high": -0.49, "level": 0.95, "note": "few groups"}
    dear = {"estimate": 0.031, "low": None, "high": None, "level": 0.95, "note": ""}
    rows = [
        row("one-hot", "reference", 1, 1.69),
        row("semantic", "method", 5, 0.71, change=cheap, marked=True, winner=True, p_holm=0.0004),
        row("semantic random", "control", 5, 1.74, change=dear, of="semantic", control="random"),
    ]
    extra = [{"key": "kappa", "title": "κ ↑"}]
    return result(**{"decision": "min_cost", "rows": rows, "extra": extra, **facts})


def shown(given: Result) -> Table:
    return page_table([column for column in columns(given) if column.used], given.rows)


def test_cells_as_people_read_them() -> None:
    made = shown(found())
    # columns without any number, such as kappa here, are left out
    assert made.groups == (("", 2), ("cost per sample ↓", 2), ("min-cost vs one-hot", 3), ("accuracy ↑", 2))
    heads = ["strength", "trials", "argmax", "min-cost", "change", f"95{THIN}% interval", "p (Holm)"]
    assert [column.heads.head for column in made.columns] == [*heads, "argmax", "min-cost"]
    assert all(column.says for column in made.columns)
    texts = [[cell.text for cell in line.cells] for line in made.rows]
    assert texts[0] == ["–", "1", "2.05", "1.69", "–", "–", "–", "0.910", "0.800"]
    moved = [f"−58{THIN}% ●", "[−66, −49]", "< 0.001"]
    assert texts[1] == ["▸ σ 0.50", "5", "2.05", "0.71", *moved, "0.910", "0.800"]
    assert texts[2] == ["σ 0.50", "5", "2.05", "1.74", f"+3.1{THIN}%", "–", "–", "0.910", "0.800"]
    assert made.rows[1].cells[5].note == "few groups"
    assert [line.cells[3].sort for line in made.rows] == [1.69, 0.71, 1.74]
    assert [line.role for line in made.rows] == ["reference", "method", "control"]


def test_without_prices_there_is_one_decision() -> None:
    alone = {**row("one-hot", "reference", 1, 0.0), "min_cost": None}
    made = shown(found(rows=[alone], decision="argmax", extra=[]))
    assert [column.heads.head for column in made.columns] == ["trials", "argmax", "argmax"]
    assert [title for title, _ in made.groups] == ["", "cost per sample ↓", "accuracy ↑"]


def test_accuracy_of_some_samples_is_called_that() -> None:
    """Beside classes there are actions; where no class is ever called, or nothing else, it is that of all samples."""

    def heads(*names: str, called: float = 0.4) -> list[str]:
        rates = {"share": 0.5, "argmax": called, "min_cost": called, "recall_argmax": None, "recall_min_cost": None}
        given = found(decided=[{"name": name, **rates} for name in names])
        told = "accuracy: of samples that are called a class" in text_table(given, 200)
        groups = [title for title, _ in shown(given).groups if title.startswith("accuracy")]
        assert told == (groups == ["accuracy of called ↑"])
        return groups

    classes = found().data.names
    assert heads(*classes, "ask") == ["accuracy of called ↑"]
    assert heads(*classes) == heads() == ["accuracy ↑"]
    assert heads(*classes, "ask", called=0.0) == ["accuracy ↑"]


def test_what_is_printed_is_among_what_a_page_shows() -> None:
    given = found()
    printed = [column for column in columns(given) if column.printed is not None]
    assert {column.heads.group for column in printed} <= {column.heads.group for column in columns(given)}
    assert [cell.printed for cell in printed[0].cells] == ["–", "▸ σ 0.5", "σ 0.5"]


def test_a_new_column_is_one_edit(monkeypatch: Any) -> None:
    """What is added to the one list is on the page, in the terminal and in Markdown."""
    given, plain = found(), columns
    more = Column(Heads("new ↑", "it"), "something", tuple(Cell(f"{n}.25", n + 0.25) for n in range(3)))
    added = lambda result: [*plain(result), replace(more, printed=Heads("new ↑", "it"))]  # noqa: E731
    monkeypatch.setattr(module, "columns", added)
    monkeypatch.setattr("labelspace.report.table.columns", added)
    assert page_table(module.columns(given), given.rows).groups[-1] == ("new ↑", 1)
    assert "2.25" in text_table(given)
    assert "new ↑ it" in markdown_table(given)


def test_of_sequences_the_measure_stands_for_the_cost() -> None:
    given = of_texts()
    made = shown(given)
    assert made.groups == (("", 2), ("BLEU ↑", 2), ("vs one-hot", 3), ("chrF ↑", 1), ("tokens", 2))
    texts = [[cell.text for cell in line.cells] for line in made.rows]
    assert texts[0] == ["–", "1", "31.2", "[29.9, 32.6]", "–", "–", "–", "55.0", "0.600", "9.25"]
    moved = ["+0.7 ●", "[+0.1, +1.3]", "0.021"]
    assert texts[1] == ["▸ σ 0.10", "1", "31.9", "–", *moved, "55.0", "0.600", "9.25"]
    assert [line.cells[2].sort for line in made.rows] == [31.2, 31.9]


def test_what_is_printed_of_sequences() -> None:
    text = text_table(of_texts())
    assert "cost" not in text
    assert "BLEU: nrefs:1|case:mixed" in text
    assert "uniform" in text
    assert "31.9" in text
    assert "BLEU: `nrefs:1|case:mixed`" in markdown_table(of_texts())
