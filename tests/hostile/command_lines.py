"""Random command lines: every command and option that there is, with right values, odd ones, and others' values.

Commands and options are asked of the app itself, so that new ones are tried without a line here. Each line runs in this
process, in a folder of its own, with training kept tiny. Allowed are exit code 0 with output that a terminal and a JSON
reader can take, 2 with one clear line, and 1 with one where work failed; never a traceback, an unseen character on the
terminal, or a file written outside of the temporary folder.
"""

import atexit
import csv
import functools
import itertools
import json
import os
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import typer
from typer.testing import CliRunner

from hostile.mutations import Chance, odd
from hostile.outcomes import Case, chance
from labelspace import InputError, compare, groups, train
from labelspace.cli import doctor as health
from labelspace.cli.main import app
from labelspace.sweeps import executors

# what would rightly take for ever: these are small, or wrong
TAME = {
    "epochs": ["1", "2", "0", "-1", "1.5", "x", ""],
    "seeds": ["1", "2", "3,4", "0", "-1", "1,1", "x", "", ","],
    "limit": ["30", "5%", "0", "-3", "x%", "101%", ""],
    "model": ["linear", "mlp-4", "auto", "mlp-0", "mlp-x", "lenet", "", "hf:./m", "\x1b"],
    "budget": ["1s", "0s", "-1s", "x", "1e400s", ""],
    "workers": ["1", "2", "0", "-1", "x"],
    "methods": ["uniform", "uniform,lls", "semantic", "kd", "", ",", "no", "a=uniform", "a=", "=uniform"],
    "examples": ["0", "2", "-1", "x"],
    "threads": ["1", "0", "-1", "x"],
    "backbone": ["no", "", "hf:./m"],
    "classes": ["cat,dog", "first 2", "3", "first 50%", "a,a", "", "0", "-1", "\x1b[31m,b", "1e3", "first 0"],
}
ALWAYS = {
    "train": ["--epochs", "1", "--limit", "30", "--model", "linear"],
    "compare": ["--epochs", "1", "--limit", "30", "--model", "linear", "--seeds", "2", "--methods", "uniform"],
}
WORDS = [
    "digits", "table.csv", "hostile.csv", "gone.csv", "pictures", "groups.txt", "taxonomy.txt", "prices.csv",
    "labels.safetensors", "val.npz", "test.npz", "run", "broken", "runs", "out.csv", "out.html", "out.onnx",
    "new.safetensors", "x[red]", "x[/]", ".", "..", "low<mid<high", "groups:cat,dog|car", "ordinal", "uniform",
    "wordnet", "lda", "squared", "under=5,over=1", "tree", "0<1<2", "kind", "name", "a", "cat", "0", "1", "2", "0.5",
    "1e-3", "nan", "sgd", "adam", "adamw", "linear", "step", "error", "median", "drop", "8", "4x4", ";", "tab",
    "first 20", "0.2", "none", "pairwise:0.2", "symmetric:2", "flip", "crop", "mixup:0.2", "last", "nll", "test-curve",
    "smoothing=0.2", "uniform.smoothing=0.1", "momentum=0", "clip=1.0", "test=0.3", "skip_unreadable=true", "onehot",
    "lls", "semantic", "first=val.npz,test.npz", "as is", "inverted", "cat,dog",
]  # fmt: skip
# where a word for anything would nearly always be wrong; an option that is not here takes any of the words above
RIGHT = {
    "data": ["digits", "table.csv", "hostile.csv", "pictures", "gone.csv"],
    "path": ["digits", "table.csv", "hostile.csv", "pictures", "val.npz", "gone.csv"],
    "new": ["hostile.csv", "table.csv", "pictures", "gone.csv"],
    "run": ["run", "run", "broken", "gone"],
    "folders": ["run", "compared", "broken", "gone"],
    "plan": ["compared/plan.toml", "table.csv"],
    "label": ["kind", "kind", "a", "gone"],
    "space": ["low<mid<high", "ordinal", "uniform", "lda", "0<1<2<3<4<5<6<7<8<9", "labels.safetensors"],
    "cost": ["squared", "ordinal", "prices.csv", "under=5,over=1", "uniform"],
    "spec": [
        "low<mid<high",
        "groups.txt",
        "taxonomy.txt",
        "labels.safetensors",
        "groups:a,b|c,d",
        "uniform",
        "squared",
    ],
    "first": ["low<mid<high", "groups.txt", "labels.safetensors"],
    "second": ["uniform", "groups.txt", "labels.safetensors", "high<mid<low"],
    "file": ["labels.safetensors", "groups.txt", "gone"],
    "names": ["cat,dog", "cat", "dog", "low,mid,high", "\x1b[2J"],
    "class_name": ["cat", "low", "a", "\x1b[2J"],
    "method": ["onehot", "uniform", "lls", "semantic", "ols", "lwal", "zipf"],
    "optimizer": ["adam", "sgd", "adamw"],
    "schedule": ["constant", "linear", "step", "exponential"],
    "keep": ["a", "kind", "\x1b]0;b\x07", "gone"],
    "out": ["x[red]", "x[/]", "made", "../../made", "new.safetensors", "\x1b[31m.safetensors", "runs"],
    "output": ["out.csv", "x[/].csv", "\x1b[31m.csv", "out.html", "out.parquet", "no/where.csv", "../../out.csv"],
}
WRITES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}


class Command(NamedTuple):
    """A command by the words that call it, and its parameters."""

    words: tuple[str, ...]
    parameters: list[Any]


class Said(NamedTuple):
    """What came of a command line."""

    code: int
    stdout: str
    stderr: str
    outside: list[str]
    words: list[str]


class Here(executors.Processes):
    """Workers that are this process: to start one takes longer than all of its work here."""

    def run(self, work: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
        yield from executors.InProcess().run(work, tasks)


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield command lines."""
    _root()  # made before anything is measured
    for number in range(first, first + count):
        random = chance(seed, number)
        words = line(random)
        yield Case(" ".join(map(ascii, words)), functools.partial(run, words), is_sane)


def line(random: Chance) -> list[str]:
    """Return the words of one command line."""
    found = _commands()
    # more often where there is more to get wrong
    weights = np.array([3.0 + len(each.parameters) for each in found])
    command = found[int(random.choice(len(found), p=weights / weights.sum()))]
    words: list[str] = []
    options = [each for each in command.parameters if each.param_type_name == "option"]
    for each in options:
        # few at a time, so that not every line falls at its first hurdle
        if each.name != "help" and (
            random.random() < 2 / (2 + len(options)) or (each.required and random.random() < 0.9)
        ):
            words += _option(random, each)
    places = [each for each in command.parameters if each.param_type_name == "argument"]
    given = [_value(random, each) for each in places for _ in range(_how_often(random, each))]
    if random.random() < 0.03:
        words.append(_text(random))
    if command.words == ("compare",):  # digits, which it takes by itself, are many
        given = [each for each in given if each != "digits"] or ["table.csv"]
    if command.words == ("export",):  # a graph takes seconds, and has tests of its own
        given = [each for each in given if each != "run"]
    # the harmless values come first: those that are drawn replace them; beside some flags there may be none
    alone = any(word.startswith(("--scores", "--plan")) for word in words)
    harmless = [] if alone or not command.words else ALWAYS.get(command.words[0], [])
    return [*command.words, *harmless, *_files_of_scores(given, words), *words]


def _files_of_scores(given: list[str], words: list[str]) -> list[str]:
    return ["val.npz", "test.npz"] if "--scores" in words and given == ["table.csv"] else given


def run(words: list[str]) -> Said:
    """Do what a command line says, in a folder of its own; a refusal that is clear is raised as one."""
    place = Path(tempfile.mkdtemp(dir=_root())) / "a" / "b" / "c"
    shutil.copytree(_root() / "files", place)
    before = Path.cwd()
    os.chdir(place)
    try:
        with _watched() as outside, _tiny():
            found = CliRunner().invoke(app, words)
    finally:
        os.chdir(before)
        shutil.rmtree(place.parents[2], ignore_errors=True)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    said = Said(found.exit_code, found.stdout, found.stderr, outside, words)
    if said.code == 2 and _is_clear(said) and is_readable(said):
        raise InputError("", "command line", "right", _lines(said)[-1])
    return said


def is_sane(said: Said) -> bool:
    """Return whether output can be taken by terminals and by what reads JSON, and nothing is where it must not be."""
    if not is_readable(said) or said.outside or said.code not in (0, 1):
        return False
    if said.code == 1:
        return _is_clear(said) or "problem" in said.stdout
    return not _asks_for_json(said.words) or _is_json(said.stdout)


def _asks_for_json(words: list[str]) -> bool:
    """Return whether ``--json`` is among the flags, and not what an option before it was left without a value took."""
    options = [each for command in _commands() for each in command.parameters if each.param_type_name == "option"]
    valued = {name for option in options if not option.is_flag for name in option.opts}
    return any(word == "--json" and before not in valued for before, word in itertools.pairwise(words))


def is_readable(said: Said) -> bool:
    """Return whether there is nothing in it that steers a terminal, or that nobody sees; a file is what it is."""
    is_file = said.words[:1] == ["predict"] or said.words[:2] == ["labels", "template"]
    letters = set(said.stderr if is_file else said.stdout + said.stderr) - set("\n\t")
    return not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs") for letter in letters)


def _lines(said: Said) -> list[str]:
    return [text for text in said.stderr.splitlines() if text.strip()]


def _is_clear(said: Said) -> bool:
    """Return whether the last thing said is one line that is the command's own."""
    lines = _lines(said)
    # failed runs are named below the line that says so
    first = lines[-1:] if said.code == 2 else lines
    return any(text.startswith(("labelspace: ", "Error: ")) for text in first) and "Traceback" not in said.stderr


def _is_json(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def _option(random: Chance, option: Any) -> list[str]:
    words = []
    for _ in range(1 + int(random.random() < 0.1)):
        flags = [*option.opts, *option.secondary_opts]
        flag = flags[int(random.integers(len(flags)))]
        value = [] if option.is_flag else [_value(random, option)]
        words += [f"{flag}={value[0]}"] if value and flag.startswith("--") and random.random() < 0.3 else [flag, *value]
    return words if random.random() < 0.98 else words[:-1]


def _how_often(random: Chance, argument: Any) -> int:
    many = argument.nargs != 1
    wanted = int(random.integers(0, 4)) if many else 1
    return wanted if random.random() < 0.95 else wanted + 1


def _value(random: Chance, parameter: Any) -> str:
    """Return a value: of a list that is harmless where there is one, a right word for something, or an odd one."""
    if parameter.name in TAME:
        return _one(random, TAME[parameter.name])
    kind = random.random()
    if kind < 0.3 and parameter.default not in (None, ""):
        return str(parameter.default)
    if kind < 0.85:
        return _one(random, _likely(parameter))
    return _text(random)


def _likely(parameter: Any) -> list[str]:
    """Return words that could be meant; numbers where numbers are asked for."""
    # typer keeps the type under this name since it has a click of its own
    asked = str(getattr(parameter, "type_descriptor", None) or parameter.type).lower()
    if "'int'" in asked or "'float'" in asked or asked in ("int", "float"):
        return ["0", "1", "2", "3", "0.5", "-1", "1e-3", "10"]
    return RIGHT.get(parameter.name, WORDS)


def _text(random: Chance) -> str:
    """Return an odd value as text that a process can be given."""
    value = odd(random)
    text = value if isinstance(value, str) else json.dumps(value)
    steering = _one(random, ["", "", "\x1b[31m", "\x1b]0;x\x07", "\u202e", "\r", "\x9b"])
    text = (steering + text).replace("\0", "")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return "\udcff"
    return text


def _one(random: Chance, values: list[str]) -> str:
    return values[int(random.integers(len(values)))]


@functools.cache
def _commands() -> list[Command]:
    return list(_under(typer.main.get_command(app), ()))


def _under(command: Any, words: tuple[str, ...]) -> Iterator[Command]:
    if not words or not hasattr(command, "commands"):
        yield Command(words, command.params)
    for name, each in getattr(command, "commands", {}).items():
        yield from _under(each, (*words, name))


@contextmanager
def _tiny() -> Iterator[None]:
    """Let compare work here, and doctor not import every package again; no data of this machine are found."""
    places = {"LABELSPACE_CACHE": str(_root() / "cache"), "LABELSPACE_DATA": str(_root() / "data")}
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(executors, "Processes", Here))
        stack.enter_context(mock.patch.object(health, "IMPORTED", ()))
        stack.enter_context(mock.patch.dict(os.environ, places))
        stack.enter_context(mock.patch.object(sys, "argv", ["labelspace"]))
        yield


_watchers: list[list[str]] = []


@contextmanager
def _watched() -> Iterator[list[str]]:
    """Give a list that files come into which are written outside of the temporary folder."""
    _hook()
    found: list[str] = []
    _watchers.append(found)
    try:
        yield found
    finally:
        _watchers.remove(found)


@functools.cache
def _hook() -> None:
    root = os.path.realpath(_root())

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if not _watchers or not (event in WRITES or (event == "open" and _is_writing(arguments))):
            return
        path = arguments[0]
        if isinstance(path, int) or "__pycache__" in str(path) or str(path) == os.devnull:
            return
        if not os.path.realpath(os.fsdecode(path)).startswith(root):
            _watchers[-1].append(f"{event} {path!r}")

    sys.addaudithook(look)


def _is_writing(arguments: tuple[Any, ...]) -> bool:
    _, mode, flags = arguments
    return any(letter in (mode or "") for letter in "wax+") or bool(
        (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    )


@functools.cache
def _root() -> Path:
    """Return the temporary folder, with files that commands can read."""
    root = Path(tempfile.mkdtemp(prefix="labelspace-lines-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for name in ("files", "cache", "data", "files/broken", "files/pictures/cat", "files/pictures/\x1b[31mdog"):
        (root / name).mkdir(parents=True, exist_ok=True)
    _write_files(root / "files")
    return root


def _write_files(place: Path) -> None:
    random = np.random.default_rng(0)
    for name, classes in (("table.csv", ["low", "mid", "high"]), ("hostile.csv", ["\x1b[31mred", "=1+1", "[/]"])):
        with (place / name).open("w", newline="", encoding="utf-8") as file:
            rows = ([*random.normal(size=2).round(3), kind] for kind in itertools.islice(itertools.cycle(classes), 60))
            csv.writer(file).writerows([["a", "\x1b]0;b\x07", "kind"], *rows])
    groups([["cat", "dog"], ["car", "\x1b[2J"]]).save(place / "labels.safetensors")
    (place / "groups.txt").write_text("pets: cat, dog\ncars: car, \x1b[2J\n")
    (place / "taxonomy.txt").write_text("Pets > cat\nPets > dog\nCars > car\n")
    (place / "prices.csv").write_text("true\\predicted,low,mid,high\nlow,0,1,2\nmid,1,0,1\nhigh,5,1,0\n")
    for name in ("val", "test"):
        np.savez(place / f"{name}.npz", scores=random.normal(size=(30, 3)).astype("f4"), y=np.arange(30) % 3)
    for folder in (place / "pictures").iterdir():
        for number in range(8):
            picture = random.integers(0, 255, (8, 8), dtype=np.uint8)
            _save_picture(folder / f"\x1b[32m{number}.png", picture)
    done = train(place / "hostile.csv", model="linear", epochs=1, data_options={"label": "kind"}, out=place / "runs")
    assert done.folder is not None
    done.folder.rename(place / "run")
    few = {"methods": "uniform", "model": "linear", "seeds": 2, "epochs": 1}
    compared = compare(place / "table.csv", label="kind", **few, out=place / "runs", executor=Here(1))
    compared.folder.rename(place / "compared")
    (place / "broken" / "config.json").write_text('{"\x1b[31m": [NaN')


def _save_picture(path: Path, pixels: np.ndarray) -> None:
    from PIL import Image

    Image.fromarray(pixels).save(path)
