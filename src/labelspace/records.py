"""What a run leaves on disk. The folder is the truth.

A run's folder holds ``config.json``, ``environment.json``, ``checkpoint.pt`` while it runs, and when it is finished
``epochs.jsonl``, ``model.safetensors``, ``label_space.safetensors``, ``scores.safetensors``, ``preprocessing.json``,
``option-NAME.safetensors`` for an option of the method that is a label space, ``translations.json`` of sequences, and,
written last, ``result.json``. But for ``environment.json`` and ``times.jsonl`` (seconds) equal runs have equal bits.

``result.json`` holds the digest of every file that equal runs have in common, ``environment.json`` that of
``times.jsonl``, and each of the two its own: whoever reads a run notices damage, and files of two runs in one folder.
"""

import errno
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from numbers import Real
from pathlib import Path
from typing import Required, TypedDict, TypeVar, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from labelspace import _checks, _devices, _files
from labelspace._checks import DamagedError, LabelFileError
from labelspace.space import LabelSpace

CONFIG, ENVIRONMENT, RESULT = "config.json", "environment.json", "result.json"
FILES = ("epochs.jsonl", "model.safetensors", "scores.safetensors", "label_space.safetensors", "preprocessing.json")
TRANSLATIONS = "translations.json"  # of sequences alone
TIMES = "times.jsonl"  # not one of them: no two runs take equally long
RECORDS = (RESULT, ENVIRONMENT)  # they name the digests of the others, and have their own inside
REMEDY = "The command that made the run computes it again."
OF_RECORDS = ("files", _files.DIGEST)
TRIES, PAUSE = 20, 0.02  # while a folder is being replaced; seconds

Found = TypeVar("Found")


class RunResult(TypedDict, total=False):
    """What a run measured: ``result.json``. A run writes all of it; of what is read, the key alone is sure to be there.

    Accuracy and nll are missing of a part without samples.
    """

    key: Required[str]  # of its configuration
    validation: dict[str, float]
    test: dict[str, float]
    epochs: int  # that were trained
    best_epoch: int  # the one that was kept, from 0
    train_samples: int
    search: dict[str, float]  # of sequences: how their texts were looked for


class ConfigRecord(TypedDict, total=False):
    """Of ``config.json`` what is read without a ``Config``, which checks the whole."""

    method: Required[str]
    seed: Required[int]
    method_options: dict[str, object]
    model: str
    epochs: int


class RunFolder:
    """One run on disk.

    Args:
        path: the folder; made if absent.
        allow_damaged: read also what is not what was written, and warn.
    """

    def __init__(self, path: str | Path, allow_damaged: bool = False) -> None:
        """Point at the folder."""
        self.path, self.allow_damaged = Path(path), allow_damaged
        self._forget()

    def _forget(self) -> None:
        self._records: dict[str, bytes] = {}  # the two that speak of the others, each read once
        self._known: dict[str, str] | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other process works on this run; the lock goes with the process that holds it."""
        with ExitStack() as stack:
            with self._writable():
                stack.enter_context(_files.locked(self.path / ".lock"))
            yield

    def make(self) -> None:
        """Make the folder."""
        with self._writable():
            self.path.mkdir(parents=True, exist_ok=True)

    def create(self, config: Mapping[str, object]) -> None:
        """Say what runs in the folder, which is made if absent; what a damaged run says of its result goes."""
        self.make()
        self._forget()
        with self._writable():
            (self.path / RESULT).unlink(missing_ok=True)
            _files.write_json(self.path / CONFIG, config)
            self._write_environment(None)

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            remedy = "Choose another folder with out=… (--out), or make this one writable."
            expected = "a folder that can be written to"
            raise _checks.fail("train", "out", expected, f"{self.path} ({error.strerror})", remedy) from error

    def finish(
        self,
        *,
        epochs: list[dict[str, float]],
        weights: dict[str, Tensor],
        scores: dict[str, Tensor],
        space: LabelSpace,
        preprocessing: Mapping[str, object],
        result: RunResult,
        option_spaces: Mapping[str, LabelSpace] | None = None,
        times: list[dict[str, float]] | None = None,
        translations: Mapping[str, list[str]] | None = None,
    ) -> None:
        """Write everything a finished run leaves, the result last, then drop the checkpoints."""
        self._forget()
        spaces = {option_file(name): option for name, option in (option_spaces or {}).items()}
        contents = {
            "epochs.jsonl": _files.line_bytes(epochs),
            "model.safetensors": to_bytes(weights),
            "scores.safetensors": to_bytes(scores),
            "preprocessing.json": _files.json_bytes(preprocessing),
        }
        if translations:
            contents[TRANSLATIONS] = _files.json_bytes(dict(translations))
        try:
            self._write_environment(times)
            self._write(contents, {"label_space.safetensors": space, **spaces}, result)
        except OSError as error:
            what = "The disk is full" if error.errno == errno.ENOSPC else f"Writing failed ({error.strerror})"
            remedy = "Make room and run the same command again: it goes on from the last checkpoint."
            raise OSError(error.errno, f"{what} at {self.path}. {remedy}") from error
        self.sweep()

    def _write_environment(self, times: list[dict[str, float]] | None) -> None:
        digests = {}
        if times:
            _files.write_bytes(self.path / TIMES, _files.line_bytes(times))
            digests[TIMES] = _files.digest(_files.line_bytes(times))
        _files.write_json(self.path / ENVIRONMENT, _files.sealed({**_devices.environment(), "files": digests}))

    def _write(self, contents: dict[str, bytes], spaces: dict[str, LabelSpace], result: RunResult) -> None:
        digests = {CONFIG: _files.digest((self.path / CONFIG).read_bytes())}
        for name, content in contents.items():
            _files.write_bytes(self.path / name, content)
            digests[name] = _files.digest(content)
        for name, space in spaces.items():
            digests[name] = _files.digest(space.save(self.path / name).read_bytes())
        _files.write_json(self.path / RESULT, _files.sealed({**result, "files": digests}))

    def sweep(self) -> None:
        """Remove what only an unfinished run needs, and what a killed process left."""
        for pattern in ("checkpoint*.pt", ".*.part"):
            for stale in self.path.glob(pattern):
                with suppress(OSError):  # a folder that can only be read
                    stale.unlink(missing_ok=True)

    def mark(self) -> tuple[int, int] | None:
        """Return what tells whether the folder is still the same: which file its result is."""
        try:
            found = (self.path / RESULT).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def seal(self) -> str:
        """Return what names this run among all others: the digest of its result."""
        return _files.digest(self._bytes(RESULT))

    def config(self) -> ConfigRecord:
        """Return the configuration."""
        found = self._json(CONFIG, "method", "seed")
        kinds = {"method": str, "seed": int, "method_options": dict, "model": str, "epochs": int}
        self._check_kinds(CONFIG, found, kinds)
        return cast(ConfigRecord, found)

    def result(self) -> RunResult:
        """Return the result of a finished run."""
        self.digests()  # its own among them
        found = self._json(RESULT, "key")
        parts = {"validation": dict, "test": dict, "search": dict}
        self._check_kinds(RESULT, found, {"key": str, **parts, "epochs": int, "best_epoch": int, "train_samples": int})
        for part in parts:
            self._check_numbers(RESULT, found.get(part, {}))
        return cast(RunResult, {name: value for name, value in found.items() if name not in OF_RECORDS})

    def preprocessing(self) -> dict[str, object]:
        """Return what a batch goes through before the model; ``training.preprocessed`` checks it."""
        return self._json("preprocessing.json")

    def epochs(self) -> list[dict[str, float]]:
        """Return the epoch lines."""
        return self._lines("epochs.jsonl")

    def times(self) -> list[dict[str, float]]:
        """Return how long the epochs took; nothing where that was not asked for."""
        return self._lines(TIMES) if (self.path / TIMES).is_file() else []

    def translations(self) -> dict[str, list[str]]:
        """Return what a model of sequences made of the sources of each part; nothing of other runs."""
        if not (self.path / TRANSLATIONS).is_file():
            if TRANSLATIONS in self.digests():
                raise self.unsound(TRANSLATIONS, "it is missing")
            return {}
        found: dict[str, list[str]] = {}
        for part, texts in self._json(TRANSLATIONS).items():
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                raise self.unsound(TRANSLATIONS, f"no list of texts for {part!r:.40}")
            found[part] = texts
        return found

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of model and criterion."""
        return self._tensors("model.safetensors")

    def scores(self) -> dict[str, Tensor]:
        """Return ``validation_scores`` and ``validation_y``, the same of ``test``, and ``…_factors`` of prices."""
        found = self._tensors("scores.safetensors")
        for part in ("validation", "test"):
            scores, y, factors = (found.get(f"{part}_{name}") for name in ("scores", "y", "factors"))
            if (scores is None) != (y is None):
                raise self.unsound("scores.safetensors", f"only one of {part}_scores and {part}_y")
            if scores is not None and y is not None and not _are_scores(scores, y):
                raise self.unsound("scores.safetensors", f"{part}_y are no classes of {part}_scores")
            if factors is not None and (y is None or factors.shape != y.shape or not bool((factors >= 0).all())):
                raise self.unsound("scores.safetensors", f"{part}_factors that prices cannot be multiplied by")
        return found

    def label_space(self) -> LabelSpace:
        """Return what the run used or learned."""
        return self._space("label_space.safetensors")

    def option_space(self, name: str) -> LabelSpace:
        """Return an option of the method that is a label space."""
        return self._space(option_file(name))

    def content(self, name: str) -> bytes:
        """Return what a file holds, read once; refuse what is not what the run was finished with."""
        content, wanted = self._bytes(name), self.digests().get(name)
        if wanted is not None and _files.digest(content) != wanted:
            self.damaged(name, "its content is not what the run was finished with")
        return content

    def damaged(self, name: str, why: str) -> None:
        """Refuse a file of the run; warn where damage is allowed."""
        expected = f"a run with a sound {name}"
        _checks.damaged("Run.load", "folder", expected, self.path / name, why, REMEDY, self.allow_damaged)

    def require(self, *names: str) -> None:
        """Note that files belong to this folder; they may be edited, but whoever reads the run must find them."""
        record = self._json(ENVIRONMENT)
        self._forget()
        _files.write_json(self.path / ENVIRONMENT, _files.sealed({**record, "needs": list(names)}))

    def has(self, name: str) -> bool:
        """Return whether a file is there; refuse the folder if it was written with one."""
        there = (self.path / name).is_file()
        if not there and (self.path / ENVIRONMENT).is_file():
            needed = self._json(ENVIRONMENT).get("needs")
            if isinstance(needed, list) and name in needed:
                self.damaged(name, "it is missing")
        return there

    def digests(self) -> dict[str, str]:
        """Return the digests of the files that have one; nothing of a run that is not finished."""
        if self._known is None:
            self._known = {}
            for name in RECORDS:
                if (self.path / name).is_file():
                    self._known |= self._named_in(self._json(name), name)
        return self._known

    def _named_in(self, record: Mapping[str, object], name: str) -> dict[str, str]:
        files = record.get("files", {})
        if not isinstance(files, dict):
            raise self.unsound(name, "'files' that are no names and digests")
        # earlier versions named other files, and in results alone
        earlier = CONFIG not in files and (name == RESULT or "files" not in record)
        if not _files.holds(record) or (_files.DIGEST not in record and not earlier):
            self.damaged(name, "its content is not what was written")
        return {file: str(digest) for file, digest in files.items() if Path(file).name == file}

    def _lines(self, name: str) -> list[dict[str, float]]:
        with self._readable(name):
            lines = [_files.parsed(line) for line in self.content(name).decode().splitlines()]
        wrong = [line for line in lines if not isinstance(line, dict)]
        if wrong:
            raise self.unsound(name, f"a line with {wrong[0]!r:.60}")
        found = [line for line in lines if isinstance(line, dict)]
        for line in found:
            self._check_numbers(name, line)
        return found

    def _check_numbers(self, name: str, facts: object) -> None:
        assert isinstance(facts, dict)
        self._check_kinds(name, facts, dict.fromkeys(facts, Real))

    def _check_kinds(self, name: str, facts: Mapping[str, object], kinds: Mapping[str, type]) -> None:
        """Refuse a fact of another kind than it must be, where it is there."""
        for key, kind in kinds.items():
            if key in facts and (not isinstance(facts[key], kind) or isinstance(facts[key], bool)):
                raise self.unsound(name, f"{type(facts[key]).__name__} for {key!r}")

    def _tensors(self, name: str) -> dict[str, Tensor]:
        try:
            return from_bytes(self.content(name))
        except SafetensorError as error:
            raise self.unsound(name, str(error)) from error

    def _space(self, name: str) -> LabelSpace:
        try:
            return LabelSpace.from_bytes(self.content(name), self.path / name)
        except LabelFileError as error:
            raise self.unsound(name, error.why) from error

    def _json(self, name: str, *needed: str) -> dict[str, object]:
        if not (self.path / name).is_file():
            inside = sorted(entry.parent.name for entry in self.path.glob(f"*/{RESULT}"))
            remedy = f"It holds runs: {', '.join(inside[:3])}." if inside else "Finish it, or name the folder of a run."
            raise _checks.fail("Run.load", "folder", f"a run with {name}", str(self.path), remedy)
        with self._readable(name):
            content = _files.parsed(self._bytes(name) if name in RECORDS else self.content(name))
        if not isinstance(content, dict):
            raise self.unsound(name, f"{type(content).__name__} where names and values belong")
        missing = next((key for key in needed if key not in content), None)
        if missing is not None:
            raise self.unsound(name, f"no {missing!r}")
        return content

    @contextmanager
    def _readable(self, name: str) -> Iterator[None]:
        try:
            yield
        except DamagedError:
            raise
        except (ValueError, RecursionError) as error:
            raise self.unsound(name, str(error)) from error

    def _bytes(self, name: str) -> bytes:
        if name in self._records:
            return self._records[name]
        try:
            content = _files.read_bytes(self.path / name)
            if name in RECORDS:
                self._records[name] = content
            return content
        except OSError as error:
            raise self.unsound(name, error.strerror or str(error)) from error

    def unsound(self, name: str, why: str) -> DamagedError:
        """Return the error of a file that cannot be read, also where damage is allowed."""
        return DamagedError("Run.load", "folder", f"a run with a sound {name}", self.path / name, why, REMEDY)


def whole(folder: str | Path, read: Callable[[RunFolder], Found], allow_damaged: bool = False) -> Found:
    """Return what a reader makes of a run's folder, all of it of one run, also where the folder is replaced meanwhile.

    Args:
        folder: of the run.
        read: reads files one by one; digests tell it of a file that is not of the run it began with.
        allow_damaged: for the folder that it reads.
    """
    for left in reversed(range(TRIES)):
        stored = RunFolder(folder, allow_damaged)
        before = stored.mark()
        try:
            found = read(stored)
        except (ValueError, OSError):
            if stored.mark() is None:
                time.sleep(PAUSE)  # a folder that is just being replaced is there in a moment
            if not left or stored.mark() == before:
                raise
            continue
        if stored.mark() == before:
            return found
    expected, remedy = "a folder that stays as it is while it is read", "Read it again when nothing writes into it."
    raise _checks.fail("Run.load", "folder", expected, f"{folder}, which was replaced {TRIES} times", remedy)


def _are_scores(scores: Tensor, y: Tensor) -> bool:
    fit = scores.ndim == 2 and scores.is_floating_point() and y.dtype == torch.int64 and y.shape == scores.shape[:1]
    return fit and bool(torch.isfinite(scores).all()) and bool(((y >= 0) & (y < scores.shape[1])).all())


def option_file(name: str) -> str:
    """Return the name of the file that holds an option which is a label space."""
    return f"option-{name}.safetensors"
