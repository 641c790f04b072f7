"""Names that people write in files and on the command line: matched with the classes, and shown as they are."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from labelspace import _checks

OWNER = "labelspace"
# what begins or ends markup within a line: emphasis, code, links, cells, mathematics of GitHub, struck-out text
_WITHIN = re.compile(r"([\\`*_{}\[\]|#~$])")
# what begins a list, a rule or a heading: only at the beginning, and not of numbers such as -1 and 0.5
_BEGINNING = re.compile(r"^(?:[-+](?=\s|$)|[-=](?=[-=\s]*$)|\d+(?=[.)](?:\s|$)))")
# addresses become links by themselves
_ADDRESS = re.compile(r"(?i)(?<=\w)(:)(?=//)|(?<=www)(\.)")


def canonical(name: str) -> str:
    """Return a name without outer blanks, its accents in one spelling: folders of some systems use the other one.

    Example:
        >>> canonical(" cafe\u0301 ") == "caf\u00e9"
        True
    """
    return unicodedata.normalize("NFC", name).strip()


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a question that names what was probably meant, or nothing; capitals do not matter.

    Example:
        >>> suggestion("Snekaer", ["shirt", "sneaker"])
        "Did you mean 'sneaker'?"
    """
    if len(name) > _checks.LONGEST_HINT:
        return ""
    folded = {canonical(other).casefold(): other for other in known if len(other) <= _checks.LONGEST_HINT}
    near = get_close_matches(canonical(name).casefold(), list(folded), n=1)
    return f"Did you mean {folded[near[0]]!r}?" if near else ""


def matched(
    argument: str,
    expected: str,
    given: Sequence[str],
    names: Sequence[str],
    places: Sequence[str] | None = None,
    remedy: str = "",
) -> list[str]:
    """Return the class that each given name means; all classes must be named, each once.

    Args:
        argument: what the names came for, ``"space"`` or ``"cost"``.
        expected: what it must be, for the message.
        given: the names as written.
        names: the classes.
        places: where each name stands, such as ``"line 3"``.
        remedy: what to do about a class that is missing.

    Example:
        >>> matched("space", "an order", ["high ", "low"], ["low", "high"])
        ['high', 'low']
    """
    classes = {canonical(name): name for name in names}
    at = [""] * len(given) if places is None else [f" ({place})" if place else "" for place in places]
    unknown = [index for index, name in enumerate(given) if canonical(name) not in classes]
    if unknown:
        first = unknown[0]
        more = f" and {len(unknown) - 1} more that are none" if len(unknown) > 1 else ""
        got = f"{given[first]!r}{at[first]}, which is none of the classes{more}"
        hint = suggestion(given[first], names) or f"The classes are: {_checks.listed(names)}."
        raise _checks.fail(OWNER, argument, expected, got, hint)
    found = [classes[canonical(name)] for name in given]
    seen: dict[str, int] = {}
    for index, name in enumerate(found):
        if name in seen:
            got = f"{name!r}{at[seen[name]]} again{at[index]}"
            raise _checks.fail(OWNER, argument, expected, got, "Keep one of them.")
        seen[name] = index
    absent = [name for name in names if name not in seen]
    if absent:
        more = f" and {len(absent) - 1} more of {len(names)} classes" if len(absent) > 1 else ""
        raise _checks.fail(OWNER, argument, expected, f"nothing for {absent[0]!r}{more}", remedy)
    return found


def plain(text: object) -> str:
    r"""Return text on one line in which Markdown finds nothing of its own, for a class called ``<script>`` or ``a|b``.

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
