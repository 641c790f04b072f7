"""The page: one template with style and scripts inside it, and numbers made small for it, which ``unpack.js`` reads.

A figure is three things under one name:

1. a function with ``@figure("NAME", rank)`` in ``measures.py``, ``confusions.py``, ``spaces.py`` or ``whatif.py``;
2. ``{% call section("NAME", …, when="NAME" in sections) %}`` in ``page.html.j2`` with its controls and places;
3. ``figures/NAME.js``, which says ``prepare.set("NAME", (part) => …)`` and draws it; ``common.js`` has what it needs.

Nothing else lists it: scripts in ``figures`` are found, and one is called where the data have something of its name.
"""

import base64
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray
from torch import Tensor

from labelspace.report import words
from labelspace.report.reading import Material

Figure = dict[str, object]  # JSON data that a script draws from

HERE = Path(__file__).parent
SCRIPTS = (
    "vendor/plotly-cartesian.min.js",
    "unpack.js",
    "common.js",
    "heat.js",
    *sorted(f"figures/{path.name}" for path in (HERE / "figures").glob("*.js")),
    "page.js",
)


@cache
def environment() -> Environment:
    """Return the templates, every text in them escaped."""
    made = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(percent=words.percent, fixed=words.fixed, count=words.count)
    return made


@cache
def fixed_size() -> int:
    """Return the bytes that every page has: scripts and style."""
    return sum((HERE / name).stat().st_size for name in (*SCRIPTS, "page.css", "page.html.j2"))


def render(content: Mapping[str, object], data: Figure) -> bytes:
    """Return the page.

    Args:
        content: what the template shows as text.
        data: what the figures are drawn from.
    """
    text = (
        environment()
        .get_template("page.html.j2")
        .render(
            **content,
            policy=policy(),
            style=_own("page.css"),
            scripts=[_own(name) for name in SCRIPTS],
            data=Markup(script_json(data)),  # every < in it is escaped
        )
    )
    # a folder's name may hold bytes that are no text
    return text.encode("utf-8", "replace")


@cache
def policy() -> str:
    """Return what a browser lets the page do: run its own scripts, by their digests, and ask nobody for anything.

    It is a second wall: a text that were taken for a script, which the template prevents, would not be run.
    """
    digests = [hashlib.sha256(_own(name).encode()).digest() for name in SCRIPTS]
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    rest = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {scripts}; {rest}"


@cache
def _own(name: str) -> Markup:
    return Markup((HERE / name).read_text(encoding="utf-8"))


LIMIT = 4_000_000  # bytes of a page
SMALL = 64  # rows and columns up to which an entry takes two bytes instead of one


def pack(matrix: Tensor, *, wide: bool | None = None) -> Figure:
    """Return a matrix as base64 text with what is needed to read it back.

    An entry v becomes the whole number nearest to ``L·((v − low)/span)^(1/power)``; L + 1 stands for NaN. Matrices
    without negative entries have power 2, which keeps small weights apart: the error of v is at most
    ``span·(√(v/span)/L + 1/(4L²))`` with L = 65534, or 254 where an entry takes one byte. Of a symmetric matrix only
    the lower triangle is written, and runs of zeros are shortened where that helps.

    Args:
        matrix: finite numbers or NaN.
        wide: whether an entry takes two bytes; by default up to 64 rows and columns.

    Shape:
        ``matrix (R, C)``.

    Example:
        >>> import torch
        >>> packed = pack(torch.tensor([[0.0, 0.5], [0.5, 1.0]]))
        >>> packed["low"], packed["span"], packed["power"], packed["symmetric"]
        (0.0, 1.0, 2, True)
    """
    values: NDArray[np.float64] = matrix.detach().cpu().double().numpy()
    low, span, power = _scale(values)
    wide = max(values.shape) <= SMALL if wide is None else wide
    levels = 65534 if wide else 254
    codes = np.rint(levels * np.clip((values - low) / span, 0, 1) ** (1 / power))
    codes = np.where(np.isnan(values), levels + 1, codes).astype("<u2" if wide else np.uint8)
    symmetric = values.shape[0] == values.shape[1] and bool((codes == codes.T).all())
    flat = codes[np.tril_indices(len(codes))] if symmetric else codes.ravel()
    content = flat.tobytes()
    shortened = content if wide else _shortened(flat)
    return {
        "shape": list(values.shape),
        "low": low,
        "span": span,
        "power": power,
        "wide": wide,
        "symmetric": symmetric,
        "zeros": len(shortened) < len(content),
        "data": base64.b64encode(min(content, shortened, key=len)).decode(),
    }


def _scale(values: NDArray[np.float64]) -> tuple[float, float, int]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0, 1
    low = min(float(finite.min()), 0.0)
    # rounded as the page will read it, and upwards so that the largest entry fits
    span = rounded((float(finite.max()) - low) * (1 + 1e-6)) or 1.0
    return rounded(low) or 0.0, span, 1 if low < 0 else 2


def _shortened(codes: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    """Return bytes in which up to 255 zeros in a row are one zero and their number."""
    parts: list[int] = []
    zeros = 0
    for code in [*codes.tolist(), -1]:
        if code == 0 and zeros < 255:
            zeros += 1
            continue
        if zeros:
            parts += (0, zeros)
        zeros = 1 if code == 0 else 0
        if code > 0:
            parts.append(code)
    return bytes(parts)


def rounded(value: float | None, digits: int = 6) -> float | None:
    """Return a number with so many significant digits, or None for what is no number."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def numbers(values: Tensor | list[float], digits: int = 4) -> list[float | None]:
    """Return a list of numbers with few significant digits.

    Example:
        >>> numbers([0.123456, float("nan"), 2.0], digits=3)
        [0.123, None, 2.0]
    """
    listed = values.tolist() if isinstance(values, Tensor) else values
    return [rounded(value, digits) for value in listed]


def script_json(content: object) -> str:
    r"""Return JSON that may stand in a script element: no text in it can end the element or start a comment.

    Example:
        >>> print(script_json({"name": "</script>"}))
        {"name":"\u003c/script>"}
    """
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


class Room:
    """Bytes that are left for matrices and pictures.

    Args:
        size: how many at the start.

    Example:
        >>> room = Room(10)
        >>> room.keeps({"a": 1}), room.keeps({"b": 2}), room.refused
        (True, False, 1)
    """

    def __init__(self, size: int) -> None:
        """Start with all of it."""
        self.size = size
        self.refused = 0

    def keeps(self, content: object) -> bool:
        """Take the room that some content needs as JSON, if it is there."""
        needed = len(json.dumps(content, separators=(",", ":")))
        if needed > self.size:
            self.refused += 1
            return False
        self.size -= needed
        return True


Producer = Callable[[Material, Room], object]
AnyProducer = TypeVar("AnyProducer", bound=Producer)
PRODUCERS: dict[str, tuple[int, Producer]] = {}  # name → its rank, and what makes its data
OF_SEQUENCES: set[str] = set()  # names of what is drawn of sequences too


def figure(name: str, rank: int, sequences: bool = False) -> Callable[[AnyProducer], AnyProducer]:
    """Return what registers the function that makes the data of a figure; nothing in them, and it is left out.

    Args:
        name: of the data, of the section in the template, and of what a script prepares.
        rank: the lowest are made first, the most telling: the last may not fit.
        sequences: whether it says something of sequences too, which have no scores of single samples.
    """

    def register(make: AnyProducer) -> AnyProducer:
        PRODUCERS[name] = (rank, make)
        OF_SEQUENCES.update([name] if sequences else [])
        return make

    return register


def figures(material: Material, room: Room) -> Figure:
    """Return what all registered figures are drawn from, by name."""
    ranked = sorted(PRODUCERS.items(), key=lambda entry: entry[1][0])
    drawn = [name for name, _ in ranked if material.measure is None or name in OF_SEQUENCES]
    return {name: make(material, room) if name in drawn else [] for name, (_, make) in ranked}
