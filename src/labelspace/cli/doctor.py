"""`labelspace doctor`: packages, the machine and folders; what works, what does not, and what to do about it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from labelspace import _packages
from labelspace._checks import WorkError
from labelspace._packages import version
from labelspace.cli.screen import bad_input_exits, console, errors, print_json

MARKS = {"ok": ("✓", "green"), "absent": ("–", "dim"), "warning": ("!", "yellow"), "broken": ("✗", "bold red")}


@bad_input_exits
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Look at packages, machine and folders, and say what is broken and how to repair it.

    The exit code is 1 if something is broken; what is merely not installed is not.

    Example: labelspace doctor --json
    """
    with errors.status("looking around …"):
        found = findings()
    broken = [one.what for one in found if one.state == "broken"]
    if as_json:
        print_json({"broken": broken, "findings": [one._asdict() for one in found]})
    else:
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column()
        table.add_column()
        table.add_column(overflow="fold")
        for one in found:
            mark, style = MARKS[one.state]
            remedy = f"\n→ {one.remedy}" if one.remedy else ""
            table.add_row(Text(mark, style=style), one.what, f"{one.value}{remedy}")
        console.print(table)
    if broken:
        raise WorkError(f"{len(broken)} broken: {', '.join(broken)}.")
    if not as_json:
        console.print("nothing is broken", style="green")


State = Literal["ok", "absent", "warning", "broken"]
# import names of packages that others break, or that break others
IMPORTED = ("torchvision", "timm", "transformers", "sentence_transformers")
MISMATCH = "torchvision::"
OLDEST_TORCH = (2, 6)
SECONDS = 180
LEAST_BYTES = 1 << 30


class Finding(NamedTuple):
    """One line of the report.

    Args:
        what: was looked at.
        value: was found.
        state: ``"ok"``, ``"absent"`` (not needed unless asked for), ``"warning"`` or ``"broken"``.
        remedy: what to do.
    """

    what: str
    value: str
    state: State = "ok"
    remedy: str = ""


def findings() -> list[Finding]:
    """Return everything that was looked at, in the order to read it."""
    with ThreadPoolExecutor(2) as pool:
        imported = list(pool.map(package, IMPORTED))
    return [python(), torch_itself(), *imported, *extras(), *machine(), *places()]


def python() -> Finding:
    """Return the version of Python and of labelspace."""
    return Finding("python", f"{sys.version.split()[0]} · labelspace {version('labelspace') or 'not installed'}")


def torch_itself() -> Finding:
    """Return the version of torch and where it computes."""
    import torch

    number = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if torch.cuda.is_available():
        where = f"CUDA {torch.version.cuda}, {torch.cuda.device_count()} devices"
    else:
        where = "CPU only"
    value = f"{torch.__version__} ({where})"
    if number < OLDEST_TORCH:
        return Finding("torch", value, "broken", 'labelspace needs torch 2.6 or newer: pip install "torch>=2.6"')
    return Finding("torch", value)


def package(name: str) -> Finding:
    """Return whether a package can be imported, tried in a process of its own: a broken one may take us with it."""
    if importlib.util.find_spec(name) is None:
        return Finding(name, "not installed", "absent")
    number = version(name.replace("_", "-")) or "installed"
    try:
        command = [sys.executable, "-W", "ignore", "-c", f"import {name}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Finding(name, f"{number}, import took more than {SECONDS} s", "warning")
    if done.returncode == 0:
        return Finding(name, number)
    if MISMATCH in done.stderr:
        return Finding(name, f"{number}, fails to import: {_line(done.stderr, MISMATCH)}", "broken", mismatch())
    lines = done.stderr.strip().splitlines()
    last = lines[-1] if lines else f"exit code {done.returncode}"
    remedy = f"Install it again (pip install --force-reinstall {name.replace('_', '-')}), or remove it."
    return Finding(name, f"{number}, fails to import: {last}", "broken", remedy)


def mismatch() -> str:
    """Return what to do about a torchvision that was built for another torch."""
    import torch

    own, other = version("torchvision") or "unknown", torch.__version__
    needs = [text for text in _packages.requirements("torchvision") if re.match(r"torch\b", text)]
    built = f" and was built for {needs[0].split(';')[0].strip()}" if needs else ""
    series = re.match(r"2\.(\d+)", other)
    # torchvision 0.15 came with torch 2.0, and both have counted on in step since
    pair = f' For this torch: pip install "torchvision==0.{int(series[1]) + 15}.*"' if series else ""
    return (
        f"torchvision {own} does not match torch {other}{built}; whatever imports it fails too. Install the matching "
        "pair (same release, same CPU or GPU build), or remove it if nothing needs it: pip uninstall torchvision."
        f"{pair}"
    )


def extras() -> list[Finding]:
    """Return, for each optional extra of labelspace, whether its packages are there."""
    lines = []
    for extra, names in _packages.extras().items():
        missing = [name for name in names if version(name) is None]
        if missing:
            remedy = f'pip install "labelspace[{extra}]"'
            lines.append(Finding(f"extra {extra}", f"without {', '.join(missing)}", "absent", remedy))
        else:
            lines.append(Finding(f"extra {extra}", ", ".join(f"{name} {version(name)}" for name in names)))
    return lines


def machine() -> list[Finding]:
    """Return cores, threads and memory."""
    import torch

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = torch.get_num_threads()
    lines = [Finding("cores", f"{usable} usable of {os.cpu_count()}, torch computes with {threads} threads")]
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = (os.sysconf(name) * page for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on Windows
        return lines
    return [*lines, Finding("memory", f"{_size(free)} free of {_size(total)}")]


def places() -> list[Finding]:
    """Return the folders of datasets, of the cache and of runs."""
    # only here: every command imports this file, and few need to know of data
    from labelspace.data import files
    from labelspace.data.known import KNOWN

    data, cache, runs = files.data_folder(), files.cache_folder(), Path("runs")
    there = [name for name, known in KNOWN.items() if any((data / folder).is_dir() for folder in known.folders)]
    listed = ", ".join(there) if there else "no dataset known by name (digits is built in)"
    lines = [Finding("data folder", f"{data}: {listed}", "ok" if there else "absent")]
    if not there:
        lines[0] = lines[0]._replace(remedy="Say where datasets are with $LABELSPACE_DATA or --data-dir.")
    remedy = "Choose another folder with $LABELSPACE_CACHE; without one pictures are decoded every time."
    lines.append(_writable("cache folder", cache, remedy))
    lines.append(_writable("runs folder", runs, "Choose another folder with --out."))
    free = shutil.disk_usage(_existing(runs)).free
    low = free < LEAST_BYTES
    remedy = "Make room, or choose another folder with --out." if low else ""
    lines.append(Finding("disk", f"{_size(free)} free for ./runs", "warning" if low else "ok", remedy))
    return lines


def _writable(what: str, folder: Path, remedy: str) -> Finding:
    """Return whether a file can be made in a folder, or where the folder would be made."""
    place = _existing(folder)
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding(what, f"{folder} cannot be written ({error.strerror})", "broken", remedy)
    return Finding(what, f"{folder}{'' if place == folder else ' (will be made)'}")


def _existing(folder: Path) -> Path:
    place = folder.absolute()
    return folder if folder.is_dir() else next(parent for parent in place.parents if parent.is_dir())


def _line(text: str, part: str) -> str:
    return next(line for line in text.splitlines() if part in line).strip()


def _size(count: float) -> str:
    return f"{count / 2**30:.1f} GiB"
