"""LaTeX: texts that stay texts, and the table of a comparison for ``booktabs``."""

import unicodedata
from collections.abc import Sequence
from itertools import groupby

from labelspace.report import words
from labelspace.report.cells import Column
from labelspace.report.columns import columns
from labelspace.results import Result, Row

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_"},
    # as they are, old fonts show other signs
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''"},
    words.THIN: r"\,",
    "–": "--",
    "…": r"\ldots{}",
}
SIGNS = {
    **{"−": "-", "±": r"\pm", "×": r"\times", "→": r"\to", "↑": r"\uparrow", "↓": r"\downarrow", "·": r"\cdot"},
    **{"≤": r"\le", "≥": r"\ge", "●": r"\bullet", "▸": r"\triangleright", "²": "^2", "√": r"\surd", "∞": r"\infty"},
    **{"α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "η": r"\eta"},
    **{"κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "χ": r"\chi"},
}


def escaped(text: object) -> str:
    r"""Return a text as LaTeX that shows it, in one line: no name can be a command.

    Args:
        text: any.

    Example:
        >>> print(escaped("a_b & c% −3 σ"))
        a\_b \& c\% $-$3 $\sigma$
    """
    known = {**SPECIAL, **{sign: f"${command}$" for sign, command in SIGNS.items()}}
    line = " ".join(str(text).split(" "))
    shown = (" " if letter.isspace() and letter != words.THIN else letter for letter in line)
    return "".join(known.get(letter, letter) for letter in shown if unicodedata.category(letter) not in ("Cc", "Cf"))


def latex_table(result: Result) -> str:
    """Return the table of a comparison as a LaTeX environment, which needs ``booktabs``.

    Args:
        result: what a comparison found.
    """
    shown = [column for column in columns(result) if column.printed is not None and column.used]
    count = len(shown) + 1
    lines = [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{escaped(result.title)}}}",
        f"  \\begin{{tabular}}{{l{'r' * len(shown)}}}",
        r"    \toprule",
        *_heads(shown),
        r"    \midrule",
    ]
    told: set[str] = set()
    for number, row in enumerate(result.lines):
        section = _section(row)
        if section and section not in told:
            told.add(section)
            lines += [r"    \addlinespace", f"    \\multicolumn{{{count}}}{{l}}{{\\emph{{{escaped(section)}}}}} \\\\"]
        lines += [r"    \midrule"] if row.role == "constant" else []
        cells = [column.cells[number].printed for column in shown]
        lines.append(_line([_name(row), *cells]))
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"])


def _heads(shown: Sequence[Column]) -> list[str]:
    """Return the groups with lines below them, and the heads."""
    pairs = [column.printed or column.heads for column in shown]
    groups = [(group, len(list(parts))) for group, parts in groupby(pairs, key=lambda pair: pair.group)]
    above, rules, place = [""], [], 2
    for group, count in groups:
        above.append(f"\\multicolumn{{{count}}}{{c}}{{{escaped(group)}}}" if count > 1 else escaped(group))
        rules += [f"\\cmidrule(lr){{{place}-{place + count - 1}}}"] if group else []
        place += count
    heads = _line(["labels", *(pair.head for pair in pairs)])
    return [f"    {' & '.join(above)} \\\\", f"    {' '.join(rules)}", heads] if rules else [heads]


def _line(cells: Sequence[str]) -> str:
    text = " & ".join(escaped(cell.strip()) for cell in cells)
    # the end of the line before would take a bracket or a star for its own
    return f"    {'{}' if text.startswith(('[', '*')) else ''}{text} \\\\"


def _section(row: Row) -> str:
    """Return under which words a row stands."""
    if row.role == "control":
        return f"controls for {row.of}" if row.of else "controls"
    return f"{row.role}s" if row.role in ("rival", "ensemble") else ""


def _name(row: Row) -> str:
    return row.control if row.role == "control" and row.control else row.label
