"""The page: one template, its style and scripts inside it, and data that no class name can break out of."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from labelspace.report import words
from labelspace.report.packing import Figure, script_json

HERE = Path(__file__).parent
SCRIPTS = (
    "vendor/plotly-cartesian.min.js",
    "unpack.js",
    "figures.js",
    "lines.js",
    "classes.js",
    "sections.js",
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
