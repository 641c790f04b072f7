"""The table as text and as Markdown: nothing wider than asked for, nothing lost, and names that stay names."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.report.table import markdown_table, text_table, verdict_text
from labelspace.results import Result
from small_results import result

THIN = "\N{NARROW NO-BREAK SPACE}"
LONG = "a-method-with-a-name-of-some-forty-letters"


def row(label: str, cost: float, **facts: Any) -> dict[str, Any]:
    numbers = {"cost": cost, "accuracy": 0.8125, "kappa": 0.901}
    defaults: dict[str, Any] = {
        "label": label,
        "role": "method",
        "of": None,
        "control": None,
        "strength": {"name": "smoothing", "symbol": "σ", "value": 0.3},
        "trials": [{}] * 5,
        "argmax": {**numbers, "cost": 2 * cost},
        "min_cost": numbers,
        "ece_after": 0.0312,
        "change": {"estimate": cost / 1.69 - 1, "low": cost / 1.69 - 1.08, "high": cost / 1.69 - 0.91, "level": 0.95},
        "marked": False,
        "winner": False,
    }
    return {**defaults, **facts}


def content(**facts: Any) -> Result:
    rows = [
        row("one-hot", 1.69, role="reference", strength=None, trials=[{}], change=None),
        row("uniform", 1.64),
        row("semantic", 0.71, winner=True, marked=True),
        row("semantic shuffled", 1.98, role="control", of="semantic", control="shuffled"),
        row("semantic random", 2.02, role="control", of="semantic", control="random"),
    ]
    defaults: dict[str, Any] = {
        "title": "digits · 10 classes · mlp-32-2 · 800 train / 300 val / 697 test · 6 seeds · cost: squared distance",
        "seeds": list(range(6)),
        "decision": "min_cost",
        "extra": [{"key": "kappa", "title": "κ² ↑"}],
        "rows": rows,
        "verdict": {
            "kind": "cheaper",
            "sentences": ["Semantic labels cost 0.71 instead of 1.69.", "The order did it."],
        },
        "next": "labelspace predict runs/digits/best NEW",
    }
    return result(**{**defaults, **facts})


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_worked_by_hand() -> None:
    expected = f"""\
digits · 10 classes · mlp-32-2 · 800 train / 300 val / 697 test · 6 seeds · cost: squared distance

                       cost per sample ↓       min-cost vs one-hot        accuracy ↑    ECE ↓   κ² ↑
labels       strength  argmax   min-cost     change  95 % interval  argmax  min-cost  after T
one-hot             –    3.38       1.69        –                –   0.812     0.812    0.031  0.901
uniform         σ 0.3    3.28       1.64   −3.0{THIN}%       [−11, +6]   0.812     0.812    0.031  0.901
semantic      ▸ σ 0.3    1.42       0.71  −58{THIN}% ●      [−66, −49]   0.812     0.812    0.031  0.901
controls for semantic
  shuffled      σ 0.3    3.96       1.98    +17{THIN}%        [+9, +26]   0.812     0.812    0.031  0.901
  random        σ 0.3    4.04       2.02    +20{THIN}%       [+12, +29]   0.812     0.812    0.031  0.901"""
    found = text_table(content())
    assert squeezed(found.partition("\n\n▸")[0]) == squeezed(expected)


def squeezed(text: str) -> list[list[str]]:
    """Return the words of every line: how many blanks are between them is tested elsewhere."""
    return [line.split() for line in lines(text)]


def test_columns_end_below_each_other() -> None:
    table = lines(text_table(content()).partition("\n\n▸")[0])[3:]
    heads = table[0]
    ends = [match.end() for match in re.finditer(r"argmax|min-cost|interval|after T", heads)]
    assert len(ends) == 6
    for line in table[1:]:
        if line.startswith("controls"):
            continue
        for end in ends:
            assert line[end - 1] != " ", (line, end)
            assert line[end : end + 1] in ("", " "), (line, end)


@pytest.mark.parametrize("width", [65, 80, 100, 140])
@pytest.mark.parametrize("label", ["a", "semantic", LONG])
def test_never_wider_and_nothing_cropped(width: int, label: str) -> None:
    rows = [{**each, "label": each["label"].replace("semantic", label)} for each in content().plain()["rows"]]
    rows = [{**each, "of": each["of"] and label} for each in rows]
    text = text_table(content(rows=rows, warnings=["A warning of many words, " * 12]), width)
    assert max(map(len, lines(text))) <= width
    for each in rows:
        shown = each["control"] or each["label"]
        assert shown in text
        assert f"{each['min_cost']['cost']:.2f}" in text
    assert text.count("0.901") == text.count("0.031") == len(rows)
    assert text.count("0.812") == 2 * len(rows)
    for words in ("strength", "argmax", "min-cost", "95 % interval", "change", "after T", "κ² ↑"):
        assert words in text
    told = re.sub(r"\s+", " ", text)
    assert "A warning of many words, " * 12 in told + " "
    assert "Semantic labels cost 0.71 instead of 1.69. The order did it." in told


def test_in_a_narrow_place_every_block_names_its_rows() -> None:
    text = text_table(content(), 60)
    blocks = len(re.findall(r"^labels\b", text, re.MULTILINE))
    assert blocks > 1
    assert text.count("\none-hot ") == text.count("controls for semantic") == blocks


@pytest.mark.parametrize(("labels", "narrowest"), [(("a", "b"), 50), (("x", LONG), 65)])
def test_short_labels_leave_room_for_their_title(labels: tuple[str, str], narrowest: int) -> None:
    """The word above the labels may be longer than all of them."""
    rows = [row(labels[0], 1.69, change=None, role="reference"), row(labels[1], 1.2)]
    for width in range(narrowest, 121):
        assert max(map(len, lines(text_table(content(rows=rows), width)))) <= width


@settings(max_examples=50)
@given(
    costs=st.lists(st.floats(0, 1e6), min_size=2, max_size=5),
    labels=st.lists(
        st.text("abcdefgh -", min_size=1, max_size=40).filter(str.strip), min_size=5, max_size=5, unique=True
    ),
    width=st.integers(70, 130),
)
def test_any_numbers(costs: list[float], labels: list[str], width: int) -> None:
    rows = [row(label, cost) for label, cost in zip(labels, costs, strict=False)]
    text = text_table(content(rows=[{**rows[0], "change": None}, *rows[1:]]), width)
    assert max(map(len, lines(text))) <= width


def test_a_reference_with_a_long_name() -> None:
    rows = [row("r" * 60, 1.69, change=None, role="reference"), row("s" * 60, 1.2)]
    text = text_table(content(rows=rows))
    assert max(map(len, lines(text))) <= 100
    assert "min-cost vs the first" in text
    assert "r" * 60 in text


def test_without_prices_there_are_no_decision_columns() -> None:
    rows = [{**each, "min_cost": None} for each in content().plain()["rows"]]
    text = text_table(content(rows=rows, decision="argmax"))
    assert "min-cost" not in text
    assert "vs one-hot" in text
    assert text.count("0.812") == len(rows)
    assert "3.38" in text


def test_marks_and_what_they_mean() -> None:
    text = text_table(content())
    assert [line.split()[0] for line in lines(text) if "▸ σ" in line] == ["semantic"]
    assert [line.split()[0] for line in lines(text) if f"{THIN}% ●" in line] == ["semantic"]
    legend = text.partition("\n\n▸")[2]
    assert "chosen on validation   ● excludes 0 after Holm   brackets: seeds × test samples, paired" in legend
    assert "κ²: quadratic-weighted kappa" in legend
    assert "best of 5 on validation" in legend


def test_what_brackets_cover() -> None:
    assert "brackets: seeds × groups of test samples, paired" in text_table(content(data={"test_groups": 20}))
    assert "brackets: test samples, paired" in text_table(content(seeds=[0]))
    ends = {"low": None, "high": None}
    rows = [{**each, "change": each["change"] and {**each["change"], **ends}} for each in content().plain()["rows"]]
    assert "brackets" not in text_table(content(rows=rows))


def test_one_row_alone() -> None:
    rows = [row("model", 0.7, role="reference", strength=None, trials=[], change=None)]
    text = text_table(content(rows=rows, extra=[]))
    assert "vs model" not in text
    assert "Holm" not in text
    assert "CHEAPER" in text


def test_numbers_that_are_missing() -> None:
    rows = content().plain()["rows"]
    rows[1]["min_cost"] = {"cost": 1.64, "accuracy": 0.8}
    rows[2]["ece_after"] = None
    text = text_table(content(rows=rows))
    uniform = next(line for line in lines(text) if line.startswith("uniform"))
    assert uniform.split()[-1] == "–"


def test_small_and_large_costs_keep_their_digits() -> None:
    rows = [row("one-hot", 0.00123, role="reference", change=None), row("uniform", 0.00071)]
    assert "0.0012" in text_table(content(rows=rows))
    rows = [row("one-hot", 123456.0, role="reference", change=None), row("uniform", 71.0)]
    assert "123456" in text_table(content(rows=rows))


def test_verdict_warnings_and_places() -> None:
    text = verdict_text(content(warnings=["Few seeds."]), 100, {"Report": "runs/digits/report.html (2.1 MB)"})
    assert lines(text) == [
        "CHEAPER   Semantic labels cost 0.71 instead of 1.69. The order did it.",
        "Mind      Few seeds.",
        "Next      labelspace predict runs/digits/best NEW",
        "Report    runs/digits/report.html (2.1 MB)",
    ]


def test_a_long_verdict_hangs_below_its_kind() -> None:
    verdict = {"kind": "no difference", "sentences": ["word " * 60]}
    found = lines(verdict_text(content(verdict=verdict, next=None), 60))
    assert found[0].startswith("NO DIFFERENCE  word")
    assert all(line.startswith(" " * 15 + "word") for line in found[1:])


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a|b", "[red]hot[/red]", "two\nlines"])
def test_markdown_keeps_names_and_columns(name: str) -> None:
    rows = [{**each, "label": each["label"].replace("uniform", name)} for each in content().plain()["rows"]]
    found = lines(markdown_table(content(rows=rows, title=f"{name} · 3 classes", warnings=[f"Mind {name}."])))
    cells = [line for line in found if line.startswith("|")]
    counts = {len(re.findall(r"(?<!\\)\|", line)) for line in cells}
    assert len(cells) == 2 + len(rows)
    assert counts == {11}  # ten columns: labels, strength, 2 costs, change, interval, 2 accuracies, calibration, kappa
    assert not any("<script>" in line for line in found)
    shown = re.sub(r"([\[\]|])", r"\\\1", name).replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    assert cells[3].startswith(f"| {shown} |")
    assert any(line.startswith(f"> Mind {shown}") for line in found)


def test_markdown_says_which_rows_are_controls() -> None:
    text = markdown_table(content())
    assert "| semantic shuffled (control) |" in text
    assert "**CHEAPER** Semantic labels cost 0.71 instead of 1.69. The order did it." in text
    assert text.startswith("**digits · 10 classes")


def test_text_keeps_names_as_they_are() -> None:
    rows = [{**each, "label": each["label"].replace("uniform", "[red]<b>|")} for each in content().plain()["rows"]]
    assert "[red]<b>|" in text_table(content(rows=rows))


def test_what_to_do_is_the_last_line() -> None:
    advice = "Take semantic labels with minimum-cost decisions: 0.71 per sample."
    found = content(verdict={"kind": "cheaper", "advice": advice}, warnings=["Think."])
    assert lines(text_table(found, places={"Report": "report.html"}))[-1] == f"Do        {advice}"
    assert markdown_table(found).endswith(f"**{advice.replace('.71', '.71')}**")
    assert not any(line.startswith("Do ") for line in lines(text_table(content())))
