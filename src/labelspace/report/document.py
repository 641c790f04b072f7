"""The page: one template, its style and scripts inside it, and data that no class name can break out of."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from labelspace.report import words
from labelspace.report.packing import script_json

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


def render(content: dict[str, Any], data: dict[str, Any]) -> bytes:
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
            style=_own("page.css"),
            scripts=[_own(name) for name in SCRIPTS],
            data=Markup(script_json(data)),  # every < in it is escaped
        )
    )
    # a folder's name may hold bytes that are no text
    return text.encode("utf-8", "replace")


@cache
def _own(name: str) -> Markup:
    return Markup((HERE / name).read_text(encoding="utf-8"))
