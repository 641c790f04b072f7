"""The picture of ``losses.py``: what methods cost beside F.cross_entropy, by the number of classes."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

WIDE, HIGH, LEFT, LOW, RIGHT = 640, 400, 46, 40, 130
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#148f8f", "#7f8c8d", "#34495e", "#e67e9f", "#6e8b3d")


def draw(rows: Iterable[Mapping[str, object]], path: Path) -> None:
    """Write the one-thread ratios as an SVG, both axes logarithmic.

    Args:
        rows: of the benchmark.
        path: of the file.
    """
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row["what"] == "loss" and row["threads"] == 1:
            lines.setdefault(str(row["method"]), []).append((float(str(row["classes"])), float(str(row["ratio"]))))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-family="sans-serif">']
    parts.append(f'<rect width="{WIDE}" height="{HIGH}" fill="white"/><g font-size="11" fill="#444">')
    for ratio in (0.5, 1, 2, 4, 8, 16, 32, 64):
        y = _y(ratio)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{WIDE - RIGHT}" stroke="#ddd"/><text x="8" y="{y + 4:.1f}">{ratio}×</text>'
        )
    for classes in (10, 100, 1000, 10_000, 50_000):
        parts.append(f'<text x="{_x(classes):.1f}" y="{HIGH - 20}" text-anchor="middle">{classes:,}</text>')
    parts.append(
        f'<text x="{LEFT}" y="{HIGH - 4}">classes; time of a forward and backward pass, in F.cross_entropy</text>'
    )
    taken: list[float] = []
    for number, (method, points) in enumerate(sorted(lines.items(), key=lambda line: -line[1][-1][1])):
        colour, dash = COLOURS[number % len(COLOURS)], ' stroke-dasharray="5 3"' if number >= len(COLOURS) else ""
        path_of = " ".join(f"{_x(classes):.1f},{_y(ratio):.1f}" for classes, ratio in points)
        parts.append(f'<polyline points="{path_of}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append("".join(f'<circle cx="{_x(k):.1f}" cy="{_y(r):.1f}" r="2.5" fill="{colour}"/>' for k, r in points))
        at = max([_y(points[-1][1]) + 4, *(other + 12 for other in taken[-1:])])
        taken.append(at)
        parts.append(f'<text x="{WIDE - RIGHT + 8}" y="{at:.1f}" fill="{colour}">{method}</text>')
    path.write_text("\n".join([*parts, "</g></svg>", ""]))


def _x(classes: float) -> float:
    return LEFT + 6 + (WIDE - RIGHT - LEFT - 12) * math.log(classes / 10) / math.log(5000)


def _y(ratio: float) -> float:
    return 10 + (HIGH - LOW - 10) * math.log(64 / min(max(ratio, 0.5), 64)) / math.log(128)
