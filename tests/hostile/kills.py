"""Commands that are killed with SIGKILL at every call that changes the disk, and then run again.

This is a program: ``python kills.py FOLDER SHARE SEED`` kills at one of SHARE calls (1: at all of them), before and
after the call in turn (the other way round with an odd SEED), and prints one line of JSON for each command. It forks
instead of starting Python anew, and never trains itself: a process with threads cannot be forked.
"""

import contextlib
import importlib
import json
import os
import shutil
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from comparison.small import write_table
from labelspace import _files
from labelspace.comparison.run import compare
from labelspace.decisions.decision import Decision
from labelspace.serving.predictions import ready
from labelspace.serving.take_home import take_home
from labelspace.sweeps.executors import InProcess
from labelspace.training.run import Run, train

CALLS = [(os, name) for name in ("replace", "rename", "fsync", "unlink", "rmdir", "link")] + [(_files, "_exchanged")]
NAMES = ["small", "medium", "large"]
SHORT: dict[str, Any] = {"model": "linear", "limit": 40}
Command = Callable[[], Any]
KILLED = -1


def training() -> None:
    train("sizes.csv", epochs=2, out="runs", checkpoint_seconds=0, batch_size=20, **SHORT)


def learning_labels() -> None:
    options = {"method": "lls", "record": "test-curve", "best_by": "nll"}
    train("sizes.csv", epochs=3, out="runs", checkpoint_seconds=0, **options, **SHORT)


def comparing() -> None:
    # OLS trains by itself, the others together
    strengths = {"uniform": [0.1, 0.2], "semantic": [0.1], "ols": [0.5]}
    options = {"seeds": 1, "epochs": 1, "space": "small<medium<large", "strengths": strengths}
    compare("sizes.csv", methods=list(strengths), out="runs", executor=InProcess(), rivals="none", **options, **SHORT)


def comparing_anew() -> None:
    options: dict[str, Any] = {"seeds": 1, "epochs": 1, "rivals": "none", "fresh": True}
    compare("sizes.csv", methods=["uniform"], out="runs", executor=InProcess(), **options, **SHORT)


def taking_another_home() -> None:
    names = ("large", "medium", "small")
    take_home(Run.load(next(Path("runs").glob("*-seed1"))), Decision("argmax", 2.0, None, names), "best")


def one_at_home() -> None:
    for seed in (0, 1):
        train("sizes.csv", epochs=1, out="runs", seed=seed, **SHORT)
    names = ("large", "medium", "small")
    home = take_home(Run.load(next(Path("runs").glob("*-seed0"))), Decision("argmax", 1.0, None, names), "best")
    (home / "mine.txt").write_text("somebody's")


def one_by_one() -> None:
    _files._exchanged = lambda one, other: False  # as where the system cannot let two folders change places
    taking_another_home()


# name, what is there before, and what is killed; the last says whether a model must be there at every moment
COMMANDS: list[tuple[str, Command | None, Command, bool]] = [
    ("train", None, training, False),
    ("train lls", None, learning_labels, False),
    ("compare", None, comparing, False),
    ("compare again", comparing, comparing, True),
    ("compare --fresh", comparing_anew, comparing_anew, False),
    ("take home", one_at_home, taking_another_home, True),
    ("take home, one rename at a time", one_at_home, one_by_one, False),
]


def killed_everywhere(
    place: Path, share: int, seed: int, before: Command | None, command: Command, always: bool
) -> Counter[str]:
    """Kill a command at its calls, each time in a copy of the folder, and count what came of it."""
    start, whole = place / "start", place / "whole"
    start.mkdir(parents=True)
    write_table(start / "sizes.csv", NAMES, rows=90)
    if before is not None:
        in_child(start, before)
    # the first time a command imports and caches things: it would make other calls than later
    for _ in range(2):
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(start, whole)
        calls = in_child(whole, command)
    expected = contents(whole)
    models = {model(start), model(whole)}
    counts = Counter({"calls": calls})
    for number in range(1 + seed % share, calls + 1, share):
        copy = place / "copy"
        shutil.copytree(start, copy, symlinks=True)
        # a slow machine leaves notes of progress, which are calls more
        counts["kills"] += in_child(copy, command, number, after=(number + seed) % 2 == 0) == KILLED
        found = model(copy)
        counts["mixture"] += found not in models and found != "nothing"
        counts["unreadable"] += always and found == "nothing"
        in_child(copy, command)
        after = contents(copy)
        counts["litter"] += bool(set(after) - set(expected))
        counts["identical"] += after == expected
        if after != expected:
            differing = sorted(name for name in {*after, *expected} if after.get(name) != expected.get(name))
            print(f"{command.__name__}, call {number}: {differing}", file=sys.stderr)
        shutil.rmtree(copy)
    return counts


def in_child(folder: Path, command: Command, kill: int = 0, after: bool = False) -> int:
    """Run a command in a process of its own and return how many calls it made; it is killed at one of them."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            warnings.simplefilter("error")
            made = counted(kill, after)
            command()
            os.write(writing, json.dumps([made["calls"], sorted(sys.modules)]).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    if kill and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return KILLED
    if status:
        raise RuntimeError(f"{command.__name__} ended with {status}")
    calls, modules = json.loads(said)
    for name in modules:  # what one child had to import, the next ones need not
        if name not in sys.modules and not name.startswith("__"):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    return int(calls)


def counted(kill: int, after: bool) -> Counter[str]:
    """Count the calls that change the disk from now on; end this process at one of them."""
    made: Counter[str] = Counter()

    def wrapped(plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            made["calls"] += 1
            mine = made["calls"] == kill
            if mine and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return plain(*arguments, **options)
            finally:  # also where there was nothing to remove
                if mine:
                    os.kill(os.getpid(), signal.SIGKILL)

        return call

    for module, name in CALLS:
        setattr(module, name, wrapped(getattr(module, name)))
    return made


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder; how long epochs took differs, and with it the record of the machine."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    timed = {str(path.parent.relative_to(folder)) for path in folder.rglob("times.jsonl")}
    own = [f"{each}/{name}" for each in timed for name in ("times.jsonl", "environment.json")]
    return {name: b"" if name in own else path.read_bytes() for name, path in files.items()}


def model(folder: Path) -> Any:
    """Return what tells models that were taken home apart, or that there is none."""
    homes = [path for path in (folder / "best", *folder.glob("runs/*/best")) if (path / "result.json").is_file()]
    if not homes:
        return "nothing"
    try:
        found = ready(homes[0])
    except ValueError as error:
        return f"refused: {error}"
    weights = [found.run.weights[name].numpy().tobytes() for name in sorted(found.run.weights)]
    return found.decision.temperature, found.run.config.key(), found.run.config.seed, b"".join(weights)


def main() -> None:
    place, share, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number, (name, before, command, always) in enumerate(COMMANDS):
        counts = killed_everywhere(place / str(number), share, seed, before, command, always)
        print(json.dumps({"command": name, **counts}), flush=True)


if __name__ == "__main__":
    main()
