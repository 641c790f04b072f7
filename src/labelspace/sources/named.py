"""A label space by a short name, as the command line and configurations write it."""

from collections.abc import Callable, Sequence
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
        spec: ``ordinal``, ``uniform``, ``wordnet``, ``text``, ``lda``, or the path of a label file.
        names: the classes.
        x: training samples, for ``lda``.
        y: their class indices, for ``lda``.

    Example:
        >>> named("ordinal", ["low", "mid", "high"]).nearest("low", k=1)[0][0]
        'mid'
    """
    builders: dict[str, Callable[[Sequence[str]], LabelSpace]] = {
        "ordinal": ordinal,
        "uniform": uniform,
        "wordnet": wordnet,
        "text": text,
    }
    if spec in builders:
        return builders[spec](names)
    if spec == "lda":
        return lda(x, y, names=names)
    if Path(spec).suffix == ".safetensors":
        space = LabelSpace.load(spec)
        _checks.known_names("named", "classes of the data", list(names), space.names)
        return space.subset(list(names))
    remedy = "Give the path of a label file (.safetensors) or one of these names."
    raise _checks.fail("named", "space", f"one of {', '.join(NAMES)} or a label file", repr(spec), remedy)
