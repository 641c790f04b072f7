"""Text in Markdown that is shown as it is: a class may be called ``<script>``, ``a|b`` or ``[press](https://…)``."""

import re

# what begins or ends markup within a line: emphasis, code, links, cells, mathematics of GitHub, struck-out text
_WITHIN = re.compile(r"([\\`*_{}\[\]|#~$])")
# what begins a list, a rule or a heading: only at the beginning, and not of numbers such as -1 and 0.5
_BEGINNING = re.compile(r"^(?:[-+](?=\s|$)|[-=](?=[-=\s]*$)|\d+(?=[.)](?:\s|$)))")
# addresses become links by themselves
_ADDRESS = re.compile(r"(?i)(?<=\w)(:)(?=//)|(?<=www)(\.)")


def plain(text: object) -> str:
    r"""Return text on one line in which Markdown finds nothing of its own.

    Example:
        >>> print(plain("a_b <i>"))
        a\_b &lt;i&gt;
        >>> print(plain("1. see https://example.org"))
        1\. see https\://example.org
    """
    line = " ".join(str(text).split())
    line = _WITHIN.sub(r"\\\1", line)
    line = _ADDRESS.sub(lambda found: f"\\{found[0]}", line)
    line = _BEGINNING.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", line)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
