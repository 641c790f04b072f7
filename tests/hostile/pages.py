"""Comparisons in which every text is an attack on the page that shows it.

``write(folder)`` leaves a comparison whose class names, labels, sentences, warnings, options, symbols, versions, plan,
builders and run folders are taken from ``PAYLOADS``; ``texts(folder)`` says what the page must show as written. A
payload that gets through calls ``hit``, which ``WATCH`` gives to every page before its own scripts.
"""

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from labelspace.space import LabelSpace
from report.folders import write_comparison

LONG = "long " * 60
# each calls hit(), asks the network for something, changes what objects inherit, or would be read as something else
PAYLOADS = [
    "<script>hit('script')</script>",
    "</script><script>hit('closing')</script>",
    "<img src=x onerror=hit('img')>",
    "<svg onload=hit('svg')><circle r=1>",
    '" onmouseover="hit(\'attribute\')" autofocus onfocus="hit(\'focus\')" x="',
    "' onclick='hit(1)' style='position:fixed;inset:0' y='",
    "javascript:hit('address')",
    "<a href=\"javascript:hit('link')\">press</a>",
    "__proto__",
    "constructor",
    "--><script>hit('comment')</script>",
    "]]><script>hit('section')</script>",
    "<!--<script>",
    "{{ 7*7 }}{% raw %}${hit('template')}",
    "%{customdata[0]} %{x} %{hit()}",
    "<b onclick=hit('b')>bold</b><br>next<sup>2</sup>",
    "&lt;script&gt;hit('entity')&lt;/script&gt;&amp;&#60;",
    "line\u2028hit('separator')\u2029end",
    "a\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe\N{POP DIRECTIONAL FORMATTING}",
    "$x^2$ \\(hit\\) \\u003cscript>",
    "<iframe srcdoc='<script>parent.hit(1)</script>'></iframe>",
    "<style>@import 'http://127.0.0.1:9/style';*{background:url(http://127.0.0.1:9/css)}</style>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/meta'><base href=http://127.0.0.1:9/>",
    "<form action=http://127.0.0.1:9/form><button>send</button></form>",
    "toString",
    LONG,
    "NaN",
    "1e999",
    "\N{PILE OF POO}" * 40,
]
# runs before any script of the page: counts what must never happen, and notes what listens to the reader
WATCH = """
window.seen = [];
window.listening = [];
window.hit = (what) => window.seen.push("executed: " + what);
for (const name of ["alert", "confirm", "prompt", "open", "print"]) window[name] = () => window.hit(name);
const forbidden = (e) => window.seen.push(`policy: ${e.violatedDirective} ${e.blockedURI}`);
addEventListener("securitypolicyviolation", forbidden, true);
addEventListener("error", (e) => window.seen.push("error: " + (e.message || e.target.outerHTML)), true);
addEventListener("unhandledrejection", (e) => window.seen.push("rejection: " + e.reason));
const listen = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (kind, ...rest) {
  if (this instanceof Element) window.listening.push([this, kind]);
  return listen.call(this, kind, ...rest);
};
"""


def write(folder: Path, first: int = 0, classes: int = 10) -> Path:
    """Write a comparison whose texts are payloads, those of classes beginning with the given one."""
    turned = PAYLOADS[first:] + PAYLOADS[:first]
    write_comparison(folder, classes, seeds=2, samples=60, names=turned[:classes])
    said = facts(folder)
    labels = dict(zip((row["label"] for row in said["rows"]), turned, strict=False))
    # folders may be called almost anything, too
    runs = {path.name: f"{number} {turned[number % 4].replace('/', '∕')}" for number, path in _runs(folder)}
    for name, hostile in runs.items():
        (folder / "runs" / name).rename(folder / "runs" / hostile)
    more = cycle(turned)
    said = {key: _attacked(value, more, labels | runs, key) for key, value in said.items()}
    for row in said["rows"]:
        row["options"] = {next(more): next(more)}
    said["data"]["names"] = turned[:classes]
    (folder / "comparison.json").write_text(json.dumps(said))
    _rename_geometry(folder / "geometry.safetensors", labels)
    _rebuild(folder / "space.safetensors", next(more))
    (folder / "plan.toml").write_text("\n".join(turned), encoding="utf-8")
    return folder


def _runs(folder: Path) -> list[tuple[int, Path]]:
    return list(enumerate(sorted((folder / "runs").iterdir())))


# texts that choose what is drawn, and are one of a few
FIXED = {"role", "decision", "key", "kind", "cause", "control", "rule"}


def _attacked(value: Any, more: Iterator[str], known: dict[str, str], key: str) -> Any:
    """Return a value of comparison.json with every text in it replaced: labels and runs alike wherever they stand."""
    if isinstance(value, dict):
        return {name: _attacked(part, more, known, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_attacked(part, more, known, key) for part in value]
    if not isinstance(value, str) or key in FIXED:
        return value
    return known[value] if value in known else next(more)


def _rename_geometry(path: Path, labels: dict[str, str]) -> None:
    found = load_file(path)
    parts = {key: key.partition("/") for key in found}
    save_file(
        {f"{kind}{slash}{labels.get(label, label)}": found[key] for key, (kind, slash, label) in parts.items()}, path
    )


def _rebuild(path: Path, builder: str) -> None:
    space = LabelSpace.load(path)
    LabelSpace(space.names, space.matrix, space.kind, {"builder": builder, "words": builder}).save(path)


def facts(folder: Path) -> dict[str, Any]:
    """Return what ``comparison.json`` says."""
    return dict(json.loads((folder / "comparison.json").read_text()))


def texts(folder: Path) -> list[str]:
    """Return every text of a comparison that its page must show as written."""
    said = facts(folder)
    rows, verdict = said["rows"], said["verdict"]
    shown = [said["title"], said["command"], said["next"], said["cost"]["words"], said["space"]["words"]]
    shown += [*said["data"]["names"], *said["warnings"], *verdict["sentences"], verdict["kind"]]
    shown += [row["label"] for row in rows] + [name for row in rows for name in row["runs"]]
    shown += [name for pair in said["costliest"] for name in (pair["true"], pair["predicted"])]
    shown += [extra["title"] for extra in said["extra"]] + list(said["versions"].values())
    return shown + (folder / "plan.toml").read_text(encoding="utf-8").split("\n")
