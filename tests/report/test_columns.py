"""The table of the page, from rows written by hand."""

from typing import Any

from labelspace.report.columns import table
from labelspace.report.reading import Material, Row, Trial

THIN = "\N{NARROW NO-BREAK SPACE}"


def row(label: str, role: str, trials: int, **facts: Any) -> Row:
    strength = {"name": "smoothing", "symbol": "σ", "value": 0.5} if trials > 1 else None
    tried = tuple(Trial(0.1 * place, 1.0, None) for place in range(trials))
    return Row(label, role, (), (), tried, facts.get("winner", False), strength=strength, facts=facts)


def rows() -> tuple[Row, ...]:
    cheap = {"estimate": -0.58, "low": -0.66, "high": -0.49, "level": 0.95, "note": "few groups"}
    dear = {"estimate": 0.031, "low": None, "high": None, "level": 0.95, "note": ""}
    return (
        row("one-hot", "reference", 1, argmax={"cost": 2.05, "accuracy": 0.91}, min_cost={"cost": 1.69}, change=None),
        row("semantic", "method", 5, min_cost={"cost": 0.71}, change=cheap, marked=True, winner=True, p_holm=0.0004),
        row("semantic random", "control", 5, min_cost={"cost": 1.74}, change=dear, p_holm=None),
    )


def test_cells_as_people_read_them() -> None:
    made = table(Material(("a", "b"), rows(), "min_cost", facts={"extra": [{"key": "kappa", "title": "κ ↑"}]}))
    # columns without any number, such as kappa here, are left out
    assert [group["title"] for group in made["groups"]] == [
        "",
        "cost per sample ↓",
        "min-cost vs one-hot",
        "accuracy ↑",
    ]
    heads = made["heads"]
    assert heads == [
        "strength",
        "trials",
        "argmax",
        "min-cost",
        "change",
        f"95{THIN}% interval",
        "p (Holm)",
        "argmax",
    ]
    shown = [[cell["text"] for cell in line["cells"]] for line in made["rows"]]
    assert shown[0] == ["–", "1", "2.05", "1.69", "–", "–", "–", "0.910"]
    assert shown[1] == ["▸ σ 0.50", "5", "–", "0.71", f"−58{THIN}% ●", "[−66, −49]", "< 0.001", "–"]
    assert shown[2] == ["σ 0.50", "5", "–", "1.74", f"+3.1{THIN}%", "–", "–", "–"]
    assert made["rows"][1]["cells"][5]["note"] == "few groups"
    assert [line["cells"][3]["sort"] for line in made["rows"]] == [1.69, 0.71, 1.74]
    assert [line["role"] for line in made["rows"]] == ["reference", "method", "control"]


def test_without_prices_there_is_one_decision() -> None:
    found = table(Material(("a", "b"), rows()[:1], "argmax"))
    assert found["heads"] == ["trials", "argmax", "argmax"]
    assert [group["title"] for group in found["groups"]] == ["", "cost per sample ↓", "accuracy ↑"]
