"""LaTeX in which every name stays a name: braces are balanced, and every line has as many columns."""

import re
from typing import Any

import pytest

from labelspace.report.latex import escaped, latex_table
from labelspace.results import Result
from small_results import of_texts, result

NAMES = ["a_b & c%", r"\input{secret}", "50% $x^2$ #1 ~ {", "}", "[x]", "*", 'a\nb\t<c> | "d"', "κ² ↑ − … \x00\u202e"]


def columns_of(line: str) -> int:
    """Return how many columns a line of a table fills."""
    bare = line.replace(r"\&", "")
    spans = [int(count) - 1 for count in re.findall(r"\\multicolumn\{(\d+)\}", bare)]
    return bare.count("&") + 1 + sum(spans)


def check(text: str) -> None:
    """Check what can be checked without LaTeX."""
    bare = text.replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0, text
    assert depth == 0, text
    assert bare.replace(r"\$", "").count("$") % 2 == 0, text
    assert not re.search(r"(?<!\\)[#%]", bare), text
    assert not re.search(r"(?<!\\)_", bare), text
    for begin, end in zip(
        re.findall(r"\\begin\{(\w+)\}", text), reversed(re.findall(r"\\end\{(\w+)\}", text)), strict=True
    ):
        assert begin == end
    width = len(re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)[0])
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {columns_of(line) for line in lines} == {width}, text
    assert not any(line.strip().startswith(("[", "*")) for line in lines)


def named(*labels: str, **facts: Any) -> Result:
    """Return a result whose rows have these names, the first being the reference; of another, a control and a rival."""
    numbers = {"cost": 0.41, "accuracy": 0.8}
    change = {"estimate": -0.2, "low": -0.3, "high": -0.1, "level": 0.95}
    rows = [
        {
            "label": label,
            "method": label,
            "role": role,
            "of": labels[0] if role == "control" else None,
            "control": "shuffled" if role == "control" else None,
            "strength": None if role == "reference" else {"name": "smoothing", "symbol": "σ", "value": 0.3},
            "trials": [],
            "argmax": numbers,
            "min_cost": numbers,
            "ece_after": 0.1,
            "change": None if role == "reference" else change,
        }
        for label, role in zip(labels, ["reference", "method", "control", "rival"], strict=False)
    ]
    return result(**{"rows": rows, "decision": "min_cost", **facts})


def test_special_letters() -> None:
    assert escaped("a_b & c%") == r"a\_b \& c\%"
    assert escaped("\\{}") == r"\textbackslash{}\{\}"
    assert escaped("−3 %") == r"$-$3 \%"
    assert escaped("one\n\ntwo\x00") == "one  two"


@pytest.mark.parametrize("name", NAMES)
def test_names_stay_names(name: str) -> None:
    made = named(name, f"{name} 2", f"{name} 3", f"{name} 4", title=name)
    text = latex_table(made)
    check(text)
    assert escaped(f"{name} 4").strip() in text
    assert r"\input{secret}" not in text


def test_the_table() -> None:
    text = latex_table(named("one-hot", "uniform", "uniform shuffled", "SVC"))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == r"\begin{table}"
    assert r"uniform & $\sigma$ 0.3 & 0.410 & 0.410 & $-$20\,\% & [$-$30, $-$10] & 0.800 & 0.800 & 0.100 \\" in lines
    assert [line for line in lines if "emph" in line] == [
        r"\multicolumn{9}{l}{\emph{controls for one-hot}} \\",
        r"\multicolumn{9}{l}{\emph{rivals}} \\",
    ]
    assert lines.count(r"\addlinespace") == 2
    assert [line for line in lines if line in (r"\toprule", r"\midrule", r"\bottomrule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-6} \cmidrule(lr){7-8} \cmidrule(lr){9-9}" in lines


def test_texts() -> None:
    check(latex_table(of_texts()))
