"""A label space by a short name, as the command line and configurations write it."""

import math
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from labelspace import _checks
from labelspace.sources.lda import lda
from labelspace.sources.ordinal import ordinal
from labelspace.sources.text import text
from labelspace.sources.uniform import uniform
from labelspace.sources.wordnet import wordnet
from labelspace.space import LabelSpace

NAMES = ("ordinal", "uniform", "wordnet", "text", "lda")


def named(spec: str, names: Sequence[str], x: Any = None, y: Any = None) -> LabelSpace:
    """Return the label space that a short name or a label file stands for, in the order of ``names``.

    Args:
        spec: ``ordinal`` (for class names that are numbers: an order is never guessed from the alphabet), ``uniform``,
            ``wordnet``, ``text``, ``lda``, or the path of a label file.
        names: the classes.
        x: training samples, for ``lda``.
        y: their class indices, for ``lda``.

    Example:
        >>> named("ordinal", ["1", "2", "3"]).nearest("1", k=1)[0][0]
        '2'
    """
    builders: dict[str, Callable[[Sequence[str]], LabelSpace]] = {
        "ordinal": ordinal,
        "uniform": uniform,
        "wordnet": wordnet,
        "text": text,
    }
    if spec == "ordinal" and not all(_is_number(name) for name in names):
        listed = ", ".join(repr(name) for name in list(names)[:6])
        remedy = "Text has no order of its own: save labelspace.ordinal([…in order…]) to a file and give that."
        raise _checks.fail("train", "space", "'ordinal' only where class names are numbers", listed, remedy)
    if spec in builders:
        return builders[spec](names)
    if spec == "lda":
        return lda(x, y, names=names)
    if Path(spec).suffix == ".safetensors":
        space = LabelSpace.load(spec)
        _checks.known_names("train", "classes of the data", list(names), space.names)
        return space.subset(list(names))
    near = get_close_matches(spec, NAMES, n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else "Give the path of a label file (.safetensors) or one of these."
    raise _checks.fail("train", "space", f"one of {', '.join(NAMES)} or a label file", repr(spec), remedy)


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False
